// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Parameters of congestion control, without a VMM: what was set is read, and nothing else
 * has changed.
 */
#include "qos/cong.h"
#include "test/unit/world.h"

#define PART(n) (1u << (n))

static uint8_t params[CONG_BYTES];

static uint8_t query(uint32_t protocol)
{
	uint8_t in[IFC_SZ(query_cong_params_in)] = { 0 };
	uint8_t out[IFC_SZ(query_cong_params_out)] = { 0 }, status;

	IFC_SET(query_cong_params_in, in, cong_protocol, protocol);
	status = w_cmd(0, cong_cmds, MLX5_CMD_OP_QUERY_CONG_PARAMS, 0, 0, in,
		       sizeof(in), out, sizeof(out));
	memcpy(params, IFC_ADDR_OF(query_cong_params_out, out, congestion_parameters),
	       sizeof(params));
	return status;
}

/* Set the named parts to what is in params. */
static uint8_t modify(uint32_t protocol, uint32_t parts)
{
	uint8_t in[IFC_SZ(modify_cong_params_in)] = { 0 };

	IFC_SET(modify_cong_params_in, in, cong_protocol, protocol);
	IFC_SET(modify_cong_params_in, in, field_select, parts);
	memcpy(IFC_ADDR_OF(modify_cong_params_in, in, congestion_parameters), params,
	       sizeof(params));
	return w_cmd(0, cong_cmds, MLX5_CMD_OP_MODIFY_CONG_PARAMS, 0, 0, in,
		     sizeof(in), NULL, 0);
}

static uint8_t query_status(uint32_t protocol, uint32_t priority, uint32_t *enable)
{
	uint8_t in[IFC_SZ(query_cong_status_in)] = { 0 };
	uint8_t out[IFC_SZ(query_cong_status_out)] = { 0 }, status;

	IFC_SET(query_cong_status_in, in, cong_protocol, protocol);
	IFC_SET(query_cong_status_in, in, priority, priority);
	status = w_cmd(0, cong_cmds, MLX5_CMD_OP_QUERY_CONG_STATUS, 0, 0, in,
		       sizeof(in), out, sizeof(out));
	*enable = IFC_GET(query_cong_status_out, out, enable);
	return status;
}

static uint8_t disable(uint32_t protocol, uint32_t priority)
{
	uint8_t in[IFC_SZ(modify_cong_status_in)] = { 0 };

	IFC_SET(modify_cong_status_in, in, cong_protocol, protocol);
	IFC_SET(modify_cong_status_in, in, priority, priority);
	return w_cmd(0, cong_cmds, MLX5_CMD_OP_MODIFY_CONG_STATUS, 0, 0, in,
		     sizeof(in), NULL, 0);
}

static void an_ethernet_port(void)
{
	w_hca[0].link = LINK_ETH;
	w_hca[0].function = FUNCTION_PF;
}

static void only_what_is_named_changes(void)
{
	uint8_t before[CONG_BYTES];

	an_ethernet_port();
	CHECK_EQ(query(CONG_RP), CMD_OK);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_rp, params, rpg_gd), 11);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_rp, params, dce_tcp_g), 1019);
	memcpy(before, params, sizeof(before));
	IFC_SET(cong_control_r_roce_ecn_rp, params, rpg_gd, 10);
	IFC_SET(cong_control_r_roce_ecn_rp, params, dce_tcp_g, 7);
	CHECK_EQ(modify(CONG_RP, PART(12)), CMD_OK);
	CHECK_EQ(query(CONG_RP), CMD_OK);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_rp, params, dce_tcp_g), 7);
	IFC_SET(cong_control_r_roce_ecn_rp, params, dce_tcp_g, 1019);
	CHECK(!memcmp(params, before, sizeof(before)));
	CHECK_EQ(query(CONG_NP), CMD_OK);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_np, params, cnp_dscp), 48);
}

/* Nobody looks at the values of other parts, even where they could not be set. */
static void what_is_not_named_may_have_any_value(void)
{
	an_ethernet_port();
	memset(params, 0, sizeof(params));
	CHECK_EQ(modify(CONG_RP, PART(12)), CMD_OK);
	IFC_SET(cong_control_r_roce_ecn_np, params, cnp_dscp, 1);
	CHECK_EQ(modify(CONG_NP, PART(3)), CMD_OK);
	CHECK_EQ(query(CONG_NP), CMD_OK);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_np, params, cnp_dscp), 1);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_np, params, cnp_802p_prio), 6);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_np, params, min_time_between_cnps),
		 4);
}

/* One part has two parameters. */
static void parameters_of_a_part_change_together(void)
{
	an_ethernet_port();
	CHECK_EQ(query(CONG_NP), CMD_OK);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_np, params, cnp_802p_prio), 6);
	IFC_SET(cong_control_r_roce_ecn_np, params, cnp_802p_prio, 3);
	IFC_SET(cong_control_r_roce_ecn_np, params, cnp_prio_mode, 1);
	CHECK_EQ(modify(CONG_NP, PART(4)), CMD_OK);
	CHECK_EQ(query(CONG_NP), CMD_OK);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_np, params, cnp_802p_prio), 3);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_np, params, cnp_prio_mode), 1);
	CHECK_EQ(query(CONG_GENERAL), CMD_OK);
	IFC_SET(cong_control_r_roce_general, params, rtt_resp_dscp_valid, 1);
	IFC_SET(cong_control_r_roce_general, params, rtt_resp_dscp, 63);
	CHECK_EQ(modify(CONG_GENERAL, PART(0)), CMD_OK);
	CHECK_EQ(query(CONG_GENERAL), CMD_OK);
	CHECK_EQ(IFC_GET(cong_control_r_roce_general, params, rtt_resp_dscp), 63);
}

static void what_is_out_of_range_changes_nothing(void)
{
	an_ethernet_port();
	CHECK_EQ(query(CONG_RP), CMD_OK);
	IFC_SET(cong_control_r_roce_ecn_rp, params, rpg_min_dec_fac, 100);
	CHECK_EQ(modify(CONG_RP, PART(9)), CMD_OK);
	IFC_SET(cong_control_r_roce_ecn_rp, params, rpg_min_dec_fac, 101);
	IFC_SET(cong_control_r_roce_ecn_rp, params, rpg_time_reset, 5);
	CHECK_EQ(modify(CONG_RP, PART(9) | PART(3)), CMD_BAD_PARAM);
	IFC_SET(cong_control_r_roce_ecn_rp, params, rpg_time_reset, 0);
	CHECK_EQ(modify(CONG_RP, PART(3)), CMD_BAD_PARAM);
	CHECK_EQ(modify(CONG_RP, PART(17)), CMD_BAD_PARAM);
	CHECK_EQ(modify(CONG_NP, PART(5)), CMD_BAD_PARAM);
	CHECK_EQ(modify(0, 0), CMD_BAD_PARAM);
	CHECK_EQ(modify(CONG_PROTOCOLS, 0), CMD_BAD_PARAM);
	CHECK_EQ(query(0), CMD_BAD_PARAM);
	CHECK_EQ(query(CONG_PROTOCOLS), CMD_BAD_PARAM);
	CHECK_EQ(query(CONG_RP), CMD_OK);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_rp, params, rpg_min_dec_fac), 100);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_rp, params, rpg_time_reset), 300);
}

static void it_is_switched_off_for_a_priority(void)
{
	uint32_t enable;

	an_ethernet_port();
	CHECK_EQ(disable(CONG_NP, 3), CMD_OK);
	CHECK_EQ(query_status(CONG_NP, 3, &enable), CMD_OK);
	CHECK_EQ(enable, 0);
	CHECK_EQ(query_status(CONG_NP, 4, &enable), CMD_OK);
	CHECK_EQ(enable, 1);
	CHECK_EQ(query_status(CONG_RP, 3, &enable), CMD_OK);
	CHECK_EQ(enable, 1);
	CHECK_EQ(disable(CONG_RP, CONG_PRIORITIES), CMD_BAD_PARAM);
	CHECK_EQ(disable(CONG_GENERAL, 0), CMD_BAD_PARAM);
	CHECK_EQ(query_status(CONG_GENERAL, 0, &enable), CMD_BAD_PARAM);
}

/* The parameters are those of the port: a VF has none, and neither has InfiniBand. */
static void who_may_not_gets_no_answer(void)
{
	uint32_t enable;

	an_ethernet_port();
	CHECK_EQ(query(CONG_RP), CMD_OK);
	w_hca[0].function = FUNCTION_VF;
	CHECK_EQ(query(CONG_RP), CMD_BAD_OP);
	CHECK_EQ(modify(CONG_RP, PART(12)), CMD_BAD_OP);
	CHECK_EQ(disable(CONG_RP, 0), CMD_BAD_OP);
	CHECK_EQ(query_status(CONG_RP, 0, &enable), CMD_BAD_OP);
	w_hca[0].function = FUNCTION_PF;
	w_hca[0].link = LINK_IB;
	CHECK_EQ(query(CONG_RP), CMD_BAD_OP);
}

static void a_reset_forgets_all(void)
{
	uint32_t enable;

	an_ethernet_port();
	CHECK_EQ(query(CONG_RP), CMD_OK);
	IFC_SET(cong_control_r_roce_ecn_rp, params, rpg_min_rate, 77);
	CHECK_EQ(modify(CONG_RP, PART(10)), CMD_OK);
	CHECK_EQ(disable(CONG_RP, 7), CMD_OK);
	objects_reset(&w_hca[0]);
	CHECK_EQ(query(CONG_RP), CMD_OK);
	CHECK_EQ(IFC_GET(cong_control_r_roce_ecn_rp, params, rpg_min_rate), 1);
	CHECK_EQ(query_status(CONG_RP, 7, &enable), CMD_OK);
	CHECK_EQ(enable, 1);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(only_what_is_named_changes),
	TEST(what_is_not_named_may_have_any_value),
	TEST(parameters_of_a_part_change_together),
	TEST(what_is_out_of_range_changes_nothing),
	TEST(it_is_switched_off_for_a_priority),
	TEST(who_may_not_gets_no_answer),
	TEST(a_reset_forgets_all),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
