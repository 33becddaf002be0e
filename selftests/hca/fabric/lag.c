// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See lag.h. A QP has an affinity, 1 or 2, and the context of the aggregation says by
 * which port packets of that affinity leave. The driver changes it when a port goes
 * down. Messages to the joined QPs arrive by either port that is up.
 *
 * Frames of a function's netdev leave and arrive by its own port, joined or not: the
 * bonding driver chooses the netdev.
 *
 * Invariants
 * - At most one function of a card has an aggregation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "fabric/lag.h"
#include "fw/cmd.h"
#include "object/objects.h"

#define PORTS 2u

/* port_select_mode of the context: by the affinity of a queue */
#define BY_AFFINITY 0
/* field_select of MODIFY_LAG: the two affinities */
#define MODIFY_AFFINITIES 0x1u

struct lag {
	bool active;
	bool vport;	/* CREATE_VPORT_LAG: RoCE of the other port comes here */
	uint8_t ctx[IFC_SZ(lagc)];
};

/**
 * lag_init() - make the state: not joined
 *
 * Return: 0 or -ENOMEM
 */
int lag_init(struct hca *hca)
{
	hca->lag = calloc(1, sizeof(*hca->lag));
	return hca->lag ? 0 : -ENOMEM;
}

/**
 * lag_fini() - free the state
 */
void lag_fini(struct hca *hca)
{
	free(hca->lag);
	hca->lag = NULL;
}

/**
 * lag_reset() - forget what a driver set
 */
void lag_reset(struct hca *hca)
{
	memset(hca->lag, 0, sizeof(*hca->lag));
}

/**
 * lag_card() - the number of the card, which two functions share
 */
uint32_t lag_card(const struct hca *hca)
{
	return hca->native_port ? hca->index & ~1u : hca->index;
}

/* The other function of the card, NULL where there is none. */
static struct hca *beside(const struct hca *hca)
{
	return hca->native_port ? fabric_hca(hca->index ^ 1) : NULL;
}

/**
 * lag_sends() - is the port up by which a QP sends?
 * @affinity: lag_tx_port_affinity of the QP, 0: the adapter chooses
 */
bool lag_sends(struct hca *hca, uint32_t affinity)
{
	const uint8_t *ctx = hca->lag->ctx;
	uint32_t port = hca->native_port;

	if (hca->lag->active)
		port = affinity == 2 ?
			       IFC_GET(lagc, ctx, tx_remap_affinity_2) :
			       IFC_GET(lagc, ctx, tx_remap_affinity_1);
	return !hca->fatal &&
	       port_active(port == hca->native_port ? hca : beside(hca));
}

/**
 * lag_receives() - is a port up by which messages arrive for the adapter's QPs?
 */
bool lag_receives(struct hca *hca)
{
	return !hca->fatal &&
	       (port_active(hca) ||
		(hca->lag->active && port_active(beside(hca))));
}

/**
 * lag_kick() - let QPs send again that waited for this port, or may use another now
 */
void lag_kick(struct hca *hca)
{
	struct hca *other = beside(hca);

	objects_kick(hca);
	if (other && other->lag->active)
		objects_kick(other);
}

/**
 * lag_dump() - tell about the aggregation
 * @o: gets "lag": the port of each affinity, where there is one
 */
void lag_dump(struct hca *hca, struct json_object *o)
{
	const uint8_t *ctx = hca->lag->ctx;
	struct json_object *ports;

	if (!hca->lag->active)
		return;
	ports = json_object_new_array();
	json_object_array_add(ports, json_object_new_int(
			IFC_GET(lagc, ctx, tx_remap_affinity_1)));
	json_object_array_add(ports, json_object_new_int(
			IFC_GET(lagc, ctx, tx_remap_affinity_2)));
	json_object_object_add(o, "lag", ports);
}

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
	struct hca *other = beside(cmd->hca);
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
	lag_kick(cmd->hca);
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
