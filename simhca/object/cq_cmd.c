// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of completion queues.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fw/cmd.h"
#include "fw/eq.h"
#include "object/cq.h"
#include "object/umem.h"

/* Bits of modify_field_select and resize_field_select: linux/mlx5/cq.h */
enum {
	MODIFY_PERIOD = 1 << 0,
	MODIFY_COUNT = 1 << 1,
	MODIFY_OVERRUN = 1 << 2,
	MODIFY_PERIOD_MODE = 1 << 4,
	RESIZE_LOG_SIZE = 1 << 0,
	RESIZE_ALL = 7,
	OPMOD_RESIZE = 1,
};

/* Where create_cq_in has what mlx5_ifc.h calls reserved (offsets in bits). */
enum {
	CQ_UMEM_OFFSET = 0x280,
	CQ_UMEM_ID = 0x2c0,
	CQC_DBR_UMEM_ID = 0x20,
};

enum { CQ_STATUS_OK = 0x0, CQ_STATUS_OVERFLOW = 0x9 };
enum { CQ_ST_ARMED_SOLICITED = 0x6, CQ_ST_ARMED = 0x9, CQ_ST_FIRED = 0xa };

static int cq_take_buf(struct hca *hca, struct qbuf *buf, const void *cqc,
		       uint32_t stride, const uint8_t *pas, size_t pas_len)
{
	uint64_t size = (uint64_t)stride << IFC_GET(cqc, cqc, log_cq_size);

	return qbuf_init(hca, buf, IFC_GET(cqc, cqc, log_page_size),
			 IFC_GET(cqc, cqc, page_offset), size, pas, pas_len);
}

static uint8_t cq_take(struct cmd *cmd, struct cq *cq, const void *cqc)
{
	cq->hca = cmd->hca;
	cq->dbr = IFC_GET64(cqc, cqc, dbr_addr);
	cq->uar = IFC_GET(cqc, cqc, uar_page);
	cq->eqn = IFC_GET(cqc, cqc, c_eqn_or_apu_element);
	cq->log_size = IFC_GET(cqc, cqc, log_cq_size);
	cq->cqe_sz = IFC_GET(cqc, cqc, cqe_sz);
	cq->ignore_overrun = IFC_GET(cqc, cqc, oi);
	/* It may compress, and never does. */
	cq->comp_en = IFC_GET(cqc, cqc, cqe_comp_en);
	cq->period_us = IFC_GET(cqc, cqc, cq_period);
	cq->max_count = IFC_GET(cqc, cqc, cq_max_count);
	cq->timer.fire = cq_timer;
	if (cq->log_size > LOG_MAX_CQ_SZ || cq->cqe_sz > CQE_SZ_128_PAD ||
	    cq->dbr % DB_RECORD || IFC_GET(cqc, cqc, apu_cq))
		return CMD_BAD_PARAM;
	if (!eq_exists(cmd->hca, cq->eqn) ||
	    !uar_usable(cmd->hca, cq->uar, cmd->uid))
		return CMD_BAD_RES;
	return CMD_OK;
}

/* The memory of a new CQ: its own page list, or parts of UMEMs. */
static uint8_t cq_take_memory(struct cmd *cmd, struct cq *cq,
			      const uint8_t *cqc)
{
	size_t head = IFC_OFF(create_cq_in, pas);
	int ret;

	if (IFC_GET(cqc, cqc, dbr_umem_valid) &&
	    umem_dbr(cmd->hca, &cq->buf, ifc_get32(cqc, CQC_DBR_UMEM_ID, 32),
		     cmd->uid, &cq->dbr))
		return CMD_BAD_PARAM;
	if (IFC_GET(create_cq_in, cmd->in, cq_umem_valid))
		ret = umem_queue(cmd->hca, &cq->buf,
				 ifc_get32(cmd->in, CQ_UMEM_ID, 32), cmd->uid,
				 ifc_get64(cmd->in, CQ_UMEM_OFFSET),
				 (uint64_t)cq_stride(cq) << cq->log_size,
				 MTT_WRITE);
	else
		ret = cq_take_buf(cmd->hca, &cq->buf, cqc, cq_stride(cq),
				  cmd->in + head, cmd->in_len - head);
	if (!ret)
		ret = qbuf_dbr(cmd->hca, &cq->buf, cq->dbr);
	return ret ? CMD_BAD_PARAM : CMD_OK;
}

static uint8_t create_cq(struct cmd *cmd)
{
	const uint8_t *cqc = IFC_ADDR_OF(create_cq_in, cmd->in, cq_context);
	struct cq *cq = calloc(1, sizeof(*cq));
	uint8_t status;

	if (!cq)
		return CMD_NO_RES;
	status = cq_take(cmd, cq, cqc);
	if (!status)
		status = cq_take_memory(cmd, cq, cqc);
	if (!status && obj_add(&cmd->hca->objs->cqs, &cq->obj, cmd->uid))
		status = CMD_LIM;
	if (status) {
		cq_free(cq);
		return status;
	}
	uar_hold(cmd->hca, cq->uar);
	eq_hold(cmd->hca, cq->eqn);
	IFC_SET(create_cq_out, cmd->out, cqn, cq->obj.id);
	cmd_note(cmd, "log_cq_size", cq->log_size);
	cmd_note(cmd, "cqe_sz", cq->cqe_sz);
	cmd_note(cmd, "uar_page", cq->uar);
	return CMD_OK;
}

static uint8_t destroy_cq(struct cmd *cmd)
{
	uint32_t cqn = IFC_GET(destroy_cq_in, cmd->in, cqn);
	struct cq *cq = obj_own(&cmd->hca->objs->cqs, cqn, cmd->uid);

	if (!cq)
		return CMD_BAD_RES;
	if (cq->obj.holds)
		return CMD_BAD_RES_STATE;
	idtable_remove(&cmd->hca->objs->cqs, cqn);
	uar_release(cmd->hca, cq->uar);
	eq_release(cmd->hca, cq->eqn);
	cq_free(cq);
	return CMD_OK;
}

static uint8_t query_cq(struct cmd *cmd)
{
	uint8_t *cqc = IFC_ADDR_OF(query_cq_out, cmd->out, cq_context);
	struct cq *cq = obj_own(&cmd->hca->objs->cqs,
				IFC_GET(query_cq_in, cmd->in, cqn), cmd->uid);
	uint32_t st = CQ_ST_FIRED;

	if (!cq)
		return CMD_BAD_RES;
	if (cq->armed == CQ_ARM_ANY)
		st = CQ_ST_ARMED;
	else if (cq->armed == CQ_ARM_SOLICITED)
		st = CQ_ST_ARMED_SOLICITED;
	IFC_SET(cqc, cqc, status, cq->error ? CQ_STATUS_OVERFLOW :
					      CQ_STATUS_OK);
	IFC_SET(cqc, cqc, cqe_sz, cq->cqe_sz);
	IFC_SET(cqc, cqc, oi, cq->ignore_overrun);
	IFC_SET(cqc, cqc, cqe_comp_en, cq->comp_en);
	IFC_SET(cqc, cqc, st, st);
	IFC_SET(cqc, cqc, log_cq_size, cq->log_size);
	IFC_SET(cqc, cqc, uar_page, cq->uar);
	IFC_SET(cqc, cqc, cq_period, cq->period_us);
	IFC_SET(cqc, cqc, cq_max_count, cq->max_count);
	IFC_SET(cqc, cqc, c_eqn_or_apu_element, cq->eqn);
	IFC_SET(cqc, cqc, log_page_size, cq->buf.log_page - 12);
	IFC_SET(cqc, cqc, last_notified_index, cq->last_notified);
	IFC_SET(cqc, cqc, last_solicit_index, cq->last_solicited);
	IFC_SET(cqc, cqc, consumer_counter, cq->ci);
	IFC_SET(cqc, cqc, producer_counter, cq->pi);
	IFC_SET64(cqc, cqc, dbr_addr, cq->dbr);
	return CMD_OK;
}

static uint8_t resize_cq(struct cmd *cmd, struct cq *cq, const uint8_t *cqc,
			 uint32_t select)
{
	size_t head = IFC_OFF(modify_cq_in, pas);
	uint8_t log_size = IFC_GET(cqc, cqc, log_cq_size);
	struct qbuf buf = { 0 };
	int ret;

	if (!(select & RESIZE_LOG_SIZE) || select & ~RESIZE_ALL ||
	    log_size > LOG_MAX_CQ_SZ || cmd->in_len < head ||
	    IFC_GET(modify_cq_in, cmd->in, cq_umem_valid) ||
	    IFC_GET(cqc, cqc, cqe_sz) != cq->cqe_sz)
		return CMD_BAD_PARAM;
	if (cq->error)
		return CMD_BAD_RES_STATE;
	if (cq_take_buf(cmd->hca, &buf, cqc, cq_stride(cq), cmd->in + head,
			cmd->in_len - head))
		return CMD_BAD_PARAM;
	ret = cq_resize(cq, &buf, log_size);
	if (ret)
		qbuf_fini(&buf);
	if (ret == -ENOSPC)
		return CMD_BAD_SIZE_OUTS_CQES;
	return ret ? CMD_BAD_PARAM : CMD_OK;
}

static uint8_t modify_cq(struct cmd *cmd)
{
	const uint8_t *cqc = IFC_ADDR_OF(modify_cq_in, cmd->in, cq_context);
	uint32_t cqn = IFC_GET(modify_cq_in, cmd->in, cqn);
	struct cq *cq = obj_own(&cmd->hca->objs->cqs, cqn, cmd->uid);
	uint32_t select = IFC_GET(modify_cq_in, cmd->in,
		modify_field_select_resize_field_select.modify_field_select
			.modify_field_select);

	if (!cq)
		return CMD_BAD_RES;
	if (cmd->op_mod == OPMOD_RESIZE)
		return resize_cq(cmd, cq, cqc, select);
	if (cmd->op_mod || select & ~(MODIFY_PERIOD | MODIFY_COUNT |
				      MODIFY_OVERRUN | MODIFY_PERIOD_MODE))
		return CMD_BAD_PARAM;
	if (select & MODIFY_PERIOD)
		cq->period_us = IFC_GET(cqc, cqc, cq_period);
	if (select & MODIFY_COUNT)
		cq->max_count = IFC_GET(cqc, cqc, cq_max_count);
	if (select & MODIFY_OVERRUN)
		cq->ignore_overrun = IFC_GET(cqc, cqc, oi);
	return CMD_OK;
}

const struct cmd_def cq_cmds[] = {
	{ MLX5_CMD_OP_CREATE_CQ, "CREATE_CQ", IFC_SZ(create_cq_in),
	  IFC_SZ(create_cq_out), create_cq },
	{ MLX5_CMD_OP_DESTROY_CQ, "DESTROY_CQ", IFC_SZ(destroy_cq_in),
	  IFC_SZ(destroy_cq_out), destroy_cq },
	{ MLX5_CMD_OP_QUERY_CQ, "QUERY_CQ", IFC_SZ(query_cq_in),
	  IFC_SZ(query_cq_out), query_cq },
	{ MLX5_CMD_OP_MODIFY_CQ, "MODIFY_CQ", IFC_SZ(modify_cq_in),
	  IFC_SZ(modify_cq_out), modify_cq },
	{ 0 },
};
