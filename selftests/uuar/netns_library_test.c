// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, guest: netns, timeout: 60, config: NET_NS */
/*
 * A program in another net namespace chooses its policy through libmlx5ep. The
 * namespace has a sysfs of its own, as a container has.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <mlx5ep/device.h>
#include <mlx5ep/uuar.h>

#include "doorbells.h"
#include "sysfs.h"
#include "verbs.h"

#define QPS 4

/* Each test of the harness is a process of its own. */
static int leave_for_another_namespace(void)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/sys", "sysfs", 0, NULL))
		return -errno;
	return 0;
}

static int choose(struct ibv_context *ctx)
{
	struct mlx5_ep_context_policy policy = {
		.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT,
		.flags = MLX5_EP_POLICY_STRICT | MLX5_EP_POLICY_LATER_OPENS,
		.pages = QPS,
	};

	return mlx5ep_context_set_policy(ctx, &policy);
}

TEST(a_program_gets_the_policy_that_it_asks_for)
{
	struct verbs_setup first, setup;
	struct verbs_endpoint endpoints[QPS];
	struct doorbells_report doorbells;
	struct mlx5_ep_context_info info;
	struct mlx5_ep_qp_uuar uuar;
	unsigned int i;

	ASSERT_EQ(0, leave_for_another_namespace());
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, verbs_open(&first, NULL, 1));
	EXPECT_EQ(0, mlx5ep_device_attached(first.ctx->device, NULL, 0));
	ASSERT_EQ(0, choose(first.ctx));
	ASSERT_EQ(0, verbs_open(&setup, NULL, QPS));
	verbs_close(&first);
	ASSERT_EQ(0, mlx5ep_context_query(setup.ctx, &info));
	EXPECT_EQ(MLX5_EP_POLICY_SOURCE_PROCESS, info.source);
	for (i = 0; i < QPS; i++)
		ASSERT_EQ(0, verbs_endpoint_create(&setup, &endpoints[i],
						   IBV_QPT_RC));
	EXPECT_EQ(0, mlx5ep_qp_query_uuar(endpoints[0].qp, &uuar));
	EXPECT_EQ(1, uuar.level);
	ASSERT_EQ(0, verbs_traffic_all(endpoints, QPS, 1));
	ASSERT_EQ(0, doorbells_look(0, &doorbells));
	EXPECT_EQ(QPS, doorbells.pages);
	EXPECT_EQ(0, doorbells.shared);
	EXPECT_EQ(0, doorbells.wrong_uar);
	doorbells_put(&doorbells);
	while (i)
		verbs_endpoint_destroy(&endpoints[--i]);
	verbs_close(&setup);
}

/* This namespace's entry of the device can be read and not be written. */
TEST(an_administrator_of_the_namespace_changes_nothing)
{
	ASSERT_EQ(0, leave_for_another_namespace());
	EXPECT_TRUE(sysfs_attached());
	EXPECT_EQ(-EPERM, sysfs_write("uuar_policy", "independent"));
	EXPECT_EQ(-EPERM, sysfs_write("uuar_strict", "1"));
	EXPECT_EQ(-EPERM, sysfs_write("uuar_pages", "3"));
	EXPECT_EQ(-EPERM, sysfs_write("uar_budget", "3"));
	EXPECT_EQ(-EPERM, sysfs_write("uar_user_limit", "3"));
	EXPECT_EQ(-EPERM, sysfs_write("uuar_exempt", "bash"));
	EXPECT_EQ(-EPERM, sysfs_write("uuar_cgroups", "/ stock 0 0"));
}

TEST_HARNESS_MAIN
