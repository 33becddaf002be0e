// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues at work: posting, arming, events, moderation, resizing.
 * See cq.h for the model.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "fw/eq.h"
#include "object/cq.h"

#define CI_MASK 0xffffffu
#define CI_SIGN 0x800000u

/* How far index @a is past @b, both of 24 bits. */
static int32_t ci_diff(uint32_t a, uint32_t b)
{
	return (int32_t)(((a - b) & CI_MASK) ^ CI_SIGN) - (int32_t)CI_SIGN;
}

/**
 * cq_find() - the CQ that a command refers to
 * @uid: DevX uid of the command
 */
struct cq *cq_find(struct hca *hca, uint32_t cqn, uint16_t uid)
{
	return obj_find(&hca->objs->cqs, cqn, uid);
}

/**
 * cq_free() - free a CQ that is in no table any more
 */
void cq_free(struct cq *cq)
{
	timer_cancel(&cq->timer);
	qbuf_fini(&cq->buf);
	free(cq);
}

static void cq_fire(struct cq *cq)
{
	struct event_comp ev = { .cqn = htobe32(cq->obj.id) };

	timer_cancel(&cq->timer);
	cq->armed = CQ_UNARMED;
	cq->fired++;
	cq->moderated = 0;
	cq->last_notified = cq->pi;
	if (cq->hca->mute && cq->obj.uid)
		return;
	eq_post(cq->hca, cq->eqn, EVENT_COMP, 0, &ev);
}

/**
 * cq_timer() - the moderation period of a CQ is over
 * @timer: of the CQ
 */
void cq_timer(struct sim_timer *timer)
{
	struct cq *cq = container_of(timer, struct cq, timer);

	if (cq->armed != CQ_UNARMED && !cq->hca->fatal)
		cq_fire(cq);
}

/* An event is due: send it now, or when moderation says so. */
static void cq_notify(struct cq *cq)
{
	cq->moderated++;
	if (cq->max_count > 1 && cq->period_us &&
	    cq->moderated < cq->max_count) {
		if (!timer_armed(&cq->timer))
			timer_arm(&cq->timer, cq->period_us * NSEC_PER_USEC);
		return;
	}
	cq_fire(cq);
}

static void cq_overrun(struct cq *cq)
{
	struct event_cq_err ev = { .cqn = htobe32(cq->obj.id),
				   .syndrome = EVENT_CQ_OVERRUN };

	cq->error = true;
	cq->armed = CQ_UNARMED;
	timer_cancel(&cq->timer);
	hca_error(cq->hca, SIM_ERR_CQ_OVERRUN, "CQ 0x%x overran", cq->obj.id);
	eq_post_async(cq->hca, EVENT_CQ_ERROR, 0, &ev);
}

/* Is the CQ full? Read the doorbell record only if the known index says so. */
static bool cq_full(struct cq *cq)
{
	uint32_t size = 1u << cq->log_size, ci;

	if (((cq->pi - cq->ci) & CI_MASK) < size)
		return false;
	if (db_read(cq->hca, cq->dbr, &ci))
		return true;
	cq->ci = ci & CI_MASK;
	return ((cq->pi - cq->ci) & CI_MASK) >= size;
}

/* Make the first half of an entry of 128 bytes 0: the CQE is in the second one. */
static int cq_pad(struct cq *cq, uint64_t off)
{
	void *to = qbuf_ptr(cq->hca, &cq->buf, off, CQE_SIZE, true);

	if (!to)
		return -EFAULT;
	memset(to, 0, CQE_SIZE);
	return 0;
}

/* Write the CQE at the producer index, wherever the buffer is. */
static int cq_write(struct cq *cq, const struct cqe *cqe)
{
	uint32_t stride = cq_stride(cq);
	uint32_t slot = cq->pi & ((1u << cq->log_size) - 1);
	uint64_t off = (uint64_t)slot * stride + stride - CQE_SIZE;
	struct cqe *to = qbuf_ptr(cq->hca, &cq->buf, off, CQE_SIZE, true);
	uint8_t owner = cq->pi >> cq->log_size & 1;
	uint64_t now = loop_now();

	if (!to)
		return -EFAULT;
	if (cq->cqe_sz == CQE_SZ_128_PAD && cq_pad(cq, off - CQE_SIZE))
		return -EFAULT;
	memcpy(to, cqe, offsetof(struct cqe, op_own));
	if (!cqe->syndrome) {
		to->timestamp_h = htobe32(now >> 32);
		to->timestamp_l = htobe32(now);
	}
	__atomic_store_n(&to->op_own, cqe->op_own | owner, __ATOMIC_RELEASE);
	cq->pi++;
	return 0;
}

/**
 * cq_post() - complete a work request
 * @cqe: all but the owner bit and the time stamp, which is in nanoseconds
 * @solicited: does it count for a CQ armed for solicited completions?
 *
 * Return: 0; -EIO if the CQ is in error, or goes into error now
 */
int cq_post(struct cq *cq, const struct cqe *cqe, bool solicited)
{
	if (cq->error)
		return -EIO;
	if (cq_full(cq) && !cq->ignore_overrun) {
		cq_overrun(cq);
		return -EIO;
	}
	if (cq_write(cq, cqe)) {
		cq_overrun(cq);
		return -EIO;
	}
	if (solicited)
		cq->last_solicited = cq->pi;
	if (cq->armed == CQ_ARM_ANY ||
	    (cq->armed == CQ_ARM_SOLICITED && solicited))
		cq_notify(cq);
	return 0;
}

/**
 * cq_resize() - change to another buffer
 * @buf: the new buffer; taken over on success
 *
 * The last CQE of the old buffer says that it is the last. The guest moves the
 * CQEs before it, one place further, into the new buffer.
 *
 * Return: 0; -ENOSPC if the outstanding CQEs do not fit; -EFAULT
 */
int cq_resize(struct cq *cq, struct qbuf *buf, uint8_t log_size)
{
	struct cqe cqe = { .op_own = CQE_RESIZE << 4 };
	uint32_t outstanding, ci;
	int ret;

	if (db_read(cq->hca, cq->dbr, &ci))
		return -EFAULT;
	cq->ci = ci & CI_MASK;
	outstanding = (cq->pi - cq->ci) & CI_MASK;
	if (outstanding >= 1u << cq->log_size ||
	    outstanding + 1 > 1u << log_size)
		return -ENOSPC;
	ret = cq_write(cq, &cqe);
	if (ret)
		return ret;
	buf->dbr_umem = cq->buf.dbr_umem;
	cq->buf.dbr_umem = NULL;
	buf->dbr_hca = cq->buf.dbr_hca;
	buf->dbr = cq->buf.dbr;
	cq->buf.dbr_hca = NULL;
	qbuf_fini(&cq->buf);
	cq->buf = *buf;
	cq->log_size = log_size;
	return 0;
}

/**
 * cq_ring() - a CQ doorbell: arm the CQ
 * @uar: page that was written
 * @sn_cmd_ci: arm number, what to wait for, consumer index
 * @cqn: number of the CQ
 *
 * An arm number that an event answered already arms nothing: that event is on
 * its way to the guest.
 *
 * Return: RING_OK, RING_NO_QP, RING_WRONG_UAR, RING_BAD_STATE
 */
enum ring_result cq_ring(struct hca *hca, uint32_t uar, uint32_t sn_cmd_ci,
			 uint32_t cqn)
{
	struct cq *cq = idtable_get(&hca->objs->cqs, cqn & 0xffffff);
	bool solicited = sn_cmd_ci & 1u << 24;
	uint32_t ci = sn_cmd_ci & CI_MASK;

	if (!cq)
		return RING_NO_QP;
	if (cq->uar != uar)
		return RING_WRONG_UAR;
	if (cq->error)
		return RING_BAD_STATE;
	if ((sn_cmd_ci >> 28 & 3) != (cq->fired & 3u)) {
		log_debug("hca%u: CQ 0x%x: stale arm %u", hca->index,
			  cq->obj.id, sn_cmd_ci >> 28 & 3);
		return RING_OK;
	}
	if (ci_diff(ci, cq->pi) > 0)
		return RING_BAD_STATE;
	cq->ci = ci;
	cq->armed = solicited ? CQ_ARM_SOLICITED : CQ_ARM_ANY;
	if (ci_diff(solicited ? cq->last_solicited : cq->pi, ci) > 0)
		cq_notify(cq);
	return RING_OK;
}
