// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User contexts: the uids under which DevX users and, where the driver makes
 * one for them, all verbs users own their resources.
 */
#include <errno.h>
#include <stdlib.h>

#include "fw/cmd.h"
#include "fw/fw.h"

#define UCTX_LIMIT 255u /* log_max_uctx 8, uid 0 is the driver's */

struct uctx {
	uint32_t cap;
};

struct uctxs {
	struct idtable table;
};

/**
 * uctxs_init() - make the table
 *
 * Return: 0 or -ENOMEM
 */
int uctxs_init(struct hca *hca)
{
	hca->uctxs = calloc(1, sizeof(*hca->uctxs));
	if (!hca->uctxs)
		return -ENOMEM;
	idtable_init(&hca->uctxs->table, 1, UCTX_LIMIT);
	return 0;
}

/**
 * uctxs_reset() - forget all contexts
 */
void uctxs_reset(struct hca *hca)
{
	struct uctx *uctx;
	uint32_t uid;

	idtable_for_each(&hca->uctxs->table, uid, uctx)
		free(idtable_remove(&hca->uctxs->table, uid));
}

/**
 * uctxs_fini() - free the table
 */
void uctxs_fini(struct hca *hca)
{
	if (!hca->uctxs)
		return;
	uctxs_reset(hca);
	idtable_fini(&hca->uctxs->table);
	free(hca->uctxs);
	hca->uctxs = NULL;
}

/**
 * uctxs_alive() - how many contexts there are
 *
 * Return: their number
 */
unsigned int uctxs_alive(struct hca *hca)
{
	return hca->uctxs->table.count;
}

/**
 * uctxs_left() - tell which contexts there are
 * @left: gets them
 */
void uctxs_left(struct hca *hca, struct left *left)
{
	left_add(left, "user contexts", &hca->uctxs->table);
}

static uint8_t create_uctx(struct cmd *cmd)
{
	struct uctx *uctx = calloc(1, sizeof(*uctx));
	uint32_t uid;

	if (!uctx || idtable_alloc(&cmd->hca->uctxs->table, uctx, &uid)) {
		free(uctx);
		return CMD_NO_RES;
	}
	uctx->cap = IFC_GET(create_uctx_in, cmd->in, uctx.cap);
	IFC_SET(create_uctx_out, cmd->out, uid, uid);
	return CMD_OK;
}

static uint8_t destroy_uctx(struct cmd *cmd)
{
	uint32_t uid = IFC_GET(destroy_uctx_in, cmd->in, uid);
	struct uctx *uctx = idtable_remove(&cmd->hca->uctxs->table, uid);

	if (!uctx)
		return CMD_BAD_RES;
	free(uctx);
	return CMD_OK;
}

const struct cmd_def uctx_cmds[] = {
	{ MLX5_CMD_OP_CREATE_UCTX, "CREATE_UCTX", IFC_SZ(create_uctx_in),
	  IFC_SZ(create_uctx_out), create_uctx },
	{ MLX5_CMD_OP_DESTROY_UCTX, "DESTROY_UCTX", IFC_SZ(destroy_uctx_in),
	  IFC_SZ(destroy_uctx_out), destroy_uctx },
	{ 0 },
};
