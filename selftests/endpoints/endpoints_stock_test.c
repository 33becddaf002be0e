// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, module: no */
/*
 * Without the module, calls that need it report that it is absent, and
 * endpoints work nevertheless.
 */
#include "kselftest_harness.h"

#include "job.h"
#include "verbs.h"

TEST(calls_on_the_module_are_not_supported)
{
	struct mlx5_ep_context_policy policy = {};
	struct mlx5_ep_context_info info = { .qps = 77 };
	struct mlx5_ep_features features = { .abi_version = 77 };
	struct mlx5_ep_qp_uuar uuar = { .page_qps = 77 };
	unsigned int count = 77;
	struct verbs_setup setup;
	struct verbs_endpoint endpoint;
	char reason[8] = "before";

	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	ASSERT_EQ(0, verbs_endpoint_create(&setup, &endpoint, IBV_QPT_RC));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_device_attached(setup.ctx->device, reason,
						      sizeof(reason)));
	EXPECT_STREQ("", reason);
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_device_query(setup.ctx, &features));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_context_query(setup.ctx, &info));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_context_set_policy(setup.ctx, &policy));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_context_dump(setup.ctx, NULL, &count));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_qp_query_uuar(endpoint.qp, &uuar));
	EXPECT_EQ(77, info.qps);
	EXPECT_EQ(77, features.abi_version);
	EXPECT_EQ(77, uuar.page_qps);
	EXPECT_EQ(77, count);
	verbs_endpoint_destroy(&endpoint);
	verbs_close(&setup);
}

static int stock_ring(struct job_thread *t)
{
	struct job_mem *mem = t->arg;
	uint64_t *words = mem->mrs[t->id]->addr;
	unsigned int i;
	int ret;

	for (i = 0; i < 16; i++) {
		words[t->id]++;
		ret = job_rdma(t, IBV_WR_RDMA_WRITE, mem, &words[t->id], mem,
			       &words[8 + t->id], sizeof(*words));
		if (!ret)
			ret = job_wait(t);
		if (!ret && words[8 + t->id] != i + 1)
			ret = -EBADMSG;
		if (ret)
			return ret;
	}
	return 0;
}

TEST(endpoints_of_every_category_carry_traffic)
{
	uint64_t words[16];
	struct job_mem mem;
	struct job job;
	unsigned int c, i;

	for (c = MLX5EP_CATEGORY_AUTO; c <= MLX5EP_CATEGORY_MPI_THREADS; c++) {
		memset(words, 0, sizeof(words));
		ASSERT_EQ(0, job_open(&job, c, 8, 4, 0));
		EXPECT_EQ(0, job.info.degraded);
		ASSERT_EQ(0, job_mem_reg(&job, &mem, words, sizeof(words)));
		for (i = 0; i < 8; i++)
			job.threads[i].arg = &mem;
		EXPECT_EQ(0, job_run(&job, stock_ring));
		job_mem_dereg(&mem);
		job_close(&job);
	}
}

TEST_HARNESS_MAIN
