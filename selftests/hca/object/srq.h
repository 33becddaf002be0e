/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared receive queues: SRQ, XRC SRQ, and RMP, which is what the driver makes
 * of a plain SRQ.
 *
 * Invariants
 * - The queue is a linked list: each work request names the index of the next
 *   one, and the guest appends at the tail. An RMP may be a ring instead; its
 *   requests still begin with the segment that names a next one, unless the
 *   RMP was made with basic_cyclic_rcv_wqe. The doorbell record counts how many
 *   were ever posted.
 * - A queue whose memory cannot be read, or whose counter is absurd, is in
 *   error for good.
 * - The limit event comes once, and clears the limit.
 */
#ifndef SIMHCA_SRQ_H
#define SIMHCA_SRQ_H

#include "object/cq.h"
#include "object/objects.h"
#include "object/qbuf.h"
#include "object/wqe.h"

enum srq_kind { SRQ_KIND_SRQ, SRQ_KIND_XRC, SRQ_KIND_RMP, SRQ_KINDS };

struct srq {
	struct obj obj;
	struct hca *hca;
	enum srq_kind kind;
	struct qbuf buf;
	uint64_t dbr;
	struct domain *pd;
	struct domain *xrcd;	/* XRC, or a plain SRQ that names one */
	struct cq *cq;		/* XRC */
	uint32_t user_index;
	uint8_t log_size;
	uint8_t log_stride;
	bool cyclic;		/* a ring; else a list of linked requests */
	bool plain;		/* a request begins with its data segments */
	bool error;
	uint16_t head;		/* index of the next work request */
	uint16_t taken;		/* how many were ever taken */
	uint16_t lwm;
};

/**
 * struct recv_wqe - a work request taken from a receive queue
 * @index: in its queue, for the CQE
 * @n: segments before the terminator
 * @segs: the segments, as the guest wrote them
 */
struct recv_wqe {
	uint16_t index;
	uint16_t n;
	struct wqe_data segs[RWQE_MAX / sizeof(struct wqe_data)];
};

struct srq *srq_find(struct hca *hca, uint32_t srqn, uint16_t uid);
int srq_take(struct srq *srq, struct recv_wqe *rw);
void srq_check_limit(struct srq *srq);
uint16_t srq_posted(struct srq *srq);
void srq_free(struct srq *srq);
void recv_wqe_trim(struct recv_wqe *rw);

#endif
