// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of queues for tag matching. See xrq.h for the model.
 */
#include <stdlib.h>

#include "fw/cmd.h"
#include "object/xrq.h"

enum { WQ_TYPE_LINKED_LIST };

#define TM(fld) tag_matching_topology_context.fld

/* Does the context ask for what the adapter has? */
static bool context_ok(const uint8_t *c, const uint8_t *wq)
{
	uint32_t log_list = IFC_GET(xrqc, c, TM(log_matching_list_sz));

	return IFC_GET(xrqc, c, topology) == MLX5_XRQC_TOPOLOGY_TAG_MATCHING &&
	       IFC_GET(xrqc, c, offload) <= MLX5_XRQC_OFFLOAD_RNDV &&
	       log_list && log_list <= LOG_MAX_TAGS &&
	       !IFC_GET(xrqc, c, rlkey) && !IFC_GET(wq, wq, wq_signature) &&
	       IFC_GET(wq, wq, wq_type) == WQ_TYPE_LINKED_LIST;
}

static uint8_t create_xrq(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR_OF(create_xrq_in, cmd->in, xrq_context);
	const uint8_t *wq = IFC_ADDR_OF(xrqc, c, wq);
	struct xrq *xrq;
	uint8_t status;

	if (cmd->hca->link != LINK_IB)
		return CMD_BAD_OP;
	if (!context_ok(c, wq))
		return CMD_BAD_PARAM;
	xrq = calloc(1, sizeof(*xrq));
	if (!xrq)
		return CMD_NO_RES;
	xrq->log_list = IFC_GET(xrqc, c, TM(log_matching_list_sz));
	xrq->rndv = IFC_GET(xrqc, c, offload);
	xrq->srq.kind = SRQ_KIND_XRQ;
	xrq->srq.user_index = IFC_GET(xrqc, c, user_index);
	status = srq_take_wq(cmd, &xrq->srq, wq);
	xrq->srq.cq = cq_find(cmd->hca, IFC_GET(xrqc, c, cqn), cmd->uid);
	if (!status && !xrq->srq.cq)
		status = CMD_BAD_RES;
	status = srq_publish(cmd, &xrq->srq, status);
	if (!status)
		IFC_SET(create_xrq_out, cmd->out, xrqn, xrq->srq.obj.id);
	return status;
}

static uint8_t destroy_xrq(struct cmd *cmd)
{
	return srq_destroy(cmd, IFC_GET(destroy_xrq_in, cmd->in, xrqn),
			   SRQ_KIND_XRQ);
}

static uint8_t query_xrq(struct cmd *cmd)
{
	uint8_t *c = IFC_ADDR_OF(query_xrq_out, cmd->out, xrq_context);
	struct srq *srq = obj_own(&cmd->hca->objs->srqs,
				  IFC_GET(query_xrq_in, cmd->in, xrqn),
				  cmd->uid);
	const struct xrq *xrq;

	if (!srq || srq->kind != SRQ_KIND_XRQ)
		return CMD_BAD_RES;
	xrq = container_of(srq, struct xrq, srq);
	IFC_SET(xrqc, c, state, srq->error ? MLX5_XRQC_STATE_ERROR :
					     MLX5_XRQC_STATE_GOOD);
	IFC_SET(xrqc, c, topology, MLX5_XRQC_TOPOLOGY_TAG_MATCHING);
	IFC_SET(xrqc, c, offload, xrq->rndv);
	IFC_SET(xrqc, c, user_index, srq->user_index);
	IFC_SET(xrqc, c, cqn, srq->cq->obj.id);
	IFC_SET(xrqc, c, TM(log_matching_list_sz), xrq->log_list);
	IFC_SET(xrqc, c, TM(append_next_index), xrq->next);
	IFC_SET(xrqc, c, TM(sw_phase_cnt), xrq->seen);
	IFC_SET(xrqc, c, TM(hw_phase_cnt), xrq->unexpected);
	srq_put_wq(srq, IFC_ADDR_OF(xrqc, c, wq));
	return CMD_OK;
}

static uint8_t arm_xrq(struct cmd *cmd)
{
	return srq_arm(cmd, IFC_GET(arm_xrq_in, cmd->in, xrqn), SRQ_KIND_XRQ,
		       IFC_GET(arm_xrq_in, cmd->in, lwm));
}

#define XRQ_CMD(OP, op) \
	{ MLX5_CMD_OP_##OP, #OP, IFC_SZ(op##_in), IFC_SZ(op##_out), op }

const struct cmd_def xrq_cmds[] = {
	XRQ_CMD(CREATE_XRQ, create_xrq),
	XRQ_CMD(DESTROY_XRQ, destroy_xrq),
	XRQ_CMD(QUERY_XRQ, query_xrq),
	XRQ_CMD(ARM_XRQ, arm_xrq),
	{ 0 },
};
