// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * TISs: the transport domain of send queues, and their affinity: by which port of a
 * card with two ports their frames leave while these are joined (fabric/lag.c).
 */
#include <stdlib.h>

#include "fw/cmd.h"
#include "object/objects.h"
#include "object/tis.h"

#define PORTS 2u

struct tis {
	struct obj obj;
	struct domain *td;
	uint32_t affinity;	/* 1 or 2, 0: none */
};

static struct tis *find(const struct cmd *cmd, uint32_t tisn)
{
	return obj_own(&cmd->hca->objs->tiss, tisn, cmd->uid);
}

static bool affinity_fits(const struct hca *hca, uint32_t affinity)
{
	return affinity <= (hca->native_port ? PORTS : 0);
}

static uint8_t create_tis(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR_OF(create_tis_in, cmd->in, ctx);
	uint32_t affinity = IFC_GET(tisc, c, lag_tx_port_affinity);
	struct domain *td = td_find(cmd->hca,
				    IFC_GET(tisc, c, transport_domain),
				    cmd->uid);
	struct tis *tis;

	if (!td)
		return CMD_BAD_RES;
	if (!affinity_fits(cmd->hca, affinity))
		return CMD_BAD_PARAM;
	tis = calloc(1, sizeof(*tis));
	if (!tis)
		return CMD_NO_RES;
	if (obj_add(&cmd->hca->objs->tiss, &tis->obj, cmd->uid)) {
		free(tis);
		return CMD_LIM;
	}
	tis->td = td;
	tis->affinity = affinity;
	obj_hold(&td->obj);
	IFC_SET(create_tis_out, cmd->out, tisn, tis->obj.id);
	return CMD_OK;
}

/* Of what the mask can name, the affinity has an effect. */
static uint8_t modify_tis(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR_OF(modify_tis_in, cmd->in, ctx);
	struct tis *tis = find(cmd, IFC_GET(modify_tis_in, cmd->in, tisn));
	uint32_t affinity = IFC_GET(tisc, c, lag_tx_port_affinity);

	if (!tis)
		return CMD_BAD_RES;
	if (!IFC_GET(modify_tis_in, cmd->in, bitmask.lag_tx_port_affinity))
		return CMD_OK;
	if (!affinity_fits(cmd->hca, affinity))
		return CMD_BAD_PARAM;
	tis->affinity = affinity;
	return CMD_OK;
}

static uint8_t query_tis(struct cmd *cmd)
{
	struct tis *tis = find(cmd, IFC_GET(query_tis_in, cmd->in, tisn));
	uint8_t *c = IFC_ADDR_OF(query_tis_out, cmd->out, tis_context);

	if (!tis)
		return CMD_BAD_RES;
	IFC_SET(tisc, c, transport_domain, tis->td->obj.id);
	IFC_SET(tisc, c, lag_tx_port_affinity, tis->affinity);
	return CMD_OK;
}

static uint8_t destroy_tis(struct cmd *cmd)
{
	uint32_t tisn = IFC_GET(destroy_tis_in, cmd->in, tisn);
	struct tis *tis = find(cmd, tisn);

	if (!tis)
		return CMD_BAD_RES;
	if (tis->obj.holds)
		return CMD_BAD_RES_STATE;
	idtable_remove(&cmd->hca->objs->tiss, tisn);
	obj_release(&tis->td->obj);
	free(tis);
	return CMD_OK;
}

/**
 * tis_domain() - number of the transport domain of a TIS
 * @uid: DevX uid of who names it
 *
 * Return: the number, 0: there is no such TIS
 */
uint32_t tis_domain(struct hca *hca, uint32_t tisn, uint16_t uid)
{
	const struct tis *tis = obj_find(&hca->objs->tiss, tisn, uid);

	return tis ? tis->td->obj.id : 0;
}

/**
 * tis_affinity() - the affinity of a TIS, 0: it has none, or is no more
 */
uint32_t tis_affinity(struct hca *hca, uint32_t tisn)
{
	const struct tis *tis = idtable_get(&hca->objs->tiss, tisn);

	return tis ? tis->affinity : 0;
}

#define TIS_CMD(OP, op) \
	{ MLX5_CMD_OP_##OP, #OP, IFC_SZ(op##_in), IFC_SZ(op##_out), op }

const struct cmd_def tis_cmds[] = {
	TIS_CMD(CREATE_TIS, create_tis),
	TIS_CMD(MODIFY_TIS, modify_tis),
	TIS_CMD(QUERY_TIS, query_tis),
	TIS_CMD(DESTROY_TIS, destroy_tis),
	{ 0 },
};
