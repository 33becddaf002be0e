// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of DC targets. See dct.h.
 */
#include <stdlib.h>
#include <string.h>

#include "eth/eth.h"
#include "fabric/port.h"
#include "fw/cmd.h"
#include "object/dct.h"

enum { DCT_ACTIVE = 0, DCT_DRAINED = 2 };

#define THE_PORT 1

static struct dct *dct_find(struct cmd *cmd, uint32_t dctn)
{
	struct qp *qp = obj_own(&cmd->hca->objs->qps, dctn, cmd->uid);

	return qp && qp->kind == QP_KIND_DCT ? container_of(qp, struct dct, qp)
					     : NULL;
}

/* What a new target may ask for, on this port. */
static uint8_t dct_check(struct cmd *cmd, const uint8_t *c)
{
	uint32_t mtu = IFC_GET(dctc, c, mtu);
	uint16_t pkey;

	if ((IFC_GET(dctc, c, rlky) || IFC_GET(dctc, c, free_ar)) &&
	    !uid_privileged(cmd->uid))
		return CMD_BAD_PARAM;
	if (IFC_GET(dctc, c, state) != DCT_ACTIVE || !mtu ||
	    mtu > port_mtu(cmd->hca) || IFC_GET(dctc, c, port) > THE_PORT ||
	    !port_pkey(cmd->hca, IFC_GET(dctc, c, pkey_index), &pkey))
		return CMD_BAD_PARAM;
	if (cmd->hca->link == LINK_ETH &&
	    !nic_roce_address(cmd->hca, IFC_GET(dctc, c, my_addr_index)))
		return CMD_BAD_PARAM;
	return CMD_OK;
}

/* The part of the context that a responder of any type has. */
static void dct_fill(struct dct *dct, const uint8_t *c)
{
	uint8_t *q = dct->qp.qpc;

	memcpy(dct->dctc, c, DCTC_SIZE);
	dct->key = IFC_GET64(dctc, c, dc_access_key);
	dct->addr_index = IFC_GET(dctc, c, my_addr_index);
	dct->qp.user_index = IFC_GET(dctc, c, user_index);
	IFC_SET(qpc, q, mtu, IFC_GET(dctc, c, mtu));
	IFC_SET(qpc, q, rre, IFC_GET(dctc, c, rre));
	IFC_SET(qpc, q, rwe, IFC_GET(dctc, c, rwe));
	IFC_SET(qpc, q, rae, IFC_GET(dctc, c, rae));
	IFC_SET(qpc, q, rlky, IFC_GET(dctc, c, rlky));
	IFC_SET(qpc, q, min_rnr_nak, IFC_GET(dctc, c, min_rnr_nak));
	IFC_SET(qpc, q, counter_set_id, IFC_GET(dctc, c, counter_set_id));
	IFC_SET(qpc, q, pm_state, PM_MIGRATED);
	IFC_SET(qpc, q, primary_address_path.pkey_index,
		IFC_GET(dctc, c, pkey_index));
	qp_load(&dct->qp);
}

static uint8_t dct_take(struct cmd *cmd, struct dct *dct)
{
	const uint8_t *c = IFC_ADDR_OF(create_dct_in, cmd->in,
				       dct_context_entry);
	struct qp *qp = &dct->qp;
	uint8_t status = dct_check(cmd, c);

	if (status)
		return status;
	qp->hca = cmd->hca;
	qp->kind = QP_KIND_DCT;
	qp->type = QP_DCT;
	qp->state = QP_RTR;
	qp->timer.fire = qp_retry;
	qp->pd = pd_find(cmd->hca, IFC_GET(dctc, c, pd), cmd->uid);
	qp->rcq = cq_find(cmd->hca, IFC_GET(dctc, c, cqn), cmd->uid);
	qp->srq = srq_find(cmd->hca, IFC_GET(dctc, c, srqn_xrqn), cmd->uid);
	if (!qp->pd || !qp->rcq || !qp->srq || qp->srq->kind == SRQ_KIND_XRC ||
	    qp->srq->kind == SRQ_KIND_XRQ)
		return CMD_BAD_RES;
	dct_fill(dct, c);
	return CMD_OK;
}

static uint8_t create_dct(struct cmd *cmd)
{
	struct dct *dct = calloc(1, sizeof(*dct));
	uint8_t status;

	if (!dct)
		return CMD_NO_RES;
	status = dct_take(cmd, dct);
	if (!status && obj_add(&cmd->hca->objs->qps, &dct->qp.obj, cmd->uid))
		status = CMD_LIM;
	if (status) {
		qp_free(&dct->qp);
		return status;
	}
	qp_hold_refs(&dct->qp);
	IFC_SET(create_dct_out, cmd->out, dctn, dct->qp.obj.id);
	cmd_note(cmd, "mtu", dct->qp.mtu);
	return CMD_OK;
}

/* Messages move in one step, so none is left when the command ends. */
static uint8_t drain_dct(struct cmd *cmd)
{
	struct dct *dct = dct_find(cmd, IFC_GET(drain_dct_in, cmd->in, dctn));

	if (!dct)
		return CMD_BAD_RES;
	if (dct->qp.state == QP_ERR)
		return CMD_BAD_RES_STATE;
	dct->qp.state = QP_ERR;
	event_post(cmd->hca, EVENT_DCT_DRAINED, dct->qp.obj.id);
	return CMD_OK;
}

static uint8_t destroy_dct(struct cmd *cmd)
{
	struct dct *dct = dct_find(cmd, IFC_GET(destroy_dct_in, cmd->in, dctn));

	return dct ? qp_destroy(cmd, &dct->qp) : CMD_BAD_RES;
}

static uint8_t query_dct(struct cmd *cmd)
{
	struct dct *dct = dct_find(cmd, IFC_GET(query_dct_in, cmd->in, dctn));
	uint8_t *c = IFC_ADDR_OF(query_dct_out, cmd->out, dct_context_entry);

	if (!dct)
		return CMD_BAD_RES;
	memcpy(c, dct->dctc, DCTC_SIZE);
	IFC_SET(dctc, c, state,
		dct->qp.state == QP_ERR ? DCT_DRAINED : DCT_ACTIVE);
	IFC_SET(dctc, c, dc_access_key_violation_count, dct->violations);
	return CMD_OK;
}

static uint8_t arm_dct(struct cmd *cmd)
{
	struct dct *dct = dct_find(cmd, IFC_GET(arm_dct_in, cmd->in,
						dct_number));

	if (!dct)
		return CMD_BAD_RES;
	dct->armed = true;
	return CMD_OK;
}

#define DCT_CMD(OP, op) \
	{ MLX5_CMD_OP_##OP, #OP, IFC_SZ(op##_in), IFC_SZ(op##_out), op }

/* Layouts of mlx5_ifc.h end with reserved fields, which users may leave out. */
const struct cmd_def dct_cmds[] = {
	{ MLX5_CMD_OP_CREATE_DCT, "CREATE_DCT",
	  IFC_OFF(create_dct_in, dct_context_entry) + IFC_SZ(dctc),
	  IFC_SZ(create_dct_out), create_dct },
	DCT_CMD(DRAIN_DCT, drain_dct),
	DCT_CMD(DESTROY_DCT, destroy_dct),
	{ MLX5_CMD_OP_QUERY_DCT, "QUERY_DCT", IFC_SZ(query_dct_in),
	  IFC_OFF(query_dct_out, dct_context_entry) + IFC_SZ(dctc),
	  query_dct },
	{ MLX5_CMD_OP_ARM_DCT_FOR_KEY_VIOLATION, "ARM_DCT_FOR_KEY_VIOLATION",
	  IFC_SZ(arm_dct_in), IFC_SZ(arm_dct_out), arm_dct },
	{ 0 },
};
