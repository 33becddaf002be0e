/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The line of a port: when what the port sends leaves it, and when it arrives. All ports
 * have one cable, which has a latency and a rate. Without both (the default) a message
 * needs no time, and nothing of this file runs.
 *
 * Those that send take turns. Each has the line for a quantum, or longer while nobody
 * else waits; then the next one has it. A turn that begins late, because the process had
 * no processor, counts from when it could have begun.
 *
 * What is on its way and will be there whatever becomes of its sender (a datagram, a
 * frame) is a parcel, which the line keeps until it arrives. Messages of connections are
 * flights (data/flight.h).
 *
 * Invariants
 * - Parcels of a line arrive in the order in which they left.
 * - What is under way from a port is at most LINE_ROOM bytes, or one message that is
 *   longer. Whoever has its turn then waits until something has arrived.
 * - When a link goes down, all that is on its way to or from that port is lost.
 */
#ifndef SIMHCA_LINE_H
#define SIMHCA_LINE_H

#include "hca.h"

#define BYTES_PER_MB 1000000u
#define LINE_ROOM (64u << 20)
#define LINE_LATENCY_MAX (10 * NSEC_PER_SEC)
#define LINE_RATE_MAX 1000000000000ull

/**
 * struct cable_time - what the cable costs
 * @latency: from a port to the other one, in nanoseconds
 * @rate: bytes in a second; 0: as many as there are
 */
struct cable_time {
	uint64_t latency;
	uint64_t rate;
};

extern struct cable_time cable_time;

/**
 * struct turn - somebody who sends; embedded in its owner
 * @go: begins the next message: either puts it on the line (line_put()) or sets @left.
 *	False if there is none, or it cannot go now; the turn ends then.
 * @gone: the last of @left leaves at a time by loop_now(). True if there may be more.
 * @left: bytes of the message that has begun
 * @since: when it began to wait
 * @line: where it waits or sends; NULL: it does neither
 */
struct turn {
	bool (*go)(struct turn *turn);
	bool (*gone)(struct turn *turn, uint64_t at);
	uint64_t left;
	uint64_t since;
	struct line *line;
	struct turn *next;
};

/**
 * struct parcel - what arrives whatever becomes of its sender; first in its owner
 * @arrive: called when it does; the owner is then freed
 * @bytes: of the owner
 */
struct parcel {
	struct sim_timer timer;
	void (*arrive)(struct parcel *parcel);
	size_t bytes;
	uint64_t sent_at;
	struct line *line;
	struct parcel *next;
	struct parcel **at;
};

/**
 * struct line - the line of a port
 * @first: who waits for a turn, in order
 * @now: whose bytes are on the line; NULL: nobody's, or they are gone before long
 * @start: when @granted began to leave
 * @granted: bytes of @now that leave before the next turn
 * @free_at: when the line has no more to do, as far as it is known
 * @arrives: when the last parcel arrives
 * @held: bytes under way
 * @cut: when the link went down for the last time
 * @parcels: those under way
 */
struct line {
	struct turn *first;
	struct turn **last;
	struct turn *now;
	uint64_t start;
	uint64_t granted;
	uint64_t free_at;
	uint64_t arrives;
	uint64_t held;
	uint64_t cut;
	struct sim_timer timer;
	struct parcel *parcels;
	bool busy;
};

static inline bool line_timed(void)
{
	return cable_time.latency || cable_time.rate;
}

int line_init(struct hca *hca);
void line_fini(struct hca *hca);
void line_cut(struct line *line);
bool line_lost(const struct line *line, uint64_t sent_at);
void line_dump(const struct hca *hca, struct json_object *o);

void turn_join(struct line *line, struct turn *turn);
void turn_leave(struct turn *turn);

uint64_t line_put(struct line *line, uint64_t bytes);
void line_hold(struct line *line, uint64_t bytes);
void line_release(struct line *line, uint64_t bytes);
void line_send(struct line *line, struct parcel *parcel, uint64_t bytes);

const char *cable_parse(const char *text, struct cable_time *to);

#endif
