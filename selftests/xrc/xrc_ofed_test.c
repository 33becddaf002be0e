// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60 */
/*
 * A program in the style of OFED 1.3 to 1.5, which uses the old names only. It
 * must compile unchanged and work.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <mlx5ep/ofed_xrc.h>

#include "baseline.h"
#include "xrc.h"

FIXTURE(ofed)
{
	struct baseline base;
	struct ibv_context *context;
	struct ibv_xrc_domain *domain;
	int fd;
};

FIXTURE_SETUP(ofed)
{
	ASSERT_EQ(0, baseline_take(&self->base));
	self->context = xrc_context(NULL);
	ASSERT_NE(NULL, self->context);
	self->fd = open("/tmp/xrc_ofed_domain", O_RDONLY | O_CREAT, 0600);
	ASSERT_LE(0, self->fd);
	self->domain = ibv_open_xrc_domain(self->context, self->fd, O_CREAT);
	ASSERT_NE(NULL, self->domain);
}

FIXTURE_TEARDOWN(ofed)
{
	EXPECT_EQ(0, ibv_close_xrc_domain(self->domain));
	EXPECT_EQ(0, ibv_close_device(self->context));
	close(self->fd);
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

static int old_style_init(struct ibv_xrc_domain *xrc_domain, uint32_t qpn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	return ibv_modify_xrc_rcv_qp(xrc_domain, qpn, &attr,
				     IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

TEST_F(ofed, create_modify_query_and_unregister)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = self->domain };
	struct ibv_qp_attr attr;
	uint32_t qpn = 0;

	ASSERT_EQ(0, ibv_create_xrc_rcv_qp(&init_attr, &qpn));
	EXPECT_NE(0, qpn);
	EXPECT_EQ(0, old_style_init(self->domain, qpn));
	memset(&init_attr, 0, sizeof(init_attr));
	ASSERT_EQ(0, ibv_query_xrc_rcv_qp(self->domain, qpn, &attr,
					  IBV_QP_STATE, &init_attr));
	EXPECT_EQ(IBV_QPS_INIT, attr.qp_state);
	EXPECT_EQ(1, attr.port_num);
	EXPECT_EQ(self->domain, init_attr.xrc_domain);
	EXPECT_EQ(EBUSY, ibv_close_xrc_domain(self->domain));
	EXPECT_EQ(0, ibv_unreg_xrc_rcv_qp(self->domain, qpn));
}

TEST_F(ofed, the_last_unregistration_ends_the_qp)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = self->domain };
	struct ibv_qp_attr attr;
	uint32_t qpn;

	ASSERT_EQ(0, ibv_create_xrc_rcv_qp(&init_attr, &qpn));
	EXPECT_EQ(0, ibv_reg_xrc_rcv_qp(self->domain, qpn));
	EXPECT_EQ(0, ibv_unreg_xrc_rcv_qp(self->domain, qpn));
	EXPECT_EQ(0, ibv_query_xrc_rcv_qp(self->domain, qpn, &attr, 0,
					  &init_attr));
	EXPECT_EQ(0, ibv_unreg_xrc_rcv_qp(self->domain, qpn));
	EXPECT_EQ(EINVAL, ibv_unreg_xrc_rcv_qp(self->domain, qpn));
	EXPECT_EQ(EINVAL, old_style_init(self->domain, qpn));
	EXPECT_EQ(ENOENT, ibv_reg_xrc_rcv_qp(self->domain, qpn));
}

TEST_F(ofed, the_creator_may_exit)
{
	struct ibv_qp_init_attr init_attr = {};
	int pipefd[2], back[2], status;
	uint32_t qpn = 0;
	pid_t pid;
	char go;

	ASSERT_EQ(0, pipe(pipefd));
	ASSERT_EQ(0, pipe(back));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct ibv_context *context = xrc_context(NULL);
		int fd = open("/tmp/xrc_ofed_domain", O_RDONLY);

		init_attr.xrc_domain = ibv_open_xrc_domain(context, fd, 0);
		if (!init_attr.xrc_domain ||
		    ibv_create_xrc_rcv_qp(&init_attr, &qpn) ||
		    write(pipefd[1], &qpn, sizeof(qpn)) != sizeof(qpn))
			_exit(1);
		/* Wait until the other process has registered. */
		_exit(read(back[0], &go, 1) == 1 ? 0 : 2);
	}
	ASSERT_EQ(sizeof(qpn), read(pipefd[0], &qpn, sizeof(qpn)));
	ASSERT_EQ(0, ibv_reg_xrc_rcv_qp(self->domain, qpn));
	ASSERT_EQ(1, write(back[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, old_style_init(self->domain, qpn));
	EXPECT_EQ(0, ibv_unreg_xrc_rcv_qp(self->domain, qpn));
}

TEST_HARNESS_MAIN
