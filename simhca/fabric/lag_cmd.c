// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands about the link aggregation of a card's two ports. See lag.h.
 *
 * Invariants
 * - At most one function of a card has an aggregation.
 */
#include <string.h>

#include "fabric/fabric.h"
#include "fabric/lag.h"
#include "fw/cmd.h"

#define PORTS 2u

/* port_select_mode of the context: by the affinity of a queue */
#define BY_AFFINITY 0
/* field_select of MODIFY_LAG: the two affinities */
#define MODIFY_AFFINITIES 0x1u

static bool is_port(uint32_t port)
{
	return port >= 1 && port <= PORTS;
}

static bool affinities_fit(const uint8_t *ctx)
{
	return is_port(IFC_GET(lagc, ctx, tx_remap_affinity_1)) &&
	       is_port(IFC_GET(lagc, ctx, tx_remap_affinity_2));
}

static uint8_t create_lag(struct cmd *cmd)
{
	const uint8_t *ctx = IFC_ADDR_OF(create_lag_in, cmd->in, ctx);
	struct hca *other = lag_beside(cmd->hca);
	struct lag *lag = cmd->hca->lag;

	if (!other || !affinities_fit(ctx) ||
	    IFC_GET(lagc, ctx, fdb_selection_mode) ||
	    IFC_GET(lagc, ctx, port_select_mode) != BY_AFFINITY)
		return CMD_BAD_PARAM;
	if (lag->active || other->lag->active)
		return CMD_BAD_RES_STATE;
	memcpy(lag->ctx, ctx, sizeof(lag->ctx));
	lag->active = true;
	return CMD_OK;
}

static uint8_t modify_lag(struct cmd *cmd)
{
	const uint8_t *ctx = IFC_ADDR_OF(modify_lag_in, cmd->in, ctx);
	struct lag *lag = cmd->hca->lag;

	if (!lag->active)
		return CMD_BAD_RES_STATE;
	if (IFC_GET(modify_lag_in, cmd->in, field_select) != MODIFY_AFFINITIES ||
	    !affinities_fit(ctx))
		return CMD_BAD_PARAM;
	IFC_SET(lagc, lag->ctx, tx_remap_affinity_1,
		IFC_GET(lagc, ctx, tx_remap_affinity_1));
	IFC_SET(lagc, lag->ctx, tx_remap_affinity_2,
		IFC_GET(lagc, ctx, tx_remap_affinity_2));
	cable_kick(cmd->hca);
	return CMD_OK;
}

/* An adapter that is not joined has a context of 0. */
static uint8_t query_lag(struct cmd *cmd)
{
	memcpy(IFC_ADDR_OF(query_lag_out, cmd->out, ctx), cmd->hca->lag->ctx,
	       IFC_SZ(lagc));
	return CMD_OK;
}

static uint8_t destroy_lag(struct cmd *cmd)
{
	struct lag *lag = cmd->hca->lag;

	if (!lag->active || lag->vport)
		return CMD_BAD_RES_STATE;
	lag_reset(cmd->hca);
	return CMD_OK;
}

static uint8_t create_vport_lag(struct cmd *cmd)
{
	struct lag *lag = cmd->hca->lag;

	if (!lag->active || lag->vport)
		return CMD_BAD_RES_STATE;
	lag->vport = true;
	return CMD_OK;
}

static uint8_t destroy_vport_lag(struct cmd *cmd)
{
	struct lag *lag = cmd->hca->lag;

	if (!lag->vport)
		return CMD_BAD_RES_STATE;
	lag->vport = false;
	return CMD_OK;
}

#define CMD(op, fn) \
	{ MLX5_CMD_OP_##op, #op, IFC_SZ(fn##_in), IFC_SZ(fn##_out), fn }

const struct cmd_def lag_cmds[] = {
	CMD(CREATE_LAG, create_lag),
	CMD(MODIFY_LAG, modify_lag),
	CMD(QUERY_LAG, query_lag),
	CMD(DESTROY_LAG, destroy_lag),
	CMD(CREATE_VPORT_LAG, create_vport_lag),
	CMD(DESTROY_VPORT_LAG, destroy_vport_lag),
	{ 0 },
};
