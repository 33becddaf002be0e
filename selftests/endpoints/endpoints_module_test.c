// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * The library's calls with the module: what they answer and what they refuse,
 * and endpoints in a managed context.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <sys/wait.h>

#include "job.h"
#include "sysfs.h"
#include "verbs.h"

FIXTURE(module)
{
	struct verbs_setup setup;
};

FIXTURE_SETUP(module)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_defaults());
}

FIXTURE_TEARDOWN(module)
{
	if (self->setup.ctx)
		verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_F(module, says_that_it_is_attached)
{
	char reason[64] = "";

	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	EXPECT_EQ(0, mlx5ep_device_attached(self->setup.ctx->device, reason,
					    sizeof(reason)));
	EXPECT_STREQ("yes", reason);
	EXPECT_EQ(0, mlx5ep_device_attached(self->setup.ctx->device, NULL, 0));
}

TEST_F(module, tells_features_and_limits)
{
	struct mlx5_ep_features features;

	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0, mlx5ep_device_query(self->setup.ctx, &features));
	EXPECT_EQ(sysfs_number("abi_version"), features.abi_version);
	EXPECT_EQ(sysfs_number("uar_in_use"), features.uar_in_use);
	EXPECT_TRUE(features.features & MLX5_EP_FEATURE_CONTEXT);
	EXPECT_TRUE(features.policies & 1 << MLX5_EP_UUAR_POLICY_STOCK);
	EXPECT_LT(0, features.uar_pages);
}

/* A structure, and the bytes that follow it in a program's memory. */
struct sized {
	struct mlx5_ep_features known;
	uint8_t behind[32];
};

static bool all_are(const void *p, size_t len, uint8_t byte)
{
	const uint8_t *at = p;

	while (len && *at == byte)
		at++, len--;
	return !len;
}

/* In its first version the structure ended with uar_in_use. */
TEST_F(module, a_program_of_an_older_header_gets_what_it_knows)
{
	const size_t first = offsetof(struct mlx5_ep_features, uar_in_use) + 4;
	struct sized now = {}, old;

	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	memset(&old, 0xaa, sizeof(old));
	ASSERT_EQ(0, mlx5ep_device_query(self->setup.ctx, &now.known));
	ASSERT_EQ(0, _mlx5ep_device_query(self->setup.ctx, &old.known, first));
	EXPECT_EQ(0, memcmp(&old, &now, first));
	EXPECT_TRUE(all_are((uint8_t *)&old + first, sizeof(old) - first,
			    0xaa));
	EXPECT_EQ(-EINVAL,
		  _mlx5ep_device_query(self->setup.ctx, &old.known, first - 4));
	EXPECT_EQ(0, memcmp(&old, &now, first));
}

TEST_F(module, a_program_of_a_newer_header_reads_zeroes)
{
	struct sized now = {}, later;
	struct {
		struct mlx5_ep_context_policy known;
		uint32_t later[2];
	} policy = {};

	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	memset(&later, 0xaa, sizeof(later));
	ASSERT_EQ(0, mlx5ep_device_query(self->setup.ctx, &now.known));
	ASSERT_EQ(0, _mlx5ep_device_query(self->setup.ctx, &later.known,
					  sizeof(later)));
	EXPECT_EQ(0, memcmp(&later.known, &now.known, sizeof(now.known)));
	EXPECT_TRUE(all_are(later.behind, sizeof(later.behind), 0));
	/* Bytes beyond the fields that the kernel knows must be 0. */
	EXPECT_EQ(0, _mlx5ep_context_set_policy(self->setup.ctx, &policy.known,
						sizeof(policy)));
	policy.later[1] = 1;
	EXPECT_EQ(-EOPNOTSUPP,
		  _mlx5ep_context_set_policy(self->setup.ctx, &policy.known,
					     sizeof(policy)));
}

TEST_F(module, the_limit_of_a_user_is_a_feature)
{
	struct mlx5_ep_features features;
	struct verbs_setup other;

	ASSERT_EQ(0, sysfs_policy("independent", 8, false));
	ASSERT_EQ(0, sysfs_write("uar_user_limit", "100"));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	EXPECT_EQ(0, mlx5ep_device_query(self->setup.ctx, &features));
	EXPECT_TRUE(features.features & MLX5_EP_FEATURE_USER_LIMIT);
	EXPECT_EQ(100, features.uar_user_limit);
	EXPECT_EQ(1, features.uar_user_held);
	EXPECT_EQ(0, verbs_open(&other, NULL, 1));
	EXPECT_EQ(0, mlx5ep_device_query(self->setup.ctx, &features));
	EXPECT_EQ(2, features.uar_user_held);
	verbs_close(&other);
}

TEST_F(module, a_stock_context_has_no_table_and_keeps_its_policy)
{
	struct mlx5_ep_context_policy policy = {
		.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT,
	};
	struct mlx5_ep_context_info info;
	unsigned int count = 0;

	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0, mlx5ep_context_query(self->setup.ctx, &info));
	EXPECT_EQ(MLX5_EP_UUAR_POLICY_STOCK, info.policy);
	EXPECT_EQ(0, info.flags & MLX5_EP_CONTEXT_MANAGED);
	EXPECT_EQ(-EOPNOTSUPP,
		  mlx5ep_context_dump(self->setup.ctx, NULL, &count));
	EXPECT_EQ(0, count);
	EXPECT_EQ(-EOPNOTSUPP,
		  mlx5ep_context_set_policy(self->setup.ctx, &policy));
	policy.policy = MLX5_EP_UUAR_POLICY_STOCK;
	EXPECT_EQ(0, mlx5ep_context_set_policy(self->setup.ctx, &policy));
	policy.policy = 99;
	EXPECT_EQ(-EINVAL, mlx5ep_context_set_policy(self->setup.ctx, &policy));
	policy.policy = MLX5_EP_UUAR_POLICY_STOCK;
	policy.flags = 1u << 31;
	EXPECT_EQ(-EINVAL, mlx5ep_context_set_policy(self->setup.ctx, &policy));
	policy.flags = 0;
	policy.reserved = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_context_set_policy(self->setup.ctx, &policy));
}

TEST_F(module, a_managed_context_tells_where_its_qps_ring)
{
	struct mlx5_ep_uuar_info table[512];
	struct mlx5_ep_context_policy policy = {
		.policy = MLX5_EP_UUAR_POLICY_SHARED_UAR,
	};
	struct mlx5_ep_context_info info;
	struct mlx5_ep_qp_uuar uuar = { .page_qps = 77 };
	unsigned int count = 512, few = 3, i, qps = 0;
	struct verbs_endpoint endpoints[3];
	struct ibv_qp stranger;

	ASSERT_EQ(0, sysfs_policy("independent", 16, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 3));
	EXPECT_EQ(0, mlx5ep_context_set_policy(self->setup.ctx, &policy));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &endpoints[i],
						   IBV_QPT_RC));
	EXPECT_EQ(-EBUSY, mlx5ep_context_set_policy(self->setup.ctx, &policy));

	ASSERT_EQ(0, mlx5ep_context_query(self->setup.ctx, &info));
	EXPECT_EQ(MLX5_EP_UUAR_POLICY_SHARED_UAR, info.policy);
	EXPECT_EQ(MLX5_EP_POLICY_SOURCE_CONTEXT, info.source);
	EXPECT_TRUE(info.flags & MLX5_EP_CONTEXT_MANAGED);
	EXPECT_EQ(16, info.static_pages);
	EXPECT_EQ(3, info.placed_qps);
	EXPECT_EQ(2, info.used_pages);

	ASSERT_EQ(0, mlx5ep_context_dump(self->setup.ctx, table, &count));
	EXPECT_EQ(32, count);
	for (i = 0; i < count; i++)
		qps += table[i].qps;
	EXPECT_EQ(3, qps);
	EXPECT_EQ(0, mlx5ep_context_dump(self->setup.ctx, table, &few));
	EXPECT_EQ(32, few);

	ASSERT_EQ(0, mlx5ep_qp_query_uuar(endpoints[0].qp, &uuar));
	EXPECT_EQ(2, uuar.level);
	EXPECT_EQ(2, uuar.page_qps);
	EXPECT_EQ(1, uuar.uuar_qps);
	stranger = *endpoints[0].qp;
	stranger.handle = 0x7fffffff;
	EXPECT_EQ(-ENOENT, mlx5ep_qp_query_uuar(&stranger, &uuar));
	EXPECT_EQ(2, uuar.page_qps);
	for (i = 0; i < 3; i++)
		verbs_endpoint_destroy(&endpoints[i]);
}

/* The handle is valid in the parent's context, not in the child's. */
TEST_F(module, another_processs_qp_is_not_found)
{
	struct verbs_endpoint endpoint;
	uint32_t handle;
	int status;
	pid_t pid;

	ASSERT_EQ(0, sysfs_policy("independent", 16, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0,
		  verbs_endpoint_create(&self->setup, &endpoint, IBV_QPT_RC));
	handle = endpoint.qp->handle;
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct mlx5_ep_qp_uuar uuar;
		struct verbs_setup setup;
		struct ibv_qp qp;

		if (verbs_open(&setup, NULL, 1))
			_exit(1);
		qp = *endpoint.qp;
		qp.context = setup.ctx;
		qp.handle = handle;
		_exit(mlx5ep_qp_query_uuar(&qp, &uuar) == -ENOENT ? 0 : 2);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	verbs_endpoint_destroy(&endpoint);
}

struct race {
	struct ibv_context *ctx;
	pthread_barrier_t start;
	int set_ret;
};

static void *set_policy(void *arg)
{
	struct mlx5_ep_context_policy policy = {
		.policy = MLX5_EP_UUAR_POLICY_SHARED_UAR,
	};
	struct race *race = arg;

	pthread_barrier_wait(&race->start);
	race->set_ret = mlx5ep_context_set_policy(race->ctx, &policy);
	return NULL;
}

/*
 * If set_policy comes before the first QP, the policy is set. Otherwise the
 * call fails with EBUSY.
 */
TEST_F_TIMEOUT(module, a_policy_set_beside_a_create_is_set_or_busy, 90)
{
	struct mlx5_ep_context_info info;
	struct verbs_endpoint endpoints[2];
	struct race race;
	pthread_t id;
	int round;

	ASSERT_EQ(0, sysfs_policy("independent", 8, false));
	ASSERT_EQ(0, pthread_barrier_init(&race.start, NULL, 2));
	for (round = 0; round < 50; round++) {
		ASSERT_EQ(0, verbs_open(&self->setup, NULL, 2));
		race.ctx = self->setup.ctx;
		ASSERT_EQ(0, pthread_create(&id, NULL, set_policy, &race));
		pthread_barrier_wait(&race.start);
		ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &endpoints[0],
						   IBV_QPT_RC));
		pthread_join(id, NULL);
		ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &endpoints[1],
						   IBV_QPT_RC));
		ASSERT_EQ(0, mlx5ep_context_query(self->setup.ctx, &info));
		EXPECT_EQ(2, info.placed_qps);
		if (race.set_ret) {
			EXPECT_EQ(-EBUSY, race.set_ret);
			EXPECT_EQ(MLX5_EP_UUAR_POLICY_INDEPENDENT,
				  info.policy);
			EXPECT_EQ(2, info.used_pages);
		} else {
			EXPECT_EQ(MLX5_EP_UUAR_POLICY_SHARED_UAR, info.policy);
			EXPECT_EQ(1, info.used_pages);
		}
		verbs_endpoint_destroy(&endpoints[0]);
		verbs_endpoint_destroy(&endpoints[1]);
		verbs_close(&self->setup);
		memset(&self->setup, 0, sizeof(self->setup));
	}
	pthread_barrier_destroy(&race.start);
}

/*
 * Endpoints have the promised UAR pages, also if the module places the other
 * QPs of their context.
 */
TEST_F(module, thread_domains_give_pages_in_a_managed_context_too)
{
	struct job job;
	unsigned int i;

	ASSERT_EQ(0, sysfs_policy("independent", 8, false));
	ASSERT_EQ(0, job_open(&job, MLX5EP_CATEGORY_DYNAMIC, 4, 4, 0));
	EXPECT_EQ(4, job.info.level[1]);
	EXPECT_EQ(8, job.info.static_pages);
	EXPECT_EQ(8 + 4, job.info.uar_pages);
	EXPECT_EQ(0, job.info.own_pages);
	EXPECT_EQ(0, job.info.absent_pages);
	for (i = 0; i < 4; i++)
		EXPECT_TRUE(job.threads[i].endpoint.flags &
			    MLX5EP_ENDPOINT_DOMAIN);
	job_close(&job);
	ASSERT_EQ(0, job_open(&job, MLX5EP_CATEGORY_STATIC, 4, 4, 0));
	EXPECT_EQ(4, job.info.level[1]);
	EXPECT_EQ(8, job.info.uar_pages);
	job_close(&job);
}

TEST_HARNESS_MAIN
