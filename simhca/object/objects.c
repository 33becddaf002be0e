// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All objects of an adapter: their tables, and operations on all objects.
 * See objects.h for the model.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fw/eq.h"
#include "object/cq.h"
#include "object/mcg.h"
#include "object/general.h"
#include "object/memic.h"
#include "object/mkey.h"
#include "object/page_fault.h"
#include "object/qp.h"
#include "object/srq.h"
#include "object/umem.h"
#include "object/wqe.h"

/* First numbers: small ones stay free so that a zero or a QP0 stands out. */
enum {
	FIRST_PD = 1,
	FIRST_CQ = 0x10,
	FIRST_SRQ = 0x10,
	FIRST_QP = 0x40,
};

/**
 * objects_init() - make the empty tables of an adapter
 *
 * Return: 0 or -ENOMEM
 */
int objects_init(struct hca *hca)
{
	struct objects *objs = calloc(1, sizeof(*objs));

	if (!objs)
		return -ENOMEM;
	if (memic_init(hca)) {
		free(objs);
		return -ENOMEM;
	}
	objs->hca = hca;
	idtable_init(&objs->pds, FIRST_PD, 1u << LOG_MAX_PD);
	idtable_init(&objs->tds, FIRST_PD, 1u << LOG_MAX_TD);
	idtable_init(&objs->xrcds, FIRST_PD, 1u << LOG_MAX_XRCD);
	idtable_init(&objs->mkeys, MKEY_FIRST, 1u << LOG_MAX_MKEY);
	idtable_init(&objs->cqs, FIRST_CQ, 1u << LOG_MAX_CQ);
	idtable_init(&objs->srqs, FIRST_SRQ, 1u << LOG_MAX_SRQ);
	idtable_init(&objs->qps, FIRST_QP, 1u << LOG_MAX_QP);
	idtable_init(&objs->tiss, FIRST_PD, 1u << LOG_MAX_TIS);
	idtable_init(&objs->faults, 1, 1u << LOG_MAX_FAULT);
	idtable_init(&objs->umems, FIRST_PD, 1u << LOG_MAX_UMEM);
	idtable_init(&objs->qpn_blocks, 0, 1u << LOG_MAX_QPN_BLOCKS);
	idtable_init(&objs->psvs, FIRST_PD, 1u << LOG_MAX_PSV);
	idtable_init(&objs->av_maps, FIRST_PD, 1u << LOG_MAX_AV_MAPS);
	idtable_init(&objs->scheds, 1, 1u << LOG_MAX_SCHED);
	cong_reset(&objs->cong);
	hca->objs = objs;
	qp_init(hca);
	return 0;
}

static void table_clear(struct idtable *t, void (*drop)(void *obj))
{
	void *obj;
	uint32_t id;

	idtable_for_each(t, id, obj) {
		idtable_remove(t, id);
		drop(obj);
	}
	idtable_fini(t);
}

static void cq_drop(void *obj)
{
	struct cq *cq = obj;

	uar_release(cq->hca, cq->uar);
	eq_release(cq->hca, cq->eqn);
	cq_free(cq);
}

static void srq_drop(void *obj)
{
	srq_free(obj);
}

static void qp_drop(void *obj)
{
	struct qp *qp = obj;

	if (qp->has_sq)
		uar_release(qp->hca, qp->uar);
	qp_free(qp);
}

static void mkey_drop(void *obj)
{
	mkey_free(obj);
}

static void umem_drop(void *obj)
{
	umem_free(obj);
}

/**
 * objects_reset() - free every object; guest memory is not written
 */
void objects_reset(struct hca *hca)
{
	struct objects *objs = hca->objs;

	timer_cancel(&objs->err_poll);
	mcg_reset(hca);
	objs->err_list = NULL;
	objs->special[0] = NULL;
	objs->special[1] = NULL;
	table_clear(&objs->qps, qp_drop);
	faults_reset(hca);
	table_clear(&objs->srqs, srq_drop);
	table_clear(&objs->cqs, cq_drop);
	table_clear(&objs->mkeys, mkey_drop);
	table_clear(&objs->tiss, free);
	table_clear(&objs->xrcds, free);
	table_clear(&objs->tds, free);
	table_clear(&objs->pds, free);
	table_clear(&objs->umems, umem_drop);	/* queues held them */
	table_clear(&objs->qpn_blocks, free);
	table_clear(&objs->av_maps, free);
	table_clear(&objs->scheds, free);	/* queues held them */
	table_clear(&objs->psvs, free);
	memic_reset(hca);
	memset(objs->paces, 0, sizeof(objs->paces));
	cong_reset(&objs->cong);
	free(objs->sig_wire);
	objs->sig_wire = NULL;
	free(objs->sig_sink);
	objs->sig_sink = NULL;
	sgl_free(&objs->src);
	sgl_free(&objs->dst);
}

/**
 * objects_left() - tell which objects there are
 * @left: gets them
 */
void objects_left(struct hca *hca, struct left *left)
{
	struct objects *objs = hca->objs;

	left_add(left, "PDs", &objs->pds);
	left_add(left, "TDs", &objs->tds);
	left_add(left, "XRCDs", &objs->xrcds);
	left_add(left, "mkeys", &objs->mkeys);
	left_add(left, "CQs", &objs->cqs);
	left_add(left, "SRQs", &objs->srqs);
	left_add(left, "QPs", &objs->qps);
	left_add(left, "TISs", &objs->tiss);
	left_add(left, "UMEMs", &objs->umems);
	left_add(left, "blocks of QPNs", &objs->qpn_blocks);
	left_add(left, "mapped addresses", &objs->av_maps);
	left_add(left, "scheduling elements", &objs->scheds);
	left_add(left, "PSVs", &objs->psvs);
}

/**
 * objects_fini() - free what objects_init() made
 */
void objects_fini(struct hca *hca)
{
	objects_reset(hca);
	memic_fini(hca);
	free(hca->objs);
	hca->objs = NULL;
}

/**
 * objects_kick() - send again what waits for an answer, since the port came up
 */
void objects_kick(struct hca *hca)
{
	struct qp *qp;
	uint32_t id;

	idtable_for_each(&hca->objs->qps, id, qp) {
		/* Without a timer the QP would wait for ever: send again. */
		if (!timer_armed(&qp->timer) && !qp->fault)
			qp->waiting = false;
		qp_kick(qp);
	}
}

/**
 * objects_dump() - tell the control socket what there is
 * @o: gets "qps", "mtt", "page_faults" and "signatures"
 * @alive: gets the number of each kind
 */
void objects_dump(struct hca *hca, struct json_object *o,
		  struct json_object *alive)
{
	struct objects *objs = hca->objs;
	struct json_object *qps = json_object_new_array();
	uint32_t kinds[SRQ_KINDS] = { 0 }, nqps = 0, nsqs = 0, id;
	struct srq *srq;
	struct qp *qp;

	idtable_for_each(&objs->qps, id, qp) {
		if (qp->kind == QP_KIND_SQ) {
			nsqs++;
			continue;
		}
		nqps++;
		json_object_array_add(qps, qp_dump(qp));
	}
	idtable_for_each(&objs->srqs, id, srq)
		kinds[srq->kind]++;
	json_object_object_add(o, "qps", qps);
	mkeys_dump(hca, o);
	faults_dump(hca, o);
	sig_dump(hca, o);
	json_add_number(alive, "pd", objs->pds.count);
	json_add_number(alive, "td", objs->tds.count);
	json_add_number(alive, "xrcd", objs->xrcds.count);
	json_add_number(alive, "mkey", objs->mkeys.count);
	json_add_number(alive, "cq", objs->cqs.count);
	json_add_number(alive, "qp", nqps);
	json_add_number(alive, "sq", nsqs);
	json_add_number(alive, "tis", objs->tiss.count);
	json_add_number(alive, "srq",
			kinds[SRQ_KIND_SRQ] + kinds[SRQ_KIND_XRC]);
	json_add_number(alive, "umem", objs->umems.count);
	json_add_number(alive, "general", general_count(objs));
	json_add_number(alive, "psv", objs->psvs.count);
	json_add_number(alive, "page_fault", objs->faults.count);
	json_add_number(alive, "pace", pace_count(objs));
	json_add_number(alive, "memic", memic_pieces(hca));
	json_add_number(alive, "memic_op", memic_op_addresses(hca));
	json_add_number(alive, "rmp", kinds[SRQ_KIND_RMP]);
	json_add_number(alive, "xrq", kinds[SRQ_KIND_XRQ]);
}

/**
 * objects_clear_counters() - zero the figures of the dump, keep the objects
 */
void objects_clear_counters(struct hca *hca)
{
	struct qp *qp;
	uint32_t id;

	memset(&hca->objs->fault_counts, 0, sizeof(hca->objs->fault_counts));
	memset(&hca->objs->sig_counts, 0, sizeof(hca->objs->sig_counts));
	idtable_for_each(&hca->objs->qps, id, qp) {
		qp->doorbells = 0;
		qp->blueflame = 0;
		qp->wrong_uar = 0;
	}
}
