// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Entries of flow tables: what they compare, where they send frames, and what they
 * name. See flow.h for the model.
 */
#include <stdlib.h>
#include <string.h>

#include "eth/flow.h"
#include "eth/rx.h"
#include "fw/cmd.h"
#include "fw/fw.h"

/* destination_type of dest_format_struct */
enum { DEST_VPORT = 0, DEST_TABLE = 1, DEST_TIR = 2 };

/* op_mod of SET_FLOW_TABLE_ENTRY, and bits of modify_enable_mask */
enum { SET_NEW, SET_CHANGE };
enum {
	CHANGE_ACTION = 0x1,
	CHANGE_TAG = 0x2,
	CHANGE_DESTS = 0x4,
	CHANGE_COUNTERS = 0x8,
};

#define ACTIONS (ACTION_ALLOW | ACTION_DROP | ACTION_FWD_DEST | ACTION_COUNT | \
		 ACTION_REFORMAT | ACTION_DECAP | ACTION_MOD_HDR)

#define FDB_ACTIONS (ACTION_DROP | ACTION_FWD_DEST | ACTION_COUNT)

static struct fte **fte_at(struct flow_table *t, uint32_t index)
{
	struct fte **at = &t->entries;

	while (*at && (*at)->index != index)
		at = &(*at)->next;
	return at;
}

/* Hold what an entry names, or release it. */
static void fte_refs(struct fte *fte, void (*op)(struct obj *o))
{
	uint32_t i;

	for (i = 0; i < fte->n; i++)
		if (fte->dests[i].obj)
			op(fte->dests[i].obj);
	if (fte->counter)
		op(&fte->counter->obj);
	if (fte->header)
		op(header_ctx_obj(fte->header));
	if (fte->reformat)
		op(reformat_ctx_obj(fte->reformat));
}

/* A port of the adapter's own e-switch: the driver names the adapter by its ID, 0. */
static uint8_t dest_vport(const uint8_t *dest, struct flow_dest *to)
{
	uint32_t vport = IFC_GET(dest_format_struct, dest, destination_id);

	if ((vport != VPORT_MANAGER && vport != VPORT_UPLINK) ||
	    IFC_GET(dest_format_struct, dest, packet_reformat) ||
	    IFC_GET(dest_format_struct, dest,
		    destination_eswitch_owner_vhca_id))
		return CMD_BAD_PARAM;
	to->vport = vport;
	return CMD_OK;
}

static uint8_t dest_find(struct cmd *cmd, const struct flow_table *t,
			 const uint8_t *dest, struct flow_dest *to)
{
	uint32_t id = IFC_GET(dest_format_struct, dest, destination_id);
	uint32_t type = IFC_GET(dest_format_struct, dest, destination_type);
	struct flow_table *next;
	struct tir *tir;
	uint8_t status;

	*to = (struct flow_dest){
		.kind = type == DEST_TIR ? TO_TIR :
			type == DEST_TABLE ? TO_TABLE : TO_VPORT,
	};
	if (type == DEST_VPORT && t->side == FLOW_FDB)
		return dest_vport(dest, to);
	if (type == DEST_TABLE) {
		status = flow_table_next(cmd, t, id, &next);
		if (status)
			return status;
		to->obj = &next->obj;
	} else if (type == DEST_TIR && t->side == FLOW_RX) {
		tir = tir_find(cmd->hca, id, cmd->uid);
		to->obj = tir ? &tir->obj : NULL;
	}
	return to->obj ? CMD_OK : CMD_BAD_RES;
}

/* Destinations, then counters: both lists have entries of one size. */
static uint8_t fte_lists(struct cmd *cmd, const struct flow_table *t,
			 const uint8_t *c, struct fte *fte)
{
	const uint8_t *at = IFC_ADDR_OF(flow_context, c, destination);
	uint32_t n = IFC_GET(flow_context, c, destination_list_size);
	uint32_t counters = IFC_GET(flow_context, c, flow_counter_list_size);
	const size_t size = IFC_SZ(dest_format_struct);
	uint8_t status;
	uint32_t i;

	if (!(fte->action & ACTION_FWD_DEST))
		n = 0;
	else if (!n || n > FLOW_DESTS)
		return CMD_BAD_PARAM;
	if (!(fte->action & ACTION_COUNT))
		counters = 0;
	else if (counters != 1)
		return CMD_BAD_PARAM;
	if ((size_t)(cmd->in + cmd->in_len - at) < (n + counters) * size)
		return CMD_BAD_INP_LEN;
	for (i = 0; i < n; i++, at += size) {
		status = dest_find(cmd, t, at, &fte->dests[i]);
		if (status)
			return status;
	}
	fte->n = n;
	if (!counters)
		return CMD_OK;
	fte->counter = flow_counter_find(cmd, IFC_GET(flow_counter_list, at,
						      flow_counter_id));
	return fte->counter ? CMD_OK : CMD_BAD_RES;
}

static uint8_t fte_contexts(struct cmd *cmd, const struct flow_table *t,
			    const uint8_t *c, struct fte *fte)
{
	if (fte->action & ACTION_MOD_HDR) {
		fte->header = header_ctx_find(cmd, IFC_GET(flow_context, c,
							   modify_header_id),
					      t->side);
		if (!fte->header)
			return CMD_BAD_RES;
	}
	if (fte->action & ACTION_REFORMAT) {
		fte->reformat = reformat_ctx_find(cmd, IFC_GET(flow_context, c,
							       packet_reformat_id),
						  t->side);
		if (!fte->reformat)
			return CMD_BAD_RES;
	}
	return CMD_OK;
}

static bool actions_valid(const struct flow_table *t, uint32_t action)
{
	uint32_t end = action & (ACTION_ALLOW | ACTION_DROP | ACTION_FWD_DEST);

	/* The e-switch changes no frame. Messages of QPs can only be let in. */
	if (t->side == FLOW_FDB && action & ~(uint32_t)FDB_ACTIONS)
		return false;
	if (t->side == FLOW_RDMA && action != ACTION_ALLOW)
		return false;
	return !(action & ~(uint32_t)ACTIONS) && !(end & (end - 1)) &&
	       (!(action & ACTION_DECAP) || t->decap) &&
	       (!(action & ACTION_REFORMAT) || t->reformat);
}

static uint8_t fte_take(struct cmd *cmd, const struct flow_table *t,
			struct fte *fte)
{
	const uint8_t *c = IFC_ADDR_OF(set_fte_in, cmd->in, flow_context);
	uint8_t status;

	memcpy(fte->value, IFC_ADDR_OF(flow_context, c, match_value),
	       MATCH_BYTES);
	fte->tag = IFC_GET(flow_context, c, flow_tag);
	fte->action = IFC_GET(flow_context, c, action);
	if (!actions_valid(t, fte->action))
		return CMD_BAD_PARAM;
	status = fte_lists(cmd, t, c, fte);
	return status ? status : fte_contexts(cmd, t, c, fte);
}

/* What a change does not select stays as it is, and so does what is compared. */
static void fte_keep(struct fte *fte, const struct fte *old, uint32_t mask)
{
	memcpy(fte->value, old->value, sizeof(fte->value));
	if (!(mask & CHANGE_ACTION)) {
		fte->action = old->action;
		fte->header = old->header;
		fte->reformat = old->reformat;
	}
	if (!(mask & CHANGE_TAG))
		fte->tag = old->tag;
	if (!(mask & CHANGE_DESTS)) {
		fte->n = old->n;
		memcpy(fte->dests, old->dests, sizeof(fte->dests));
	}
	if (!(mask & CHANGE_COUNTERS))
		fte->counter = old->counter;
}

static void fte_remove(struct flows *flows, struct fte **at)
{
	struct fte *fte = *at;

	*at = fte->next;
	fte_refs(fte, obj_release);
	flows->entries--;
	free(fte);
}

static void fte_put(struct flows *flows, struct flow_table *t, struct fte *fte)
{
	struct fte **at = fte_at(t, fte->index);

	fte_refs(fte, obj_hold);
	if (*at)
		fte_remove(flows, at);
	fte->next = t->entries;
	t->entries = fte;
	flows->entries++;
}

static uint8_t set_fte(struct cmd *cmd)
{
	uint32_t mask = IFC_GET(set_fte_in, cmd->in, modify_enable_mask);
	uint32_t index = IFC_GET(set_fte_in, cmd->in, flow_index);
	struct flow_table *t = flow_table_find(cmd,
		IFC_GET(set_fte_in, cmd->in, table_type),
		IFC_GET(set_fte_in, cmd->in, table_id));
	const struct flow_group *g;
	struct fte *fte, *old;
	uint8_t status;

	g = t ? flow_group_over(&cmd->hca->eth->flows, t, index, index) : NULL;
	if (!g)
		return CMD_BAD_RES;
	old = *fte_at(t, index);
	if (cmd->op_mod > SET_CHANGE)
		return CMD_BAD_PARAM;
	if (cmd->op_mod == SET_CHANGE && !old)
		return CMD_BAD_RES;
	if (!old && cmd->hca->eth->flows.entries >> FLOW_LOG_ENTRIES)
		return CMD_LIM;
	fte = calloc(1, sizeof(*fte));
	if (!fte)
		return CMD_NO_RES;
	fte->index = index;
	fte->group = g;
	status = fte_take(cmd, t, fte);
	if (status) {
		free(fte);
		return status;
	}
	if (cmd->op_mod == SET_CHANGE)
		fte_keep(fte, old, mask);
	fte_put(&cmd->hca->eth->flows, t, fte);
	return CMD_OK;
}

static uint8_t delete_fte(struct cmd *cmd)
{
	struct flow_table *t = flow_table_find(cmd,
		IFC_GET(delete_fte_in, cmd->in, table_type),
		IFC_GET(delete_fte_in, cmd->in, table_id));
	struct fte **at;

	if (!t)
		return CMD_BAD_RES;
	at = fte_at(t, IFC_GET(delete_fte_in, cmd->in, flow_index));
	if (!*at)
		return CMD_BAD_RES;
	fte_remove(&cmd->hca->eth->flows, at);
	return CMD_OK;
}

#define CMD(op, fn) \
	{ MLX5_CMD_OP_##op, #op, IFC_SZ(fn##_in), IFC_SZ(fn##_out), fn }

const struct cmd_def fte_cmds[] = {
	CMD(SET_FLOW_TABLE_ENTRY, set_fte),
	CMD(DELETE_FLOW_TABLE_ENTRY, delete_fte),
	{ 0 },
};
