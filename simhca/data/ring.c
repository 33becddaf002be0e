// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbells of send queues: what makes a QP execute.
 */
#include "base/trace.h"
#include "data/tag_match.h"

/**
 * qp_kick() - execute what waits, if the state allows it
 */
void qp_kick(struct qp *qp)
{
	if (qp->hca->fatal)
		return;
	rndv_run(qp);
	if (!qp->has_sq)
		return;
	if (qp->state == QP_RTS)
		send_run(qp);
	else if (qp->state == QP_ERR || qp->state == QP_SQER)
		sq_flush(qp);
}

/**
 * qp_retry() - the timer of a waiting QP fired: try again
 * @timer: of the QP
 */
void qp_retry(struct sim_timer *timer)
{
	struct qp *qp = container_of(timer, struct qp, timer);

	qp->waiting = false;
	qp_kick(qp);
}

static void ring_trace(const struct qp *qp, uint16_t newest)
{
	struct trace_event e = {
		.kind = TRACE_RING,
		.hca = qp->hca->index,
		.qpn = qp->obj.id,
		.request = newest,
		.begun = loop_now(),
	};

	trace_add(&e);
}

/* The QP that a doorbell names, with or without a doorbell record. */
static enum ring_result find(struct hca *hca, uint32_t uar, uint32_t qpn,
			     bool no_record, struct qp **found)
{
	struct qp *qp = idtable_get(&hca->objs->qps, qpn);

	if (!qp || !qp->has_sq)
		return RING_NO_QP;
	if (qp->uar != uar)
		return RING_WRONG_UAR;
	if (qp->state < QP_RTS || qp->no_record != no_record)
		return RING_BAD_STATE;
	*found = qp;
	return RING_OK;
}

/**
 * qp_ring() - a doorbell or BlueFlame write named a QP
 * @uar: page that was written
 * @index: of the request whose control segment was written, the newest one
 * @bf: copy of the work request, NULL for a plain doorbell
 * @bf_len: bytes of @bf
 *
 * A BlueFlame copy that is due is compared with what stands in memory.
 *
 * Return: RING_OK, RING_NO_QP, RING_WRONG_UAR, RING_BAD_STATE, RING_TORN
 */
enum ring_result qp_ring(struct hca *hca, uint32_t uar, uint32_t qpn,
			 uint16_t index, const void *bf, size_t bf_len)
{
	enum ring_result ret;
	struct qp *qp;

	ret = find(hca, uar, qpn, false, &qp);
	if (ret != RING_OK)
		return ret;
	if (trace_on())
		ring_trace(qp, index);
	qp->rung = index;
	if (hca->fatal || qp->waiting)
		return RING_OK;
	qp->torn = false;
	if (bf && index == qp->sq_head && qp->state == QP_RTS) {
		qp->bf = bf;
		qp->bf_len = bf_len;
	}
	qp_kick(qp);
	qp->bf = NULL;
	return qp->torn ? RING_TORN : RING_OK;
}

/**
 * qp_ring_to() - a doorbell named a QP that has no doorbell record for its requests
 * @uar: page that was written
 * @end: index behind the last request that is posted
 *
 * Return: RING_OK, RING_NO_QP, RING_WRONG_UAR; RING_BAD_STATE: also if so much cannot
 * be posted
 */
enum ring_result qp_ring_to(struct hca *hca, uint32_t uar, uint32_t qpn,
			    uint16_t end)
{
	enum ring_result ret;
	struct qp *qp;

	ret = find(hca, uar, qpn, true, &qp);
	if (ret != RING_OK)
		return ret;
	if ((uint16_t)(end - qp->sq_head) > 1u << qp->log_sq)
		return RING_BAD_STATE;
	if (trace_on())
		ring_trace(qp, end - 1);
	qp->sq_end = end;
	if (!hca->fatal && !qp->waiting)
		qp_kick(qp);
	return RING_OK;
}
