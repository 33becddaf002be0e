// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of receive queues (RQ), of tables of them (RQT), and of TIRs.
 */
#include <stdlib.h>
#include <string.h>

#include "eth/rx.h"
#include "fw/cmd.h"
#include "object/qp.h"
#include "object/umem.h"

#define FIRST_RX 0x10u
#define LOG_MAX_RX 10u
#define LOG_MAX_RQ_SZ 15u
enum { TIR_DIRECT, TIR_INDIRECT };
enum { WQ_CYCLIC = 1 };

/* bits of modify_bitmask */
#define MODIFY_VSD 0x2u
#define MODIFY_COUNTER_SET 0x8u

/**
 * rx_init() - make the empty tables
 */
void rx_init(struct rx_tables *rx)
{
	idtable_init(&rx->rqs, FIRST_RX, 1u << LOG_MAX_RX);
	idtable_init(&rx->rqts, FIRST_RX, 1u << LOG_MAX_RX);
	idtable_init(&rx->tirs, FIRST_RX, 1u << LOG_MAX_RX);
}

static void rq_free(struct rq *rq)
{
	qbuf_fini(&rq->buf);
	free(rq);
}

/**
 * rx_reset() - free all objects; guest memory is not written
 */
void rx_reset(struct rx_tables *rx)
{
	uint32_t id;
	void *obj;

	idtable_free(&rx->tirs);
	idtable_free(&rx->rqts);
	idtable_for_each(&rx->rqs, id, obj)
		rq_free(idtable_remove(&rx->rqs, id));
	idtable_fini(&rx->rqs);
}

/**
 * tir_find() - the TIR that a flow goes to, NULL where there is none
 * @uid: DevX uid of the command
 */
struct tir *tir_find(struct hca *hca, uint32_t tirn, uint16_t uid)
{
	return obj_find(&hca->eth->rx.tirs, tirn, uid);
}

static uint8_t rq_take(struct cmd *cmd, struct rq *rq)
{
	const uint8_t *c = IFC_ADDR_OF(create_rq_in, cmd->in, ctx);
	const uint8_t *wq = IFC_ADDR_OF(rqc, c, wq);
	uint32_t log_size = IFC_GET(wq, wq, log_wq_sz);
	uint32_t log_stride = IFC_GET(wq, wq, log_wq_stride);
	uint32_t pd = IFC_GET(wq, wq, pd);

	rq->hca = cmd->hca;
	rq->log_size = log_size;
	rq->log_stride = log_stride;
	rq->dbr = IFC_GET64(wq, wq, dbr_addr);
	rq->keep_tag = IFC_GET(rqc, c, vsd);
	rq->counter_set = IFC_GET(rqc, c, counter_set_id);
	rq->user_index = IFC_GET(rqc, c, user_index);

	if (cmd->hca->link != LINK_ETH || IFC_GET(rqc, c, mem_rq_type) ||
	    IFC_GET(rqc, c, state) != RQ_RST || IFC_GET(rqc, c, hairpin) ||
	    IFC_GET(wq, wq, wq_type) != WQ_CYCLIC ||
	    log_size > LOG_MAX_RQ_SZ || log_stride < 4 ||
	    1u << log_stride > RWQE_MAX || rq->dbr % DB_RECORD)
		return CMD_BAD_PARAM;
	rq->cq = cq_find(cmd->hca, IFC_GET(rqc, c, cqn), cmd->uid);
	/* the queue that drops everything names no PD */
	rq->pd = pd_find(cmd->hca, pd, cmd->uid);
	if (!rq->cq || (pd && !rq->pd))
		return CMD_BAD_RES;
	return umem_wq(cmd, &rq->buf, wq, 1ull << (log_size + log_stride),
		       &rq->dbr) ? CMD_BAD_PARAM : CMD_OK;
}

static uint8_t create_rq(struct cmd *cmd)
{
	struct rq *rq = calloc(1, sizeof(*rq));
	uint8_t status;

	if (!rq)
		return CMD_NO_RES;
	status = rq_take(cmd, rq);
	if (!status && obj_add(&cmd->hca->eth->rx.rqs, &rq->obj, cmd->uid))
		status = CMD_LIM;
	if (status) {
		rq_free(rq);
		return status;
	}
	obj_hold(&rq->cq->obj);
	if (rq->pd)
		obj_hold(&rq->pd->obj);
	IFC_SET(create_rq_out, cmd->out, rqn, rq->obj.id);
	return CMD_OK;
}

static uint8_t modify_rq(struct cmd *cmd)
{
	struct rq *rq = obj_own(&cmd->hca->eth->rx.rqs,
				IFC_GET(modify_rq_in, cmd->in, rqn), cmd->uid);
	uint32_t to = IFC_GET(modify_rq_in, cmd->in, ctx.state);
	uint64_t mask = IFC_GET64(modify_rq_in, cmd->in, modify_bitmask);

	if (!rq)
		return CMD_BAD_RES;
	if (IFC_GET(modify_rq_in, cmd->in, rq_state) != rq->state)
		return CMD_BAD_RES_STATE;
	if ((to != RQ_RST && to != RQ_RDY && to != RQ_ERR) ||
	    mask & ~(uint64_t)(MODIFY_VSD | MODIFY_COUNTER_SET))
		return CMD_BAD_PARAM;
	if (mask & MODIFY_VSD)
		rq->keep_tag = IFC_GET(modify_rq_in, cmd->in, ctx.vsd);
	if (mask & MODIFY_COUNTER_SET)
		rq->counter_set = IFC_GET(modify_rq_in, cmd->in,
					  ctx.counter_set_id);
	if (to == RQ_RST)
		rq->head = 0;
	rq->state = to;
	return CMD_OK;
}

static uint8_t query_rq(struct cmd *cmd)
{
	struct rq *rq = obj_own(&cmd->hca->eth->rx.rqs,
				IFC_GET(query_rq_in, cmd->in, rqn), cmd->uid);
	uint8_t *c = IFC_ADDR_OF(query_rq_out, cmd->out, rq_context);

	if (!rq)
		return CMD_BAD_RES;
	IFC_SET(rqc, c, state, rq->state);
	IFC_SET(rqc, c, vsd, rq->keep_tag);
	IFC_SET(rqc, c, cqn, rq->cq->obj.id);
	IFC_SET(rqc, c, counter_set_id, rq->counter_set);
	IFC_SET(rqc, c, user_index, rq->user_index);
	IFC_SET(rqc, c, wq.pd, rq->pd ? rq->pd->obj.id : 0);
	IFC_SET(rqc, c, wq.log_wq_sz, rq->log_size);
	IFC_SET(rqc, c, wq.log_wq_stride, rq->log_stride);
	IFC_SET(rqc, c, wq.hw_counter, rq->head);
	return CMD_OK;
}

static uint8_t destroy_rq(struct cmd *cmd)
{
	uint32_t rqn = IFC_GET(destroy_rq_in, cmd->in, rqn);
	struct rq *rq = obj_own(&cmd->hca->eth->rx.rqs, rqn, cmd->uid);

	if (!rq)
		return CMD_BAD_RES;
	if (rq->obj.holds)
		return CMD_BAD_RES_STATE;
	idtable_remove(&cmd->hca->eth->rx.rqs, rqn);
	obj_release(&rq->cq->obj);
	if (rq->pd)
		obj_release(&rq->pd->obj);
	rq_free(rq);
	return CMD_OK;
}

/* Replace the queues of a table, if all the new ones exist. */
static uint8_t rqt_fill(struct cmd *cmd, struct rqt *rqt, const uint8_t *c)
{
	uint32_t n = IFC_GET(rqtc, c, rqt_actual_size), i;
	const uint8_t *nums = IFC_ADDR_OF(rqtc, c, rq_num);
	struct rq *rqs[RQT_MAX];

	if (!n || n > RQT_MAX || IFC_GET(rqtc, c, list_q_type))
		return CMD_BAD_PARAM;
	if ((size_t)(cmd->in + cmd->in_len - nums) < n * IFC_SZ(rq_num))
		return CMD_BAD_INP_LEN;
	for (i = 0; i < n; i++) {
		rqs[i] = obj_find(&cmd->hca->eth->rx.rqs,
				  IFC_GET(rq_num, nums + i * IFC_SZ(rq_num), rq_num),
				  cmd->uid);
		if (!rqs[i])
			return CMD_BAD_RES;
	}
	for (i = 0; i < n; i++)
		obj_hold(&rqs[i]->obj);
	for (i = 0; i < rqt->n; i++)
		obj_release(&rqt->rqs[i]->obj);
	memcpy(rqt->rqs, rqs, n * sizeof(*rqs));
	rqt->n = n;
	return CMD_OK;
}

static uint8_t create_rqt(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR_OF(create_rqt_in, cmd->in, rqt_context);
	struct rqt *rqt = calloc(1, sizeof(*rqt));
	uint8_t status;

	if (!rqt)
		return CMD_NO_RES;
	if (obj_add(&cmd->hca->eth->rx.rqts, &rqt->obj, cmd->uid)) {
		free(rqt);
		return CMD_LIM;
	}
	status = rqt_fill(cmd, rqt, c);
	if (status) {
		free(idtable_remove(&cmd->hca->eth->rx.rqts, rqt->obj.id));
		return status;
	}
	IFC_SET(create_rqt_out, cmd->out, rqtn, rqt->obj.id);
	return CMD_OK;
}

static uint8_t modify_rqt(struct cmd *cmd)
{
	struct rqt *rqt = obj_own(&cmd->hca->eth->rx.rqts,
				  IFC_GET(modify_rqt_in, cmd->in, rqtn),
				  cmd->uid);

	if (!rqt)
		return CMD_BAD_RES;
	return rqt_fill(cmd, rqt, IFC_ADDR_OF(modify_rqt_in, cmd->in, ctx));
}

static uint8_t destroy_rqt(struct cmd *cmd)
{
	uint32_t rqtn = IFC_GET(destroy_rqt_in, cmd->in, rqtn), i;
	struct rqt *rqt = obj_own(&cmd->hca->eth->rx.rqts, rqtn, cmd->uid);

	if (!rqt)
		return CMD_BAD_RES;
	if (rqt->obj.holds)
		return CMD_BAD_RES_STATE;
	for (i = 0; i < rqt->n; i++)
		obj_release(&rqt->rqs[i]->obj);
	free(idtable_remove(&cmd->hca->eth->rx.rqts, rqtn));
	return CMD_OK;
}

static bool tir_target(struct cmd *cmd, struct tir *tir)
{
	struct rx_tables *rx = &cmd->hca->eth->rx;
	const uint8_t *c = tir->ctx;

	if (IFC_GET(tirc, c, disp_type) == TIR_DIRECT)
		tir->rq = obj_find(&rx->rqs, IFC_GET(tirc, c, inline_rqn),
				   cmd->uid);
	else if (IFC_GET(tirc, c, disp_type) == TIR_INDIRECT)
		tir->rqt = obj_find(&rx->rqts,
				    IFC_GET(tirc, c, indirect_table),
				    cmd->uid);
	return tir->rq || tir->rqt;
}

static struct obj *tir_held(struct tir *tir)
{
	return tir->rq ? &tir->rq->obj : &tir->rqt->obj;
}

/* A DevX user need not name a transport domain: 0. */
static bool tir_td(struct cmd *cmd, struct tir *tir)
{
	uint32_t td = IFC_GET(tirc, tir->ctx, transport_domain);

	tir->td = td_find(cmd->hca, td, cmd->uid);
	return tir->td || (!td && !uid_privileged(cmd->uid));
}

static uint8_t create_tir(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR_OF(create_tir_in, cmd->in, ctx);
	struct tir *tir;

	if (cmd->hca->link != LINK_ETH)
		return CMD_BAD_PARAM;
	tir = calloc(1, sizeof(*tir));
	if (!tir)
		return CMD_NO_RES;
	memcpy(tir->ctx, c, sizeof(tir->ctx));
	if (!tir_td(cmd, tir) || !tir_target(cmd, tir)) {
		free(tir);
		return CMD_BAD_RES;
	}
	if (obj_add(&cmd->hca->eth->rx.tirs, &tir->obj, cmd->uid)) {
		free(tir);
		return CMD_LIM;
	}
	if (tir->td)
		obj_hold(&tir->td->obj);
	obj_hold(tir_held(tir));
	IFC_SET(create_tir_out, cmd->out, tirn, tir->obj.id);
	return CMD_OK;
}

/* MODIFY_TIR may change the hash of packets and self-loopback. */
static uint8_t modify_tir(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR_OF(modify_tir_in, cmd->in, ctx);
	struct tir *tir = obj_own(&cmd->hca->eth->rx.tirs,
				  IFC_GET(modify_tir_in, cmd->in, tirn),
				  cmd->uid);

	if (!tir)
		return CMD_BAD_RES;
	if (IFC_GET(modify_tir_in, cmd->in, bitmask.self_lb_en))
		IFC_SET(tirc, tir->ctx, self_lb_block,
			IFC_GET(tirc, c, self_lb_block));
	if (!IFC_GET(modify_tir_in, cmd->in, bitmask.hash))
		return CMD_OK;
#define COPY(fld) IFC_SET(tirc, tir->ctx, fld, IFC_GET(tirc, c, fld))
	COPY(rx_hash_symmetric);
	COPY(rx_hash_fn);
#undef COPY
	memcpy(IFC_ADDR_OF(tirc, tir->ctx, rx_hash_toeplitz_key),
	       IFC_ADDR_OF(tirc, c, rx_hash_toeplitz_key),
	       IFC_FLD_SZ(tirc, rx_hash_toeplitz_key));
	memcpy(IFC_ADDR_OF(tirc, tir->ctx, rx_hash_field_selector_outer),
	       IFC_ADDR_OF(tirc, c, rx_hash_field_selector_outer),
	       IFC_SZ(rx_hash_field_select));
	return CMD_OK;
}

static uint8_t destroy_tir(struct cmd *cmd)
{
	uint32_t tirn = IFC_GET(destroy_tir_in, cmd->in, tirn);
	struct tir *tir = obj_own(&cmd->hca->eth->rx.tirs, tirn, cmd->uid);

	if (!tir)
		return CMD_BAD_RES;
	if (tir->obj.holds)
		return CMD_BAD_RES_STATE;
	if (tir->td)
		obj_release(&tir->td->obj);
	obj_release(tir_held(tir));
	free(idtable_remove(&cmd->hca->eth->rx.tirs, tirn));
	return CMD_OK;
}

#define CMD(op, fn) \
	{ MLX5_CMD_OP_##op, #op, IFC_SZ(fn##_in), IFC_SZ(fn##_out), fn }

const struct cmd_def rx_cmds[] = {
	CMD(CREATE_RQ, create_rq),
	CMD(MODIFY_RQ, modify_rq),
	CMD(QUERY_RQ, query_rq),
	CMD(DESTROY_RQ, destroy_rq),
	CMD(CREATE_RQT, create_rqt),
	CMD(MODIFY_RQT, modify_rqt),
	CMD(DESTROY_RQT, destroy_rqt),
	CMD(CREATE_TIR, create_tir),
	CMD(MODIFY_TIR, modify_tir),
	CMD(DESTROY_TIR, destroy_tir),
	{ 0 },
};
