// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bare send queues. The driver's test of write combining posts NOPs to them; with an
 * Ethernet port mlx5e also posts frames. A DevX user has such queues too.
 */
#include <stdlib.h>

#include "fw/cmd.h"
#include "object/qp.h"
#include "object/tis.h"
#include "object/umem.h"
#include "qos/sched.h"

#define LOG_BB 6
#define MODIFY_GROUP 4u		/* of modify_bitmask */

enum { SQ_STATE_RST, SQ_STATE_RDY, SQ_STATE_ERR = 3 };

/* A queue may name no TIS; else its frames are of the transport domain of the TIS. */
static bool sq_tis(struct cmd *cmd, struct qp *sq, const uint8_t *c)
{
	if (!IFC_GET(sqc, c, tis_lst_sz))
		return true;
	sq->tis = obj_find(&cmd->hca->objs->tiss, IFC_GET(sqc, c, tis_num_0),
			   cmd->uid);
	if (!sq->tis)
		return false;
	sq->td = tis_domain(cmd->hca, sq->tis->id, cmd->uid);
	return true;
}

static uint8_t sq_take(struct cmd *cmd, struct qp *sq)
{
	const uint8_t *c = IFC_ADDR_OF(create_sq_in, cmd->in, ctx);
	const uint8_t *wq = IFC_ADDR_OF(sqc, c, wq);

	sq->hca = cmd->hca;
	sq->kind = QP_KIND_SQ;
	sq->has_sq = true;
	sq->uar = IFC_GET(wq, wq, uar_page);
	sq->user_index = IFC_GET(sqc, c, user_index);
	sq->dbr = IFC_GET64(wq, wq, dbr_addr);
	sq->log_sq = IFC_GET(wq, wq, log_wq_sz);
	sq->timer.fire = qp_retry;
	send_init(sq);
	if (IFC_GET(sqc, c, state) != SQ_STATE_RST ||
	    IFC_GET(wq, wq, log_wq_stride) != LOG_BB ||
	    sq->log_sq > LOG_MAX_QP_SZ || sq->dbr % DB_RECORD)
		return CMD_BAD_PARAM;
	/* A queue of NOPs accesses no memory, so it may name no PD. */
	sq->pd = pd_find(cmd->hca, IFC_GET(wq, wq, pd), cmd->uid);
	sq->scq = cq_find(cmd->hca, IFC_GET(sqc, c, cqn), cmd->uid);
	if (!sq->scq || !uar_usable(cmd->hca, sq->uar, cmd->uid) ||
	    !sq_tis(cmd, sq, c))
		return CMD_BAD_RES;
	return umem_wq(cmd, &sq->buf, wq, (uint64_t)WQE_BB << sq->log_sq,
		       &sq->dbr) ? CMD_BAD_PARAM : CMD_OK;
}

static uint8_t create_sq(struct cmd *cmd)
{
	struct qp *sq = calloc(1, sizeof(*sq));
	uint8_t status;

	if (!sq)
		return CMD_NO_RES;
	status = sq_take(cmd, sq);
	if (!status && obj_add(&cmd->hca->objs->qps, &sq->obj, cmd->uid))
		status = CMD_LIM;
	if (status) {
		qp_free(sq);
		return status;
	}
	qp_hold_refs(sq);
	IFC_SET(create_sq_out, cmd->out, sqn, sq->obj.id);
	return CMD_OK;
}

static struct qp *sq_find(struct cmd *cmd, uint32_t sqn)
{
	struct qp *sq = obj_own(&cmd->hca->objs->qps, sqn, cmd->uid);

	return sq && sq->kind == QP_KIND_SQ ? sq : NULL;
}

static uint8_t sq_state(const struct qp *sq)
{
	switch (sq->state) {
	case QP_RTS:
		return SQ_STATE_RDY;
	case QP_ERR:
		return SQ_STATE_ERR;
	default:
		return SQ_STATE_RST;
	}
}

/* The group of an SQ, 0 for none. On Ethernet there are no groups. */
static bool sq_group(struct cmd *cmd, const uint8_t *c, struct qp *sq)
{
	uint32_t id = IFC_GET(sqc, c, qos_queue_group_id);
	struct sched *group = sched_group(cmd->hca, id, cmd->uid);

	if (id && !group)
		return false;
	sched_move(&sq->group, group);
	return true;
}

static uint8_t modify_sq(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR_OF(modify_sq_in, cmd->in, ctx);
	struct qp *sq = sq_find(cmd, IFC_GET(modify_sq_in, cmd->in, sqn));
	uint32_t old = IFC_GET(modify_sq_in, cmd->in, sq_state);
	uint32_t state = IFC_GET(modify_sq_in, cmd->in, ctx.state);

	if (!sq)
		return CMD_BAD_RES;
	if (old != sq_state(sq))
		return CMD_BAD_RES_STATE;
	if (IFC_GET64(modify_sq_in, cmd->in, modify_bitmask) & MODIFY_GROUP &&
	    state == SQ_STATE_RDY && !sq_group(cmd, c, sq))
		return CMD_BAD_RES;
	if (state == SQ_STATE_RDY && old == SQ_STATE_RST)
		sq->state = QP_RTS;
	else if (state == SQ_STATE_RST)
		qp_reset(sq);
	else if (state == SQ_STATE_ERR)
		qp_error(sq, 0);
	else if (state != old)
		return CMD_BAD_PARAM;
	return CMD_OK;
}

static uint8_t query_sq(struct cmd *cmd)
{
	struct qp *sq = sq_find(cmd, IFC_GET(query_sq_in, cmd->in, sqn));
	uint8_t *c = IFC_ADDR_OF(query_sq_out, cmd->out, sq_context);

	if (!sq)
		return CMD_BAD_RES;
	IFC_SET(sqc, c, state, sq_state(sq));
	IFC_SET(sqc, c, cqn, sq->scq->obj.id);
	IFC_SET(sqc, c, user_index, sq->user_index);
	IFC_SET(sqc, c, wq.log_wq_sz, sq->log_sq);
	IFC_SET(sqc, c, wq.log_wq_stride, LOG_BB);
	IFC_SET(sqc, c, wq.hw_counter, sq->sq_head);
	return CMD_OK;
}

static uint8_t destroy_sq(struct cmd *cmd)
{
	struct qp *sq = sq_find(cmd, IFC_GET(destroy_sq_in, cmd->in, sqn));

	return sq ? qp_destroy(cmd, sq) : CMD_BAD_RES;
}

#define RAWQ_CMD(OP, op) \
	{ MLX5_CMD_OP_##OP, #OP, IFC_SZ(op##_in), IFC_SZ(op##_out), op }

const struct cmd_def rawq_cmds[] = {
	RAWQ_CMD(CREATE_SQ, create_sq),
	RAWQ_CMD(MODIFY_SQ, modify_sq),
	RAWQ_CMD(QUERY_SQ, query_sq),
	RAWQ_CMD(DESTROY_SQ, destroy_sq),
	{ 0 },
};
