// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * The e-switch without a VMM: to which port its tables send a frame, what its entries
 * cannot do, and which messages of QPs are let in.
 */
#include <stdlib.h>
#include <string.h>

#include "eth/pass.h"
#include "eth/rx.h"
#include "eth/switch.h"
#include "test/unit/world.h"

#define FDB 4u			/* table_type */
#define RDMA 7u
#define RX 0u
#define LOG_SIZE 4u
#define LEN 100u
#define SQN 0x123u
#define NOWHERE 0x1234		/* no port has this number */
#define MISS_TABLE 1u		/* table_miss_action */
#define MISS_DOMAIN 2u
#define DEST_TIR 2u

static uint8_t in[IFC_SZ(create_flow_group_in) + 64];
static uint8_t out[64];
static uint32_t port_of;
static unsigned int forwarded;

static uint8_t cmd(const struct cmd_def *table, uint16_t op, size_t len)
{
	memset(out, 0, sizeof(out));
	return w_cmd(0, table, op, 0, 0, in, len, out, sizeof(out));
}

static void start(void)
{
	w_eth_setup();
	w_hca[0].eswitch = true;
}

static void end(void)
{
	w_hca[0].eswitch = false;
	w_eth_teardown();
}

/* A table in in[]. */
static uint8_t *table_in(uint32_t type, uint32_t level)
{
	uint8_t *c = IFC_ADDR_OF(create_flow_table_in, in, flow_table_context);

	memset(in, 0, sizeof(in));
	IFC_SET(create_flow_table_in, in, table_type, type);
	IFC_SET(flow_table_context, c, level, level);
	IFC_SET(flow_table_context, c, log_size, LOG_SIZE);
	return c;
}

/* Return: its number, 0 where it is refused */
static uint32_t table_make(void)
{
	if (cmd(flow_cmds, MLX5_CMD_OP_CREATE_FLOW_TABLE,
		IFC_SZ(create_flow_table_in)))
		return 0;
	return IFC_GET(create_flow_table_out, out, table_id);
}

static uint32_t table(uint32_t type, uint32_t level)
{
	table_in(type, level);
	return table_make();
}

static uint8_t root(uint32_t type, uint32_t id)
{
	memset(in, 0, sizeof(in));
	IFC_SET(set_flow_table_root_in, in, table_type, type);
	IFC_SET(set_flow_table_root_in, in, table_id, id);
	return cmd(flow_cmds, MLX5_CMD_OP_SET_FLOW_TABLE_ROOT,
		   IFC_SZ(set_flow_table_root_in));
}

#define MISC(fld) misc_parameters.fld

/* A group of four entries that compare the source of a frame. */
static uint8_t group(uint32_t type, uint32_t id, uint32_t first, bool port,
		     bool queue)
{
	uint8_t *mask = IFC_ADDR_OF(create_flow_group_in, in, match_criteria);

	memset(in, 0, sizeof(in));
	IFC_SET(create_flow_group_in, in, table_type, type);
	IFC_SET(create_flow_group_in, in, table_id, id);
	IFC_SET(create_flow_group_in, in, start_flow_index, first);
	IFC_SET(create_flow_group_in, in, end_flow_index, first + 3);
	IFC_SET(create_flow_group_in, in, match_criteria_enable, MATCH_MISC);
	IFC_SET(fte_match_param, mask, MISC(source_port), port ? 0xffff : 0);
	IFC_SET(fte_match_param, mask, MISC(source_sqn), queue ? 0xffffff : 0);
	return cmd(flow_cmds, MLX5_CMD_OP_CREATE_FLOW_GROUP,
		   IFC_SZ(create_flow_group_in));
}

/* An entry in in[], for frames from this port, and this queue. */
static uint8_t *fte(uint32_t type, uint32_t id, uint32_t index, uint16_t port,
		    uint32_t sqn, uint32_t action)
{
	uint8_t *c = IFC_ADDR_OF(set_fte_in, in, flow_context), *value;

	memset(in, 0, sizeof(in));
	IFC_SET(set_fte_in, in, table_type, type);
	IFC_SET(set_fte_in, in, table_id, id);
	IFC_SET(set_fte_in, in, flow_index, index);
	IFC_SET(flow_context, c, action, action);
	value = IFC_ADDR_OF(flow_context, c, match_value);
	IFC_SET(fte_match_param, value, MISC(source_port), port);
	IFC_SET(fte_match_param, value, MISC(source_sqn), sqn);
	return c;
}

static uint8_t *dest(uint8_t *c, uint32_t type, uint32_t id)
{
	uint8_t *to = c + IFC_OFF(flow_context, destination);

	IFC_SET(flow_context, c, destination_list_size, 1);
	IFC_SET(dest_format_struct, to, destination_type, type);
	IFC_SET(dest_format_struct, to, destination_id, id);
	return to;
}

static uint8_t set(void)
{
	return cmd(fte_cmds, MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY,
		   IFC_SZ(set_fte_in) + IFC_SZ(dest_format_struct));
}

/* An entry that sends such frames to a port of the e-switch. */
static uint8_t send_to(uint32_t id, uint32_t index, uint16_t port, uint32_t sqn,
		       uint16_t to)
{
	dest(fte(FDB, id, index, port, sqn, ACTION_FWD_DEST), 0, to);
	return set();
}

static void note(struct hca *hca, const struct packet *p, uint16_t vport)
{
	(void)hca;
	(void)p;
	port_of = vport;
	forwarded++;
}

/* The port that gets a frame from there; NOWHERE: none; more: as many */
static uint32_t goes(uint16_t port, uint32_t sqn)
{
	uint8_t data[LEN] = { 1 };
	struct packet p;

	packet_init(&p, data, LEN, 0);
	packet_source(&p, port, sqn);
	forwarded = 0;
	pass_switch(&w_hca[0], &p, note);
	return forwarded == 1 ? port_of : NOWHERE + forwarded;
}

/* As the driver does: a queue's frames to the cable, all others to the manager. */
static void the_source_says_to_which_port_a_frame_goes(void)
{
	uint32_t t = table(FDB, 0);

	CHECK(!switch_on(&w_hca[0]));
	CHECK_EQ(root(FDB, t), 0);
	CHECK(switch_on(&w_hca[0]));
	CHECK_EQ(group(FDB, t, 0, true, true), 0);
	CHECK_EQ(group(FDB, t, 4, false, false), 0);
	CHECK_EQ(goes(VPORT_UPLINK, 0), NOWHERE);
	CHECK_EQ(send_to(t, 0, VPORT_MANAGER, SQN, VPORT_UPLINK), 0);
	CHECK_EQ(goes(VPORT_MANAGER, SQN), VPORT_UPLINK);
	CHECK_EQ(goes(VPORT_MANAGER, SQN + 1), NOWHERE);
	CHECK_EQ(goes(VPORT_UPLINK, SQN), NOWHERE);
	CHECK_EQ(send_to(t, 4, 0, 0, VPORT_MANAGER), 0);
	CHECK_EQ(goes(VPORT_MANAGER, SQN), VPORT_UPLINK);
	CHECK_EQ(goes(VPORT_MANAGER, SQN + 1), VPORT_MANAGER);
	CHECK_EQ(goes(VPORT_UPLINK, 0), VPORT_MANAGER);
	fte(FDB, t, 1, VPORT_MANAGER, SQN + 1, ACTION_DROP);
	CHECK_EQ(set(), 0);
	CHECK_EQ(goes(VPORT_MANAGER, SQN + 1), NOWHERE);
	CHECK_EQ(root(FDB, 999), CMD_BAD_RES);
	CHECK(switch_on(&w_hca[0]));
}

/* The receiving side drops and counts what is from the cable. Return: the counter */
static const struct flow_counter *count_from_the_cable(void)
{
	uint32_t r = table(RX, 0), n;
	uint8_t *c, *item;

	memset(in, 0, sizeof(in));
	w_must(cmd(flow_counter_cmds, MLX5_CMD_OP_ALLOC_FLOW_COUNTER,
		   IFC_SZ(alloc_flow_counter_in)));
	n = IFC_GET(alloc_flow_counter_out, out, flow_counter_id);
	w_must(root(RX, r));
	w_must(group(RX, r, 0, true, false));
	c = fte(RX, r, 0, VPORT_UPLINK, 0, ACTION_DROP | ACTION_COUNT);
	IFC_SET(flow_context, c, flow_counter_list_size, 1);
	item = c + IFC_OFF(flow_context, destination);
	IFC_SET(flow_counter_list, item, flow_counter_id, n);
	w_must(set());
	return idtable_get(&w_hca[0].eth->flows.counters, n);
}

/* The receiving side of the manager compares where a frame came from. */
static void the_manager_knows_the_source(void)
{
	static uint8_t data[LEN] = { 1 };
	uint32_t t = table(FDB, 0);
	const struct flow_counter *n = count_from_the_cable();
	struct packet p, copy;

	CHECK_EQ(root(FDB, t), 0);
	CHECK_EQ(group(FDB, t, 0, false, false), 0);
	CHECK_EQ(send_to(t, 0, 0, 0, VPORT_MANAGER), 0);
	packet_init(&p, data, LEN, 0);
	packet_source(&p, VPORT_UPLINK, 0);
	switch_receive(&w_hca[0], &p);
	CHECK_EQ(w_hca[0].eth->switched.manager, 1);
	CHECK_EQ(n->packets, 1);
	CHECK_EQ(IFC_GET(fte_match_param, p.headers, MISC(source_port)),
		 VPORT_UPLINK);
	/* a change of the frame does not forget it */
	packet_copy(&copy, &p);
	packet_parse(&copy);
	CHECK_EQ(IFC_GET(fte_match_param, copy.headers, MISC(source_port)),
		 VPORT_UPLINK);
	packet_source(&p, VPORT_MANAGER, SQN);
	CHECK(!switch_out(&w_hca[0], &p, VPORT_MANAGER));
	CHECK_EQ(n->packets, 1);
	CHECK_EQ(w_hca[0].eth->switched.manager, 2);
	CHECK(switch_out(&w_hca[0], &p, VPORT_UPLINK));
	CHECK_EQ(w_hca[0].eth->switched.uplink, 1);
}

static void what_it_cannot_do_is_refused(void)
{
	uint32_t t = table(FDB, 0), r = table(RX, 0);
	uint8_t *to;

	CHECK_EQ(group(FDB, t, 0, true, true), 0);
	CHECK_EQ(group(RX, r, 0, true, true), 0);
	/* no such port, another adapter's, and no port where there is no e-switch */
	CHECK_EQ(send_to(t, 0, 0, 0, 1), CMD_BAD_PARAM);
	to = dest(fte(FDB, t, 0, 0, 0, ACTION_FWD_DEST), 0, VPORT_UPLINK);
	IFC_SET(dest_format_struct, to, destination_eswitch_owner_vhca_id, 1);
	CHECK_EQ(set(), CMD_BAD_PARAM);
	dest(fte(RX, r, 0, 0, 0, ACTION_FWD_DEST), 0, VPORT_UPLINK);
	CHECK_EQ(set(), CMD_BAD_RES);
	dest(fte(FDB, t, 0, 0, 0, ACTION_FWD_DEST), DEST_TIR, 0);
	CHECK_EQ(set(), CMD_BAD_RES);
	dest(fte(FDB, t, 0, 0, 0, ACTION_FWD_DEST), 1, r);
	CHECK_EQ(set(), CMD_BAD_RES);
	/* what would change frames, and actions that nobody knows */
	fte(FDB, t, 0, 0, 0, ACTION_ALLOW);
	CHECK_EQ(set(), CMD_BAD_PARAM);
	fte(FDB, t, 0, 0, 0, ACTION_DROP | ACTION_MOD_HDR);
	CHECK_EQ(set(), CMD_BAD_PARAM);
	fte(FDB, t, 0, 0, 0, 0x400);
	CHECK_EQ(set(), CMD_BAD_PARAM);
	IFC_SET(flow_table_context, table_in(FDB, 1), reformat_en, 1);
	CHECK_EQ(table_make(), 0);
	IFC_SET(flow_table_context, table_in(FDB, 1), decap_en, 1);
	CHECK_EQ(table_make(), 0);
	IFC_SET(flow_table_context, table_in(FDB, 1), table_miss_action,
		MISS_DOMAIN);
	CHECK_EQ(table_make(), 0);
	table_in(FDB, 1);
	IFC_SET(create_flow_table_in, in, other_vport, 1);
	CHECK_EQ(table_make(), 0);
	CHECK_EQ(w_hca[0].eth->flows.entries, 0);
}

static void without_an_e_switch_nothing_of_it_is_there(void)
{
	uint32_t r = table(RX, 0);

	w_hca[0].eswitch = false;
	CHECK_EQ(table(FDB, 0), 0);
	CHECK_EQ(table(RDMA, 0), 0);
	CHECK_EQ(root(FDB, 0), CMD_BAD_PARAM);
	CHECK_EQ(group(RX, r, 0, true, false), CMD_BAD_PARAM);
	CHECK_EQ(group(RX, r, 0, false, true), CMD_BAD_PARAM);
	CHECK_EQ(group(RX, r, 0, false, false), 0);
}

/* Two tables, as the driver makes one: it lets in what is from the manager. */
static void messages_from_the_cable_are_frames(void)
{
	uint32_t last, first;
	uint8_t *c;

	CHECK(flows_admit(&w_hca[0], false));
	c = table_in(RDMA, 1);
	IFC_SET(flow_table_context, c, table_miss_action, MISS_DOMAIN);
	last = table_make();
	CHECK(last);
	c = table_in(RDMA, 0);
	IFC_SET(flow_table_context, c, table_miss_action, MISS_TABLE);
	IFC_SET(flow_table_context, c, table_miss_id, last);
	first = table_make();
	CHECK(first);
	CHECK_EQ(group(RDMA, last, 0, true, false), 0);
	fte(RDMA, last, 0, VPORT_MANAGER, 0, ACTION_DROP);
	CHECK_EQ(set(), CMD_BAD_PARAM);
	fte(RDMA, last, 0, VPORT_MANAGER, 0, ACTION_ALLOW);
	CHECK_EQ(set(), 0);
	CHECK(flows_admit(&w_hca[0], false));
	CHECK_EQ(root(RDMA, first), 0);
	CHECK(flows_admit(&w_hca[0], true));
	CHECK(!flows_admit(&w_hca[0], false));
}

static void destroy(uint32_t type, uint32_t id)
{
	memset(in, 0, sizeof(in));
	IFC_SET(destroy_flow_table_in, in, table_type, type);
	IFC_SET(destroy_flow_table_in, in, table_id, id);
	w_must(cmd(flow_cmds, MLX5_CMD_OP_DESTROY_FLOW_TABLE,
		   IFC_SZ(destroy_flow_table_in)));
}

/* A table to which a miss leads is destroyed, and the e-switch has its number then. */
static void a_number_of_another_side_is_no_table(void)
{
	static const uint8_t data[LEN] = { 1 };
	uint32_t last = table(RX, 1), first, id;
	uint8_t *c = table_in(RX, 0);
	struct packet p;

	IFC_SET(flow_table_context, c, table_miss_action, MISS_TABLE);
	IFC_SET(flow_table_context, c, table_miss_id, last);
	first = table_make();
	w_must(root(RX, first));
	destroy(RX, last);
	while ((id = table(FDB, 1)) != last)
		destroy(FDB, id);
	CHECK_EQ(group(FDB, id, 0, false, false), 0);
	CHECK_EQ(send_to(id, 0, 0, 0, VPORT_MANAGER), 0);
	packet_init(&p, data, LEN, 0);
	pass_receive(&w_hca[0], &p);
	CHECK_EQ(w_hca[0].eth->switched.manager, 0);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(the_source_says_to_which_port_a_frame_goes),
	TEST(the_manager_knows_the_source),
	TEST(what_it_cannot_do_is_refused),
	TEST(without_an_e_switch_nothing_of_it_is_there),
	TEST(messages_from_the_cable_are_frames),
	TEST(a_number_of_another_side_is_no_table),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), start, end);
}
