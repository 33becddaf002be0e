// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: going into error, and the reset of a QP.
 *
 * Invariants
 * - A QP in error completes all its work requests with a flush error. A receive
 *   is posted without a doorbell, so a timer polls the receive queues of QPs in
 *   error.
 */
#include <string.h>

#include "data/flight.h"
#include "data/tag_match.h"
#include "object/page_fault.h"
#include "object/qp.h"
#include "qos/sched.h"

/* How often receive queues of QPs in error are looked at: posting to them
 * rings no doorbell.
 */
#define ERR_POLL_MIN (200 * NSEC_PER_USEC)
#define ERR_POLL_MAX (20 * NSEC_PER_MSEC)

static void err_poll(struct sim_timer *timer)
{
	struct objects *objs = container_of(timer, struct objects, err_poll);
	bool found = false;
	struct qp *qp;

	if (!objs->hca->fatal)
		for (qp = objs->err_list; qp; qp = qp->err_next)
			found |= recv_flush(qp);
	if (!objs->err_list)
		return;
	objs->err_poll_ns = found ? ERR_POLL_MIN : objs->err_poll_ns * 2;
	if (objs->err_poll_ns > ERR_POLL_MAX)
		objs->err_poll_ns = ERR_POLL_MAX;
	timer_arm(&objs->err_poll, objs->err_poll_ns);
}

static void err_list_add(struct qp *qp)
{
	struct objects *objs = qp->hca->objs;

	if (qp->in_err_list || !qp->has_rq)
		return;
	qp->in_err_list = true;
	qp->err_next = objs->err_list;
	objs->err_list = qp;
	objs->err_poll_ns = ERR_POLL_MIN;
	timer_arm(&objs->err_poll, objs->err_poll_ns);
}

/**
 * err_list_remove() - stop watching the receive queue of a QP
 * @qp: the QP, in error or not
 */
void err_list_remove(struct qp *qp)
{
	struct objects *objs = qp->hca->objs;
	struct qp **at = &objs->err_list;

	if (!qp->in_err_list)
		return;
	while (*at != qp)
		at = &(*at)->err_next;
	*at = qp->err_next;
	qp->in_err_list = false;
	if (!objs->err_list)
		timer_cancel(&objs->err_poll);
}

/**
 * qp_init() - prepare the tables of an adapter for QPs
 */
void qp_init(struct hca *hca)
{
	hca->objs->err_poll.fire = err_poll;
}

/**
 * qp_reset() - back to what CREATE_QP made
 */
void qp_reset(struct qp *qp)
{
	flights_end(qp);
	fault_done(qp);
	timer_cancel(&qp->timer);
	while (qp->rndv)
		rndv_pop(qp);
	err_list_remove(qp);
	memcpy(qp->qpc, qp->qpc_new, QPC_SIZE);
	qp->state = QP_RST;
	qp->sq_head = 0;
	qp->sq_end = 0;
	qp->rung = UINT16_MAX;	/* before the first one */
	qp->mmo = false;
	qp->drain = false;
	sched_move(&qp->group, NULL);
	sched_move(&qp->read_group, NULL);
	qp->rq_head = 0;
	qp->send_psn = 0;
	qp->recv_psn = 0;
	qp->waiting = false;
	qp->comm_est = false;
	qp->streams.nbad = 0;
	qp_load(qp);
}

/**
 * qp_error() - move a QP to error and flush what was posted
 * @event: EVENT_* that tells why, 0: a completion told already
 */
void qp_error(struct qp *qp, uint8_t event)
{
	if (qp->state == QP_ERR)
		return;
	qp->state = QP_ERR;
	flights_end(qp);
	fault_done(qp);
	timer_cancel(&qp->timer);
	qp->waiting = false;
	if (event)
		event_post(qp->hca, event, qp->obj.id);
	rndv_cancel(qp);
	sq_flush(qp);
	recv_flush(qp);
	if ((qp->srq && qp->type != QP_UD && qp->type != QP_DCI) ||
	    (qp->type == QP_XRC && !qp->has_sq))
		event_post(qp->hca, EVENT_LAST_WQE, qp->obj.id);
	err_list_add(qp);
}
