// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Packet pacing, without a VMM: QPs that send at a rate, in the loop's simulated time.
 */
#include "qos/pace.h"
#include "test/unit/pair.h"

#define KBPS 8u			/* a byte in a millisecond */
#define LEN 100u
#define INDEX 5u
#define UID 3
#define PART_PP_INDEX (1u << 22)

static uint8_t set_rate(uint16_t uid, uint32_t index, uint32_t kbps)
{
	uint8_t in[IFC_SZ(set_pp_rate_limit_in)] = { 0 };

	IFC_SET(set_pp_rate_limit_in, in, rate_limit_index, index);
	IFC_SET(set_pp_rate_limit_in, in, ctx.rate_limit, kbps);
	return w_cmd(0, pace_cmds, MLX5_CMD_OP_SET_PP_RATE_LIMIT, 0, uid, in,
		     sizeof(in), NULL, 0);
}

static uint8_t name_rate(const struct w_qp *qp, uint32_t index)
{
	uint8_t in[IFC_SZ(rts2rts_qp_in)] = { 0 };

	IFC_SET(rts2rts_qp_in, in, qpn, qp->qpn);
	IFC_SET(rts2rts_qp_in, in, opt_param_mask, PART_PP_INDEX);
	IFC_SET(rts2rts_qp_in, in, qpc.packet_pacing_rate_limit_index, index);
	return w_cmd(0, qp_cmds, MLX5_CMD_OP_RTS2RTS_QP, 0, 0, in, sizeof(in),
		     NULL, 0);
}

static bool uc_pair(struct pair *p)
{
	struct w_qp_attr attr = w_rc_attr;

	attr.type = QP_UC;
	return pair_connect(p, &attr);
}

static void a_qp_sends_at_its_rate(void)
{
	struct pair p;
	unsigned int i;

	CHECK(uc_pair(&p));
	CHECK_EQ(set_rate(0, INDEX, KBPS), 0);
	CHECK_EQ(name_rate(&p.qp[0], INDEX), 0);
	for (i = 0; i < 3; i++)
		pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	CHECK_EQ(pair_done(&p), 1);
	w_run(LEN - 5);
	CHECK_EQ(pair_done(&p), 0);
	w_run(10);
	CHECK_EQ(pair_done(&p), 1);
	w_run(LEN);
	CHECK_EQ(pair_done(&p), 1);
}

static void qps_share_a_rate_and_others_have_none(void)
{
	struct pair p, q, other;

	CHECK(uc_pair(&p) && uc_pair(&q) && uc_pair(&other));
	CHECK_EQ(set_rate(0, INDEX, KBPS), 0);
	CHECK_EQ(name_rate(&p.qp[0], INDEX), 0);
	CHECK_EQ(name_rate(&q.qp[0], INDEX), 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	pair_send(&q, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	pair_send(&other, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	CHECK_EQ(pair_done(&p), 1);
	CHECK_EQ(pair_done(&q), 0);
	CHECK_EQ(pair_done(&other), 1);
	w_run(LEN + 5);
	CHECK_EQ(pair_done(&q), 1);
	/* without the rate they wait no more */
	CHECK_EQ(set_rate(0, INDEX, 0), 0);
	CHECK_EQ(pace_count(w_hca[0].objs), 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	CHECK_EQ(pair_done(&p), 2);
}

static void what_sends_no_data_takes_no_time(void)
{
	struct pair p, other;

	CHECK(uc_pair(&p) && uc_pair(&other));
	CHECK_EQ(set_rate(0, INDEX, KBPS), 0);
	CHECK_EQ(name_rate(&p.qp[0], INDEX), 0);
	pair_send(&other, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	CHECK_EQ(pair_done(&other), 1);
	pair_send(&p, WQE_OP_NOP, W_SIGNALED, 0);
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
	CHECK_EQ(pair_done(&p), 2);
}

static void rates_are_in_a_table_and_have_owners(void)
{
	struct pair p;

	CHECK(uc_pair(&p));
	CHECK_EQ(set_rate(0, 0, KBPS), CMD_BAD_PARAM);
	CHECK_EQ(set_rate(0, PACE_ENTRIES, KBPS), CMD_BAD_PARAM);
	CHECK_EQ(set_rate(0, 1, PACE_KBPS_MAX + 1), CMD_BAD_PARAM);
	CHECK_EQ(set_rate(UID, PACE_ENTRIES - 1, KBPS), 0);
	CHECK_EQ(name_rate(&p.qp[0], PACE_ENTRIES - 1), CMD_BAD_PARAM);
	CHECK_EQ(name_rate(&p.qp[0], INDEX), CMD_BAD_PARAM);
	CHECK_EQ(set_rate(SIM_SHARED_UID, INDEX, KBPS), 0);
	CHECK_EQ(pace_count(w_hca[0].objs), 2);
	CHECK_EQ(name_rate(&p.qp[0], INDEX), 0);
	CHECK_EQ(name_rate(&p.qp[0], 0), 0);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(a_qp_sends_at_its_rate),
	TEST(qps_share_a_rate_and_others_have_none),
	TEST(what_sends_no_data_takes_no_time),
	TEST(rates_are_in_a_table_and_have_owners),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
