// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 120 */
/*
 * Shared XRC receive QPs: who is registered, how long a QP and its domain live,
 * and what each call answers. The HCA tells which objects are alive.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <signal.h>

#include "baseline.h"
#include "simhca.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_rcv_qp_domain"

FIXTURE(xrc)
{
	struct baseline base;
	struct xrc_node node;
};

FIXTURE_SETUP(xrc)
{
	unlink(DOMAIN_FILE);
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, xrc_node_open(&self->node, NULL, DOMAIN_FILE, 1));
}

FIXTURE_TEARDOWN(xrc)
{
	EXPECT_EQ(0, xrc_node_close(&self->node));
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

/*
 * How many objects of a kind the HCA has in addition to those before the test.
 */
static int64_t more(const struct baseline *base, const char *kind)
{
	return simhca_count(kind) - baseline_alive(base, kind);
}

TEST_F(xrc, the_creator_is_registered)
{
	struct mlx5_ep_xrc_rcv_qp_info info;
	struct mlx5ep_xrc_rcv_qp *qp;
	struct ibv_qp_attr attr;

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &qp));
	EXPECT_EQ(1, more(&self->base, "qp"));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(qp, &attr, &info));
	EXPECT_EQ(IBV_QPS_RESET, attr.qp_state);
	EXPECT_EQ(IBV_QPS_RESET, info.qp_state);
	EXPECT_EQ(1, info.registrants);
	EXPECT_EQ(0, info.key_len);
	EXPECT_EQ(mlx5ep_xrc_rcv_qp_num(qp), info.qp_num);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
	EXPECT_EQ(0, more(&self->base, "qp"));
}

TEST_F(xrc, each_registration_counts_and_the_last_one_destroys)
{
	struct mlx5ep_xrc_rcv_qp *qps[8];
	struct mlx5_ep_xrc_rcv_qp_info info;
	unsigned int i;
	uint32_t num;

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &qps[0]));
	num = mlx5ep_xrc_rcv_qp_num(qps[0]);
	for (i = 1; i < 8; i++) {
		ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, num, NULL,
						   &qps[i]));
		EXPECT_EQ(num, mlx5ep_xrc_rcv_qp_num(qps[i]));
	}
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(1, more(&self->base, "qp"));
		ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(qps[i], NULL, &info));
		EXPECT_EQ(8 - i, info.registrants);
		ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qps[i]));
	}
	EXPECT_EQ(0, more(&self->base, "qp"));
	EXPECT_EQ(-ENOENT, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, num, NULL,
						 &qps[0]));
	EXPECT_EQ(-ENOENT, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, 0, NULL,
						 &qps[0]));
}

TEST_F(xrc, get_creates_once_and_then_joins)
{
	struct mlx5ep_xrc_rcv_qp *a, *b, *other;
	struct mlx5_ep_xrc_rcv_qp_info info;

	EXPECT_EQ(-ENOENT,
		  mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "rank 7", 6,
					MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY, NULL,
					&a));
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "rank 7", 6, 0,
					   NULL, &a));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "rank 7", 6, 0,
					   NULL, &b));
	EXPECT_EQ(mlx5ep_xrc_rcv_qp_num(a), mlx5ep_xrc_rcv_qp_num(b));
	/* A key is a number of bytes; a shorter one is another key. */
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "rank 7", 7, 0,
					   NULL, &other));
	EXPECT_NE(mlx5ep_xrc_rcv_qp_num(a), mlx5ep_xrc_rcv_qp_num(other));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(other));

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(b, NULL, &info));
	EXPECT_EQ(2, info.registrants);
	EXPECT_EQ(6, info.key_len);
	EXPECT_EQ(0, memcmp(info.key, "rank 7", 6));
	/* Its number finds the same QP. */
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, info.qp_num, NULL,
					   &other));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(other, NULL, &info));
	EXPECT_EQ(3, info.registrants);
	EXPECT_EQ(6, info.key_len);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(other));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(a));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(b));
	/* The key can be used for a new QP. */
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "rank 7", 6, 0,
					   NULL, &a));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(a));
}

TEST_F(xrc, keys_belong_to_their_domain)
{
	struct mlx5ep_xrc_rcv_qp *a, *b;
	struct xrc_node other;

	ASSERT_EQ(0, xrc_node_open(&other, NULL, NULL, 0));
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "k", 1, 0, NULL,
					   &a));
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(other.xrcd, "k", 1, 0, NULL, &b));
	EXPECT_NE(mlx5ep_xrc_rcv_qp_num(a), mlx5ep_xrc_rcv_qp_num(b));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(a));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(b));
	EXPECT_EQ(0, xrc_node_close(&other));
}

TEST_F(xrc, the_domain_cannot_be_closed_while_registered)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	struct xrc_node second;

	/*
	 * The second process has no SRQ, because an SRQ too would keep the
	 * domain open.
	 */
	ASSERT_EQ(0, xrc_node_open(&second, NULL, DOMAIN_FILE, 0));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(second.xrcd, NULL, &qp));
	EXPECT_EQ(-EBUSY, mlx5ep_xrcd_close(second.xrcd));
	EXPECT_EQ(-EBUSY, mlx5ep_xrcd_close(second.xrcd));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
	EXPECT_EQ(0, xrc_node_close(&second));
	EXPECT_EQ(1, more(&self->base, "xrcd"));
}

TEST_F(xrc, another_process_may_close_the_domain_meanwhile)
{
	struct mlx5ep_xrc_rcv_qp *qp, *mine;
	struct xrc_node second;

	ASSERT_EQ(0, xrc_node_open(&second, NULL, DOMAIN_FILE, 0));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &qp));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(second.xrcd,
					   mlx5ep_xrc_rcv_qp_num(qp), NULL,
					   &mine));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(mine));
	EXPECT_EQ(0, xrc_node_close(&second));
	EXPECT_EQ(1, more(&self->base, "qp"));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

TEST_F(xrc, a_context_that_closes_unregisters)
{
	struct mlx5ep_xrc_rcv_qp *qps[4];
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_context *ctx = xrc_context(NULL);
	struct mlx5ep_xrcd *xrcd;
	struct ibv_xrcd *ibv;
	unsigned int i;

	ASSERT_NE(NULL, ctx);
	ibv = ibv_open_xrcd(ctx, &attr);
	ASSERT_NE(NULL, ibv);
	ASSERT_EQ(0, mlx5ep_xrcd_wrap(ibv, &xrcd));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(xrcd, NULL, &qps[i]));
	EXPECT_EQ(4, more(&self->base, "qp"));
	EXPECT_EQ(2, more(&self->base, "xrcd"));
	/* The kernel frees the registrations before the domain. */
	EXPECT_EQ(0, ibv_close_device(ctx));
	EXPECT_EQ(0, more(&self->base, "qp"));
	EXPECT_EQ(1, more(&self->base, "xrcd"));
}

/*
 * Start a child that registers by @num, or creates a QP if @num is 0. It
 * reports the QP's number and waits.
 */
static pid_t child_start(uint32_t num, uint32_t *got)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	struct xrc_node node;
	int pipefd[2];
	pid_t pid;

	if (pipe(pipefd))
		return -1;
	pid = fork();
	if (pid < 0)
		return pid;
	if (!pid) {
		if (xrc_node_open(&node, NULL, DOMAIN_FILE, 0))
			_exit(1);
		if (num ? mlx5ep_xrc_rcv_qp_reg(node.xrcd, num, NULL, &qp) :
		    mlx5ep_xrc_rcv_qp_create(node.xrcd, NULL, &qp))
			_exit(2);
		num = mlx5ep_xrc_rcv_qp_num(qp);
		if (write(pipefd[1], &num, sizeof(num)) != sizeof(num))
			_exit(3);
		pause();
		_exit(4);
	}
	close(pipefd[1]);
	if (read(pipefd[0], got, sizeof(*got)) != sizeof(*got))
		pid = -1;
	close(pipefd[0]);
	return pid;
}

static void child_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(xrc, the_qp_survives_its_creator)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	uint32_t num = 0;
	pid_t pid;

	pid = child_start(0, &num);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, num, NULL, &qp));
	child_kill(pid);
	EXPECT_EQ(1, more(&self->base, "qp"));
	EXPECT_EQ(0, xrc_qp_step(qp, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
	EXPECT_EQ(0, more(&self->base, "qp"));
}

TEST_F(xrc, the_domain_survives_everybody_but_the_last_registrant)
{
	uint32_t num = 0, same = 0;
	pid_t first, second;

	first = child_start(0, &num);
	ASSERT_LT(0, first);
	second = child_start(num, &same);
	ASSERT_LT(0, second);
	EXPECT_EQ(num, same);
	ASSERT_EQ(0, xrc_node_close(&self->node));
	child_kill(first);
	EXPECT_EQ(1, more(&self->base, "qp"));
	EXPECT_EQ(1, more(&self->base, "xrcd"));
	child_kill(second);
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

TEST_F(xrc, fork_and_exec_of_the_creator_change_nothing)
{
	struct mlx5_ep_xrc_rcv_qp_info info;
	struct mlx5ep_xrc_rcv_qp *qp;
	int status;
	pid_t pid;

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &qp));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		/*
		 * The child inherited the file, so the handle is valid there.
		 */
		if (mlx5ep_xrc_rcv_qp_query(qp, NULL, &info) ||
		    info.registrants != 1)
			_exit(1);
		execl("/bin/true", "true", NULL);
		_exit(2);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(qp, NULL, &info));
	EXPECT_EQ(1, info.registrants);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

TEST_F(xrc, a_second_registrant_is_told_what_is_done)
{
	struct address elsewhere = self->node.address;
	struct mlx5_ep_xrc_rcv_qp_modify answer;
	struct mlx5_ep_xrc_rcv_qp_info info;
	struct mlx5ep_xrc_rcv_qp *a, *b;
	struct ibv_qp_attr attr;

	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "k", 1, 0, NULL,
					   &a));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "k", 1, 0, NULL,
					   &b));
	EXPECT_EQ(0, xrc_qp_step(a, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(1, xrc_qp_step(b, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(0, xrc_qp_step(b, IBV_QPS_RTR, 0x123, &self->node.address));
	EXPECT_EQ(1, xrc_qp_step(a, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(1, xrc_qp_step(a, IBV_QPS_RTR, 0x123, &self->node.address));
	/* For another remote QP the answer is not "already there". */
	EXPECT_EQ(-EISCONN,
		  xrc_qp_step(a, IBV_QPS_RTR, 0x456, &self->node.address));
	/* Another node has a QP of the same number. */
	elsewhere.lid++;
	elsewhere.gid.raw[15]++;
	EXPECT_EQ(-EISCONN, xrc_qp_step(a, IBV_QPS_RTR, 0x123, &elsewhere));
	EXPECT_EQ(1, xrc_qp_step(a, IBV_QPS_RTR, 0x123, &self->node.address));
	/* Who names none is told that the QP is connected. */
	attr.qp_state = IBV_QPS_RTR;
	attr.dest_qp_num = 0x456;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(b, &attr, IBV_QP_STATE,
					      &answer));
	EXPECT_EQ(MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY, answer.flags);
	EXPECT_EQ(0, xrc_qp_step(a, IBV_QPS_RTS, 0, NULL));
	EXPECT_EQ(1, xrc_qp_step(b, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(1, xrc_qp_step(b, IBV_QPS_RTS, 0, NULL));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(b, &attr, &info));
	EXPECT_EQ(IBV_QPS_RTS, attr.qp_state);
	EXPECT_EQ(IBV_QPS_RTS, info.qp_state);
	/* The attributes of the second call changed nothing. */
	EXPECT_EQ(0x123, attr.dest_qp_num);
	EXPECT_TRUE(address_is_at(&self->node.address, &attr.ah_attr));
	EXPECT_EQ(IBV_MTU_1024, attr.path_mtu);

	attr.qp_state = IBV_QPS_ERR;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(a, &attr, IBV_QP_STATE,
					      &answer));
	EXPECT_EQ(IBV_QPS_ERR, answer.qp_state);
	EXPECT_EQ(0, answer.flags);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(b, &attr, IBV_QP_STATE,
					      &answer));
	EXPECT_EQ(MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY, answer.flags);
	/*
	 * The QP is in ERR. A step to RTR is invalid then, not "already there".
	 */
	EXPECT_EQ(-EINVAL,
		  xrc_qp_step(b, IBV_QPS_RTR, 0x123, &self->node.address));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(a));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(b));
}

static int upstream_step(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = 1 };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
}

/* Attributes change, and the state is told: a QP of which the module knew nothing. */
TEST_F(xrc, the_state_is_the_one_in_which_upstream_calls_left_the_qp)
{
	struct ibv_qp_attr attr = { .qp_access_flags = IBV_ACCESS_REMOTE_READ };
	struct ibv_qp *upstream = xrc_upstream_create(&self->node);
	const int init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	struct mlx5_ep_xrc_rcv_qp_modify answer = { .qp_state = ~0u };
	struct mlx5ep_xrc_rcv_qp *qp;

	ASSERT_NE(NULL, upstream);
	ASSERT_EQ(0, upstream_step(upstream, IBV_QPS_INIT, init));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, upstream->qp_num,
					   NULL, &qp));
	EXPECT_TRUE(xrc_shown_in("INIT"));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_ACCESS_FLAGS,
					      &answer));
	EXPECT_EQ(IBV_QPS_INIT, answer.qp_state);
	EXPECT_EQ(0, answer.flags);
	ASSERT_EQ(0, upstream_step(upstream, IBV_QPS_ERR, 0));
	EXPECT_TRUE(xrc_shown_in("ERR"));
	ASSERT_EQ(0, upstream_step(upstream, IBV_QPS_RESET, 0));
	EXPECT_TRUE(xrc_shown_in("RESET"));
	ASSERT_EQ(0, upstream_step(upstream, IBV_QPS_INIT, init));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_ACCESS_FLAGS,
					      &answer));
	EXPECT_EQ(IBV_QPS_INIT, answer.qp_state);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
	EXPECT_EQ(0, ibv_destroy_qp(upstream));
}

/* No step is left out, and a QP that goes back to RESET begins again. */
TEST_F(xrc, connecting_begins_again_after_reset)
{
	struct mlx5_ep_xrc_rcv_qp_modify answer;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct mlx5ep_xrc_rcv_qp *qp;

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &qp));
	EXPECT_EQ(-EINVAL,
		  xrc_qp_step(qp, IBV_QPS_RTR, 0x123, &self->node.address));
	EXPECT_EQ(0, xrc_qp_step(qp, IBV_QPS_INIT, 0, NULL));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_STATE,
					      &answer));
	EXPECT_EQ(IBV_QPS_RESET, answer.qp_state);
	EXPECT_EQ(0, answer.flags);
	EXPECT_EQ(0, xrc_qp_step(qp, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

/* Many programs pass all attributes of an RC QP, and upstream accepts them. */
TEST_F(xrc, attributes_of_a_sender_are_passed_over)
{
	struct mlx5_ep_xrc_rcv_qp_modify answer;
	struct mlx5ep_xrc_rcv_qp *qp;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = 12, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 1,
	};

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &qp));
	EXPECT_EQ(0, xrc_qp_step(qp, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(0, xrc_qp_step(qp, IBV_QPS_RTR, 0x123, &self->node.address));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_modify(
			     qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN |
				     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_MAX_QP_RD_ATOMIC,
			     &answer));
	EXPECT_EQ(IBV_QPS_RTS, answer.qp_state);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

TEST_F(xrc, a_qp_of_upstream_can_be_joined)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct mlx5_ep_xrc_rcv_qp_modify answer;
	struct mlx5ep_xrc_rcv_qp *a, *b;
	struct mlx5_ep_xrc_rcv_qp_info info;
	struct ibv_qp *qp = xrc_upstream_create(&self->node);
	uint32_t num;

	ASSERT_NE(NULL, qp);
	num = qp->qp_num;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, num, NULL, &a));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, num, NULL, &b));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(a, NULL, &info));
	EXPECT_EQ(2, info.registrants);
	/* What upstream has changed is what a registrant is told. */
	ASSERT_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
						      IBV_QP_PORT |
						      IBV_QP_ACCESS_FLAGS));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(a, &attr, IBV_QP_STATE,
					      &answer));
	EXPECT_EQ(MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY, answer.flags);
	EXPECT_EQ(IBV_QPS_INIT, answer.qp_state);
	ASSERT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(1, more(&self->base, "qp"));
	EXPECT_EQ(1, xrc_qp_step(b, IBV_QPS_INIT, 0, NULL));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(a));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(b));
	EXPECT_EQ(0, more(&self->base, "qp"));
}

TEST_F(xrc, upstream_can_open_a_shared_qp)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct mlx5ep_xrc_rcv_qp *qp, *again;
	struct mlx5ep_xrcd *xrcd;
	struct ibv_context *ctx;
	struct ibv_qp *opened;
	int fd;

	/*
	 * The context has nothing but the domain. It is closed without closing
	 * the domain.
	 */
	ctx = xrc_context(NULL);
	ASSERT_NE(NULL, ctx);
	fd = open(DOMAIN_FILE, O_RDONLY);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, mlx5ep_xrcd_open(ctx, fd, 0, &xrcd));
	close(fd);
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "k", 1, 0, NULL,
					   &qp));
	attr.qp_num = mlx5ep_xrc_rcv_qp_num(qp);
	attr.xrcd = mlx5ep_xrcd_ibv(xrcd);
	opened = ibv_open_qp(ctx, &attr);
	ASSERT_NE(NULL, opened);
	/* After the last registration has ended, the opener holds the QP. */
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
	EXPECT_EQ(1, more(&self->base, "qp"));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd, attr.qp_num, NULL,
					   &again));
	/* libmlx5 cannot destroy an opened QP; closing its context can. */
	EXPECT_EQ(0, ibv_close_device(ctx));
	EXPECT_EQ(1, more(&self->base, "qp"));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(again));
	EXPECT_EQ(0, more(&self->base, "qp"));
}

TEST_F(xrc, messages_arrive_at_every_srq)
{
	uint8_t msg[XRC_MSG], got[XRC_MSG];
	struct mlx5ep_xrc_rcv_qp *qp;
	struct xrc_sender sender;
	unsigned int srq, i;

	ASSERT_EQ(0, xrc_sender_open(&sender, NULL));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &qp));
	ASSERT_EQ(0, xrc_qp_connect(qp, sender.qp->qp_num, &sender.address));
	ASSERT_EQ(0, xrc_sender_connect(&sender, mlx5ep_xrc_rcv_qp_num(qp),
					&self->node.address));
	for (i = 0; i < 3 * XRC_DEPTH; i++) {
		xrc_msg_fill(msg, 1, 0, i);
		ASSERT_EQ(0, xrc_sender_send(&sender, self->node.srqs[0].num,
					     msg));
		ASSERT_EQ(0, xrc_node_recv(&self->node, &srq, got, 5000));
		EXPECT_EQ(0, srq);
		EXPECT_TRUE(xrc_msg_is(got, 1, 0, i));
	}
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
	xrc_sender_close(&sender);
}

TEST_HARNESS_MAIN
