// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: life, state, doorbells. See qp.h for the model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/mcg.h"
#include "object/qp.h"
#include "data/transport.h"

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

	if (!objs->stopped)
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
 * @hca: the adapter
 */
void qp_init(struct hca *hca)
{
	hca->objs->err_poll.fire = err_poll;
}

/**
 * qp_find() - the QP that a command refers to
 * @hca: the adapter
 * @qpn: its number
 * @uid: DevX uid of the command
 *
 * Return: the QP, NULL where there is none or it is a bare queue
 */
struct qp *qp_find(struct hca *hca, uint32_t qpn, uint16_t uid)
{
	struct qp *qp = obj_own(&hca->objs->qps, qpn, uid);

	return qp && qp->kind == QP_KIND_QP ? qp : NULL;
}

/**
 * qp_free() - free a QP that is in no table any more
 * @qp: the QP
 */
void qp_free(struct qp *qp)
{
	timer_cancel(&qp->timer);
	qbuf_fini(&qp->buf);
	free(qp);
}

/**
 * qp_accessor() - on whose behalf a QP reaches local memory
 * @qp: the QP
 */
struct accessor qp_accessor(const struct qp *qp)
{
	return (struct accessor){
		.pd = qp->pd ? qp->pd->obj.id : 0,
		.qpn = qp->obj.id,
		.any_pd = qp->type == QP_REG_UMR,
		.rlky = IFC_GET(qpc, qp->qpc, rlky),
		.fre = IFC_GET(qpc, qp->qpc, fre),
	};
}

/**
 * qp_load() - take what every message needs out of the context
 * @qp: the QP, whose context has changed
 */
void qp_load(struct qp *qp)
{
	const uint8_t *c = qp->qpc;
	const uint8_t *path = IFC_ADDR_OF(qpc, c, primary_address_path);

	qp->remote_qpn = IFC_GET(qpc, c, remote_qpn);
	qp->qkey = IFC_GET(qpc, c, q_key);
	qp->mtu = IFC_GET(qpc, c, mtu);
	qp->pm_state = IFC_GET(qpc, c, pm_state);
	qp->rre = IFC_GET(qpc, c, rre);
	qp->rwe = IFC_GET(qpc, c, rwe);
	qp->rae = IFC_GET(qpc, c, rae);
	qp->rlid = IFC_GET(ads, path, rlid);
	qp->pkey = 0;
	port_pkey(qp->hca, IFC_GET(ads, path, pkey_index), &qp->pkey);
}

/**
 * qp_reset() - back to what CREATE_QP made
 * @qp: the QP
 */
void qp_reset(struct qp *qp)
{
	timer_cancel(&qp->timer);
	err_list_remove(qp);
	memcpy(qp->qpc, qp->qpc_new, QPC_SIZE);
	qp->state = QP_RST;
	qp->sq_head = 0;
	qp->rq_head = 0;
	qp->send_psn = 0;
	qp->recv_psn = 0;
	qp->waiting = false;
	qp->comm_est = false;
	qp_load(qp);
}

/**
 * qp_error() - move a QP to error and flush what was posted
 * @qp: the QP
 * @event: EVENT_* that tells why, 0: a completion told already
 */
void qp_error(struct qp *qp, uint8_t event)
{
	if (qp->state == QP_ERR)
		return;
	qp->state = QP_ERR;
	timer_cancel(&qp->timer);
	qp->waiting = false;
	if (event)
		qp_srq_event(qp->hca, event, qp->obj.id);
	send_flush(qp);
	recv_flush(qp);
	if ((qp->srq && qp->type != QP_UD) || (qp->type == QP_XRC && !qp->has_sq))
		qp_srq_event(qp->hca, EVENT_LAST_WQE, qp->obj.id);
	err_list_add(qp);
}

/**
 * qp_kick() - execute what waits, if the state allows it
 * @qp: the QP
 */
void qp_kick(struct qp *qp)
{
	if (qp->hca->objs->stopped || !qp->has_sq)
		return;
	if (qp->state == QP_RTS)
		send_run(qp);
	else if (qp->state == QP_ERR || qp->state == QP_SQER)
		send_flush(qp);
}

/**
 * qp_ring() - a doorbell or BlueFlame write named a QP
 * @hca: the adapter
 * @uar: page that was written
 * @qpn: the QP
 * @index: producer index of the control segment that was written
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
	struct qp *qp = idtable_get(&hca->objs->qps, qpn);

	if (!qp || !qp->has_sq)
		return RING_NO_QP;
	if (qp->uar != uar)
		return RING_WRONG_UAR;
	if (qp->state < QP_RTS)
		return RING_BAD_STATE;
	if (hca->objs->stopped || qp->waiting)
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
 * qp_count_ring() - count a doorbell or BlueFlame write of a QP
 * @hca: the adapter
 * @qpn: the QP; where there is none nothing is counted
 * @bf: was it BlueFlame?
 * @wrong_uar: did it come through a page that the QP does not own?
 */
void qp_count_ring(struct hca *hca, uint32_t qpn, bool bf, bool wrong_uar)
{
	struct qp *qp = idtable_get(&hca->objs->qps, qpn);

	if (!qp)
		return;
	if (wrong_uar)
		qp->wrong_uar++;
	else if (bf)
		qp->blueflame++;
	else
		qp->doorbells++;
}

/**
 * qp_type_name() - a QP's type, for people
 * @qp: the QP
 */
const char *qp_type_name(const struct qp *qp)
{
	switch (qp->type) {
	case QP_RC:
		return "rc";
	case QP_UC:
		return "uc";
	case QP_UD:
		return "ud";
	case QP_XRC:
		return qp->has_sq ? "xrc_ini" : "xrc_tgt";
	case QP_QP0:
		return "qp0";
	case QP_QP1:
		return "qp1";
	case QP_REG_UMR:
		return "reg_umr";
	}
	return "unknown";
}

static void put_int(struct json_object *o, const char *name, uint64_t v)
{
	json_object_object_add(o, name, json_object_new_int64((int64_t)v));
}

static void put_str(struct json_object *o, const char *name, const char *v)
{
	json_object_object_add(o, name, json_object_new_string(v));
}

/**
 * qp_dump() - a QP as the control socket shows it
 * @qp: the QP
 */
struct json_object *qp_dump(const struct qp *qp)
{
	static const char *const states[] = { "rst", "init", "rtr", "rts",
					      "sqer", "sqd", "err" };
	struct json_object *o = json_object_new_object();
	bool user = !uid_privileged(qp->obj.uid) ||
		    qp->user_index != NO_USER_INDEX;

	put_int(o, "qpn", qp->obj.id);
	put_str(o, "type", qp_type_name(qp));
	put_str(o, "state", states[qp->state]);
	put_int(o, "uar", qp->uar);
	put_int(o, "uid", qp->obj.uid);
	put_int(o, "doorbells", qp->doorbells);
	put_int(o, "blueflame", qp->blueflame);
	put_int(o, "wrong_uar", qp->wrong_uar);
	json_object_object_add(o, "user", json_object_new_boolean(user));
	return o;
}
