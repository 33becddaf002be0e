// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: finding, freeing and showing them. See qp.h for the model.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "data/flight.h"
#include "fabric/port.h"
#include "object/page_fault.h"
#include "object/qp.h"
#include "object/xrq.h"
#include "qos/sched.h"

/**
 * qp_find() - the QP that a command refers to
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
 */
void qp_free(struct qp *qp)
{
	flights_end(qp);
	fault_done(qp);
	timer_cancel(&qp->timer);
	sched_move(&qp->group, NULL);
	sched_move(&qp->read_group, NULL);
	while (qp->rndv)
		rndv_pop(qp);
	qbuf_fini(&qp->buf);
	free(qp);
}

/**
 * qp_accessor() - on whose behalf a QP reaches local memory
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
	qp->rre = IFC_GET(qpc, c, rre);
	qp->rwe = IFC_GET(qpc, c, rwe);
	qp->rae = IFC_GET(qpc, c, rae);
	qp->rlid = IFC_GET(ads, path, rlid);
	qp->pkey = 0;
	port_pkey(qp->hca, IFC_GET(ads, path, pkey_index), &qp->pkey);
}

/**
 * qp_count_ring() - count a doorbell or BlueFlame write of a QP
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
	case QP_DCI:
		return "dci";
	case QP_DCT:
		return "dct";
	case QP_QP0:
		return "qp0";
	case QP_QP1:
		return "qp1";
	case QP_REG_UMR:
		return "reg_umr";
	}
	return "unknown";
}

static void put_str(struct json_object *o, const char *name, const char *v)
{
	json_object_object_add(o, name, json_object_new_string(v));
}

/**
 * qp_dump() - a QP as the control socket shows it
 */
struct json_object *qp_dump(const struct qp *qp)
{
	static const char *const states[] = { "rst", "init", "rtr", "rts",
					      "sqer", "sqd", "err" };
	struct json_object *o = json_object_new_object();
	bool user = !uid_privileged(qp->obj.uid) ||
		    qp->user_index != NO_USER_INDEX;

	json_add_number(o, "qpn", qp->obj.id);
	put_str(o, "type", qp_type_name(qp));
	put_str(o, "state", states[qp->state]);
	json_add_number(o, "uar", qp->uar);
	json_add_number(o, "uid", qp->obj.uid);
	json_add_number(o, "doorbells", qp->doorbells);
	json_add_number(o, "blueflame", qp->blueflame);
	json_add_number(o, "wrong_uar", qp->wrong_uar);
	json_object_object_add(o, "user", json_object_new_boolean(user));
	if (qp->state >= QP_RTR && !qp_is_ud(qp)) {
		json_add_number(o, "remote_lid", qp->rlid);
		json_add_number(o, "remote_qpn", qp->remote_qpn);
	}
	return o;
}
