/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Page faults: an access met a page that is not present, and a driver is asked for
 * the page.
 *
 * Invariants
 * - The requester waits, also where the page is the responder's, and sends the same
 *   request again when the driver says "resume". It loses no retry by that.
 * - A QP waits for one fault at most. Its token names it until a resume, or until
 *   the receive or send queue that the event named is destroyed.
 * - A fault whose requester is gone or in error stays, so that the resume that the
 *   driver sends is not refused.
 * - A fault that was resumed with an error is not raised again by the same request:
 *   the access fails where the page is still not present.
 * - With the memory scheme a key in a list gets some more tries after an error. The
 *   driver may have forgotten that key, and be about to change the list: mlx5_ib does
 *   so with the parts of an implicit region.
 * - Without an event queue for page faults, or without the capability, such an access
 *   fails at once.
 */
#ifndef SIMHCA_PAGE_FAULT_H
#define SIMHCA_PAGE_FAULT_H

#include "object/qp.h"

/* How a driver is told, which is the subtype of the event */
enum fault_kind { FAULT_WQE, FAULT_RDMA, FAULT_MEMORY, FAULT_KINDS };

/* On which side the memory is */
enum fault_side { FAULT_NOWHERE, FAULT_LOCAL, FAULT_REMOTE };

/**
 * struct page_fault - one that was not resumed yet
 * @obj: its number is the token
 * @hca: whose driver is asked
 * @waiter: the requester that waits; NULL if nobody does
 * @side: of the memory, seen from the requester
 * @kind: FAULT_*
 * @type: FAULT_TYPE_* of the transport scheme
 * @listed: memory scheme: is the key in a list of keys?
 * @wq: number of the queue, which a resume of the transport scheme repeats
 */
struct page_fault {
	struct obj obj;
	struct hca *hca;
	struct qp *waiter;
	enum fault_side side;
	enum fault_kind kind;
	uint8_t type;
	bool listed;
	uint32_t wq;
};

bool fault_local(struct qp *qp, bool reads);
bool fault_recv(struct qp *waiter, const struct recv *r, uint64_t len);
bool fault_rdma(struct qp *waiter, const struct qp *responder, uint32_t rkey,
		uint64_t va, uint64_t len, enum odp_op op);
void fault_done(struct qp *qp);
void fault_queue_gone(struct hca *hca, bool srq, uint32_t number);
void faults_reset(struct hca *hca);
void faults_dump(const struct hca *hca, struct json_object *o);

#endif
