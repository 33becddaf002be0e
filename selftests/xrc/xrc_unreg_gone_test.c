// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The errno of a registration that ends, with a made-up kernel: the call returns 0
 * exactly if it has freed the registration.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <mlx5ep.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/* What the kernel answers; 0 for success. Both count calls. */
static int answer;
static unsigned int calls;

/* Stands for the one of libc, in the library too. */
int ioctl(int fd, unsigned long request, ...)
{
	calls++;
	errno = answer;
	return answer ? -1 : 0;
}

FIXTURE(unreg)
{
	char dir[64];
	struct ibv_device dev;
	struct ibv_context ctx;
	struct {
		struct ibv_xrcd xrcd;
		uint32_t comp_mask;
		uint32_t handle;
	} domain;
	struct mlx5ep_xrcd *xrcd;
	struct mlx5ep_xrc_rcv_qp *qp;
};

static void unreg_gone_put(struct __test_metadata *_metadata, const char *dir,
			   const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/mlx5_ep/%s", dir, name);
	file = fopen(path, "w");
	ASSERT_NE(NULL, file);
	fputs(text, file);
	fclose(file);
}

FIXTURE_SETUP(unreg)
{
	char path[128];

	snprintf(self->dir, sizeof(self->dir), "/tmp/mlx5ep_unreg.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(path, sizeof(path), "%s/mlx5_ep", self->dir);
	ASSERT_EQ(0, mkdir(path, 0700));
	unreg_gone_put(_metadata, self->dir, "abi_version", "1\n");
	unreg_gone_put(_metadata, self->dir, "uverbs_ids", "object xrc_rcv_qp 0x100a\n");
	snprintf(self->dev.ibdev_path, sizeof(self->dev.ibdev_path), "%s",
		 self->dir);
	self->ctx.device = &self->dev;
	self->domain.xrcd.context = &self->ctx;
	self->domain.comp_mask = 1;	/* the handle is there */
	ASSERT_EQ(0, mlx5ep_xrcd_wrap(&self->domain.xrcd, &self->xrcd));
	answer = 0;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->xrcd, 77, NULL, &self->qp));
	calls = 0;
}

FIXTURE_TEARDOWN(unreg)
{
	char command[128];

	EXPECT_EQ(0, mlx5ep_xrcd_close(self->xrcd));
	snprintf(command, sizeof(command), "rm -r %s", self->dir);
	EXPECT_EQ(0, system(command));
}

TEST_F(unreg, of_a_device_that_is_gone_succeeds)
{
	answer = EIO;
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->qp));
	EXPECT_EQ(1, calls);
}

TEST_F(unreg, that_must_wait_for_a_call_can_be_repeated)
{
	answer = EBUSY;
	EXPECT_EQ(-EBUSY, mlx5ep_xrc_rcv_qp_unreg(self->qp));
	EXPECT_EQ(77, mlx5ep_xrc_rcv_qp_num(self->qp));
	answer = 0;
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->qp));
	EXPECT_EQ(2, calls);
}

TEST_HARNESS_MAIN
