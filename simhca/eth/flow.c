// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Flow tables and their groups. See flow.h for the model.
 */
#include <stdlib.h>
#include <string.h>

#include "eth/flow.h"
#include "fw/cmd.h"
#include "fw/fw.h"

/* table_type; the ones of a side are told apart by it */
enum { TABLE_NIC_RX, TABLE_NIC_TX, TABLE_FDB = 4, TABLE_RDMA_RX = 7 };

#define LOG_MAX_TABLES 10u
#define LOG_MAX_SIZE 16u

/* table_miss_action, and the bit of modify_field_select for it */
#define MISS_TO_TABLE 1u
#define MISS_TO_DOMAIN 2u
#define MODIFY_MISS 1u
#define MODIFY_LAG_NEXT 0x8000u

/**
 * flows_init() - make the empty tables
 */
void flows_init(struct flows *flows)
{
	idtable_init(&flows->tables, 1, 1u << LOG_MAX_TABLES);
	idtable_init(&flows->groups, 1, 1u << (LOG_MAX_TABLES + 4));
	idtable_init(&flows->counters, 1, FLOW_COUNTERS);
	idtable_init(&flows->headers, 1, 1u << FLOW_LOG_CONTEXTS);
	idtable_init(&flows->reformats, 1, 1u << FLOW_LOG_CONTEXTS);
	memset(flows->root, 0, sizeof(flows->root));
	flows->entries = 0;
}

/**
 * flows_reset() - forget all flow tables, and what their entries name
 */
void flows_reset(struct flows *flows)
{
	struct flow_table *t;
	struct fte *fte;
	uint32_t id;

	idtable_for_each(&flows->tables, id, t) {
		while ((fte = t->entries)) {
			t->entries = fte->next;
			free(fte);
		}
	}
	idtable_free(&flows->tables);
	idtable_free(&flows->groups);
	idtable_free(&flows->counters);
	idtable_free(&flows->headers);
	idtable_free(&flows->reformats);
	memset(flows->root, 0, sizeof(flows->root));
	flows->entries = 0;
}

/* Return: a side, FLOW_SIDES where tables of that type are not there */
static enum flow_side side_of(const struct cmd *cmd, uint32_t type)
{
	if (cmd->hca->link != LINK_ETH)
		return FLOW_SIDES;
	switch (type) {
	case TABLE_NIC_RX:
		return FLOW_RX;
	case TABLE_NIC_TX:
		return FLOW_TX;
	case TABLE_FDB:
		return cmd->hca->eswitch ? FLOW_FDB : FLOW_SIDES;
	case TABLE_RDMA_RX:
		return cmd->hca->eswitch ? FLOW_RDMA : FLOW_SIDES;
	default:
		return FLOW_SIDES;
	}
}

/**
 * flow_table_find() - the table that a command changes
 * @type: table_type
 *
 * Return: NULL where there is none of that type
 */
struct flow_table *flow_table_find(struct cmd *cmd, uint32_t type, uint32_t id)
{
	enum flow_side side = side_of(cmd, type);
	struct flow_table *t;

	if (side == FLOW_SIDES)
		return NULL;
	t = obj_own(&cmd->hca->eth->flows.tables, id, cmd->uid);
	return t && t->side == side ? t : NULL;
}

/**
 * flow_table_next() - the table to which frames of a table shall go on
 * @next: set on success
 *
 * Return: CMD_OK, CMD_BAD_RES: there is none of that number on this side,
 * CMD_BAD_PARAM: its level is not higher, as the PRM wants it of an adapter that does not
 * announce ignore_flow_level
 */
uint8_t flow_table_next(struct cmd *cmd, const struct flow_table *t,
			uint32_t id, struct flow_table **next)
{
	struct flow_table *to = obj_find(&cmd->hca->eth->flows.tables, id,
					 cmd->uid);

	if (!to || to->side != t->side)
		return CMD_BAD_RES;
	if (to->level <= t->level)
		return CMD_BAD_PARAM;
	*next = to;
	return CMD_OK;
}

#define TABLE(op) \
	flow_table_find(cmd, IFC_GET(op, cmd->in, table_type), \
			IFC_GET(op, cmd->in, table_id))

/* The table for joined ports (LAG demux, op_mod 1) names the next one by a field of its
 * own. Its entries say which frames are those of functions beside; there are none.
 */
static uint32_t miss_of(const uint8_t *c, bool demux)
{
	if (demux)
		return IFC_GET(flow_table_context, c, lag_master_next_table_id);
	return IFC_GET(flow_table_context, c, table_miss_action) ==
		       MISS_TO_TABLE ?
		       IFC_GET(flow_table_context, c, table_miss_id) : 0;
}

/* Set where frames go on that no entry takes. */
static uint8_t miss_set(struct cmd *cmd, struct flow_table *t, const uint8_t *c,
			bool demux)
{
	uint32_t miss = miss_of(c, demux);
	struct flow_table *next;
	uint8_t status = miss ? flow_table_next(cmd, t, miss, &next) : CMD_OK;
	bool domain = !demux && IFC_GET(flow_table_context, c,
					table_miss_action) == MISS_TO_DOMAIN;

	if (status)
		return status;
	if (domain && t->side != FLOW_RDMA)
		return CMD_BAD_PARAM;
	t->miss = miss;
	t->miss_is_frame = domain;
	return CMD_OK;
}

/* Entries of such a table may take frames out of tunnels, or put them into some. */
static bool changes_frames(const uint8_t *c)
{
	return IFC_GET(flow_table_context, c, decap_en) ||
	       IFC_GET(flow_table_context, c, reformat_en);
}

static uint8_t create_flow_table(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR_OF(create_flow_table_in, cmd->in,
				       flow_table_context);
	enum flow_side side = side_of(cmd, IFC_GET(create_flow_table_in,
						   cmd->in, table_type));
	uint32_t log_size = IFC_GET(flow_table_context, c, log_size);
	struct flow_table *t;
	uint8_t status;

	if (side == FLOW_SIDES || log_size > LOG_MAX_SIZE ||
	    IFC_GET(flow_table_context, c, sw_owner) ||
	    IFC_GET(flow_table_context, c, termination_table) ||
	    (side >= FLOW_FDB && changes_frames(c)) ||
	    IFC_GET(create_flow_table_in, cmd->in, other_vport))
		return CMD_BAD_PARAM;
	t = calloc(1, sizeof(*t));
	if (!t)
		return CMD_NO_RES;
	t->side = side;
	t->level = IFC_GET(flow_table_context, c, level);
	t->log_size = log_size;
	t->decap = IFC_GET(flow_table_context, c, decap_en);
	t->reformat = IFC_GET(flow_table_context, c, reformat_en);
	status = miss_set(cmd, t, c, cmd->op_mod);
	if (!status && obj_add(&cmd->hca->eth->flows.tables, &t->obj, cmd->uid))
		status = CMD_LIM;
	if (status) {
		free(t);
		return status;
	}
	IFC_SET(create_flow_table_out, cmd->out, table_id, t->obj.id);
	cmd_note(cmd, "level", t->level);
	cmd_note(cmd, "log_size", log_size);
	return CMD_OK;
}

static uint8_t modify_flow_table(struct cmd *cmd)
{
	struct flow_table *t = TABLE(modify_flow_table_in);
	uint32_t which = IFC_GET(modify_flow_table_in, cmd->in,
				 modify_field_select);

	if (!t)
		return CMD_BAD_RES;
	if (!(which & (MODIFY_MISS | MODIFY_LAG_NEXT)))
		return CMD_OK;
	return miss_set(cmd, t, IFC_ADDR_OF(modify_flow_table_in, cmd->in,
					    flow_table_context),
			which & MODIFY_LAG_NEXT);
}

static uint8_t destroy_flow_table(struct cmd *cmd)
{
	struct flow_table *t = TABLE(destroy_flow_table_in);
	struct flows *flows = &cmd->hca->eth->flows;

	if (!t)
		return CMD_BAD_RES;
	if (t->obj.holds || t->entries)
		return CMD_BAD_RES_STATE;
	if (flows->root[t->side] == t->obj.id)
		flows->root[t->side] = 0;
	free(idtable_remove(&flows->tables, t->obj.id));
	return CMD_OK;
}

/* op_mod 1 takes the root away. Only the driver may do it. */
static uint8_t set_flow_table_root(struct cmd *cmd)
{
	enum flow_side side = side_of(cmd, IFC_GET(set_flow_table_root_in,
						   cmd->in, table_type));
	struct flow_table *t = TABLE(set_flow_table_root_in);

	if (side == FLOW_SIDES || !uid_privileged(cmd->uid))
		return CMD_BAD_PARAM;
	if (!t && !cmd->op_mod)
		return CMD_BAD_RES;
	cmd->hca->eth->flows.root[side] = cmd->op_mod ? 0 : t->obj.id;
	return CMD_OK;
}

/**
 * flow_group_over() - a group of the table that has one of these indices
 */
struct flow_group *flow_group_over(struct flows *flows,
				   const struct flow_table *t, uint32_t first,
				   uint32_t last)
{
	struct flow_group *g;
	uint32_t id;

	idtable_for_each(&flows->groups, id, g)
		if (g->table == t && g->first <= last && first <= g->last)
			return g;
	return NULL;
}

static uint8_t create_flow_group(struct cmd *cmd)
{
	uint32_t first = IFC_GET(create_flow_group_in, cmd->in,
				 start_flow_index);
	uint32_t last = IFC_GET(create_flow_group_in, cmd->in, end_flow_index);
	struct flow_table *t = TABLE(create_flow_group_in);
	struct flows *flows = &cmd->hca->eth->flows;
	struct flow_group *g;

	if (!t)
		return CMD_BAD_RES;
	if (first > last || last >= 1u << t->log_size ||
	    flow_group_over(flows, t, first, last))
		return CMD_BAD_PARAM;
	g = calloc(1, sizeof(*g));
	if (!g)
		return CMD_NO_RES;
	if (!match_mask(IFC_GET(create_flow_group_in, cmd->in,
				match_criteria_enable), cmd->hca->eswitch,
			IFC_ADDR_OF(create_flow_group_in, cmd->in,
				    match_criteria), g->mask)) {
		free(g);
		return CMD_BAD_PARAM;
	}
	g->table = t;
	g->first = first;
	g->last = last;
	if (obj_add(&flows->groups, &g->obj, cmd->uid)) {
		free(g);
		return CMD_LIM;
	}
	obj_hold(&t->obj);
	IFC_SET(create_flow_group_out, cmd->out, group_id, g->obj.id);
	return CMD_OK;
}

static uint8_t destroy_flow_group(struct cmd *cmd)
{
	struct flow_table *t = TABLE(destroy_flow_group_in);
	struct flows *flows = &cmd->hca->eth->flows;
	struct flow_group *g = obj_own(&flows->groups,
				       IFC_GET(destroy_flow_group_in, cmd->in,
					       group_id), 0);
	struct fte *fte;

	if (!t || !g || g->table != t)
		return CMD_BAD_RES;
	for (fte = t->entries; fte; fte = fte->next)
		if (fte->index >= g->first && fte->index <= g->last)
			return CMD_BAD_RES_STATE;
	obj_release(&t->obj);
	free(idtable_remove(&flows->groups, g->obj.id));
	return CMD_OK;
}

#define CMD(op, fn) \
	{ MLX5_CMD_OP_##op, #op, IFC_SZ(fn##_in), IFC_SZ(fn##_out), fn }

const struct cmd_def flow_cmds[] = {
	CMD(CREATE_FLOW_TABLE, create_flow_table),
	CMD(MODIFY_FLOW_TABLE, modify_flow_table),
	CMD(DESTROY_FLOW_TABLE, destroy_flow_table),
	CMD(SET_FLOW_TABLE_ROOT, set_flow_table_root),
	CMD(CREATE_FLOW_GROUP, create_flow_group),
	CMD(DESTROY_FLOW_GROUP, destroy_flow_group),
	{ 0 },
};
