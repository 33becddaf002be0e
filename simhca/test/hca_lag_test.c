// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * The link aggregation of a card's two ports, without a VMM: its commands, and by which
 * port queues send and receive.
 */
#include <string.h>

#include "fabric/fabric.h"
#include "fabric/lag.h"
#include "test/unit/pair.h"

#define PART_LAG (1u << 15)
#define AFFINITIES 1u	/* field_select of MODIFY_LAG */
#define BY_HASH 1u	/* port_select_mode */

static void card(void)
{
	w_hca[0].native_port = 1;
	w_hca[1].native_port = 2;
}

static uint8_t create_in(unsigned int hca, const uint8_t *in)
{
	return w_cmd(hca, lag_cmds, MLX5_CMD_OP_CREATE_LAG, 0, 0, in,
		     IFC_SZ(create_lag_in), NULL, 0);
}

/* @first and @second are the ports of the affinities 1 and 2. */
static uint8_t create(unsigned int hca, uint32_t first, uint32_t second)
{
	uint8_t in[IFC_SZ(create_lag_in)] = { 0 };

	IFC_SET(create_lag_in, in, ctx.tx_remap_affinity_1, first);
	IFC_SET(create_lag_in, in, ctx.tx_remap_affinity_2, second);
	return create_in(hca, in);
}

static uint8_t modify(unsigned int hca, uint32_t fields, uint32_t first,
		      uint32_t second)
{
	uint8_t in[IFC_SZ(modify_lag_in)] = { 0 };

	IFC_SET(modify_lag_in, in, field_select, fields);
	IFC_SET(modify_lag_in, in, ctx.tx_remap_affinity_1, first);
	IFC_SET(modify_lag_in, in, ctx.tx_remap_affinity_2, second);
	return w_cmd(hca, lag_cmds, MLX5_CMD_OP_MODIFY_LAG, 0, 0, in, sizeof(in),
		     NULL, 0);
}

/* A command without parameters */
static uint8_t plain(unsigned int hca, uint16_t op)
{
	uint8_t in[IFC_SZ(destroy_lag_in)] = { 0 };

	return w_cmd(hca, lag_cmds, op, 0, 0, in, sizeof(in), NULL, 0);
}

/* The ports of both affinities, as two digits; 0 where the ports are not joined */
static uint32_t queried(unsigned int hca)
{
	uint8_t in[IFC_SZ(query_lag_in)] = { 0 };
	uint8_t out[IFC_SZ(query_lag_out)] = { 0 };

	w_must(w_cmd(hca, lag_cmds, MLX5_CMD_OP_QUERY_LAG, 0, 0, in, sizeof(in),
		     out, sizeof(out)));
	return IFC_GET(query_lag_out, out, ctx.tx_remap_affinity_1) * 10 +
	       IFC_GET(query_lag_out, out, ctx.tx_remap_affinity_2);
}

/* The same in what tests ask the adapter for; 0 where it has no "lag" */
static int dumped(unsigned int hca)
{
	struct json_object *o = json_object_new_object(), *ports;
	int n = 0;

	lag_dump(&w_hca[hca], o);
	if (json_object_object_get_ex(o, "lag", &ports))
		n = json_object_get_int(json_object_array_get_idx(ports, 0)) *
			    10 +
		    json_object_get_int(json_object_array_get_idx(ports, 1));
	json_object_put(o);
	return n;
}

static void one_port_cannot_be_joined(void)
{
	CHECK_EQ(create(0, 1, 2), CMD_BAD_PARAM);
	CHECK(!lag_beside(&w_hca[0]));
	CHECK_EQ(queried(0), 0);
}

static void affinities_name_ports(void)
{
	uint8_t in[IFC_SZ(create_lag_in)] = { 0 };

	card();
	CHECK(lag_beside(&w_hca[0]) == &w_hca[1]);
	CHECK(lag_beside(&w_hca[1]) == &w_hca[0]);
	CHECK_EQ(create(0, 0, 2), CMD_BAD_PARAM);
	CHECK_EQ(create(0, 3, 2), CMD_BAD_PARAM);
	CHECK_EQ(create(0, 1, 0), CMD_BAD_PARAM);
	CHECK_EQ(create(0, 1, 3), CMD_BAD_PARAM);
	/* what is not announced */
	IFC_SET(create_lag_in, in, ctx.tx_remap_affinity_1, 1);
	IFC_SET(create_lag_in, in, ctx.tx_remap_affinity_2, 2);
	IFC_SET(create_lag_in, in, ctx.port_select_mode, BY_HASH);
	CHECK_EQ(create_in(0, in), CMD_BAD_PARAM);
	IFC_SET(create_lag_in, in, ctx.port_select_mode, 0);
	IFC_SET(create_lag_in, in, ctx.fdb_selection_mode, 1);
	CHECK_EQ(create_in(0, in), CMD_BAD_PARAM);
	CHECK_EQ(queried(0), 0);
	CHECK_EQ(dumped(0), 0);
	CHECK_EQ(create(0, 1, 2), 0);
	CHECK_EQ(queried(0), 12);
	CHECK_EQ(dumped(0), 12);
	CHECK_EQ(modify(0, AFFINITIES, 3, 2), CMD_BAD_PARAM);
	CHECK_EQ(modify(0, AFFINITIES, 1, 3), CMD_BAD_PARAM);
	CHECK_EQ(modify(0, 0, 2, 1), CMD_BAD_PARAM);
	CHECK_EQ(modify(0, AFFINITIES | 2, 2, 1), CMD_BAD_PARAM);
	CHECK_EQ(queried(0), 12);
	CHECK_EQ(modify(0, AFFINITIES, 2, 1), 0);
	CHECK_EQ(queried(0), 21);
	CHECK_EQ(dumped(0), 21);
	CHECK_EQ(dumped(1), 0);
	CHECK_EQ(queried(1), 0);
}

static void a_card_has_one_aggregation(void)
{
	card();
	CHECK_EQ(modify(0, AFFINITIES, 1, 2), CMD_BAD_RES_STATE);
	CHECK_EQ(plain(0, MLX5_CMD_OP_DESTROY_LAG), CMD_BAD_RES_STATE);
	CHECK_EQ(create(1, 1, 2), 0);
	CHECK_EQ(create(1, 1, 2), CMD_BAD_RES_STATE);
	CHECK_EQ(create(0, 1, 2), CMD_BAD_RES_STATE);
	CHECK_EQ(modify(0, AFFINITIES, 1, 2), CMD_BAD_RES_STATE);
	CHECK_EQ(plain(0, MLX5_CMD_OP_DESTROY_LAG), CMD_BAD_RES_STATE);
	CHECK_EQ(plain(1, MLX5_CMD_OP_DESTROY_LAG), 0);
	CHECK_EQ(queried(1), 0);
	CHECK_EQ(create(0, 1, 2), 0);
	/* a driver that is gone leaves nothing */
	lag_reset(&w_hca[0]);
	CHECK_EQ(create(1, 1, 2), 0);
}

static void the_vports_part_before_the_ports(void)
{
	card();
	CHECK_EQ(plain(0, MLX5_CMD_OP_CREATE_VPORT_LAG), CMD_BAD_RES_STATE);
	CHECK_EQ(plain(0, MLX5_CMD_OP_DESTROY_VPORT_LAG), CMD_BAD_RES_STATE);
	CHECK_EQ(create(0, 1, 2), 0);
	CHECK_EQ(plain(0, MLX5_CMD_OP_CREATE_VPORT_LAG), 0);
	CHECK_EQ(plain(0, MLX5_CMD_OP_CREATE_VPORT_LAG), CMD_BAD_RES_STATE);
	CHECK_EQ(plain(0, MLX5_CMD_OP_DESTROY_LAG), CMD_BAD_RES_STATE);
	CHECK_EQ(plain(0, MLX5_CMD_OP_DESTROY_VPORT_LAG), 0);
	CHECK_EQ(plain(0, MLX5_CMD_OP_DESTROY_VPORT_LAG), CMD_BAD_RES_STATE);
	CHECK_EQ(plain(0, MLX5_CMD_OP_DESTROY_LAG), 0);
}

/* By which ports frames leave: of no affinity, of 1, of 2, as three digits */
static uint32_t ports(unsigned int hca)
{
	uint32_t affinity, n = 0;

	for (affinity = 0; affinity <= 2; affinity++)
		n = n * 10 + lag_port(&w_hca[hca], affinity)->native_port;
	return n;
}

static void frames_leave_by_the_port_of_their_affinity(void)
{
	card();
	CHECK_EQ(ports(0), 111);
	CHECK_EQ(ports(1), 222);
	CHECK_EQ(create(0, 1, 2), 0);
	CHECK_EQ(ports(0), 112);
	CHECK_EQ(ports(1), 222);
	CHECK_EQ(modify(0, AFFINITIES, 2, 1), 0);
	CHECK_EQ(ports(0), 121);
	CHECK_EQ(modify(0, AFFINITIES, 2, 2), 0);
	CHECK_EQ(ports(0), 122);
	CHECK_EQ(plain(0, MLX5_CMD_OP_DESTROY_LAG), 0);
	CHECK_EQ(create(1, 1, 2), 0);
	CHECK_EQ(ports(1), 212);
}

/* By which affinities of 0, 1 and 2 a QP can send, as bits */
static unsigned int sends(unsigned int hca)
{
	return lag_sends(&w_hca[hca], 0) | lag_sends(&w_hca[hca], 1) << 1 |
	       lag_sends(&w_hca[hca], 2) << 2;
}

static void a_port_that_is_down_stops_its_affinities(void)
{
	card();
	w_port_down[0] = true;
	CHECK_EQ(sends(0), 0);
	CHECK_EQ(sends(1), 7);
	CHECK(!lag_receives(&w_hca[0]));
	CHECK(lag_receives(&w_hca[1]));
	CHECK_EQ(create(0, 1, 2), 0);
	CHECK_EQ(sends(0), 4);
	CHECK(lag_receives(&w_hca[0]));
	CHECK_EQ(modify(0, AFFINITIES, 2, 2), 0);
	CHECK_EQ(sends(0), 7);
	w_port_down[1] = true;
	CHECK_EQ(sends(0), 0);
	CHECK(!lag_receives(&w_hca[0]));
	w_port_down[0] = false;
	CHECK(lag_receives(&w_hca[0]));
	CHECK_EQ(sends(0), 0);
	/* the function that has not joined them has its own port only */
	CHECK(!lag_receives(&w_hca[1]));
	w_port_down[1] = false;
	w_hca[0].fatal = true;
	CHECK_EQ(sends(0), 0);
	CHECK(!lag_receives(&w_hca[0]));
}

static void prefer(const struct w_qp *qp, uint32_t affinity)
{
	uint8_t in[IFC_SZ(rts2rts_qp_in)] = { 0 };

	IFC_SET(rts2rts_qp_in, in, qpn, qp->qpn);
	IFC_SET(rts2rts_qp_in, in, opt_param_mask, PART_LAG);
	IFC_SET(rts2rts_qp_in, in, qpc.lag_tx_port_affinity, affinity);
	w_must(w_cmd(qp->hca, qp_cmds, MLX5_CMD_OP_RTS2RTS_QP, 0, 0, in,
		     sizeof(in), NULL, 0));
}

/* A pair that does not send again by itself. */
static void joined_pair(struct pair *p)
{
	struct w_qp_attr attr = w_rc_attr;

	attr.timeout = 0;	/* infinite */
	card();
	CHECK(pair_connect(p, &attr));
	CHECK_EQ(create(0, 1, 2), 0);
}

static void a_queue_goes_on_by_the_other_port(void)
{
	struct pair p;
	struct cqe cqe;

	joined_pair(&p);
	w_port_down[0] = true;
	prefer(&p.qp[0], 2);
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, 64);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
	prefer(&p.qp[0], 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, 64);
	CHECK(!w_wait(&p.scq[0], &cqe, 1));
	/* the driver tells the adapter, whose queues do not wait for a timer */
	CHECK_EQ(modify(0, AFFINITIES, 2, 2), 0);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
}

static void a_queue_goes_on_when_the_other_port_is_back(void)
{
	struct pair p;
	struct cqe cqe;

	joined_pair(&p);
	w_port_down[1] = true;
	prefer(&p.qp[0], 2);
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, 64);
	CHECK(!w_wait(&p.scq[0], &cqe, 1));
	w_port_down[1] = false;
	cable_changed(&w_hca[1]);
	CHECK_EQ(pair_syndrome(&p, 1), SYND_OK);
}

static const uint8_t *read_register(unsigned int hca, uint16_t id, size_t len,
				    uint32_t group)
{
	static uint8_t out[IFC_SZ(ppcnt_reg)];
	uint8_t in[IFC_SZ(ppcnt_reg)] = { 0 };

	memset(out, 0, sizeof(out));
	IFC_SET(ppcnt_reg, in, local_port, 1);
	IFC_SET(ppcnt_reg, in, grp, group);
	w_must(reg_access(&w_hca[hca], id, false, in, out, len));
	return out;
}

static uint32_t module_of(unsigned int hca)
{
	const uint8_t *out = read_register(hca, 0x5002, IFC_SZ(pmlp_reg), 0);

	return IFC_GET(lane_2_module_mapping,
		       IFC_ADDR_OF(pmlp_reg, out, lane0_module_mapping), module);
}

static bool link_up(unsigned int hca)
{
	const uint8_t *out = read_register(hca, 0x5006, IFC_SZ(paos_reg), 0);

	return IFC_GET(paos_reg, out, oper_status) == 1;
}

static uint64_t octets_in(unsigned int hca)
{
	const uint8_t *out = read_register(hca, 0x5008, IFC_SZ(ppcnt_reg), 1);

	return IFC_GET64(eth_2863_cntrs_grp_data_layout,
			 out + IFC_OFF(ppcnt_reg, counter_set),
			 if_in_octets_high);
}

/* Each function calls its own port number 1, joined or not. */
static void registers_are_those_of_the_own_port(void)
{
	static struct port port[W_HCAS];
	uint32_t joined;

	w_hca[0].port = &port[0];
	w_hca[1].port = &port[1];
	port[1].count[PORT_RX][PORT_UNICAST].octets = 100;
	CHECK_EQ(module_of(1), 0);
	card();
	w_port_down[0] = true;
	for (joined = 0; joined < 2; joined++) {
		CHECK_EQ(module_of(0), 0);
		CHECK_EQ(module_of(1), 1);
		CHECK(!link_up(0));
		CHECK(link_up(1));
		CHECK_EQ(octets_in(0), 0);
		CHECK_EQ(octets_in(1), 100);
		if (!joined)
			CHECK_EQ(create(0, 2, 2), 0);
	}
}

/* What `ethtool -m` asks for, at the length of 6.1. */
static void the_cable_has_four_lanes_and_no_eeprom(void)
{
	const uint8_t *out = read_register(0, 0x5002, IFC_SZ(pmlp_reg), 0);

	CHECK_EQ(IFC_GET(pmlp_reg, out, local_port), 1);
	CHECK_EQ(IFC_GET(pmlp_reg, out, width), 4);
	out = IFC_ADDR_OF(pmlp_reg, out, lane3_module_mapping);
	CHECK_EQ(IFC_GET(lane_2_module_mapping, out, tx_lane), 3);
	CHECK_EQ(IFC_GET(lane_2_module_mapping, out, rx_lane), 3);
	CHECK_EQ(IFC_GET(mcia_reg, read_register(0, 0x9014, 64, 0), status), 1);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(one_port_cannot_be_joined),
	TEST(affinities_name_ports),
	TEST(a_card_has_one_aggregation),
	TEST(the_vports_part_before_the_ports),
	TEST(frames_leave_by_the_port_of_their_affinity),
	TEST(a_port_that_is_down_stops_its_affinities),
	TEST(a_queue_goes_on_by_the_other_port),
	TEST(a_queue_goes_on_when_the_other_port_is_back),
	TEST(registers_are_those_of_the_own_port),
	TEST(the_cable_has_four_lanes_and_no_eeprom),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
