/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Between queue pairs: what a parsed work request is, and what became of it.
 */
#ifndef SIMHCA_TRANSPORT_H
#define SIMHCA_TRANSPORT_H

#include "object/qp.h"

/**
 * struct send_wqe - a send work request, parsed
 * @op: WQE_OP_*
 * @blocks: that it takes
 * @ce: WQE_CE_*
 * @solicited: asks for a solicited completion at the other end
 * @imm: immediate data or key, big endian as in the WQE
 * @srqn: XRC: which shared receive queue
 * @av: UD: where to
 * @raddr: RDMA and atomic: remote address and key
 * @tail: what follows, for UMR
 * @tail_len: bytes of @tail
 * @data: local memory: source of a send or write, target of a read
 */
struct send_wqe {
	uint8_t op;
	uint16_t blocks;
	uint8_t ce;
	bool solicited;
	uint32_t imm;
	uint32_t srqn;
	struct wqe_av av;
	struct wqe_raddr raddr;
	struct wqe_atomic atomic;
	const uint8_t *tail;
	size_t tail_len;
	struct sglist *data;
};

/**
 * enum outcome - of executing a send work request
 * @SEND_DONE: complete it
 * @SEND_WAIT: the QP's timer is armed (or never will be); try it again then
 * @SEND_FAILED: complete it with an error
 */
enum outcome { SEND_DONE, SEND_WAIT, SEND_FAILED };

/**
 * enum reply - of a responder
 * @REPLY_ACK: executed
 * @REPLY_LOST: nothing comes back: dropped, or nobody there
 * @REPLY_RNR: no receive work request is posted
 * @REPLY_INVAL: invalid request
 * @REPLY_ACCESS: the memory may not be reached so
 * @REPLY_OP: the responder had a problem of its own
 */
enum reply {
	REPLY_ACK,
	REPLY_LOST,
	REPLY_RNR,
	REPLY_INVAL,
	REPLY_ACCESS,
	REPLY_OP,
};

/* transport.c: RC, UC and XRC, the requester's side */
enum outcome connected_send(struct qp *qp, const struct send_wqe *w,
			    uint8_t *syndrome);
void connected_rearm(struct qp *qp);

/* respond.c: the responder's side */
enum reply respond(struct qp *qp, struct qp *from, const struct send_wqe *w);
void migrate(struct qp *qp);

/* ud.c */
enum outcome ud_send(struct qp *qp, const struct send_wqe *w,
		     uint8_t *syndrome);

#endif
