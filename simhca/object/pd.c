// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains, transport domains, XRC domains: numbers that other
 * objects name. One that is named by a living object cannot be freed.
 */
#include <stdlib.h>

#include "fw/cmd.h"
#include "object/objects.h"

static uint8_t domain_alloc(struct cmd *cmd, struct idtable *t, uint32_t *id)
{
	struct domain *d = calloc(1, sizeof(*d));

	if (!d)
		return CMD_NO_RES;
	if (obj_add(t, &d->obj, cmd->uid)) {
		free(d);
		return CMD_LIM;
	}
	*id = d->obj.id;
	return CMD_OK;
}

static uint8_t domain_dealloc(struct cmd *cmd, struct idtable *t, uint32_t id)
{
	struct domain *d = obj_own(t, id, cmd->uid);

	if (!d)
		return CMD_BAD_RES;
	if (d->obj.holds)
		return CMD_BAD_RES_STATE;
	idtable_remove(t, id);
	free(d);
	return CMD_OK;
}

/**
 * pd_find() - the protection domain a command refers to
 * @uid: DevX uid of the command
 */
struct domain *pd_find(struct hca *hca, uint32_t id, uint16_t uid)
{
	return obj_find(&hca->objs->pds, id, uid);
}

/**
 * xrcd_find() - the XRC domain a command refers to
 * @uid: DevX uid of the command
 */
struct domain *xrcd_find(struct hca *hca, uint32_t id, uint16_t uid)
{
	return obj_find(&hca->objs->xrcds, id, uid);
}

/**
 * td_find() - the transport domain a command refers to
 * @uid: DevX uid of the command
 */
struct domain *td_find(struct hca *hca, uint32_t id, uint16_t uid)
{
	return obj_find(&hca->objs->tds, id, uid);
}

static uint8_t alloc_pd(struct cmd *cmd)
{
	uint32_t id;
	uint8_t ret = domain_alloc(cmd, &cmd->hca->objs->pds, &id);

	if (!ret)
		IFC_SET(alloc_pd_out, cmd->out, pd, id);
	return ret;
}

static uint8_t dealloc_pd(struct cmd *cmd)
{
	return domain_dealloc(cmd, &cmd->hca->objs->pds,
			      IFC_GET(dealloc_pd_in, cmd->in, pd));
}

static uint8_t alloc_td(struct cmd *cmd)
{
	uint32_t id;
	uint8_t ret = domain_alloc(cmd, &cmd->hca->objs->tds, &id);

	if (!ret)
		IFC_SET(alloc_transport_domain_out, cmd->out, transport_domain,
			id);
	return ret;
}

static uint8_t dealloc_td(struct cmd *cmd)
{
	return domain_dealloc(cmd, &cmd->hca->objs->tds,
			      IFC_GET(dealloc_transport_domain_in, cmd->in,
				      transport_domain));
}

static uint8_t alloc_xrcd(struct cmd *cmd)
{
	uint32_t id;
	uint8_t ret = domain_alloc(cmd, &cmd->hca->objs->xrcds, &id);

	if (!ret)
		IFC_SET(alloc_xrcd_out, cmd->out, xrcd, id);
	return ret;
}

static uint8_t dealloc_xrcd(struct cmd *cmd)
{
	return domain_dealloc(cmd, &cmd->hca->objs->xrcds,
			      IFC_GET(dealloc_xrcd_in, cmd->in, xrcd));
}

const struct cmd_def pd_cmds[] = {
	{ MLX5_CMD_OP_ALLOC_PD, "ALLOC_PD", IFC_SZ(alloc_pd_in),
	  IFC_SZ(alloc_pd_out), alloc_pd },
	{ MLX5_CMD_OP_DEALLOC_PD, "DEALLOC_PD", IFC_SZ(dealloc_pd_in),
	  IFC_SZ(dealloc_pd_out), dealloc_pd },
	{ MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, "ALLOC_TRANSPORT_DOMAIN",
	  IFC_SZ(alloc_transport_domain_in),
	  IFC_SZ(alloc_transport_domain_out), alloc_td },
	{ MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, "DEALLOC_TRANSPORT_DOMAIN",
	  IFC_SZ(dealloc_transport_domain_in),
	  IFC_SZ(dealloc_transport_domain_out), dealloc_td },
	{ MLX5_CMD_OP_ALLOC_XRCD, "ALLOC_XRCD", IFC_SZ(alloc_xrcd_in),
	  IFC_SZ(alloc_xrcd_out), alloc_xrcd },
	{ MLX5_CMD_OP_DEALLOC_XRCD, "DEALLOC_XRCD", IFC_SZ(dealloc_xrcd_in),
	  IFC_SZ(dealloc_xrcd_out), dealloc_xrcd },
	{ 0 },
};
