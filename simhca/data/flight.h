/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A message of a connected QP (RC, XRC, UC, DC) that is on its way over a cable that takes
 * time, with its data, and then its answer.
 *
 * Invariants
 * - A QP has its flights in the order of its requests. sq_head is behind the last of
 *   them, and send_psn too. Where they end early, both go back to the first of them, and
 *   what was under way is gone: the requests are sent again, or flushed.
 * - An answer counts when those of all flights before it have come.
 * - A message that the responder did not execute is the last flight of its QP, which
 *   sends nothing until the answer has come (@halted of the QP). Those behind it would
 *   arrive out of sequence.
 */
#ifndef SIMHCA_FLIGHT_H
#define SIMHCA_FLIGHT_H

#include "data/transport.h"
#include "fabric/line.h"

/**
 * struct flight - a message under way
 * @w: its request, with data of its own
 * @list: that data: what is sent, or what was read
 * @index: of the request in the send queue
 * @psn: of its first packet
 * @sent_at: when it began to leave
 * @lost: the port was down when it left
 * @answered: called when the first flights of the QP have their answers
 * @done: its answer has come
 * @reply: that answer
 * @rnr: with REPLY_RNR: the timer of the responder
 * @timer: until it arrives, and then until its answer does
 * @turn: of the answer at the responder's port, if that has data
 * @line: that it left by, which counts it
 * @back: that of its answer
 * @held: so many bytes
 * @left_at: when its last byte left; 0: not yet
 * @arrived_at: when it arrived, or would have; 0: not yet
 * @back_at: when its answer came; 0: not yet
 * @to: its target; -1: there is none, or not yet
 */
struct flight {
	struct flight *next;
	struct qp *qp;
	struct send_wqe w;
	struct sglist list;
	uint16_t index;
	uint32_t psn;
	uint64_t sent_at;
	bool lost;
	bool done;
	void (*answered)(struct qp *qp);
	enum reply reply;
	uint8_t rnr;
	struct sim_timer timer;
	struct turn turn;
	struct line *line;
	struct line *back;
	uint64_t held;
	uint64_t left_at;
	uint64_t arrived_at;
	uint64_t back_at;
	int to;
};

/* flight.c */
struct flight *flight_new(struct qp *qp, const struct send_wqe *w);
void flight_pop(struct qp *qp);
void flights_drop_behind(struct flight *f);
void flights_end(struct qp *qp);

/* Was the port by which it left down meanwhile? */
static inline bool flight_cut(const struct flight *f)
{
	return f->lost || line_lost(f->line, f->sent_at);
}

/* travel.c */
bool travels(struct qp *qp);
bool travel_waits(struct qp *qp, const struct send_wqe *w, uint8_t syndrome);
bool travel_far(struct qp *qp, const struct send_wqe *w);
enum outcome travel_start(struct qp *qp, const struct send_wqe *w,
			  void (*answered)(struct qp *qp), uint8_t *syndrome);
bool travel_gone(struct turn *turn, uint64_t at);
struct line *travel_line(const struct qp *qp);

#endif
