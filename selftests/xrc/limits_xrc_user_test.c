// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * No user can take all shared XRC receive QPs or registrations of a device: the
 * limits per user hold, and other users are not affected.
 */
#include "kselftest_harness.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "baseline.h"
#include "sysfs.h"
#include "ctx_open.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/limits_xrc_user_domain"
#define PARAM "/sys/module/mlx5_ep/parameters/"
#define QPS_PER_USER PARAM "xrc_qps_per_user"
#define REGS_PER_USER PARAM "xrc_regs_per_user"

FIXTURE(user)
{
	struct baseline base;
	struct xrc_node node;
};

FIXTURE_SETUP(user)
{
	unlink(DOMAIN_FILE);
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, xrc_node_open(&self->node, NULL, DOMAIN_FILE, 1));
	ASSERT_EQ(0, chmod(DOMAIN_FILE, 0666));
	ASSERT_EQ(0, ctx_open_to_all());
}

FIXTURE_TEARDOWN(user)
{
	EXPECT_EQ(0, file_write(QPS_PER_USER, "32768"));
	EXPECT_EQ(0, file_write(REGS_PER_USER, "262144"));
	EXPECT_EQ(0, xrc_node_close(&self->node));
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

/* Creates a QP as user @uid in a child. Return: 0, an errno, or 255. */
static int create_as(uid_t uid)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	struct xrc_node node;
	int ret, status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		/* It counts for the user who opens the context. */
		ret = setresuid(uid, uid, uid);
		if (ret || xrc_node_open(&node, NULL, DOMAIN_FILE, 1))
			_exit(255);
		_exit(-mlx5ep_xrc_rcv_qp_create(node.xrcd, NULL, &qp));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 255;
	return WEXITSTATUS(status);
}

TEST_F(user, holds_no_more_qps_than_the_limit)
{
	struct mlx5ep_xrc_rcv_qp *qps[2], *no;

	ASSERT_EQ(0, file_write(QPS_PER_USER, "2"));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &qps[0]));
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "a", 1, 0, NULL,
					   &qps[1]));
	EXPECT_EQ(-EDQUOT,
		  mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &no));
	/* A second process of the user counts for the same user. */
	EXPECT_EQ(EDQUOT, create_as(0));
	EXPECT_EQ(0, create_as(1000));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qps[1]));
	EXPECT_EQ(0, create_as(0));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qps[0]));
}

TEST_F(user, holds_no_more_registrations_than_the_limit)
{
	struct mlx5ep_xrc_rcv_qp *qp, *joined, *no;
	uint32_t num;

	ASSERT_EQ(0, file_write(REGS_PER_USER, "2"));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &qp));
	num = mlx5ep_xrc_rcv_qp_num(qp);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, num, NULL,
					   &joined));
	EXPECT_EQ(-EDQUOT, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, num, NULL,
						 &no));
	EXPECT_EQ(EDQUOT, create_as(0));
	EXPECT_EQ(0, create_as(1000));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(joined));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

TEST_HARNESS_MAIN
