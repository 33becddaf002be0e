// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Flow tables without a VMM: frames through tables of the sending side, what entries
 * do with them, and commands that are refused.
 */
#include <stdlib.h>
#include <string.h>

#include "eth/pass.h"
#include "eth/rx.h"
#include "fw/fw.h"
#include "test/unit/world.h"

#define RX 0u			/* table_type */
#define TX 1u
#define UID 5u
#define LOG_SIZE 4u
#define LEN 100u
#define GROUP_LAST 7u

static uint8_t in[IFC_SZ(set_fte_in) + 16 * 8];
static uint8_t out[256];
static uint16_t uid;
static uint8_t sent[PACKET_BYTES];
static size_t sent_len;
static unsigned int sent_n;

static uint8_t cmd(const struct cmd_def *table, uint16_t op, uint16_t mod,
		   size_t len, size_t out_len)
{
	memset(out, 0, sizeof(out));
	return w_cmd(0, table, op, mod, uid, in, len, out, out_len);
}

#define CMD(table, OP, mod, fn) \
	cmd(table, MLX5_CMD_OP_##OP, mod, IFC_SZ(fn##_in), IFC_SZ(fn##_out))

static void start(void)
{
	w_eth_setup();
	uid = 0;
}

/* A table at a level; 0 where it is refused. */
static uint32_t table_at(uint32_t type, uint32_t level, uint32_t miss)
{
	uint8_t *c = IFC_ADDR_OF(create_flow_table_in, in, flow_table_context);

	memset(in, 0, sizeof(in));
	IFC_SET(create_flow_table_in, in, table_type, type);
	IFC_SET(flow_table_context, c, level, level);
	IFC_SET(flow_table_context, c, log_size, LOG_SIZE);
	IFC_SET(flow_table_context, c, decap_en, type == RX);
	IFC_SET(flow_table_context, c, reformat_en, 1);
	IFC_SET(flow_table_context, c, table_miss_action, !!miss);
	IFC_SET(flow_table_context, c, table_miss_id, miss);
	if (CMD(flow_cmds, CREATE_FLOW_TABLE, 0, create_flow_table))
		return 0;
	return IFC_GET(create_flow_table_out, out, table_id);
}

static uint32_t table(uint32_t type, uint32_t miss)
{
	return table_at(type, 0, miss);
}

static uint8_t set_miss(uint32_t type, uint32_t id, uint32_t miss)
{
	uint8_t *c = IFC_ADDR_OF(modify_flow_table_in, in, flow_table_context);

	memset(in, 0, sizeof(in));
	IFC_SET(modify_flow_table_in, in, table_type, type);
	IFC_SET(modify_flow_table_in, in, table_id, id);
	IFC_SET(modify_flow_table_in, in, modify_field_select, 1);
	IFC_SET(flow_table_context, c, table_miss_action, !!miss);
	IFC_SET(flow_table_context, c, table_miss_id, miss);
	return CMD(flow_cmds, MODIFY_FLOW_TABLE, 0, modify_flow_table);
}

static uint8_t destroy_table(uint32_t type, uint32_t id)
{
	memset(in, 0, sizeof(in));
	IFC_SET(destroy_flow_table_in, in, table_type, type);
	IFC_SET(destroy_flow_table_in, in, table_id, id);
	return CMD(flow_cmds, DESTROY_FLOW_TABLE, 0, destroy_flow_table);
}

static uint8_t root(uint32_t type, uint32_t id)
{
	memset(in, 0, sizeof(in));
	IFC_SET(set_flow_table_root_in, in, table_type, type);
	IFC_SET(set_flow_table_root_in, in, table_id, id);
	return CMD(flow_cmds, SET_FLOW_TABLE_ROOT, 0, set_flow_table_root);
}

/* Of what a group compares, one byte at @at has all bits, but where @at is -1. */
static uint8_t group_of(uint32_t type, uint32_t id, uint32_t first,
			uint32_t last, uint32_t which, int at)
{
	static uint8_t big[IFC_SZ(create_flow_group_in)];

	memset(big, 0, sizeof(big));
	IFC_SET(create_flow_group_in, big, table_type, type);
	IFC_SET(create_flow_group_in, big, table_id, id);
	IFC_SET(create_flow_group_in, big, start_flow_index, first);
	IFC_SET(create_flow_group_in, big, end_flow_index, last);
	IFC_SET(create_flow_group_in, big, match_criteria_enable, which);
	if (at >= 0)
		IFC_ADDR_OF(create_flow_group_in, big, match_criteria)[at] =
			0xff;
	memset(out, 0, sizeof(out));
	return w_cmd(0, flow_cmds, MLX5_CMD_OP_CREATE_FLOW_GROUP, 0, uid, big,
		     sizeof(big), out, IFC_SZ(create_flow_group_out));
}

#define DMAC_LAST 13	/* of fte_match_set_lyr_2_4, the last byte of dmac */
#define AT(fld) ((int)IFC_OFF(fte_match_param, fld))

static uint8_t group(uint32_t type, uint32_t id)
{
	return group_of(type, id, 0, GROUP_LAST, MATCH_OUTER, DMAC_LAST);
}

/* An entry in in[] for frames whose destination ends with @mac. */
static uint8_t *fte(uint32_t type, uint32_t id, uint32_t index, uint8_t mac,
		    uint32_t action)
{
	uint8_t *c = IFC_ADDR_OF(set_fte_in, in, flow_context);

	memset(in, 0, sizeof(in));
	IFC_SET(set_fte_in, in, table_type, type);
	IFC_SET(set_fte_in, in, table_id, id);
	IFC_SET(set_fte_in, in, flow_index, index);
	IFC_SET(flow_context, c, action, action);
	IFC_ADDR_OF(flow_context, c, match_value)[DMAC_LAST] = mac;
	return c;
}

static uint8_t set(uint16_t mod, unsigned int lists)
{
	return cmd(fte_cmds, MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, mod,
		   IFC_SZ(set_fte_in) + lists * 8, IFC_SZ(set_fte_out));
}

static uint8_t delete(uint32_t type, uint32_t id, uint32_t index)
{
	memset(in, 0, sizeof(in));
	IFC_SET(delete_fte_in, in, table_type, type);
	IFC_SET(delete_fte_in, in, table_id, id);
	IFC_SET(delete_fte_in, in, flow_index, index);
	return CMD(fte_cmds, DELETE_FLOW_TABLE_ENTRY, 0, delete_fte);
}

/* The @n-th destination or counter of the entry in in[]. */
static uint8_t *item(unsigned int n)
{
	return IFC_ADDR_OF(set_fte_in, in, flow_context) +
	       IFC_OFF(flow_context, destination) + n * 8;
}

/* An entry that sends such frames on to another table. */
static uint8_t forward(uint32_t id, uint32_t index, uint8_t mac, uint32_t next)
{
	uint8_t *c = fte(TX, id, index, mac, ACTION_FWD_DEST);

	IFC_SET(flow_context, c, destination_list_size, 1);
	IFC_SET(dest_format_struct, item(0), destination_type, 1);
	IFC_SET(dest_format_struct, item(0), destination_id, next);
	return set(0, 1);
}

static uint32_t counter(void)
{
	memset(in, 0, sizeof(in));
	if (CMD(flow_counter_cmds, ALLOC_FLOW_COUNTER, 0, alloc_flow_counter))
		return 0;
	return IFC_GET(alloc_flow_counter_out, out, flow_counter_id);
}

static uint8_t free_counter(uint32_t id)
{
	memset(in, 0, sizeof(in));
	IFC_SET(dealloc_flow_counter_in, in, flow_counter_id, id);
	return CMD(flow_counter_cmds, DEALLOC_FLOW_COUNTER, 0,
		   dealloc_flow_counter);
}

static uint8_t query(uint32_t id, uint32_t n, bool clear, size_t room)
{
	memset(in, 0, sizeof(in));
	IFC_SET(query_flow_counter_in, in, flow_counter_id, id);
	IFC_SET(query_flow_counter_in, in, num_of_counters, n);
	IFC_SET(query_flow_counter_in, in, clear, clear);
	return cmd(flow_counter_cmds, MLX5_CMD_OP_QUERY_FLOW_COUNTER, 0,
		   IFC_SZ(query_flow_counter_in),
		   IFC_SZ(query_flow_counter_out) +
		   room * IFC_SZ(traffic_counter));
}

static uint64_t queried(unsigned int word)
{
	return IFC_GET64(traffic_counter, out +
			 IFC_SZ(query_flow_counter_out) + word * 8, packets);
}

/* One SET action of @length bits at @offset. */
static uint32_t header(uint32_t type, uint32_t field, uint32_t offset,
		       uint32_t length, uint32_t data)
{
	uint8_t *a = IFC_ADDR_OF(alloc_modify_header_context_in, in, actions);

	memset(in, 0, sizeof(in));
	IFC_SET(alloc_modify_header_context_in, in, table_type, type);
	IFC_SET(alloc_modify_header_context_in, in, num_of_actions, 1);
	IFC_SET(set_action_in, a, action_type, MLX5_ACTION_TYPE_SET);
	IFC_SET(set_action_in, a, field, field);
	IFC_SET(set_action_in, a, offset, offset);
	IFC_SET(set_action_in, a, length, length);
	IFC_SET(set_action_in, a, data, data);
	if (cmd(flow_header_cmds, MLX5_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT, 0,
		IFC_SZ(alloc_modify_header_context_in) + 8,
		IFC_SZ(alloc_modify_header_context_out)))
		return 0;
	return IFC_GET(alloc_modify_header_context_out, out, modify_header_id);
}

static uint8_t free_header(uint32_t id)
{
	memset(in, 0, sizeof(in));
	IFC_SET(dealloc_modify_header_context_in, in, modify_header_id, id);
	return CMD(flow_header_cmds, DEALLOC_MODIFY_HEADER_CONTEXT, 0,
		   dealloc_modify_header_context);
}

static uint32_t reformat(uint32_t type, const uint8_t *data, size_t len)
{
	uint8_t *c = IFC_ADDR_OF(alloc_packet_reformat_context_in, in,
				 packet_reformat_context);

	memset(in, 0, sizeof(in));
	IFC_SET(packet_reformat_context_in, c, reformat_type, type);
	IFC_SET(packet_reformat_context_in, c, reformat_data_size, len);
	memcpy(IFC_ADDR_OF(packet_reformat_context_in, c, reformat_data), data,
	       len);
	if (cmd(flow_reformat_cmds, MLX5_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT,
		0, IFC_SZ(alloc_packet_reformat_context_in) + len,
		IFC_SZ(alloc_packet_reformat_context_out)))
		return 0;
	return IFC_GET(alloc_packet_reformat_context_out, out,
		       packet_reformat_id);
}

/* A frame of UDP over IPv4 whose sums are right. */
static void frame_make(uint8_t *to, uint8_t mac)
{
	struct frame f;

	memset(to, 0, LEN);
	to[5] = mac;
	be16_put(to + 12, TYPE_IPV4);
	to[14] = 0x45;
	be16_put(to + 16, LEN - ETH_HEAD);
	to[22] = 64;
	to[23] = IP_UDP;
	be16_put(to + 36, 53);
	be16_put(to + 38, LEN - ETH_HEAD - 20);
	memset(to + 42, 0xa5, LEN - 42);
	frame_parse(&f, to, LEN);
	frame_put_sums(&f, to, true, true);
}

static void keep(struct hca *hca, const struct packet *p)
{
	(void)hca;
	memcpy(sent, p->f.data, p->f.len);
	sent_len = p->f.len;
	sent_n++;
}

/* How often a frame left the tables of the sending side. */
static unsigned int pass(uint8_t mac)
{
	uint8_t data[LEN];
	struct packet p;

	frame_make(data, mac);
	packet_init(&p, data, LEN, 0);
	sent_n = 0;
	pass_send(&w_hca[0], &p, keep);
	return sent_n;
}

static void an_entry_drops_counts_and_goes_on(void)
{
	uint32_t first = table(TX, 0), next = table_at(TX, 1, 0), n = counter();
	uint8_t *c;

	CHECK_EQ(pass(1), 1);
	CHECK_EQ(root(TX, first), 0);
	CHECK_EQ(group(TX, first), 0);
	CHECK_EQ(group(TX, next), 0);
	CHECK_EQ(pass(1), 1);
	c = fte(TX, first, 0, 1, ACTION_DROP | ACTION_COUNT);
	IFC_SET(flow_context, c, flow_counter_list_size, 1);
	IFC_SET(flow_counter_list, item(0), flow_counter_id, n);
	CHECK_EQ(set(0, 1), 0);
	CHECK_EQ(pass(1), 0);
	CHECK_EQ(pass(2), 1);
	CHECK_EQ(forward(first, 1, 2, next), 0);
	fte(TX, next, 0, 2, ACTION_DROP);
	CHECK_EQ(set(0, 0), 0);
	CHECK_EQ(pass(2), 0);
	CHECK_EQ(query(n, 0, true, 1), 0);
	CHECK_EQ(queried(0), 1);
	CHECK_EQ(queried(1), LEN);
	CHECK_EQ(query(n, 0, false, 1), 0);
	CHECK_EQ(queried(0), 0);
	/* what an entry names stays */
	CHECK_EQ(free_counter(n), CMD_BAD_RES_STATE);
	CHECK_EQ(destroy_table(TX, next), CMD_BAD_RES_STATE);
	CHECK_EQ(delete(TX, first, 0), 0);
	CHECK_EQ(delete(TX, first, 0), CMD_BAD_RES);
	CHECK_EQ(free_counter(n), 0);
	CHECK_EQ(pass(1), 1);
	CHECK_EQ(w_hca[0].eth->flows.entries, 2);
}

static void a_table_goes_on_to_a_higher_level(void)
{
	uint32_t low = table_at(TX, 1, 0), same = table_at(TX, 1, 0);
	uint32_t high = table_at(TX, 2, 0);

	CHECK_EQ(group(TX, low), 0);
	CHECK_EQ(group(TX, high), 0);
	CHECK_EQ(forward(low, 0, 1, high), 0);
	CHECK_EQ(forward(high, 0, 1, low), CMD_BAD_PARAM);
	CHECK_EQ(forward(low, 0, 1, same), CMD_BAD_PARAM);
	CHECK_EQ(forward(low, 0, 1, low), CMD_BAD_PARAM);
	CHECK_EQ(set_miss(TX, low, high), 0);
	CHECK_EQ(set_miss(TX, high, low), CMD_BAD_PARAM);
	CHECK_EQ(set_miss(TX, low, low), CMD_BAD_PARAM);
	CHECK_EQ(set_miss(TX, low, table_at(RX, 3, 0)), CMD_BAD_RES);
	CHECK_EQ(set_miss(TX, low, 999), CMD_BAD_RES);
	CHECK_EQ(table_at(TX, 2, high), 0);
	CHECK_EQ(root(TX, low), 0);
	CHECK_EQ(pass(1), 1);
	CHECK_EQ(set_miss(TX, low, 0), 0);
}

/* A number that is given out again makes a circle that no command could refuse. */
static void a_frame_in_a_circle_of_tables_is_lost(void)
{
	uint32_t high = table_at(TX, 2, 0), low = table_at(TX, 1, high);
	uint32_t again;

	CHECK_EQ(destroy_table(TX, high), 0);
	do {
		again = table_at(TX, 0, low);
		CHECK(again);
	} while (again && again != high);
	CHECK_EQ(root(TX, low), 0);
	CHECK_EQ(pass(1), 0);
}

static void a_change_leaves_what_it_does_not_select(void)
{
	uint32_t t = table(TX, 0), n = counter(), other = counter();
	uint8_t *c;

	CHECK_EQ(root(TX, t), 0);
	CHECK_EQ(group(TX, t), 0);
	fte(TX, t, 3, 1, ACTION_DROP);
	CHECK_EQ(set(1, 0), CMD_BAD_RES);
	CHECK_EQ(set(2, 0), CMD_BAD_PARAM);
	CHECK_EQ(set(0, 0), 0);
	/* the counter alone, which the old action does not count */
	c = fte(TX, t, 3, 9, ACTION_ALLOW | ACTION_COUNT);
	IFC_SET(set_fte_in, in, modify_enable_mask, 8);
	IFC_SET(flow_context, c, flow_counter_list_size, 1);
	IFC_SET(flow_counter_list, item(0), flow_counter_id, n);
	CHECK_EQ(set(1, 1), 0);
	CHECK_EQ(pass(1), 0);
	CHECK_EQ(pass(9), 1);
	/* the action alone: the counter stays */
	c = fte(TX, t, 3, 9, ACTION_ALLOW | ACTION_COUNT);
	IFC_SET(set_fte_in, in, modify_enable_mask, 1);
	IFC_SET(flow_context, c, flow_counter_list_size, 1);
	IFC_SET(flow_counter_list, item(0), flow_counter_id, other);
	CHECK_EQ(set(1, 1), 0);
	CHECK_EQ(pass(1), 1);
	CHECK_EQ(query(n, 0, false, 1), 0);
	CHECK_EQ(queried(0), 1);
	CHECK_EQ(query(other, 0, false, 1), 0);
	CHECK_EQ(queried(0), 0);
	CHECK_EQ(w_hca[0].eth->flows.entries, 1);
}

static void headers_change_and_sums_stay_right(void)
{
	uint32_t t = table(TX, 0), r = table(RX, 0);
	uint32_t id = header(TX, MLX5_ACTION_IN_FIELD_OUT_DIPV4, 8, 16, 0xbeef);
	struct frame f;
	uint8_t *c;

	CHECK(id);
	CHECK_EQ(root(TX, t), 0);
	CHECK_EQ(group(TX, t), 0);
	c = fte(TX, t, 0, 1, ACTION_ALLOW | ACTION_MOD_HDR);
	IFC_SET(flow_context, c, modify_header_id, id);
	CHECK_EQ(set(0, 0), 0);
	CHECK_EQ(free_header(id), CMD_BAD_RES_STATE);
	CHECK_EQ(pass(1), 1);
	CHECK_EQ(sent_len, LEN);
	CHECK_EQ(sent[30], 0);
	CHECK_EQ(be16_at(sent + 31), 0xbeef);
	CHECK_EQ(sent[33], 0);
	frame_parse(&f, sent, sent_len);
	CHECK_EQ(frame_l3_sum(&f), 0xffff);
	CHECK_EQ(frame_l4_sum(&f), 0xffff);
	/* contexts of the other side, and fields that are not there */
	CHECK_EQ(group(RX, r), 0);
	c = fte(RX, r, 0, 1, ACTION_MOD_HDR);
	IFC_SET(flow_context, c, modify_header_id, id);
	CHECK_EQ(set(0, 0), CMD_BAD_RES);
	CHECK_EQ(header(TX, 0x7ff, 0, 8, 0), 0);
	CHECK_EQ(header(TX, MLX5_ACTION_IN_FIELD_OUT_IP_TTL, 4, 5, 0), 0);
	CHECK_EQ(header(7, MLX5_ACTION_IN_FIELD_OUT_IP_TTL, 0, 8, 0), 0);
	CHECK_EQ(delete(TX, t, 0), 0);
	CHECK_EQ(free_header(id), 0);
	CHECK_EQ(free_header(id), CMD_BAD_RES);
}

/* Outer headers of VXLAN, whose lengths and sum the adapter writes. */
static void frames_enter_and_leave_a_tunnel(void)
{
	uint8_t outer[ETH_HEAD + 20 + 8 + 8] = { [5] = 9, [14] = 0x45,
						 [22] = 3, [23] = IP_UDP };
	uint32_t t = table(TX, 0), id;
	uint8_t plain[LEN];
	struct packet p, copy;
	struct frame f;
	uint8_t *c;

	be16_put(outer + 12, TYPE_IPV4);
	be16_put(outer + 36, 4789);
	outer[42] = 8;
	outer[48] = 77;
	id = reformat(2, outer, sizeof(outer));
	CHECK(id);
	CHECK_EQ(root(TX, t), 0);
	CHECK_EQ(group(TX, t), 0);
	c = fte(TX, t, 0, 1, ACTION_ALLOW | ACTION_REFORMAT);
	IFC_SET(flow_context, c, packet_reformat_id, id);
	CHECK_EQ(set(0, 0), 0);
	CHECK_EQ(pass(1), 1);
	CHECK_EQ(sent_len, LEN + sizeof(outer));
	CHECK_EQ(be16_at(sent + 16), sent_len - ETH_HEAD);
	CHECK_EQ(be16_at(sent + 38), sent_len - ETH_HEAD - 20);
	frame_parse(&f, sent, sent_len);
	CHECK_EQ(frame_l3_sum(&f), 0xffff);
	packet_init(&p, sent, sent_len, 0);
	CHECK_EQ(IFC_GET(fte_match_param, p.headers, misc_parameters.vxlan_vni),
		 77);
	CHECK_EQ(IFC_GET(fte_match_param, p.headers, inner_headers.udp_dport),
		 53);
	packet_copy(&copy, &p);
	CHECK(packet_decap(&copy));
	frame_make(plain, 1);
	CHECK_EQ(copy.f.len, LEN);
	CHECK_EQ(memcmp(copy.buf, plain, LEN), 0);
	CHECK(!packet_decap(&copy));
	/* too short, no IP header, unknown type */
	CHECK_EQ(reformat(2, outer, 13), 0);
	outer[12] = 0;
	CHECK_EQ(reformat(2, outer, sizeof(outer)), 0);
	CHECK_EQ(reformat(0xf, outer, sizeof(outer)), 0);
}

/* The memory ends where the frame does, so that ASan sees what is read behind it. */
static void a_tunnel_whose_header_is_cut_is_none(void)
{
	static const uint8_t gre[] = { 0x20, 0, 0x08, 0 };	/* a key follows */
	const size_t len = ETH_HEAD + 20 + sizeof(gre);
	uint8_t *frame = calloc(1, len), *ip = frame + ETH_HEAD;
	static struct packet p;

	frame[12] = 0x08;
	ip[0] = 0x45;
	ip[3] = (uint8_t)(len - ETH_HEAD);
	ip[9] = IP_GRE;
	memcpy(ip + 20, gre, sizeof(gre));
	packet_init(&p, frame, len, 0);
	CHECK(!IFC_GET(fte_match_param, p.headers,
		       misc_parameters.gre_k_present));
	CHECK(!IFC_GET(fte_match_param, p.headers,
		       misc_parameters.gre_protocol));
	free(frame);
}

static void an_adapter_has_so_many_entries(void)
{
	struct flows *flows = &w_hca[0].eth->flows;
	uint32_t t = table(TX, 0);

	CHECK_EQ(group(TX, t), 0);
	fte(TX, t, 0, 1, ACTION_DROP);
	CHECK_EQ(set(0, 0), 0);
	CHECK_EQ(flows->entries, 1);
	flows->entries = 1u << FLOW_LOG_ENTRIES;
	fte(TX, t, 1, 2, ACTION_DROP);
	CHECK_EQ(set(0, 0), CMD_LIM);
	/* one that is there can change */
	fte(TX, t, 0, 2, ACTION_DROP);
	CHECK_EQ(set(0, 0), 0);
	CHECK_EQ(flows->entries, 1u << FLOW_LOG_ENTRIES);
}

static void what_is_not_there_is_refused(void)
{
	uint32_t t = table(TX, 0), r = table(RX, 0);
	uint8_t *c;

	CHECK_EQ(table(2, 0), 0);
	CHECK_EQ(destroy_table(RX, t), CMD_BAD_RES);
	CHECK_EQ(root(RX, t), CMD_BAD_RES);
	CHECK_EQ(group_of(TX, t, 2, 1, 0, -1), CMD_BAD_PARAM);
	CHECK_EQ(group_of(TX, t, 0, 1 << LOG_SIZE, 0, -1), CMD_BAD_PARAM);
	CHECK_EQ(group_of(TX, t, 0, 0, 0x10, -1), CMD_BAD_PARAM);
	CHECK_EQ(group_of(TX, t, 0, 0, MATCH_MISC,
			  AT(misc_parameters.bth_opcode)), CMD_BAD_PARAM);
	CHECK_EQ(group(TX, t), 0);
	CHECK_EQ(group(RX, r), 0);
	CHECK_EQ(group_of(TX, t, GROUP_LAST, GROUP_LAST + 1, 0, -1),
		 CMD_BAD_PARAM);
	fte(TX, t, GROUP_LAST + 1, 1, ACTION_DROP);
	CHECK_EQ(set(0, 0), CMD_BAD_RES);
	fte(TX, t, 0, 1, ACTION_DROP | ACTION_ALLOW);
	CHECK_EQ(set(0, 0), CMD_BAD_PARAM);
	fte(TX, t, 0, 1, 0x80);
	CHECK_EQ(set(0, 0), CMD_BAD_PARAM);
	fte(TX, t, 0, 1, ACTION_DECAP);
	CHECK_EQ(set(0, 0), CMD_BAD_PARAM);
	fte(TX, t, 0, 1, ACTION_FWD_DEST);
	CHECK_EQ(set(0, 0), CMD_BAD_PARAM);
	/* a table of the other side, a list that is cut off */
	CHECK_EQ(forward(t, 0, 1, r), CMD_BAD_RES);
	CHECK_EQ(set(0, 0), CMD_BAD_INP_LEN);
	c = fte(TX, t, 0, 1, ACTION_DROP | ACTION_COUNT);
	IFC_SET(flow_context, c, flow_counter_list_size, 1);
	CHECK_EQ(set(0, 1), CMD_BAD_RES);
	CHECK_EQ(query(1, 0, false, 1), CMD_BAD_RES);
	CHECK_EQ(query(1, 2, false, 1), CMD_BAD_OUTP_LEN);
	CHECK_EQ(query(1, 2, false, 2), 0);
}

static void a_user_has_what_is_his(void)
{
	uint32_t theirs = counter(), t = table(TX, 0), mine;

	uid = UID;
	mine = counter();
	CHECK(mine);
	CHECK_EQ(query(theirs, 0, false, 1), CMD_BAD_RES);
	CHECK_EQ(free_counter(theirs), CMD_BAD_RES);
	CHECK_EQ(destroy_table(TX, t), CMD_BAD_RES);
	CHECK_EQ(root(TX, table(TX, 0)), CMD_BAD_PARAM);
	CHECK_EQ(query(mine, 0, false, 1), 0);
	uid = UID + 1;
	CHECK_EQ(query(mine, 0, false, 1), CMD_BAD_RES);
	uid = UID;
	CHECK_EQ(free_counter(mine), 0);
	w_hca[0].link = LINK_IB;
	uid = 0;
	CHECK_EQ(counter(), 0);
	CHECK_EQ(table(TX, 0), 0);
	CHECK_EQ(header(TX, MLX5_ACTION_IN_FIELD_OUT_IP_TTL, 0, 8, 1), 0);
}

/* Begins a command that creates a receive queue. Returns its work queue. */
static uint8_t *rq_begin(uint32_t pd)
{
	uint8_t *c = IFC_ADDR_OF(create_rq_in, in, ctx);
	uint8_t *wq = IFC_ADDR_OF(rqc, c, wq);
	struct w_cq cq;

	w_cq(&cq, 0, LOG_SIZE);
	memset(in, 0, sizeof(in));
	IFC_SET(rqc, c, cqn, cq.cqn);
	IFC_SET(wq, wq, wq_type, 1);
	IFC_SET(wq, wq, pd, pd);
	IFC_SET(wq, wq, log_wq_stride, 4);
	IFC_SET(wq, wq, log_wq_sz, LOG_SIZE);
	return wq;
}

/* A receive queue that names a PD; what the command answers. */
static uint8_t rq_of(uint32_t pd, uint32_t *rqn)
{
	uint8_t *wq = rq_begin(pd), status;

	IFC_SET64(wq, wq, dbr_addr, w_alloc(0, DB_RECORD));
	w_put_pas(IFC_ADDR_OF(wq, wq, pas), w_alloc(0, SIM_PAGE), SIM_PAGE);
	status = cmd(rx_cmds, MLX5_CMD_OP_CREATE_RQ, 0,
		     IFC_SZ(create_rq_in) + sizeof(uint64_t),
		     IFC_SZ(create_rq_out));
	*rqn = IFC_GET(create_rq_out, out, rqn);
	return status;
}

/* The same in memory of a DevX user, with the doorbell record at its begin. */
static uint8_t rq_in(uint32_t umem, uint64_t offset, uint32_t *rqn)
{
	uint8_t *wq = rq_begin(w_pd(0)), status;

	IFC_SET(wq, wq, dbr_umem_valid, 1);
	IFC_SET(wq, wq, dbr_umem_id, umem);
	IFC_SET(wq, wq, wq_umem_valid, 1);
	IFC_SET(wq, wq, wq_umem_id, umem);
	IFC_SET64(wq, wq, wq_umem_offset, offset);
	status = CMD(rx_cmds, CREATE_RQ, 0, create_rq);
	*rqn = IFC_GET(create_rq_out, out, rqn);
	return status;
}

static uint8_t free_umem(uint32_t umem)
{
	memset(in, 0, sizeof(in));
	IFC_SET(destroy_umem_in, in, umem_id, umem);
	return CMD(umem_cmds, DESTROY_UMEM, 0, destroy_umem);
}

/* A page of the user. */
static uint32_t umem_of_user(void)
{
	uint64_t mtt = htobe64(w_alloc(0, SIM_PAGE) | MTT_READ | MTT_WRITE);

	memset(in, 0, sizeof(in));
	IFC_SET64(create_umem_in, in, umem.num_of_mtt, 1);
	memcpy(in + IFC_SZ(create_umem_in), &mtt, sizeof(mtt));
	w_must(cmd(umem_cmds, MLX5_CMD_OP_CREATE_UMEM, 0,
		   IFC_SZ(create_umem_in) + sizeof(mtt),
		   IFC_SZ(create_umem_out)));
	return IFC_GET(create_umem_out, out, umem_id);
}

static void a_receive_queue_can_live_in_user_memory(void)
{
	uint32_t umem, rqn;

	uid = UID;
	umem = umem_of_user();
	CHECK_EQ(rq_in(umem + 1, 64, &rqn), CMD_BAD_PARAM);
	CHECK_EQ(rq_in(umem, SIM_PAGE, &rqn), CMD_BAD_PARAM);
	uid = UID + 1;
	CHECK_EQ(rq_in(umem, 64, &rqn), CMD_BAD_PARAM);
	uid = UID;
	CHECK_EQ(free_umem(umem), 0);	/* nothing of those refused is left */
	umem = umem_of_user();
	CHECK_EQ(rq_in(umem, 64, &rqn), 0);
	CHECK_EQ(free_umem(umem), CMD_BAD_RES_STATE);
	memset(in, 0, sizeof(in));
	IFC_SET(destroy_rq_in, in, rqn, rqn);
	CHECK_EQ(CMD(rx_cmds, DESTROY_RQ, 0, destroy_rq), 0);
	CHECK_EQ(free_umem(umem), 0);
	uid = 0;
}

static uint8_t free_pd(uint32_t pd)
{
	memset(in, 0, sizeof(in));
	IFC_SET(dealloc_pd_in, in, pd, pd);
	return CMD(pd_cmds, DEALLOC_PD, 0, dealloc_pd);
}

static void a_domain_waits_for_its_receive_queues(void)
{
	uint32_t pd = w_pd(0), rqn;

	uid = UID;
	CHECK_EQ(rq_of(pd, &rqn), 0);	/* the driver's may be named */
	CHECK_EQ(rq_of(0, &rqn), 0);
	CHECK_EQ(rq_of(pd + 1, &rqn), CMD_BAD_RES);
	uid = 0;
	CHECK_EQ(rq_of(pd, &rqn), 0);
	CHECK_EQ(free_pd(pd), CMD_BAD_RES_STATE);
	memset(in, 0, sizeof(in));
	IFC_SET(destroy_rq_in, in, rqn, rqn);
	CHECK_EQ(CMD(rx_cmds, DESTROY_RQ, 0, destroy_rq), 0);
	CHECK_EQ(free_pd(pd), CMD_BAD_RES_STATE);	/* the user's queue */
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(an_entry_drops_counts_and_goes_on),
	TEST(a_table_goes_on_to_a_higher_level),
	TEST(a_frame_in_a_circle_of_tables_is_lost),
	TEST(a_change_leaves_what_it_does_not_select),
	TEST(headers_change_and_sums_stay_right),
	TEST(frames_enter_and_leave_a_tunnel),
	TEST(a_tunnel_whose_header_is_cut_is_none),
	TEST(an_adapter_has_so_many_entries),
	TEST(what_is_not_there_is_refused),
	TEST(a_user_has_what_is_his),
	TEST(a_domain_waits_for_its_receive_queues),
	TEST(a_receive_queue_can_live_in_user_memory),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), start, w_eth_teardown);
}
