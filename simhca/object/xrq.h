/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queues for tag matching (XRQ): a shared receive queue and, before it, a list of tags.
 *
 * Invariants
 * - The list is in the order in which tags were appended; the first one that matches
 *   takes a message. A tag takes one message.
 * - The adapter counts messages that no tag took, and the driver tells how many of them
 *   it has seen. A tag that comes while the two differ takes no message until they are
 *   the same: one that the driver did not see yet may be meant for it.
 * - The index of a tag is its driver's choice: each append names the index of the next.
 * - A message that a tag takes uses no receive of the shared queue.
 * - A QP whose send queue is the adapter's fetches the data of rendezvous requests, in
 *   the order in which they came.
 */
#ifndef SIMHCA_XRQ_H
#define SIMHCA_XRQ_H

#include <stdlib.h>

#include "object/qp.h"

#define TM_MAX_TAGS (1u << LOG_MAX_TAGS)

enum tmh_op { TMH_NO_TAG, TMH_RNDV, TMH_FIN, TMH_EAGER };

/* The header of messages for such a queue; all of it is big endian. */
struct tmh {
	uint8_t op;		/* enum tmh_op */
	uint8_t rsvd[3];
	uint32_t app_ctx;
	uint64_t tag;
};

/* Behind the header of a rendezvous request: where the data is */
struct rvh {
	uint64_t va;
	uint32_t rkey;
	uint32_t len;
};

_Static_assert(sizeof(struct tmh) == 16, "wire format");
_Static_assert(sizeof(struct rvh) == 16, "wire format");

/**
 * struct tag - an entry of the list
 * @posted: is it in the list?
 * @waits: came while the counters differed, and they have differed since
 * @tag: to match
 * @mask: the bits of it that count
 * @buf: where the message goes
 */
struct tag {
	bool posted;
	bool waits;
	uint64_t tag;
	uint64_t mask;
	struct wqe_data buf;
};

/**
 * struct xrq - a queue for tag matching
 * @srq: for messages that no tag takes; its first member, since srq_free() frees it
 * @rndv: does the adapter fetch the data of rendezvous requests?
 * @log_list: room for so many tags
 * @next: index of the tag that is appended next
 * @unexpected: messages with a tag that no tag of the list took
 * @seen: how many of them the driver has seen, by what it told
 * @ntags: length of the list
 * @order: indexes of the tags in the list, the first one first
 */
struct xrq {
	struct srq srq;
	bool rndv;
	uint8_t log_list;
	uint16_t next;
	uint16_t unexpected;
	uint16_t seen;
	uint16_t ntags;
	uint16_t order[TM_MAX_TAGS];
	struct tag tags[TM_MAX_TAGS];
};

/**
 * struct rndv - a rendezvous that the adapter is to do
 * @next: of the same QP
 * @index: of the tag that took it
 * @fetched: has the data come? Then the requester is told.
 * @to: where the data goes
 * @rvh: where it is
 * @fin: what the requester is told
 */
struct rndv {
	struct rndv *next;
	uint16_t index;
	bool fetched;
	struct wqe_data to;
	struct rvh rvh;
	struct tmh fin;
};

/* The queue for tag matching of a QP; NULL if it has none. */
static inline struct xrq *qp_xrq(const struct qp *qp)
{
	return qp->srq && qp->srq->kind == SRQ_KIND_XRQ ?
		       container_of(qp->srq, struct xrq, srq) : NULL;
}

/* Forget the first rendezvous of a QP. */
static inline void rndv_pop(struct qp *qp)
{
	struct rndv *r = qp->rndv;

	qp->rndv = r->next;
	free(r);
}

#endif
