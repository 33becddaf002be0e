// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CREATE_QP, QUERY_QP, DESTROY_QP; the table of all QP commands.
 */
#include <stdlib.h>
#include <string.h>

#include "fw/cmd.h"
#include "object/page_fault.h"
#include "object/qp.h"
#include "object/umem.h"
#include "object/xrq.h"

#define LOG_DS 4	/* log_rq_stride counts 16 bytes */

/* Where the context has what mlx5_ifc.h calls reserved (offsets in bits). */
#define QPC_SEND_DBR_MODE 0x80
#define QPC_DBR_UMEM_ID 0x720

/* send_dbr_mode: what tells the adapter how many requests are posted */
enum { DBR_RECORD, DBR_DOORBELL };

enum { RQ_OWN, RQ_SHARED, RQ_CROSS };	/* rq_type */

static bool type_known(uint32_t st)
{
	switch (st) {
	case QP_RC:
	case QP_UC:
	case QP_UD:
	case QP_XRC:
	case QP_DCI:
	case QP_QP0:
	case QP_QP1:
	case QP_REG_UMR:
		return true;
	}
	return false;
}

/*
 * Does the context ask for rights that only the driver may have? These are the
 * reserved key and fast registration, both of which give access to any address;
 * REG_UMR, which may change keys of every PD; and sending as QP1.
 */
static bool is_the_drivers(const uint8_t *c)
{
	return IFC_GET(qpc, c, rlky) || IFC_GET(qpc, c, fre) ||
	       IFC_GET(qpc, c, st) == QP_REG_UMR || IFC_GET(qpc, c, deth_sqpn);
}

/* Only the QP of a DC initiator may have streams. */
static uint8_t take_streams(struct qp *qp, const uint8_t *c)
{
	uint32_t channels = IFC_GET(qpc, c, log_num_dci_stream_channels);
	uint32_t errored = IFC_GET(qpc, c, log_num_dci_errored_streams);

	if (!channels && !errored)
		return CMD_OK;
	if (qp->type != QP_DCI || channels > LOG_MAX_DCI_STREAMS ||
	    errored > LOG_MAX_DCI_ERRORED)
		return CMD_BAD_PARAM;
	qp->streams.on = true;
	qp->streams.max_bad = 1u << errored;
	return CMD_OK;
}

/* The adapter has the send queue of a QP that does rendezvous. */
static bool offload_ok(const uint8_t *c)
{
	switch (IFC_GET(qpc, c, offload_type)) {
	case 0:
		return true;
	case MLX5_QPC_OFFLOAD_TYPE_RNDV:
		return IFC_GET(qpc, c, st) == QP_RC && IFC_GET(qpc, c, no_sq) &&
		       IFC_GET(qpc, c, rq_type) == RQ_SHARED;
	}
	return false;
}

static uint8_t qp_take(struct cmd *cmd, struct qp *qp)
{
	const uint8_t *c = IFC_ADDR_OF(create_qp_in, cmd->in, qpc);
	uint32_t rq_type = IFC_GET(qpc, c, rq_type);

	if (!type_known(IFC_GET(qpc, c, st)) || rq_type == RQ_CROSS)
		return CMD_BAD_PARAM;
	if (is_the_drivers(c) && !uid_privileged(cmd->uid))
		return CMD_BAD_PARAM;
	if (IFC_GET(qpc, c, wq_signature) || !offload_ok(c) ||
	    IFC_GET(qpc, c, ulp_stateless_offload_mode) ||
	    ifc_get32(c, QPC_SEND_DBR_MODE, 2) > DBR_DOORBELL)
		return CMD_BAD_PARAM;
	qp->hca = cmd->hca;
	qp->type = IFC_GET(qpc, c, st);
	qp->has_sq = !IFC_GET(qpc, c, no_sq);
	qp->has_rq = rq_type == RQ_OWN && qp->type != QP_XRC &&
		     qp->type != QP_DCI && qp->type != QP_REG_UMR;
	qp->uar = IFC_GET(qpc, c, uar_page);
	qp->user_index = IFC_GET(qpc, c, user_index);
	qp->dbr = IFC_GET64(qpc, c, dbr_addr);
	qp->log_sq = IFC_GET(qpc, c, log_sq_size);
	qp->log_rq = IFC_GET(qpc, c, log_rq_size);
	qp->log_rq_stride = IFC_GET(qpc, c, log_rq_stride) + LOG_DS;
	qp->no_record = ifc_get32(c, QPC_SEND_DBR_MODE, 2) == DBR_DOORBELL;
	qp->timer.fire = qp_retry;
	send_init(qp);
	memcpy(qp->qpc_new, c, QPC_SIZE);
	if (qp->log_sq > LOG_MAX_QP_SZ || qp->log_rq > LOG_MAX_QP_SZ ||
	    qp->dbr % DB_RECORD || 1u << qp->log_rq_stride > RWQE_MAX)
		return CMD_BAD_PARAM;
	if (qp->has_sq && !uar_usable(cmd->hca, qp->uar, cmd->uid))
		return CMD_BAD_RES;
	if (cmd->hca->wrong_uar && cmd->uid)
		qp->uar &= ~1u;
	return take_streams(qp, c);
}

/* May the QP have its shared receive queue? */
static bool srq_fits(const struct qp *qp)
{
	const struct xrq *xrq = qp_xrq(qp);

	if (!qp->srq || qp->srq->kind == SRQ_KIND_XRC)
		return false;
	if (xrq && qp->type != QP_RC)
		return false;
	return !IFC_GET(qpc, qp->qpc_new, offload_type) || (xrq && xrq->rndv);
}

/* The objects that the context names. */
static uint8_t qp_take_refs(struct cmd *cmd, struct qp *qp)
{
	const uint8_t *c = qp->qpc_new;
	bool shared = IFC_GET(qpc, c, rq_type) == RQ_SHARED;

	qp->scq = cq_find(cmd->hca, IFC_GET(qpc, c, cqn_snd), cmd->uid);
	qp->rcq = cq_find(cmd->hca, IFC_GET(qpc, c, cqn_rcv), cmd->uid);
	if ((qp->has_sq && !qp->scq) || (qp->has_rq && !qp->rcq))
		return CMD_BAD_RES;
	if (qp->type != QP_REG_UMR) {
		qp->pd = pd_find(cmd->hca, IFC_GET(qpc, c, pd), cmd->uid);
		if (!qp->pd)
			return CMD_BAD_RES;
	}
	if (qp->type == QP_XRC) {
		qp->xrcd = xrcd_find(cmd->hca, IFC_GET(qpc, c, xrcd),
				     cmd->uid);
		return qp->xrcd ? CMD_OK : CMD_BAD_RES;
	}
	if (shared) {
		qp->srq = srq_find(cmd->hca, IFC_GET(qpc, c, srqn_rmpn_xrqn),
				   cmd->uid);
		if (!srq_fits(qp) || !qp->rcq)
			return CMD_BAD_RES;
	}
	return CMD_OK;
}

static uint8_t qp_take_buf(struct cmd *cmd, struct qp *qp)
{
	const uint8_t *c = qp->qpc_new;
	const uint8_t *pas = IFC_ADDR_OF(create_qp_in, cmd->in, pas);
	size_t head = IFC_OFF(create_qp_in, pas);
	uint64_t size = 0;
	int ret;

	if (qp->has_rq)
		size = 1ull << (qp->log_rq + qp->log_rq_stride);
	qp->sq_off = size;
	if (qp->has_sq)
		size += (uint64_t)WQE_BB << qp->log_sq;
	if (!size)
		return CMD_OK;
	if (IFC_GET(qpc, c, dbr_umem_valid) &&
	    umem_dbr(cmd->hca, &qp->buf, ifc_get32(c, QPC_DBR_UMEM_ID, 32),
		     cmd->uid, &qp->dbr))
		return CMD_BAD_PARAM;
	if (IFC_GET(create_qp_in, cmd->in, wq_umem_valid))
		ret = umem_queue(cmd->hca, &qp->buf,
				 IFC_GET(create_qp_in, cmd->in, wq_umem_id),
				 cmd->uid, IFC_GET64(create_qp_in, cmd->in,
						     wq_umem_offset), size,
				 MTT_READ);
	else
		ret = qbuf_init(cmd->hca, &qp->buf, IFC_GET(qpc, c, log_page_size),
				IFC_GET(qpc, c, page_offset), size, pas,
				cmd->in_len - head);
	if (!ret)
		ret = qbuf_dbr(cmd->hca, &qp->buf, qp->dbr);
	return ret ? CMD_BAD_PARAM : CMD_OK;
}

/**
 * qp_hold_refs() - hold all that a new QP names
 */
void qp_hold_refs(struct qp *qp)
{
	if (qp->pd)
		obj_hold(&qp->pd->obj);
	if (qp->xrcd)
		obj_hold(&qp->xrcd->obj);
	if (qp->scq)
		obj_hold(&qp->scq->obj);
	if (qp->rcq)
		obj_hold(&qp->rcq->obj);
	if (qp->srq)
		obj_hold(&qp->srq->obj);
	if (qp->tis)
		obj_hold(qp->tis);
	if (qp->has_sq)
		uar_hold(qp->hca, qp->uar);
}

/**
 * qp_destroy() - the end of a QP or a bare queue
 * @cmd: the command that ends it
 *
 * Return: CMD_OK, CMD_BAD_RES_STATE while it is attached to a multicast group
 */
uint8_t qp_destroy(struct cmd *cmd, struct qp *qp)
{
	struct objects *objs = cmd->hca->objs;

	if (qp->obj.holds)
		return CMD_BAD_RES_STATE;
	err_list_remove(qp);
	fault_done(qp);
	fault_queue_gone(cmd->hca, false, qp->obj.id);
	idtable_remove(&objs->qps, qp->obj.id);
	if (qp == objs->special[0])
		objs->special[0] = NULL;
	if (qp == objs->special[1])
		objs->special[1] = NULL;
	if (qp->pd)
		obj_release(&qp->pd->obj);
	if (qp->xrcd)
		obj_release(&qp->xrcd->obj);
	if (qp->scq)
		obj_release(&qp->scq->obj);
	if (qp->rcq)
		obj_release(&qp->rcq->obj);
	if (qp->srq)
		obj_release(&qp->srq->obj);
	if (qp->tis)
		obj_release(qp->tis);
	if (qp->has_sq)
		uar_release(qp->hca, qp->uar);
	qp_free(qp);
	return CMD_OK;
}

/* QP0 and QP1 exist once, and are the driver's. */
static uint8_t qp_take_special(struct cmd *cmd, struct qp *qp)
{
	struct qp **at;

	if (qp->type != QP_QP0 && qp->type != QP_QP1)
		return CMD_OK;
	at = &cmd->hca->objs->special[qp->type - QP_QP0];
	if (*at)
		return CMD_BAD_RES_STATE;
	if (!uid_privileged(cmd->uid))
		return CMD_BAD_PARAM;
	*at = qp;
	return CMD_OK;
}

static uint8_t create_qp(struct cmd *cmd)
{
	struct qp *qp = calloc(1, sizeof(*qp));
	uint8_t status;

	if (!qp)
		return CMD_NO_RES;
	status = qp_take(cmd, qp);
	if (!status)
		status = qp_take_refs(cmd, qp);
	if (!status)
		status = qp_take_buf(cmd, qp);
	if (!status && obj_add(&cmd->hca->objs->qps, &qp->obj, cmd->uid))
		status = CMD_LIM;
	if (!status) {
		status = qp_take_special(cmd, qp);
		if (status)
			idtable_remove(&cmd->hca->objs->qps, qp->obj.id);
	}
	if (status) {
		qp_free(qp);
		return status;
	}
	qp_hold_refs(qp);
	qp_reset(qp);
	IFC_SET(create_qp_out, cmd->out, qpn, qp->obj.id);
	cmd_note(cmd, "st", qp->type);
	cmd_note(cmd, "uar_page", qp->uar);
	cmd_note(cmd, "log_sq_size", qp->log_sq);
	cmd_note(cmd, "log_rq_size", qp->log_rq);
	cmd_note(cmd, "no_sq", !qp->has_sq);
	return CMD_OK;
}

static uint8_t destroy_qp(struct cmd *cmd)
{
	struct qp *qp = qp_find(cmd->hca, IFC_GET(destroy_qp_in, cmd->in, qpn),
				cmd->uid);

	return qp ? qp_destroy(cmd, qp) : CMD_BAD_RES;
}

static uint8_t query_qp(struct cmd *cmd)
{
	uint8_t *c = IFC_ADDR_OF(query_qp_out, cmd->out, qpc);
	struct qp *qp = qp_find(cmd->hca, IFC_GET(query_qp_in, cmd->in, qpn),
				cmd->uid);

	if (!qp)
		return CMD_BAD_RES;
	memcpy(c, qp->qpc, QPC_SIZE);
	IFC_SET(qpc, c, state, qp->state);
	IFC_SET(qpc, c, uar_page, qp->uar);
	IFC_SET(qpc, c, next_send_psn, qp->send_psn);
	IFC_SET(qpc, c, last_acked_psn, (qp->send_psn - 1) & PSN_MASK);
	IFC_SET(qpc, c, next_rcv_psn, qp->recv_psn);
	IFC_SET(qpc, c, cur_retry_count, qp->retry_left);
	IFC_SET(qpc, c, cur_rnr_retry, qp->rnr_left);
	IFC_SET(qpc, c, hw_sq_wqebb_counter, qp->sq_head);
	IFC_SET(qpc, c, hw_rq_counter, qp->rq_head);
	return CMD_OK;
}

#define QP_CMD(OP, op, handler) \
	{ MLX5_CMD_OP_##OP, #OP, IFC_SZ(op##_in), IFC_SZ(op##_out), handler }

const struct cmd_def qp_cmds[] = {
	QP_CMD(CREATE_QP, create_qp, create_qp),
	QP_CMD(DESTROY_QP, destroy_qp, destroy_qp),
	/* newer layouts have more behind the context, which older drivers lack */
	{ MLX5_CMD_OP_QUERY_QP, "QUERY_QP", IFC_SZ(query_qp_in),
	  IFC_OFF(query_qp_out, qpc) + IFC_SZ(qpc), query_qp },
	QP_CMD(RST2INIT_QP, rst2init_qp, qp_modify),
	QP_CMD(INIT2INIT_QP, init2init_qp, qp_modify),
	QP_CMD(INIT2RTR_QP, init2rtr_qp, qp_modify),
	QP_CMD(RTR2RTS_QP, rtr2rts_qp, qp_modify),
	QP_CMD(RTS2RTS_QP, rts2rts_qp, qp_modify),
	QP_CMD(SQERR2RTS_QP, sqerr2rts_qp, qp_modify),
	QP_CMD(SQD_RTS_QP, sqd2rts_qp, qp_modify),
	QP_CMD(2ERR_QP, qp_2err, qp_modify),
	QP_CMD(2RST_QP, qp_2rst, qp_modify),
	{ 0 },
};
