/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared receive queues: SRQ, XRC SRQ, RMP, and the one of an XRQ (xrq.h). The
 * driver implements a verbs SRQ as an RMP.
 *
 * Invariants
 * - The queue is a linked list: each work request has the index of the next
 *   one, and the guest appends at the tail. An RMP may be a ring instead. The
 *   requests of a ring begin with the same segment, unless the RMP was created
 *   with basic_cyclic_rcv_wqe. The doorbell record counts all requests ever
 *   posted.
 * - A queue goes into error for good if its memory cannot be read, or if its
 *   doorbell record counts more requests than the queue can hold.
 * - The limit event is sent once, and clears the limit.
 */
#ifndef SIMHCA_SRQ_H
#define SIMHCA_SRQ_H

#include "object/cq.h"
#include "object/objects.h"
#include "object/qbuf.h"
#include "object/wqe.h"

enum srq_kind { SRQ_KIND_SRQ, SRQ_KIND_XRC, SRQ_KIND_RMP, SRQ_KIND_XRQ, SRQ_KINDS };

struct srq {
	struct obj obj;
	struct hca *hca;
	enum srq_kind kind;
	struct qbuf buf;
	uint64_t dbr;
	struct domain *pd;
	struct domain *xrcd;	/* NULL: the queue has no XRC domain */
	struct cq *cq;		/* XRC and XRQ */
	uint32_t user_index;
	uint8_t log_size;
	uint8_t log_stride;
	bool cyclic;		/* the queue is a ring, not a linked list */
	bool plain;		/* requests have no next_wqe_index segment */
	bool error;
	uint16_t head;		/* index of the next work request */
	uint16_t taken;		/* number of requests taken so far */
	uint16_t lwm;
};

/**
 * struct recv_wqe - a work request taken from a receive queue
 * @index: its index in the queue, for the CQE
 * @n: number of segments before the terminator
 * @segs: the segments, big endian
 */
struct recv_wqe {
	uint16_t index;
	uint16_t n;
	struct wqe_data segs[RWQE_MAX / sizeof(struct wqe_data)];
};

struct srq *srq_find(struct hca *hca, uint32_t srqn, uint16_t uid);
int srq_take(struct srq *srq, struct recv_wqe *rw);
void srq_put_back(struct srq *srq, uint16_t index);
void srq_check_limit(struct srq *srq);
uint16_t srq_posted(struct srq *srq);
void srq_free(struct srq *srq);
void recv_wqe_trim(struct recv_wqe *rw);

/* ---- srq_cmd.c */
uint8_t srq_take_wq(struct cmd *cmd, struct srq *srq, const uint8_t *wq);
void srq_put_wq(const struct srq *srq, uint8_t *wq);
uint8_t srq_publish(struct cmd *cmd, struct srq *srq, uint8_t status);
uint8_t srq_destroy(struct cmd *cmd, uint32_t srqn, enum srq_kind kind);
uint8_t srq_arm(struct cmd *cmd, uint32_t srqn, enum srq_kind kind,
		uint16_t lwm);

#endif
