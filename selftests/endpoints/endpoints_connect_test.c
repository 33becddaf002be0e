// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 180 */
/*
 * Endpoints with the attributes, CQs and completion channels of the caller, and
 * QPs that are connected by their addresses. roce_connect_test.sh runs the same
 * on Ethernet.
 */
#include "kselftest_harness.h"

#include <poll.h>

#include <infiniband/mlx5dv.h>
#include <mlx5ep.h>

#include "doorbells.h"
#include "simhca.h"
#include "verbs.h"

#define PAIR 2
#define LEN 3000

FIXTURE(connect)
{
	struct verbs_setup setup;	/* its CQ and its buffer are the caller's */
	struct mlx5ep_endpoints *set;
	struct mlx5ep_endpoint ends[PAIR];
};

FIXTURE_SETUP(connect)
{
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, PAIR));
}

FIXTURE_TEARDOWN(connect)
{
	EXPECT_EQ(0, mlx5ep_endpoints_destroy(self->set));
	verbs_close(&self->setup);
}

static void build(struct __test_metadata *_metadata, FIXTURE_DATA(connect) *self,
		  struct mlx5ep_endpoints_attr *attr)
{
	unsigned int i;

	ASSERT_EQ(0, mlx5ep_endpoints_create(self->setup.ctx, attr, PAIR,
					     &self->set));
	for (i = 0; i < PAIR; i++)
		ASSERT_EQ(0, mlx5ep_endpoints_get(self->set, i,
						  &self->ends[i]));
}

static int connect_pair(struct ibv_qp *qps[PAIR],
			const struct mlx5ep_connect_attr *attr)
{
	struct mlx5ep_endpoint_address addresses[PAIR];
	int ret = 0;
	unsigned int i;

	for (i = 0; i < PAIR && !ret; i++)
		ret = mlx5ep_endpoint_address(qps[i], attr, &addresses[i]);
	for (i = 0; i < PAIR && !ret; i++)
		ret = mlx5ep_endpoint_connect(qps[i], attr, &addresses[!i]);
	return ret;
}

static int connect_wait_for(struct ibv_cq *cq, struct ibv_wc *wc)
{
	unsigned int tries;
	int n;

	for (tries = 0; tries < 60000; tries++) {
		n = ibv_poll_cq(cq, 1, wc);
		if (n)
			return n < 0 ? -EIO : wc->status ? -EREMOTEIO : 0;
		usleep(1000);
	}
	return -ETIMEDOUT;
}

/* Sends LEN bytes from the first QP to the second one, and compares them. */
static int send_once(struct ibv_pd *pd, struct ibv_qp *qps[PAIR],
		     struct ibv_cq *send_cq, struct ibv_cq *recv_cq)
{
	static uint8_t from[LEN], to[LEN];
	struct ibv_sge sges[PAIR] = {
		{ (uintptr_t)from, LEN, 0 }, { (uintptr_t)to, LEN, 0 },
	};
	struct ibv_recv_wr recv = { .sg_list = &sges[1], .num_sge = 1 };
	struct ibv_send_wr send = {
		.sg_list = &sges[0], .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_recv_wr *bad_recv;
	struct ibv_send_wr *bad_send;
	struct ibv_mr *mrs[PAIR];
	struct ibv_wc wc;
	unsigned int i;
	int ret;

	memset(to, 0, LEN);
	for (i = 0; i < LEN; i++)
		from[i] = i * 7 + qps[0]->qp_num;
	mrs[0] = ibv_reg_mr(pd, from, LEN, 0);
	mrs[1] = ibv_reg_mr(pd, to, LEN, IBV_ACCESS_LOCAL_WRITE);
	if (!mrs[0] || !mrs[1])
		return -ENOMEM;
	sges[0].lkey = mrs[0]->lkey;
	sges[1].lkey = mrs[1]->lkey;
	ret = -ibv_post_recv(qps[1], &recv, &bad_recv);
	if (!ret)
		ret = -ibv_post_send(qps[0], &send, &bad_send);
	if (!ret)
		ret = connect_wait_for(send_cq, &wc);
	if (!ret)
		ret = connect_wait_for(recv_cq, &wc);
	if (!ret && (wc.byte_len != LEN || memcmp(from, to, LEN)))
		ret = -EBADMSG;
	ibv_dereg_mr(mrs[0]);
	ibv_dereg_mr(mrs[1]);
	return ret;
}

TEST_F(connect, carries_data_both_ways)
{
	struct mlx5ep_connect_attr conn = { .psn = 0xfffff0 };
	struct mlx5ep_endpoints_attr attr = {};
	struct ibv_qp *qps[PAIR], *back[PAIR];
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr state;
	struct ibv_port_attr port;
	unsigned int i;

	build(_metadata, self, &attr);
	for (i = 0; i < PAIR; i++)
		qps[i] = back[!i] = self->ends[i].qp;
	ASSERT_EQ(0, connect_pair(qps, &conn));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, send_once(self->ends[0].pd, qps,
				       self->ends[0].cq, self->ends[1].cq));
		EXPECT_EQ(0, send_once(self->ends[0].pd, back,
				       self->ends[1].cq, self->ends[0].cq));
	}
	ASSERT_EQ(0, ibv_query_qp(qps[0], &state, IBV_QP_STATE | IBV_QP_AV,
				  &init));
	EXPECT_EQ(IBV_QPS_RTS, state.qp_state);
	ASSERT_EQ(0, ibv_query_port(self->setup.ctx, 1, &port));
	EXPECT_EQ(port.link_layer == IBV_LINK_LAYER_ETHERNET,
		  state.ah_attr.is_global);
	EXPECT_EQ(-EISCONN, connect_pair(qps, &conn));
}

TEST_F(connect, takes_a_uc_qp_and_no_ud_qp)
{
	struct mlx5ep_endpoints_attr attr = { .qp_type = IBV_QPT_UC };
	struct mlx5ep_endpoint_address address;
	struct ibv_qp *qps[PAIR], *ud;
	unsigned int i;

	build(_metadata, self, &attr);
	for (i = 0; i < PAIR; i++)
		qps[i] = self->ends[i].qp;
	ASSERT_EQ(0, connect_pair(qps, NULL));
	EXPECT_EQ(0, send_once(self->ends[0].pd, qps, self->ends[0].cq,
			       self->ends[1].cq));
	ud = verbs_qp_create(self->setup.pd, self->setup.cq, IBV_QPT_UD);
	ASSERT_NE(NULL, ud);
	ASSERT_EQ(0, mlx5ep_endpoint_address(qps[0], NULL, &address));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_endpoint_connect(ud, NULL, &address));
	EXPECT_EQ(0, ibv_destroy_qp(ud));
}

TEST_F(connect, refuses_bad_attributes_and_addresses)
{
	static const struct mlx5ep_connect_attr bad[] = {
		{ .flags = 1 << 2 }, { .flags = 1u << 31 }, { .port = 256 },
		{ .sgid_index = 1 }, { .psn = 1 << 24 }, { .mtu = 6 },
		{ .reserved1 = 1 }, { .reserved = { 0, 0, 0, 1 } },
		{ .flags = MLX5EP_CONNECT_SGID_INDEX, .sgid_index = 256 },
		{ .timeout = 32 }, { .retry_cnt = 8 }, { .rnr_retry = 8 },
		{ .min_rnr_timer = 32 }, { .sl = 16 },
	};
	struct mlx5ep_endpoints_attr attr = {};
	struct mlx5ep_connect_attr no_port = { .port = 77 };
	struct mlx5ep_endpoint_address good, wrong, untouched;
	struct ibv_qp *qp;
	unsigned int i;

	build(_metadata, self, &attr);
	qp = self->ends[0].qp;
	ASSERT_EQ(0, mlx5ep_endpoint_address(self->ends[1].qp, NULL, &good));
	memset(&untouched, 0x77, sizeof(untouched));
	wrong = untouched;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		EXPECT_EQ(-EINVAL, mlx5ep_endpoint_address(qp, &bad[i],
							   &wrong));
		EXPECT_EQ(-EINVAL, mlx5ep_endpoint_connect(qp, &bad[i],
							   &good));
	}
	EXPECT_EQ(-EINVAL, mlx5ep_endpoint_address(qp, &no_port, &wrong));
	EXPECT_EQ(0, memcmp(&wrong, &untouched, sizeof(wrong)));
#define WRONG(field, value) do {					\
	wrong = good;							\
	wrong.field = value;						\
	EXPECT_EQ(-EINVAL, mlx5ep_endpoint_connect(qp, NULL, &wrong));	\
} while (0)
	WRONG(qp_num, 1 << 24);
	WRONG(psn, 1 << 24);
	WRONG(mtu, 0);
	WRONG(mtu, 6);
	WRONG(link_layer, good.link_layer ^ 3);
	WRONG(reserved1, 1);
	WRONG(reserved[7], 1);
	if (good.link_layer == IBV_LINK_LAYER_INFINIBAND)
		WRONG(lid, 0);
	/* The QP is as it was: it can be connected. */
	EXPECT_EQ(IBV_QPS_RESET, qp->state);
	EXPECT_EQ(0, mlx5ep_endpoint_connect(qp, NULL, &good));
}

TEST_F(connect, that_fails_half_way_leaves_the_qp_in_reset)
{
	static const char * const steps[] = {
		"RST2INIT_QP", "INIT2RTR_QP", "RTR2RTS_QP",
	};
	struct mlx5ep_endpoints_attr attr = {};
	struct ibv_qp *qps[PAIR];
	unsigned int i;

	build(_metadata, self, &attr);
	for (i = 0; i < PAIR; i++)
		qps[i] = self->ends[i].qp;
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, simhca_fail(steps[i], 1, 1, 15));
		EXPECT_GT(0, connect_pair(qps, NULL));
		ASSERT_EQ(0, simhca_fail_nothing());
		EXPECT_EQ(IBV_QPS_RESET, qps[0]->state);
	}
	ASSERT_EQ(0, connect_pair(qps, NULL));
	EXPECT_EQ(0, send_once(self->ends[0].pd, qps, self->ends[0].cq,
			       self->ends[1].cq));
}

TEST_F(connect, works_over_the_callers_cqs_and_attributes)
{
	struct ibv_cq *recv_cq = ibv_create_cq(self->setup.ctx, 16, NULL, NULL,
					       0);
	struct ibv_qp_init_attr_ex qp_attr = {
		.qp_context = self,
		.send_cq = self->setup.cq,
		.recv_cq = recv_cq,
		.cap = { 8, 8, 2, 2, 64 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	struct mlx5ep_endpoint_attr each[PAIR] = {
		{ .qp_attr = &qp_attr }, { .qp_attr = &qp_attr },
	};
	struct mlx5ep_endpoints_attr attr = { .each = each };
	int64_t cqs = simhca_count("cq");
	struct mlx5ep_endpoints_info info;
	struct ibv_qp *qps[PAIR];
	unsigned int i;

	ASSERT_NE(NULL, recv_cq);
	build(_metadata, self, &attr);
	EXPECT_EQ(cqs, simhca_count("cq"));
	ASSERT_EQ(0, mlx5ep_endpoints_query(self->set, &info));
	EXPECT_EQ(0, info.cqs);
	EXPECT_EQ(2, info.level[1]);
	for (i = 0; i < PAIR; i++) {
		qps[i] = self->ends[i].qp;
		EXPECT_EQ(self->setup.cq, self->ends[i].cq);
		EXPECT_EQ(recv_cq, self->ends[i].recv_cq);
		EXPECT_EQ(NULL, self->ends[i].cq_ex);
		EXPECT_EQ(self, qps[i]->qp_context);
		EXPECT_NE(NULL, ibv_qp_to_qp_ex(qps[i]));
		EXPECT_FALSE(self->ends[i].flags & MLX5EP_ENDPOINT_CQ_UNLOCKED);
	}
	ASSERT_EQ(0, connect_pair(qps, NULL));
	EXPECT_EQ(0, send_once(self->ends[0].pd, qps, self->setup.cq,
			       recv_cq));
	EXPECT_EQ(0, mlx5ep_endpoints_destroy(self->set));
	self->set = NULL;
	EXPECT_EQ(0, ibv_destroy_cq(recv_cq));
}

TEST_F(connect, tells_the_callers_completion_channel)
{
	struct ibv_comp_channel *channel =
		ibv_create_comp_channel(self->setup.ctx);
	struct mlx5ep_endpoint_attr each[PAIR] = {
		{},
		{ .channel = channel, .comp_vector = 0, .cq_context = each },
	};
	struct mlx5ep_endpoints_attr attr = { .each = each };
	struct ibv_qp *qps[PAIR];
	struct pollfd fd;
	struct ibv_cq *cq;
	void *context;
	unsigned int i;

	ASSERT_NE(NULL, channel);
	build(_metadata, self, &attr);
	for (i = 0; i < PAIR; i++)
		qps[i] = self->ends[i].qp;
	fd = (struct pollfd) { .fd = channel->fd, .events = POLLIN };
	ASSERT_EQ(0, connect_pair(qps, NULL));
	ASSERT_EQ(0, ibv_req_notify_cq(self->ends[1].cq, 0));
	EXPECT_EQ(0, send_once(self->ends[0].pd, qps, self->ends[0].cq,
			       self->ends[1].cq));
	ASSERT_EQ(1, poll(&fd, 1, 60000));
	ASSERT_EQ(0, ibv_get_cq_event(channel, &cq, &context));
	EXPECT_EQ(self->ends[1].cq, cq);
	EXPECT_EQ((void *)each, context);
	ibv_ack_cq_events(cq, 1);
	EXPECT_EQ(0, mlx5ep_endpoints_destroy(self->set));
	self->set = NULL;
	EXPECT_EQ(0, ibv_destroy_comp_channel(channel));
}

/* A QP of the caller on the PD of an endpoint rings the uUAR of that endpoint. */
TEST_F(connect, reaches_the_thread_domain_of_an_endpoint)
{
	struct mlx5ep_endpoints_attr attr = {};
	struct doorbells_report report;
	const struct doorbells_qp *at, *mine;
	struct verbs_endpoint own;
	struct ibv_qp *qps[PAIR];
	unsigned int i;

	build(_metadata, self, &attr);
	for (i = 0; i < PAIR; i++)
		qps[i] = self->ends[i].qp;
	ASSERT_EQ(0, connect_pair(qps, NULL));
	EXPECT_NE(self->ends[0].pd, self->ends[0].domain_pd);
	own.qp = verbs_qp_create(self->ends[0].domain_pd, self->setup.cq,
				 IBV_QPT_RC);
	ASSERT_NE(NULL, own.qp);
	ASSERT_EQ(0, simhca_zero());
	EXPECT_EQ(0, send_once(self->ends[0].pd, qps, self->ends[0].cq,
			       self->ends[1].cq));
	qps[0] = own.qp;
	qps[1] = verbs_qp_create(self->ends[1].pd, self->setup.cq, IBV_QPT_RC);
	ASSERT_NE(NULL, qps[1]);
	ASSERT_EQ(0, connect_pair(qps, NULL));
	EXPECT_EQ(0, send_once(self->ends[0].pd, qps, self->setup.cq,
			       self->setup.cq));
	ASSERT_EQ(0, doorbells_look(0, &report));
	at = doorbells_qp(&report, self->ends[0].qp->qp_num);
	mine = doorbells_qp(&report, own.qp->qp_num);
	ASSERT_NE(NULL, at);
	ASSERT_NE(NULL, mine);
	EXPECT_EQ(at->uar, mine->uar);
	EXPECT_EQ(at->slot, mine->slot);
	doorbells_put(&report);
	EXPECT_EQ(-EBUSY, mlx5ep_endpoints_destroy(self->set));
	EXPECT_EQ(0, ibv_destroy_qp(own.qp));
	EXPECT_EQ(0, ibv_destroy_qp(qps[1]));
}

TEST_F(connect, refuses_attributes_of_endpoints_that_do_not_fit)
{
	struct ibv_comp_channel channel = {};
	struct ibv_qp_init_attr_ex both = {
		.send_cq = self->setup.cq, .recv_cq = self->setup.cq,
	};
	struct ibv_qp_init_attr_ex one = { .send_cq = self->setup.cq };
	const struct mlx5ep_endpoint_attr bad[] = {
		{ .flags = 1 }, { .reserved = { 1 } },
		{ .reserved = { 0, 0, 0, 1 } }, { .qp_attr = &one },
		{ .qp_attr = &both, .channel = &channel },
		{ .qp_attr = &both, .comp_vector = 1 },
	};
	struct mlx5ep_endpoint_attr each[PAIR] = {};
	struct mlx5ep_endpoints_attr attr = { .each = each };
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		each[1] = bad[i];
		EXPECT_EQ(-EINVAL, mlx5ep_endpoints_create(
			  self->setup.ctx, &attr, PAIR, &self->set));
	}
	each[1] = (struct mlx5ep_endpoint_attr) { .qp_attr = &both };
	attr.category = MLX5EP_CATEGORY_MPI_EVERYWHERE;
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_create(self->setup.ctx, &attr,
						   PAIR, &self->set));
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_open(self->setup.ctx->device,
						 &attr, 1, &self->set));
	EXPECT_EQ(NULL, self->set);
}

TEST_HARNESS_MAIN
