// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All commands that the adapter knows: each object's file has a table, this
 * one has the list of tables.
 */
#include <string.h>

#include "fw/cmd.h"

static const struct cmd_def *const cmd_tables[] = {
	init_cmds, page_cmds, caps_cmds, uar_cmds, uctx_cmds,
	eq_cmds,   port_cmds, lag_cmds, mad_cmds,  pd_cmds,  mkey_cmds,
	cq_cmds,   srq_cmds,  qp_cmds,   mcg_cmds, rawq_cmds, umem_cmds,
	nic_cmds,  rx_cmds,   flow_cmds, dct_cmds, memic_cmds,
	fte_cmds,  flow_counter_cmds, flow_header_cmds, flow_reformat_cmds,
	general_cmds, psv_cmds, fault_cmds, pace_cmds, tis_cmds,
	xrq_cmds, cong_cmds,
};

/**
 * cmd_find() - look a command up by its opcode
 * @opcode: MLX5_CMD_OP_*
 *
 * Return: the command, NULL when the adapter has none
 */
const struct cmd_def *cmd_find(uint16_t opcode)
{
	const struct cmd_def *def;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cmd_tables); i++)
		for (def = cmd_tables[i]; def->handler; def++)
			if (def->opcode == opcode)
				return def;
	return NULL;
}

/**
 * cmd_find_name() - look a command up by its name
 * @name: without MLX5_CMD_OP_
 *
 * Return: the command, NULL when the adapter has none
 */
const struct cmd_def *cmd_find_name(const char *name)
{
	const struct cmd_def *def;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cmd_tables); i++)
		for (def = cmd_tables[i]; def->handler; def++)
			if (!strcmp(def->name, name))
				return def;
	return NULL;
}
