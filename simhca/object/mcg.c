// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups. See mcg.h for the model.
 */
#include <stdlib.h>
#include <string.h>

#include "fw/cmd.h"
#include "object/mcg.h"

#define MCAST_PREFIX 0xff

struct mcg_member {
	struct qp *qp;
	uint8_t gid[GID_LEN];
};

struct mcgs {
	struct mcg_member *members;
	size_t n;
	size_t cap;
};

static struct mcg_member *mcg_find(struct mcgs *g, const struct qp *qp,
				   const uint8_t *gid)
{
	size_t i;

	for (i = 0; g && i < g->n; i++)
		if (g->members[i].qp == qp &&
		    !memcmp(g->members[i].gid, gid, GID_LEN))
			return &g->members[i];
	return NULL;
}

static struct mcgs *mcg_room(struct hca *hca)
{
	struct mcgs *g = hca->objs->mcgs;
	struct mcg_member *members;
	size_t cap;

	if (!g) {
		g = calloc(1, sizeof(*g));
		hca->objs->mcgs = g;
	}
	if (!g || g->n < g->cap)
		return g;
	cap = g->cap ? 2 * g->cap : 16;
	if (cap > 1u << (LOG_MAX_MCG + LOG_MAX_QP_MCG))
		return NULL;
	members = realloc(g->members, cap * sizeof(*members));
	if (!members)
		return NULL;
	g->members = members;
	g->cap = cap;
	return g;
}

/**
 * mcg_reset() - forget all groups
 */
void mcg_reset(struct hca *hca)
{
	struct mcgs *g = hca->objs->mcgs;

	if (!g)
		return;
	free(g->members);
	free(g);
	hca->objs->mcgs = NULL;
}

/**
 * mcg_deliver() - call a function for each QP of a group
 * @gid: of the group
 * @deliver: called for each QP; attaches and detaches nothing
 * @arg: passed on
 */
void mcg_deliver(struct hca *hca, const uint8_t gid[GID_LEN],
		 void (*deliver)(struct qp *qp, void *arg), void *arg)
{
	struct mcgs *g = hca->objs->mcgs;
	size_t i;

	for (i = 0; g && i < g->n; i++)
		if (!memcmp(g->members[i].gid, gid, GID_LEN))
			deliver(g->members[i].qp, arg);
}

/* On Ethernet also the GID of an IPv4 group, ::ffff:224.0.0.0 and above. */
static bool is_multicast(const struct hca *hca, const uint8_t gid[GID_LEN])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (gid[0] == MCAST_PREFIX)
		return true;
	return hca->link == LINK_ETH && !memcmp(gid, mapped, sizeof(mapped)) &&
	       gid[12] >> 4 == 0xe;
}

static uint8_t attach(struct cmd *cmd)
{
	const uint8_t *gid = IFC_ADDR_OF(attach_to_mcg_in, cmd->in,
					 multicast_gid);
	struct qp *qp = qp_find(cmd->hca,
				IFC_GET(attach_to_mcg_in, cmd->in, qpn),
				cmd->uid);
	struct mcgs *g;

	if (!qp)
		return CMD_BAD_RES;
	if (!is_multicast(cmd->hca, gid) || qp->type != QP_UD)
		return CMD_BAD_PARAM;
	if (mcg_find(cmd->hca->objs->mcgs, qp, gid))
		return CMD_OK;
	g = mcg_room(cmd->hca);
	if (!g)
		return CMD_NO_RES;
	g->members[g->n].qp = qp;
	memcpy(g->members[g->n].gid, gid, GID_LEN);
	g->n++;
	obj_hold(&qp->obj);
	return CMD_OK;
}

static uint8_t detach(struct cmd *cmd)
{
	const uint8_t *gid = IFC_ADDR_OF(detach_from_mcg_in, cmd->in,
					 multicast_gid);
	struct qp *qp = qp_find(cmd->hca,
				IFC_GET(detach_from_mcg_in, cmd->in, qpn),
				cmd->uid);
	struct mcgs *g = cmd->hca->objs->mcgs;
	struct mcg_member *m;

	m = qp ? mcg_find(g, qp, gid) : NULL;
	if (!m)
		return CMD_BAD_RES;
	*m = g->members[--g->n];
	obj_release(&qp->obj);
	return CMD_OK;
}

const struct cmd_def mcg_cmds[] = {
	{ MLX5_CMD_OP_ATTACH_TO_MCG, "ATTACH_TO_MCG", IFC_SZ(attach_to_mcg_in),
	  IFC_SZ(attach_to_mcg_out), attach },
	{ MLX5_CMD_OP_DETACH_FROM_MCG, "DETACH_FROM_MCG",
	  IFC_SZ(detach_from_mcg_in), IFC_SZ(detach_from_mcg_out), detach },
	{ 0 },
};
