// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of shared receive queues.
 */
#include <stdlib.h>

#include "fw/cmd.h"
#include "object/page_fault.h"
#include "object/srq.h"
#include "object/umem.h"

#define LOG_DS 4	/* strides of the SRQ contexts count 16 bytes */

enum { WQ_TYPE_LINKED_LIST, WQ_TYPE_CYCLIC };
enum { RMP_STATE_RDY = 1, RMP_STATE_ERR = 3 };
enum { SRQ_STATE_GOOD, SRQ_STATE_ERROR };

/**
 * struct srq_params - what the contexts of all kinds have in common
 * @log_page: of the buffer's pages, in units of 4 KiB
 * @page_offset: where the queue begins in the first one
 * @pd: number of the protection domain
 * @pas: the list of pages, which ends the command
 * @wq: RMP and XRQ: the part that may name UMEMs
 */
struct srq_params {
	uint8_t log_page;
	uint32_t page_offset;
	uint32_t pd;
	const uint8_t *pas;
	const uint8_t *wq;
};

/**
 * srq_take_params() - take what the contexts of all kinds have in common
 * @srq: a new queue, with its kind, doorbell record and sizes
 * @p: what the command says of its place and its owner
 *
 * Return: CMD_OK; CMD_BAD_PARAM, CMD_BAD_RES, CMD_NO_RES: srq_publish() frees it
 */
static uint8_t srq_take_params(struct cmd *cmd, struct srq *srq,
			       const struct srq_params *p)
{
	size_t head = p->pas - cmd->in;
	uint64_t size;

	srq->hca = cmd->hca;
	if (srq->log_size > LOG_MAX_SRQ_SZ || srq->dbr % sizeof(uint32_t) ||
	    srq->log_stride < LOG_DS || 1u << srq->log_stride > RWQE_MAX)
		return CMD_BAD_PARAM;
	srq->pd = pd_find(cmd->hca, p->pd, cmd->uid);
	if (!srq->pd)
		return CMD_BAD_RES;
	size = 1ull << (srq->log_size + srq->log_stride);
	if (p->wq && IFC_GET(wq, p->wq, dbr_umem_valid) &&
	    umem_dbr(cmd->hca, &srq->buf, IFC_GET(wq, p->wq, dbr_umem_id),
		     cmd->uid, &srq->dbr))
		return CMD_BAD_PARAM;
	if (qbuf_dbr(cmd->hca, &srq->buf, srq->dbr))
		return CMD_NO_RES;
	if (p->wq && IFC_GET(wq, p->wq, wq_umem_valid))
		return umem_queue(cmd->hca, &srq->buf,
				  IFC_GET(wq, p->wq, wq_umem_id), cmd->uid,
				  IFC_GET64(wq, p->wq, wq_umem_offset), size,
				  MTT_READ) ? CMD_BAD_PARAM : CMD_OK;
	if (cmd->in_len < head ||
	    qbuf_init(cmd->hca, &srq->buf, p->log_page, p->page_offset, size, p->pas,
		      cmd->in_len - head))
		return CMD_BAD_PARAM;
	return CMD_OK;
}

/**
 * srq_take_wq() - take the parameters of a queue whose context has a work queue
 * @wq: that work queue: of an RMP or an XRQ
 *
 * Return: as srq_take_params()
 */
uint8_t srq_take_wq(struct cmd *cmd, struct srq *srq, const uint8_t *wq)
{
	struct srq_params p = {
		.log_page = IFC_GET(wq, wq, log_wq_pg_sz),
		.page_offset = IFC_GET(wq, wq, page_offset),
		.pd = IFC_GET(wq, wq, pd),
		.pas = IFC_ADDR_OF(wq, wq, pas),
		.wq = wq,
	};

	srq->dbr = IFC_GET64(wq, wq, dbr_addr);
	srq->log_size = IFC_GET(wq, wq, log_wq_sz);
	srq->log_stride = IFC_GET(wq, wq, log_wq_stride);
	srq->lwm = IFC_GET(wq, wq, lwm);
	return srq_take_params(cmd, srq, &p);
}

/**
 * srq_put_wq() - write the work queue of a queue's context
 * @wq: of an RMP or an XRQ, all 0 before
 */
void srq_put_wq(const struct srq *srq, uint8_t *wq)
{
	IFC_SET(wq, wq, pd, srq->pd->obj.id);
	IFC_SET(wq, wq, lwm, srq->lwm);
	IFC_SET(wq, wq, log_wq_sz, srq->log_size);
	IFC_SET(wq, wq, log_wq_stride, srq->log_stride);
	IFC_SET(wq, wq, hw_counter, srq->taken);
	IFC_SET64(wq, wq, dbr_addr, srq->dbr);
}

/**
 * srq_publish() - give a new queue its number, and hold what it names
 * @status: of what was done before; an error frees the queue
 *
 * Return: @status; CMD_LIM: there are too many
 */
uint8_t srq_publish(struct cmd *cmd, struct srq *srq, uint8_t status)
{
	if (!status && obj_add(&cmd->hca->objs->srqs, &srq->obj, cmd->uid))
		status = CMD_LIM;
	if (status) {
		srq_free(srq);
		return status;
	}
	obj_hold(&srq->pd->obj);
	if (srq->xrcd)
		obj_hold(&srq->xrcd->obj);
	if (srq->cq)
		obj_hold(&srq->cq->obj);
	cmd_note(cmd, "log_size", srq->log_size);
	cmd_note(cmd, "log_stride", srq->log_stride);
	return CMD_OK;
}

/* The queue that a command queries, changes or destroys. */
static struct srq *srq_own(struct cmd *cmd, uint32_t srqn)
{
	return obj_own(&cmd->hca->objs->srqs, srqn, cmd->uid);
}

/**
 * srq_destroy() - destroy a queue
 * @kind: that it must have
 *
 * Return: CMD_OK, CMD_BAD_RES, CMD_BAD_RES_STATE while a QP has it
 */
uint8_t srq_destroy(struct cmd *cmd, uint32_t srqn, enum srq_kind kind)
{
	struct srq *srq = srq_own(cmd, srqn);

	if (!srq || srq->kind != kind)
		return CMD_BAD_RES;
	if (srq->obj.holds)
		return CMD_BAD_RES_STATE;
	idtable_remove(&cmd->hca->objs->srqs, srqn);
	obj_release(&srq->pd->obj);
	if (srq->xrcd)
		obj_release(&srq->xrcd->obj);
	if (srq->cq)
		obj_release(&srq->cq->obj);
	fault_queue_gone(cmd->hca, true, srqn);
	srq_free(srq);
	return CMD_OK;
}

/**
 * srq_arm() - set the limit of a queue
 * @kind: that it must have
 * @lwm: an event comes when fewer requests are posted; 0: none comes
 *
 * Return: CMD_OK, CMD_BAD_RES, CMD_BAD_PARAM; CMD_BAD_RES_STATE: it is in error
 */
uint8_t srq_arm(struct cmd *cmd, uint32_t srqn, enum srq_kind kind,
		uint16_t lwm)
{
	struct srq *srq = srq_own(cmd, srqn);

	if (!srq || srq->kind != kind)
		return CMD_BAD_RES;
	if (srq->error)
		return CMD_BAD_RES_STATE;
	if (lwm > 1u << srq->log_size)
		return CMD_BAD_PARAM;
	srq->lwm = lwm;
	srq_check_limit(srq);
	return CMD_OK;
}

/* A plain SRQ names a CQ and an XRC domain only in its XRC form. */
static uint8_t create_srq(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR_OF(create_srq_in, cmd->in,
				       srq_context_entry);
	struct srq *srq = calloc(1, sizeof(*srq));
	struct srq_params p = { 0 };
	uint8_t status;

	if (!srq)
		return CMD_NO_RES;
	srq->kind = SRQ_KIND_SRQ;
	srq->dbr = IFC_GET64(srqc, c, dbr_addr);
	srq->log_size = IFC_GET(srqc, c, log_srq_size);
	srq->log_stride = IFC_GET(srqc, c, log_rq_stride) + LOG_DS;
	srq->lwm = IFC_GET(srqc, c, lwm);
	p.log_page = IFC_GET(srqc, c, log_page_size);
	p.page_offset = IFC_GET(srqc, c, page_offset);
	p.pd = IFC_GET(srqc, c, pd);
	p.pas = IFC_ADDR_OF(create_srq_in, cmd->in, pas);
	status = srq_publish(cmd, srq, srq_take_params(cmd, srq, &p));
	if (!status)
		IFC_SET(create_srq_out, cmd->out, srqn, srq->obj.id);
	return status;
}

static uint8_t destroy_srq(struct cmd *cmd)
{
	return srq_destroy(cmd, IFC_GET(destroy_srq_in, cmd->in, srqn),
			   SRQ_KIND_SRQ);
}

static uint8_t query_srq(struct cmd *cmd)
{
	uint8_t *c = IFC_ADDR_OF(query_srq_out, cmd->out, srq_context_entry);
	struct srq *srq = srq_own(cmd, IFC_GET(query_srq_in, cmd->in, srqn));

	if (!srq || srq->kind != SRQ_KIND_SRQ)
		return CMD_BAD_RES;
	IFC_SET(srqc, c, state, srq->error ? SRQ_STATE_ERROR : SRQ_STATE_GOOD);
	IFC_SET(srqc, c, log_srq_size, srq->log_size);
	IFC_SET(srqc, c, log_rq_stride, srq->log_stride - LOG_DS);
	IFC_SET(srqc, c, pd, srq->pd->obj.id);
	IFC_SET(srqc, c, lwm, srq->lwm);
	IFC_SET(srqc, c, wqe_cnt, srq_posted(srq));
	IFC_SET64(srqc, c, dbr_addr, srq->dbr);
	return CMD_OK;
}

static uint8_t arm_rq(struct cmd *cmd)
{
	bool xrq = cmd->op_mod == MLX5_ARM_RQ_IN_OP_MOD_XRQ;

	return srq_arm(cmd, IFC_GET(arm_rq_in, cmd->in, srq_number),
		       xrq ? SRQ_KIND_XRQ : SRQ_KIND_SRQ,
		       IFC_GET(arm_rq_in, cmd->in, lwm));
}

static uint8_t create_xrc_srq(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR_OF(create_xrc_srq_in, cmd->in,
				       xrc_srq_context_entry);
	struct srq *srq = calloc(1, sizeof(*srq));
	struct srq_params p = { 0 };
	uint8_t status;

	if (!srq)
		return CMD_NO_RES;
	srq->kind = SRQ_KIND_XRC;
	srq->dbr = (uint64_t)IFC_GET(xrc_srqc, c, db_record_addr_h) << 32 |
		   (uint64_t)IFC_GET(xrc_srqc, c, db_record_addr_l) << 2;
	srq->log_size = IFC_GET(xrc_srqc, c, log_xrc_srq_size);
	srq->log_stride = IFC_GET(xrc_srqc, c, log_rq_stride) + LOG_DS;
	srq->cyclic = IFC_GET(xrc_srqc, c, basic_cyclic_rcv_wqe);
	srq->user_index = IFC_GET(xrc_srqc, c, user_index);
	srq->lwm = IFC_GET(xrc_srqc, c, lwm);
	p.log_page = IFC_GET(xrc_srqc, c, log_page_size);
	p.page_offset = IFC_GET(xrc_srqc, c, page_offset);
	p.pd = IFC_GET(xrc_srqc, c, pd);
	p.pas = IFC_ADDR_OF(create_xrc_srq_in, cmd->in, pas);
	status = srq_take_params(cmd, srq, &p);
	if (IFC_GET(create_xrc_srq_in, cmd->in, xrc_srq_umem_valid) ||
	    IFC_GET(xrc_srqc, c, dbr_umem_valid))
		status = CMD_BAD_PARAM;
	srq->xrcd = xrcd_find(cmd->hca, IFC_GET(xrc_srqc, c, xrcd), cmd->uid);
	srq->cq = cq_find(cmd->hca, IFC_GET(xrc_srqc, c, cqn), cmd->uid);
	if (!status && (!srq->xrcd || !srq->cq))
		status = CMD_BAD_RES;
	status = srq_publish(cmd, srq, status);
	if (!status)
		IFC_SET(create_xrc_srq_out, cmd->out, xrc_srqn, srq->obj.id);
	return status;
}

static uint8_t destroy_xrc_srq(struct cmd *cmd)
{
	return srq_destroy(cmd, IFC_GET(destroy_xrc_srq_in, cmd->in, xrc_srqn),
			   SRQ_KIND_XRC);
}

static uint8_t query_xrc_srq(struct cmd *cmd)
{
	uint8_t *c = IFC_ADDR_OF(query_xrc_srq_out, cmd->out,
				 xrc_srq_context_entry);
	struct srq *srq = srq_own(cmd, IFC_GET(query_xrc_srq_in, cmd->in,
					       xrc_srqn));

	if (!srq || srq->kind != SRQ_KIND_XRC)
		return CMD_BAD_RES;
	IFC_SET(xrc_srqc, c, state,
		srq->error ? SRQ_STATE_ERROR : SRQ_STATE_GOOD);
	IFC_SET(xrc_srqc, c, log_xrc_srq_size, srq->log_size);
	IFC_SET(xrc_srqc, c, log_rq_stride, srq->log_stride - LOG_DS);
	IFC_SET(xrc_srqc, c, xrcd, srq->xrcd->obj.id);
	IFC_SET(xrc_srqc, c, cqn, srq->cq->obj.id);
	IFC_SET(xrc_srqc, c, user_index, srq->user_index);
	IFC_SET(xrc_srqc, c, pd, srq->pd->obj.id);
	IFC_SET(xrc_srqc, c, lwm, srq->lwm);
	IFC_SET(xrc_srqc, c, wqe_cnt, srq_posted(srq));
	IFC_SET(xrc_srqc, c, db_record_addr_h, srq->dbr >> 32);
	IFC_SET(xrc_srqc, c, db_record_addr_l, srq->dbr >> 2);
	return CMD_OK;
}

static uint8_t arm_xrc_srq(struct cmd *cmd)
{
	return srq_arm(cmd, IFC_GET(arm_xrc_srq_in, cmd->in, xrc_srqn),
		       SRQ_KIND_XRC, IFC_GET(arm_xrc_srq_in, cmd->in, lwm));
}

static uint8_t create_rmp(struct cmd *cmd)
{
	const uint8_t *wq = IFC_ADDR_OF(create_rmp_in, cmd->in, ctx.wq);
	struct srq *srq = calloc(1, sizeof(*srq));
	uint8_t status;

	if (!srq)
		return CMD_NO_RES;
	srq->kind = SRQ_KIND_RMP;
	srq->cyclic = IFC_GET(wq, wq, wq_type) == WQ_TYPE_CYCLIC;
	srq->plain = srq->cyclic && IFC_GET(create_rmp_in, cmd->in,
					    ctx.basic_cyclic_rcv_wqe);
	status = srq_take_wq(cmd, srq, wq);
	if (!status && (IFC_GET(create_rmp_in, cmd->in, ctx.state) !=
				RMP_STATE_RDY ||
			IFC_GET(wq, wq, wq_type) > WQ_TYPE_CYCLIC))
		status = CMD_BAD_PARAM;
	status = srq_publish(cmd, srq, status);
	if (!status)
		IFC_SET(create_rmp_out, cmd->out, rmpn, srq->obj.id);
	return status;
}

static uint8_t modify_rmp(struct cmd *cmd)
{
	uint32_t rmpn = IFC_GET(modify_rmp_in, cmd->in, rmpn);

	if (!IFC_GET(modify_rmp_in, cmd->in, bitmask.lwm))
		return CMD_BAD_PARAM;
	return srq_arm(cmd, rmpn, SRQ_KIND_RMP,
		       IFC_GET(modify_rmp_in, cmd->in, ctx.wq.lwm));
}

static uint8_t destroy_rmp(struct cmd *cmd)
{
	return srq_destroy(cmd, IFC_GET(destroy_rmp_in, cmd->in, rmpn),
			   SRQ_KIND_RMP);
}

static uint8_t query_rmp(struct cmd *cmd)
{
	uint8_t *c = IFC_ADDR_OF(query_rmp_out, cmd->out, rmp_context);
	struct srq *srq = srq_own(cmd, IFC_GET(query_rmp_in, cmd->in, rmpn));

	if (!srq || srq->kind != SRQ_KIND_RMP)
		return CMD_BAD_RES;
	IFC_SET(rmpc, c, state, srq->error ? RMP_STATE_ERR : RMP_STATE_RDY);
	srq_put_wq(srq, IFC_ADDR_OF(rmpc, c, wq));
	return CMD_OK;
}

#define SRQ_CMD(OP, op, out_min) \
	{ MLX5_CMD_OP_##OP, #OP, IFC_SZ(op##_in), out_min, op }

const struct cmd_def srq_cmds[] = {
	SRQ_CMD(CREATE_SRQ, create_srq, IFC_SZ(create_srq_out)),
	SRQ_CMD(DESTROY_SRQ, destroy_srq, IFC_SZ(destroy_srq_out)),
	SRQ_CMD(QUERY_SRQ, query_srq, IFC_SZ(query_srq_out)),
	SRQ_CMD(ARM_RQ, arm_rq, IFC_SZ(arm_rq_out)),
	SRQ_CMD(CREATE_XRC_SRQ, create_xrc_srq, IFC_SZ(create_xrc_srq_out)),
	SRQ_CMD(DESTROY_XRC_SRQ, destroy_xrc_srq, IFC_SZ(destroy_xrc_srq_out)),
	SRQ_CMD(QUERY_XRC_SRQ, query_xrc_srq, IFC_SZ(query_xrc_srq_out)),
	SRQ_CMD(ARM_XRC_SRQ, arm_xrc_srq, IFC_SZ(arm_xrc_srq_out)),
	SRQ_CMD(CREATE_RMP, create_rmp, IFC_SZ(create_rmp_out)),
	SRQ_CMD(MODIFY_RMP, modify_rmp, IFC_SZ(modify_rmp_out)),
	SRQ_CMD(DESTROY_RMP, destroy_rmp, IFC_SZ(destroy_rmp_out)),
	SRQ_CMD(QUERY_RMP, query_rmp, IFC_SZ(query_rmp_out)),
	{ 0 },
};
