/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion queues.
 *
 * Invariants
 * - The producer index only grows. The owner bit of a CQE is bit log_size of
 *   its index, where the buffer has 1 << log_size entries.
 * - The last byte of a CQE has the owner bit and is written last.
 * - A CQ that overran stays in error: no CQE is written to it any more, and a
 *   QP that completes on it goes into error.
 */
#ifndef SIMHCA_CQ_H
#define SIMHCA_CQ_H

#include "fw/uar.h"
#include "object/objects.h"
#include "object/qbuf.h"
#include "object/wqe.h"

/* cqe_sz of the context; with padding the adapter writes all 128 bytes */
enum cqe_sz { CQE_SZ_64, CQE_SZ_128, CQE_SZ_128_PAD };

enum cq_arm { CQ_UNARMED, CQ_ARM_SOLICITED, CQ_ARM_ANY };

struct cq {
	struct obj obj;
	struct hca *hca;
	struct qbuf buf;
	uint64_t dbr;
	uint32_t uar;
	uint32_t eqn;
	uint8_t log_size;
	uint8_t cqe_sz;		/* as in the context */
	bool ignore_overrun;
	bool comp_en;
	bool error;
	uint32_t pi;
	uint32_t ci;		/* last one read from the doorbell record */
	enum cq_arm armed;
	uint8_t fired;		/* events sent; the next valid arm number */
	uint32_t last_solicited; /* index after the last solicited CQE */
	uint32_t last_notified;
	uint16_t max_count;
	uint16_t period_us;
	uint32_t moderated;	/* CQEs since the last event */
	struct sim_timer timer;
};

struct cq *cq_find(struct hca *hca, uint32_t cqn, uint16_t uid);
int cq_post(struct cq *cq, const struct cqe *cqe, bool solicited);
int cq_resize(struct cq *cq, struct qbuf *buf, uint8_t log_size);
enum ring_result cq_ring(struct hca *hca, uint32_t uar, uint32_t sn_cmd_ci,
			 uint32_t cqn);
void cq_timer(struct sim_timer *timer);
void cq_free(struct cq *cq);

static inline uint32_t cq_stride(const struct cq *cq)
{
	return cq->cqe_sz ? 2 * CQE_SIZE : CQE_SIZE;
}

#endif
