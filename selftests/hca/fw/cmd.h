/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The command interface, as the rest of the device half sees it.
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

/* What was run (cmdlog.c). */
int cmdlog_init(struct hca *hca);
void cmdlog_fini(struct hca *hca);
void cmdlog_add(const struct cmd *cmd, uint8_t status);
void cmdlog_clear(struct hca *hca);
struct json_object *cmdlog_counts(struct hca *hca);
struct json_object *cmdlog_since(uint64_t since, uint64_t *next);

#endif
