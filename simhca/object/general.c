// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See general.h. The kinds are reservations of QP numbers, which a program gives to
 * connections that have no QP of the adapter, and mappings of addresses to QPs: a hint
 * which congestion control the packets to an address have. The cable has no congestion.
 * Scheduling elements are in sched.c.
 */
#include <stdlib.h>
#include <string.h>

#include "fw/cmd.h"
#include "object/general.h"
#include "object/qp.h"
#include "qos/sched.h"

/* A mapping, behind the header of a command or of its answer (offsets in bits) */
enum {
	HEADER = 0x80,
	MAP_QPN = HEADER + 0x60,
	MAP_LEN = HEADER + 0x200,
};

/**
 * struct general - a general object
 * @body: what the command that created it has behind the header
 */
struct general {
	struct obj obj;
	uint8_t body[(MAP_LEN - HEADER) / 8];
};

/**
 * struct kind - one kind of general objects
 * @log_range: log2 of the numbers that an object has
 * @first: number of the first object
 * @len: bits that commands need to have
 * @at: where in struct objects its table is
 */
struct kind {
	uint16_t type;
	uint32_t log_range;
	uint32_t first;
	size_t len;
	size_t at;
};

static const struct kind kinds[] = {
	{ GENERAL_RESERVED_QPN, GENERAL_LOG_QPNS, 2u << LOG_MAX_QP, HEADER,
	  offsetof(struct objects, qpn_blocks) },
	{ GENERAL_AV_QP_MAPPING, 0, 0, MAP_LEN,
	  offsetof(struct objects, av_maps) },
};

/**
 * general_count() - how many general objects there are
 */
unsigned int general_count(const struct objects *objs)
{
	return objs->qpn_blocks.count + objs->av_maps.count +
	       objs->scheds.count;
}

static bool is_sched(const struct cmd *cmd)
{
	return IFC_GET(general_obj_in_cmd_hdr, cmd->in, obj_type) ==
	       GENERAL_SCHED;
}

static const struct kind *find_kind(const struct cmd *cmd)
{
	uint16_t type = IFC_GET(general_obj_in_cmd_hdr, cmd->in, obj_type);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

static struct idtable *table_of(const struct cmd *cmd, const struct kind *k)
{
	return (struct idtable *)((uint8_t *)cmd->hca->objs + k->at);
}

/* The object that a command names by its first number. */
static struct general *find(const struct cmd *cmd, const struct kind *k)
{
	uint32_t id = IFC_GET(general_obj_in_cmd_hdr, cmd->in, obj_id);

	if (id < k->first || (id - k->first) & ((1u << k->log_range) - 1))
		return NULL;
	return obj_own(table_of(cmd, k), (id - k->first) >> k->log_range,
		       cmd->uid);
}

static bool names_a_qp(const struct cmd *cmd)
{
	const struct qp *qp = idtable_get(&cmd->hca->objs->qps,
					  ifc_get32(cmd->in, MAP_QPN, 32));

	return qp && qp->kind == QP_KIND_QP;
}

static uint8_t create_general(struct cmd *cmd)
{
	const struct kind *k = find_kind(cmd);
	struct general *g;

	if (is_sched(cmd))
		return sched_create(cmd);
	if (!k || cmd->in_len < k->len / 8 ||
	    IFC_GET(general_obj_in_cmd_hdr, cmd->in,
		    op_param.create.log_obj_range) != k->log_range)
		return CMD_BAD_PARAM;
	if (k->type == GENERAL_AV_QP_MAPPING && !names_a_qp(cmd))
		return CMD_BAD_RES;
	g = calloc(1, sizeof(*g));
	if (!g)
		return CMD_NO_RES;
	memcpy(g->body, cmd->in + HEADER / 8, (k->len - HEADER) / 8);
	if (obj_add(table_of(cmd, k), &g->obj, cmd->uid)) {
		free(g);
		return CMD_LIM;
	}
	IFC_SET(general_obj_out_cmd_hdr, cmd->out, obj_id,
		k->first + (g->obj.id << k->log_range));
	cmd_note(cmd, "obj_type", k->type);
	return CMD_OK;
}

/* Nothing of the other kinds changes. */
static uint8_t modify_general(struct cmd *cmd)
{
	return is_sched(cmd) ? sched_modify(cmd) : CMD_BAD_PARAM;
}

static uint8_t query_general(struct cmd *cmd)
{
	const struct kind *k = find_kind(cmd);
	const struct general *g;

	if (is_sched(cmd))
		return sched_query(cmd);
	if (!k || cmd->out_len < k->len / 8)
		return CMD_BAD_PARAM;
	g = find(cmd, k);
	if (!g)
		return CMD_BAD_RES;
	memcpy(cmd->out + HEADER / 8, g->body, (k->len - HEADER) / 8);
	return CMD_OK;
}

static uint8_t destroy_general(struct cmd *cmd)
{
	const struct kind *k = find_kind(cmd);
	struct general *g;

	if (is_sched(cmd))
		return sched_destroy(cmd);
	if (!k)
		return CMD_BAD_PARAM;
	g = find(cmd, k);
	if (!g)
		return CMD_BAD_RES;
	free(idtable_remove(table_of(cmd, k), g->obj.id));
	return CMD_OK;
}

#define CMD(op, fn) \
	{ MLX5_CMD_OP_##op, #op, IFC_SZ(general_obj_in_cmd_hdr), \
	  IFC_SZ(general_obj_out_cmd_hdr), fn }

const struct cmd_def general_cmds[] = {
	CMD(CREATE_GENERAL_OBJECT, create_general),
	CMD(MODIFY_GENERAL_OBJECT, modify_general),
	CMD(QUERY_GENERAL_OBJECT, query_general),
	CMD(DESTROY_GENERAL_OBJECT, destroy_general),
	{ 0 },
};
