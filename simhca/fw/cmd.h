/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The command interface (cmd.c) and the table of all commands (cmd_table.c).
 */
#ifndef SIMHCA_CMD_H
#define SIMHCA_CMD_H

#include "hca.h"

#define CMDQ_LOG_ENTRIES 5u
#define CMDQ_LOG_STRIDE 6u
#define CMDQ_ENTRIES (1u << CMDQ_LOG_ENTRIES)

/* cmd.c */
int cmdq_init(struct hca *hca);
void cmdq_fini(struct hca *hca);
void cmdq_set(struct hca *hca, uint64_t addr);
void cmdq_answer(struct hca *hca);
void cmdq_doorbell(struct hca *hca, uint32_t entries);

/* The table of all commands (cmd_table.c). */
const struct cmd_def *cmd_find(uint16_t opcode);
const struct cmd_def *cmd_find_name(const char *name);

/* The commands of each object. An entry with a NULL handler ends a table. */
extern const struct cmd_def init_cmds[], page_cmds[], caps_cmds[], uar_cmds[],
	uctx_cmds[], eq_cmds[], port_cmds[], lag_cmds[], mad_cmds[], pd_cmds[],
	mkey_cmds[], cq_cmds[], srq_cmds[], qp_cmds[], mcg_cmds[], dct_cmds[],
	memic_cmds[], rawq_cmds[], umem_cmds[], nic_cmds[], rx_cmds[],
	flow_cmds[], fte_cmds[], flow_counter_cmds[], flow_header_cmds[],
	flow_reformat_cmds[], general_cmds[], psv_cmds[], fault_cmds[], pace_cmds[],
	tis_cmds[], xrq_cmds[], cong_cmds[];

#endif
