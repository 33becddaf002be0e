// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 240 */
/*
 * DC by libmlx5's own calls on stock mlx5_ib, from an initiator to a target on
 * the same adapter. All data is compared, and errors are those that the adapter
 * names. With a policy the initiator is placed like any QP.
 */
#include "kselftest_harness.h"

#include <mlx5ep.h>

#include "baseline.h"
#include "dc_end.h"
#include "doorbells.h"
#include "sysfs.h"
#include "verbs.h"

FIXTURE(traffic)
{
	struct baseline base;
	struct dc_end end;
	struct dc_to to;
};

FIXTURE_SETUP(traffic)
{
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, dc_end_open(&self->end, verbs_device_name(), NULL, 0));
	self->to = dc_to(&self->end, &self->end);
	ASSERT_NE(NULL, self->to.ah);
}

FIXTURE_TEARDOWN(traffic)
{
	ibv_destroy_ah(self->to.ah);
	dc_end_close(&self->end);
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

TEST_F(traffic, sends_arrive_in_the_shared_queue)
{
	struct dc_end *end = &self->end;
	struct ibv_wc wc;
	unsigned int i;

	for (i = 0; i < DC_RECVS; i++)
		ASSERT_EQ(0, dc_recv_post(end, i));
	for (i = 0; i < DC_RECVS; i++) {
		dc_fill(end, i);
		ASSERT_EQ(0, dc_run(end, &self->to, i % 2 ? IBV_WR_SEND :
				    IBV_WR_SEND_WITH_IMM));
		ASSERT_EQ(DC_LEN, dc_recv(end, &wc));
		EXPECT_EQ(i, wc.wr_id);
		EXPECT_EQ(end->dct->qp_num, wc.qp_num);
		EXPECT_EQ(end->dci->qp_num, wc.src_qp);
		EXPECT_EQ(0, memcmp(end->from, end->received + i * DC_LEN,
				    DC_LEN));
		if (!(i % 2))
			EXPECT_EQ(htobe32(DC_IMM), wc.imm_data);
	}
}

TEST_F(traffic, writes_reads_and_atomics_are_right)
{
	struct dc_end *end = &self->end;
	uint64_t *word = (uint64_t *)end->to;

	dc_fill(end, 1);
	ASSERT_EQ(0, dc_run(end, &self->to, IBV_WR_RDMA_WRITE));
	EXPECT_EQ(0, memcmp(end->from, end->to, DC_LEN));
	dc_fill(end, 2);
	ASSERT_NE(0, memcmp(end->from, end->to, DC_LEN));
	ASSERT_EQ(0, dc_run(end, &self->to, IBV_WR_RDMA_READ));
	EXPECT_EQ(0, memcmp(end->from, end->to, DC_LEN));
	*word = 40;
	ASSERT_EQ(0, dc_run(end, &self->to, IBV_WR_ATOMIC_FETCH_AND_ADD));
	EXPECT_EQ(42, *word);
	EXPECT_EQ(40, *(uint64_t *)end->from);
	ASSERT_EQ(0, dc_run(end, &self->to, IBV_WR_ATOMIC_CMP_AND_SWP));
	EXPECT_EQ(7, *word);
	EXPECT_EQ(42, *(uint64_t *)end->from);
}

TEST_F(traffic, another_key_is_refused)
{
	struct dc_end *end = &self->end;
	struct dc_to wrong = self->to;

	wrong.key ^= 1ULL << 40;
	dc_fill(end, 3);
	EXPECT_EQ(IBV_WC_RETRY_EXC_ERR, dc_run(end, &wrong, IBV_WR_RDMA_WRITE));
	EXPECT_NE(0, memcmp(end->from, end->to, DC_LEN));
	/* The target serves the next initiator. */
	ASSERT_EQ(0, dc_end_renew(end, 0));
	EXPECT_EQ(0, dc_run(end, &self->to, IBV_WR_RDMA_WRITE));
	EXPECT_EQ(0, memcmp(end->from, end->to, DC_LEN));
}

TEST_F(traffic, an_error_is_the_initiators_alone)
{
	struct dc_end *end = &self->end;
	struct dc_to wrong = self->to;

	wrong.rkey ^= 0x100;
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  dc_run(end, &wrong, IBV_WR_RDMA_WRITE));
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR,
		  dc_run(end, &self->to, IBV_WR_RDMA_WRITE));
	ASSERT_EQ(0, dc_end_renew(end, 0));
	EXPECT_EQ(0, dc_run(end, &self->to, IBV_WR_RDMA_WRITE));
}

/* Of four streams, two in error are too many. */
TEST_F(traffic, an_error_ends_its_stream)
{
	struct dc_end *end = &self->end;
	struct dc_to wrong, to = self->to;

	ASSERT_EQ(0, dc_end_renew(end, 2));
	to.stream = 3;
	wrong = to;
	wrong.rkey ^= 0x100;
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  dc_run(end, &wrong, IBV_WR_RDMA_WRITE));
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, dc_run(end, &to, IBV_WR_RDMA_WRITE));
	to.stream = 4;
	EXPECT_EQ(0, dc_run(end, &to, IBV_WR_RDMA_WRITE));
	ASSERT_EQ(0, mlx5dv_dci_stream_id_reset(end->dci, 3));
	to.stream = 3;
	EXPECT_EQ(0, dc_run(end, &to, IBV_WR_RDMA_WRITE));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  dc_run(end, &wrong, IBV_WR_RDMA_WRITE));
	wrong.stream = 4;
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  dc_run(end, &wrong, IBV_WR_RDMA_WRITE));
	to.stream = 5;
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, dc_run(end, &to, IBV_WR_RDMA_WRITE));
}

FIXTURE(placed)
{
	struct dc_end end;
	struct dc_to to;
};

FIXTURE_VARIANT(placed)
{
	const char *policy;
	unsigned int placer;
};

FIXTURE_VARIANT_ADD(placed, stock) { "stock", MLX5_EP_PLACER_LIBRARY };
FIXTURE_VARIANT_ADD(placed, independent) {
	"independent", MLX5_EP_PLACER_POLICY };
FIXTURE_VARIANT_ADD(placed, shared_uar) {
	"shared-uar", MLX5_EP_PLACER_POLICY };
FIXTURE_VARIANT_ADD(placed, shared_uuar) {
	"shared-uuar", MLX5_EP_PLACER_POLICY };

FIXTURE_SETUP(placed)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, 4, false));
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, dc_end_open(&self->end, verbs_device_name(), NULL, 0));
	self->to = dc_to(&self->end, &self->end);
	ASSERT_NE(NULL, self->to.ah);
}

FIXTURE_TEARDOWN(placed)
{
	ibv_destroy_ah(self->to.ah);
	dc_end_close(&self->end);
	EXPECT_EQ(0, sysfs_defaults());
}

/* A target has no send queue: it is listed and takes no uUAR. */
TEST_F(placed, initiator_rings_its_page_and_the_target_none)
{
	const struct doorbells_qp *rung;
	struct doorbells_report report;
	struct mlx5_ep_context_info info;
	struct mlx5_ep_qp_uuar uuar;

	ASSERT_EQ(0, dc_run(&self->end, &self->to, IBV_WR_RDMA_WRITE));
	ASSERT_EQ(0, mlx5ep_context_query(self->end.ctx, &info));
	EXPECT_EQ(2, info.qps);
	EXPECT_EQ(variant->placer == MLX5_EP_PLACER_POLICY, info.placed_qps);
	ASSERT_EQ(0, mlx5ep_qp_query_uuar(self->end.dci, &uuar));
	EXPECT_EQ(variant->placer, uuar.placer);
	ASSERT_EQ(0, doorbells_look(0, &report));
	EXPECT_EQ(0, report.wrong_uar);
	rung = doorbells_qp(&report, self->end.dci->qp_num);
	ASSERT_NE(NULL, rung);
	EXPECT_EQ(1, rung->doorbells + rung->blueflame);
	EXPECT_EQ(uuar.uar, rung->uar);
	if (variant->placer == MLX5_EP_PLACER_POLICY)
		EXPECT_EQ(uuar.slot, rung->slot);
	doorbells_put(&report);
	ASSERT_EQ(0, mlx5ep_qp_query_uuar(self->end.dct, &uuar));
	EXPECT_EQ(MLX5_EP_UAR_UNKNOWN, uuar.uar);
	EXPECT_EQ(MLX5_EP_UAR_UNKNOWN, uuar.page);
	EXPECT_EQ(MLX5_EP_SLOT_UNKNOWN, uuar.slot);
	EXPECT_EQ(MLX5_EP_PLACER_NONE, uuar.placer);
}

TEST_HARNESS_MAIN
