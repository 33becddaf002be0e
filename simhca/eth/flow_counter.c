// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters of flows. An entry with such a counter counts each frame that it
 * matches, with the length that the frame has there.
 */
#include <stdlib.h>

#include "eth/flow.h"
#include "fw/cmd.h"
#include "fw/fw.h"

#define STATS_AT IFC_OFF(query_flow_counter_out, flow_statistics)

/**
 * flow_counter_find() - the counter that an entry names, or NULL
 */
struct flow_counter *flow_counter_find(struct cmd *cmd, uint32_t id)
{
	return obj_find(&cmd->hca->eth->flows.counters, id, cmd->uid);
}

static uint8_t alloc_flow_counter(struct cmd *cmd)
{
	struct flow_counter *c;

	if (cmd->hca->link != LINK_ETH ||
	    IFC_GET(alloc_flow_counter_in, cmd->in, flow_counter_bulk))
		return CMD_BAD_PARAM;
	c = calloc(1, sizeof(*c));
	if (!c)
		return CMD_NO_RES;
	if (obj_add(&cmd->hca->eth->flows.counters, &c->obj, cmd->uid)) {
		free(c);
		return CMD_LIM;
	}
	IFC_SET(alloc_flow_counter_out, cmd->out, flow_counter_id, c->obj.id);
	return CMD_OK;
}

static uint8_t dealloc_flow_counter(struct cmd *cmd)
{
	uint32_t id = IFC_GET(dealloc_flow_counter_in, cmd->in,
			      flow_counter_id);

	if (cmd->hca->link != LINK_ETH)
		return CMD_BAD_PARAM;
	return obj_destroy(&cmd->hca->eth->flows.counters, id, cmd->uid);
}

/*
 * num_of_counters is 0 for one counter. Of a range, numbers that are no counter
 * have zeros, as the driver asks for ranges that have gaps.
 */
static uint8_t query_flow_counter(struct cmd *cmd)
{
	uint32_t id = IFC_GET(query_flow_counter_in, cmd->in, flow_counter_id);
	uint32_t n = IFC_GET(query_flow_counter_in, cmd->in, num_of_counters);
	const size_t size = IFC_SZ(traffic_counter);
	uint8_t *to = cmd->out + STATS_AT;
	struct flow_counter *c;
	uint32_t i;

	if (cmd->hca->link != LINK_ETH || cmd->op_mod ||
	    n > 1u << FLOW_LOG_BULK)
		return CMD_BAD_PARAM;
	if ((cmd->out_len - STATS_AT) / size < (n ? n : 1))
		return CMD_BAD_OUTP_LEN;
	for (i = 0; i < (n ? n : 1); i++, to += size) {
		c = obj_own(&cmd->hca->eth->flows.counters, id + i, cmd->uid);
		if (!c && !n)
			return CMD_BAD_RES;
		IFC_SET64(traffic_counter, to, packets, c ? c->packets : 0);
		IFC_SET64(traffic_counter, to, octets, c ? c->bytes : 0);
		if (c && IFC_GET(query_flow_counter_in, cmd->in, clear)) {
			c->packets = 0;
			c->bytes = 0;
		}
	}
	return CMD_OK;
}

#define CMD(op, fn) \
	{ MLX5_CMD_OP_##op, #op, IFC_SZ(fn##_in), IFC_SZ(fn##_out), fn }

const struct cmd_def flow_counter_cmds[] = {
	CMD(ALLOC_FLOW_COUNTER, alloc_flow_counter),
	CMD(DEALLOC_FLOW_COUNTER, dealloc_flow_counter),
	CMD(QUERY_FLOW_COUNTER, query_flow_counter),
	{ 0 },
};
