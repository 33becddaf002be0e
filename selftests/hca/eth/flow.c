// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Flow tables of the receive side: tables, groups and entries, and the way of a
 * frame through them. Of the entries that match, the one with the lowest index
 * counts; without one the table's miss action does.
 *
 * Invariants
 * - The groups of a table lie within it and do not overlap.
 * - An entry is in the group that covers its index, and names TIRs and tables
 *   that exist; both are held as long as the entry lives.
 */
#include <stdlib.h>
#include <string.h>

#include "eth/match.h"
#include "eth/rx.h"
#include "fw/cmd.h"

#define TABLE_NIC_RX 0
#define LOG_MAX_TABLES 10u
#define LOG_MAX_SIZE 16u
#define FLOW_DESTS 8u

#define MAX_HOPS 128u		/* tables on the way of one frame */

/* destination_type of dest_format_struct, and bits of the action */
enum { DEST_TABLE = 1, DEST_TIR = 2 };
#define ACTION_ALLOW 0x1u
#define ACTION_DROP 0x2u
#define ACTION_FWD_DEST 0x4u

/* table_miss_action, and the bit of modify_field_select for it */
#define MISS_TO_TABLE 1u
#define MODIFY_MISS 1u
#define MODIFY_LAG_NEXT 0x8000u

struct flow_dest {
	struct obj *obj;
	bool is_tir;
};

struct fte {
	struct fte *next;
	const struct flow_group *group;
	uint32_t index;
	uint32_t tag;
	uint8_t value[MATCH_BYTES];
	uint32_t n;
	struct flow_dest dests[FLOW_DESTS];
};

struct flow_group {
	struct obj obj;
	struct flow_table *table;
	uint32_t first;
	uint32_t last;
	uint8_t mask[MATCH_BYTES];
};

struct flow_table {
	struct obj obj;
	uint32_t log_size;
	uint32_t miss;		/* number of a table, 0: drop */
	struct fte *entries;
};

/**
 * flows_init() - make the empty tables
 */
void flows_init(struct flows *flows)
{
	idtable_init(&flows->tables, 1, 1u << LOG_MAX_TABLES);
	idtable_init(&flows->groups, 1, 1u << (LOG_MAX_TABLES + 4));
	flows->root = 0;
}

/**
 * flows_reset() - forget all flow tables
 */
void flows_reset(struct flows *flows)
{
	struct flow_table *t;
	struct fte *fte;
	uint32_t id;
	void *obj;

	idtable_for_each(&flows->groups, id, obj)
		free(idtable_remove(&flows->groups, id));
	idtable_for_each(&flows->tables, id, t) {
		while ((fte = t->entries)) {
			t->entries = fte->next;
			free(fte);
		}
		free(idtable_remove(&flows->tables, id));
	}
	idtable_fini(&flows->groups);
	idtable_fini(&flows->tables);
	flows->root = 0;
}

static struct flow_table *table_find(struct cmd *cmd, uint32_t type,
				     uint32_t id)
{
	if (cmd->hca->link != LINK_ETH || type != TABLE_NIC_RX)
		return NULL;
	return obj_own(&cmd->hca->eth->flows.tables, id, 0);
}

#define TABLE(op) \
	table_find(cmd, IFC_GET(op, cmd->in, table_type), \
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

static uint8_t create_flow_table(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR_OF(create_flow_table_in, cmd->in,
				       flow_table_context);
	uint32_t log_size = IFC_GET(flow_table_context, c, log_size);
	struct flow_table *t;

	if (cmd->hca->link != LINK_ETH || log_size > LOG_MAX_SIZE ||
	    IFC_GET(create_flow_table_in, cmd->in, table_type) != TABLE_NIC_RX)
		return CMD_BAD_PARAM;
	t = calloc(1, sizeof(*t));
	if (!t)
		return CMD_NO_RES;
	t->log_size = log_size;
	t->miss = miss_of(c, cmd->op_mod);
	if (obj_add(&cmd->hca->eth->flows.tables, &t->obj, 0)) {
		free(t);
		return CMD_LIM;
	}
	IFC_SET(create_flow_table_out, cmd->out, table_id, t->obj.id);
	cmd_note(cmd, "level", IFC_GET(flow_table_context, c, level));
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
	if (which & (MODIFY_MISS | MODIFY_LAG_NEXT))
		t->miss = miss_of(IFC_ADDR_OF(modify_flow_table_in, cmd->in,
					      flow_table_context),
				  which & MODIFY_LAG_NEXT);
	return CMD_OK;
}

static uint8_t destroy_flow_table(struct cmd *cmd)
{
	struct flow_table *t = TABLE(destroy_flow_table_in);
	struct flows *flows = &cmd->hca->eth->flows;

	if (!t)
		return CMD_BAD_RES;
	if (t->obj.holds || t->entries)
		return CMD_BAD_RES_STATE;
	if (flows->root == t->obj.id)
		flows->root = 0;
	free(idtable_remove(&flows->tables, t->obj.id));
	return CMD_OK;
}

/* op_mod 1 takes the root away. */
static uint8_t set_flow_table_root(struct cmd *cmd)
{
	struct flow_table *t = TABLE(set_flow_table_root_in);

	if (!t && !cmd->op_mod)
		return CMD_BAD_RES;
	cmd->hca->eth->flows.root = cmd->op_mod ? 0 : t->obj.id;
	return CMD_OK;
}

static struct flow_group *group_over(struct flows *flows,
				     const struct flow_table *t,
				     uint32_t first, uint32_t last)
{
	struct flow_group *g;
	uint32_t id;

	idtable_for_each(&flows->groups, id, g)
		if (g->table == t && g->first <= last && first <= g->last)
			return g;
	return NULL;
}

/* The model compares outer headers and nothing else. */
static bool group_mask(const uint8_t *in, uint8_t *mask)
{
	uint32_t which = IFC_GET(create_flow_group_in, in,
				 match_criteria_enable);

	memset(mask, 0, MATCH_BYTES);
	if (which & MATCH_OUTER)
		memcpy(mask, IFC_ADDR_OF(create_flow_group_in, in,
					 match_criteria.outer_headers),
		       MATCH_BYTES);
	return !(which & ~MATCH_OUTER);
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
	    group_over(flows, t, first, last))
		return CMD_BAD_PARAM;
	g = calloc(1, sizeof(*g));
	if (!g)
		return CMD_NO_RES;
	if (!group_mask(cmd->in, g->mask)) {
		free(g);
		return CMD_BAD_PARAM;
	}
	g->table = t;
	g->first = first;
	g->last = last;
	if (obj_add(&flows->groups, &g->obj, 0)) {
		free(g);
		return CMD_LIM;
	}
	obj_hold(&t->obj);
	IFC_SET(create_flow_group_out, cmd->out, group_id, g->obj.id);
	return CMD_OK;
}

static struct fte **fte_at(struct flow_table *t, uint32_t index)
{
	struct fte **at = &t->entries;

	while (*at && (*at)->index != index)
		at = &(*at)->next;
	return at;
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

static bool dest_find(struct cmd *cmd, const uint8_t *dest,
		      struct flow_dest *to)
{
	uint32_t id = IFC_GET(dest_format_struct, dest, destination_id);
	uint32_t type = IFC_GET(dest_format_struct, dest, destination_type);
	struct tir *tir;

	*to = (struct flow_dest){ .is_tir = type == DEST_TIR };
	if (type == DEST_TABLE) {
		to->obj = obj_own(&cmd->hca->eth->flows.tables, id, 0);
	} else if (type == DEST_TIR) {
		tir = tir_find(cmd->hca, id);
		to->obj = tir ? &tir->obj : NULL;
	}
	return to->obj;
}

/* Where an entry sends packets; without ACTION_FWD_DEST it drops them. */
static uint8_t fte_take(struct cmd *cmd, struct fte *fte)
{
	const uint8_t *c = IFC_ADDR_OF(set_fte_in, cmd->in, flow_context);
	const uint8_t *dests = IFC_ADDR_OF(flow_context, c, destination);
	const size_t size = IFC_SZ(dest_format_struct);
	uint32_t action = IFC_GET(flow_context, c, action), i;

	memcpy(fte->value, IFC_ADDR_OF(flow_context, c,
				       match_value.outer_headers),
	       MATCH_BYTES);
	fte->tag = IFC_GET(flow_context, c, flow_tag);
	if (action & ~(ACTION_ALLOW | ACTION_DROP | ACTION_FWD_DEST))
		return CMD_BAD_PARAM;
	if (!(action & ACTION_FWD_DEST))
		return CMD_OK;
	fte->n = IFC_GET(flow_context, c, destination_list_size);
	if (!fte->n || fte->n > FLOW_DESTS)
		return CMD_BAD_PARAM;
	if ((size_t)(cmd->in + cmd->in_len - dests) < fte->n * size)
		return CMD_BAD_INP_LEN;
	for (i = 0; i < fte->n; i++) {
		if (!dest_find(cmd, dests + i * size, &fte->dests[i]))
			return CMD_BAD_RES;
	}
	return CMD_OK;
}

static void fte_remove(struct fte **at)
{
	struct fte *fte = *at;
	uint32_t i;

	*at = fte->next;
	for (i = 0; i < fte->n; i++)
		obj_release(fte->dests[i].obj);
	free(fte);
}

static uint8_t set_fte(struct cmd *cmd)
{
	uint32_t index = IFC_GET(set_fte_in, cmd->in, flow_index), i;
	struct flow_table *t = TABLE(set_fte_in);
	const struct flow_group *g;
	struct fte *fte, **at;
	uint8_t status;

	g = t ? group_over(&cmd->hca->eth->flows, t, index, index) : NULL;
	if (!g)
		return CMD_BAD_RES;
	fte = calloc(1, sizeof(*fte));
	if (!fte)
		return CMD_NO_RES;
	fte->index = index;
	fte->group = g;
	status = fte_take(cmd, fte);
	if (status) {
		free(fte);
		return status;
	}
	for (i = 0; i < fte->n; i++)
		obj_hold(fte->dests[i].obj);
	at = fte_at(t, index);
	if (*at)
		fte_remove(at);
	fte->next = t->entries;
	t->entries = fte;
	return CMD_OK;
}

static uint8_t delete_fte(struct cmd *cmd)
{
	struct flow_table *t = TABLE(delete_fte_in);
	struct fte **at;

	if (!t)
		return CMD_BAD_RES;
	at = fte_at(t, IFC_GET(delete_fte_in, cmd->in, flow_index));
	if (!*at)
		return CMD_BAD_RES;
	fte_remove(at);
	return CMD_OK;
}

static const struct fte *fte_match(const struct flow_table *t,
				   const uint8_t *headers)
{
	const struct fte *fte, *found = NULL;

	for (fte = t->entries; fte; fte = fte->next)
		if ((!found || fte->index < found->index) &&
		    match(headers, fte->group->mask, fte->value))
			found = fte;
	return found;
}

/* One table; tables behind it follow, as far as the hops reach. */
static void table_pass(struct hca *hca, uint32_t id, const struct frame *f,
		       const uint8_t *headers, unsigned int *hops)
{
	const struct flow_table *t = idtable_get(&hca->eth->flows.tables, id);
	const struct fte *fte;
	uint32_t i;

	if (!t || !*hops)
		return;
	--*hops;
	fte = fte_match(t, headers);
	if (!fte) {
		table_pass(hca, t->miss, f, headers, hops);
		return;
	}
	for (i = 0; i < fte->n; i++) {
		if (fte->dests[i].is_tir)
			tir_receive(container_of(fte->dests[i].obj, struct tir,
						 obj), f, fte->tag);
		else
			table_pass(hca, fte->dests[i].obj->id, f, headers,
				   hops);
	}
}

/**
 * flows_forward() - send a frame through the tables, from the root on
 */
void flows_forward(struct hca *hca, const struct frame *f)
{
	uint8_t headers[MATCH_BYTES];
	unsigned int hops = MAX_HOPS;

	match_headers(f, headers);
	table_pass(hca, hca->eth->flows.root, f, headers, &hops);
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
	CMD(SET_FLOW_TABLE_ENTRY, set_fte),
	CMD(DELETE_FLOW_TABLE_ENTRY, delete_fte),
	{ 0 },
};
