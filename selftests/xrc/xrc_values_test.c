// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * Each value that MODIFY was given is what QUERY tells, and what QUERY tells of a
 * QP that upstream's calls made and changed in the same way.
 */
#include "kselftest_harness.h"

#include "baseline.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_values_domain"

/* Two sets, so that a value that is always the same is found. */
struct values {
	int access;
	struct ibv_qp_attr rtr;
	int rtr_mask;
	struct ibv_qp_attr rts;
	int rts_mask;
};

#define RTR_MASK (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |		\
		  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |			\
		  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK (IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN)

static const struct values sets[] = {
	{
		.access = IBV_ACCESS_REMOTE_WRITE,
		.rtr = {
			.qp_state = IBV_QPS_RTR,
			.path_mtu = IBV_MTU_512,
			.dest_qp_num = 0x123,
			.rq_psn = 0x111111,
			.max_dest_rd_atomic = 4,
			.min_rnr_timer = 12,
			.ah_attr = {
				.dlid = 0x17, .sl = 3, .port_num = 1,
			},
		},
		.rtr_mask = RTR_MASK,
		.rts = {
			.qp_state = IBV_QPS_RTS, .timeout = 14,
			.sq_psn = 0x222222,
		},
		.rts_mask = RTS_MASK,
	},
	{
		.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.rtr = {
			.qp_state = IBV_QPS_RTR,
			.path_mtu = IBV_MTU_2048,
			.dest_qp_num = 0xfedcb,
			.rq_psn = 0xabcdef,
			.max_dest_rd_atomic = 8,
			.min_rnr_timer = 31,
			.ah_attr = {
				.dlid = 0x4321, .sl = 5, .port_num = 1,
				.is_global = 1,
				.grh = {
					.flow_label = 0x54321,
					.hop_limit = 64,
					.traffic_class = 0x2a,
					.dgid.raw = { 0xfe, 0x80, [8] = 1, 2, 3,
						      4, 5, 6, 7, 8 },
				},
			},
		},
		.rtr_mask = RTR_MASK,
		.rts = {
			.qp_state = IBV_QPS_RTS, .timeout = 19,
			.sq_psn = 0x333333,
		},
		.rts_mask = RTS_MASK,
	},
};

FIXTURE(values)
{
	struct baseline base;
	struct xrc_node node;
};

FIXTURE_VARIANT(values)
{
	unsigned int set;
};

FIXTURE_VARIANT_ADD(values, by_lid) { 0 };
FIXTURE_VARIANT_ADD(values, by_gid) { 1 };

FIXTURE_SETUP(values)
{
	unlink(DOMAIN_FILE);
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, xrc_node_open(&self->node, NULL, DOMAIN_FILE, 1));
}

FIXTURE_TEARDOWN(values)
{
	EXPECT_EQ(0, xrc_node_close(&self->node));
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |	\
		   IBV_QP_ACCESS_FLAGS)

static int create_in_init(struct mlx5ep_xrcd *xrcd,
			  struct mlx5ep_xrc_rcv_qp **qp)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
	};
	int ret = mlx5ep_xrc_rcv_qp_create(xrcd, NULL, qp);

	return ret ? ret :
		mlx5ep_xrc_rcv_qp_modify(*qp, &init, INIT_MASK, NULL);
}

/* Bring a shared QP to RTS, and ask for what it has. */
static void shared(struct __test_metadata *_metadata, struct xrc_node *node,
		   const struct values *v, struct ibv_qp_attr *now)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = v->access,
	};
	struct mlx5_ep_xrc_rcv_qp_modify answer = {};
	struct mlx5ep_xrc_rcv_qp *qp;

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(node->xrcd, NULL, &qp));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &init, INIT_MASK, &answer));
	EXPECT_EQ(IBV_QPS_INIT, answer.qp_state);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &v->rtr, v->rtr_mask,
					      &answer));
	EXPECT_EQ(IBV_QPS_RTR, answer.qp_state);
	/* No answer is asked for. */
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &v->rts, v->rts_mask, NULL));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(qp, now, NULL));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

/* The same with upstream's calls, which take const values as they are. */
static void upstream(struct __test_metadata *_metadata, struct xrc_node *node,
		     const struct values *v, struct ibv_qp_attr *now)
{
	struct ibv_qp_init_attr_ex create = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = mlx5ep_xrcd_ibv(node->xrcd),
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = v->access,
	};
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;

	qp = ibv_create_qp_ex(node->ctx, &create);
	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, ibv_modify_qp(qp, &attr, INIT_MASK));
	attr = v->rtr;
	ASSERT_EQ(0, ibv_modify_qp(qp, &attr, v->rtr_mask));
	attr = v->rts;
	ASSERT_EQ(0, ibv_modify_qp(qp, &attr, v->rts_mask));
	memset(now, 0, sizeof(*now));
	ASSERT_EQ(0, ibv_query_qp(qp, now, IBV_QP_STATE | IBV_QP_AV |
					  IBV_QP_ALT_PATH, &init));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

static void same_address(struct __test_metadata *_metadata,
			 const struct ibv_ah_attr *want,
			 const struct ibv_ah_attr *got)
{
	EXPECT_EQ(want->dlid, got->dlid);
	EXPECT_EQ(want->sl, got->sl);
	EXPECT_EQ(want->src_path_bits, got->src_path_bits);
	EXPECT_EQ(want->static_rate, got->static_rate);
	EXPECT_EQ(want->port_num, got->port_num);
	EXPECT_EQ(want->is_global, got->is_global);
	if (!want->is_global)
		return;
	EXPECT_EQ(want->grh.flow_label, got->grh.flow_label);
	EXPECT_EQ(want->grh.sgid_index, got->grh.sgid_index);
	EXPECT_EQ(want->grh.hop_limit, got->grh.hop_limit);
	EXPECT_EQ(want->grh.traffic_class, got->grh.traffic_class);
	EXPECT_EQ(0, memcmp(&want->grh.dgid, &got->grh.dgid, 16));
}

TEST_F(values, of_modify_are_those_of_query)
{
	const struct values *v = &sets[variant->set];
	struct ibv_qp_attr now;

	shared(_metadata, &self->node, v, &now);
	EXPECT_EQ(IBV_QPS_RTS, now.qp_state);
	EXPECT_EQ(v->access, now.qp_access_flags);
	EXPECT_EQ(0, now.pkey_index);
	EXPECT_EQ(1, now.port_num);
	EXPECT_EQ(v->rtr.path_mtu, now.path_mtu);
	EXPECT_EQ(v->rtr.dest_qp_num, now.dest_qp_num);
	EXPECT_EQ(v->rtr.rq_psn, now.rq_psn);
	EXPECT_EQ(v->rtr.max_dest_rd_atomic, now.max_dest_rd_atomic);
	EXPECT_EQ(v->rtr.min_rnr_timer, now.min_rnr_timer);
	EXPECT_EQ(v->rts.timeout, now.timeout);
	EXPECT_EQ(v->rts.sq_psn, now.sq_psn);
	same_address(_metadata, &v->rtr.ah_attr, &now.ah_attr);
}

TEST_F(values, are_those_of_an_upstream_qp)
{
	const struct values *v = &sets[variant->set];
	struct ibv_qp_attr ours, theirs;

	shared(_metadata, &self->node, v, &ours);
	upstream(_metadata, &self->node, v, &theirs);
	EXPECT_EQ(theirs.qp_state, ours.qp_state);
	EXPECT_EQ(theirs.path_mtu, ours.path_mtu);
	EXPECT_EQ(theirs.path_mig_state, ours.path_mig_state);
	EXPECT_EQ(theirs.rq_psn, ours.rq_psn);
	EXPECT_EQ(theirs.sq_psn, ours.sq_psn);
	EXPECT_EQ(theirs.dest_qp_num, ours.dest_qp_num);
	EXPECT_EQ(theirs.qp_access_flags, ours.qp_access_flags);
	EXPECT_EQ(theirs.pkey_index, ours.pkey_index);
	EXPECT_EQ(theirs.max_rd_atomic, ours.max_rd_atomic);
	EXPECT_EQ(theirs.max_dest_rd_atomic, ours.max_dest_rd_atomic);
	EXPECT_EQ(theirs.min_rnr_timer, ours.min_rnr_timer);
	EXPECT_EQ(theirs.port_num, ours.port_num);
	EXPECT_EQ(theirs.timeout, ours.timeout);
	EXPECT_EQ(theirs.retry_cnt, ours.retry_cnt);
	EXPECT_EQ(theirs.rnr_retry, ours.rnr_retry);
	same_address(_metadata, &theirs.ah_attr, &ours.ah_attr);
}

TEST_F(values, of_a_path_are_checked)
{
	const struct values *v = &sets[variant->set];
	struct ibv_qp_attr attr = v->rtr;
	struct mlx5ep_xrc_rcv_qp *qp;

	ASSERT_EQ(0, create_in_init(self->node.xrcd, &qp));
	/* Each case is valid but for one port. */
	attr.ah_attr.port_num = 0;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(qp, &attr, v->rtr_mask,
						    NULL));
	attr.ah_attr.port_num = 2;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(qp, &attr, v->rtr_mask,
						    NULL));
	attr = v->rtr;
	attr.alt_ah_attr = attr.ah_attr;
	attr.alt_port_num = 2;
	attr.alt_ah_attr.port_num = 2;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(
				   qp, &attr, v->rtr_mask | IBV_QP_ALT_PATH,
				   NULL));
	attr.alt_port_num = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(
				   qp, &attr, v->rtr_mask | IBV_QP_ALT_PATH,
				   NULL));
	attr.alt_port_num = 2;
	attr.alt_ah_attr.port_num = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(
				   qp, &attr, v->rtr_mask | IBV_QP_ALT_PATH,
				   NULL));
	/* No rate is so low. */
	attr = v->rtr;
	attr.ah_attr.static_rate = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(qp, &attr, v->rtr_mask,
						    NULL));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(qp, &attr, NULL));
	EXPECT_EQ(IBV_QPS_INIT, attr.qp_state);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &v->rtr, v->rtr_mask, NULL));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

/* The path to which a QP goes over when the first one fails. */
static const struct ibv_qp_attr alternate = {
	.alt_ah_attr = {
		.dlid = 0x2b, .sl = 6, .src_path_bits = 1, .port_num = 1,
		.is_global = 1,
		.grh = {
			.flow_label = 0x12345, .hop_limit = 33,
			.traffic_class = 0x1b,
			.dgid.raw = { 0xfe, 0x80, [8] = 8, 7, 6, 5, 4, 3, 2, 1 },
		},
	},
	.alt_port_num = 1,
	.alt_pkey_index = 1,
	.alt_timeout = 17,
};

static void same_alternate(struct __test_metadata *_metadata,
			   const struct ibv_qp_attr *got)
{
	same_address(_metadata, &alternate.alt_ah_attr, &got->alt_ah_attr);
	EXPECT_EQ(alternate.alt_port_num, got->alt_port_num);
	EXPECT_EQ(alternate.alt_timeout, got->alt_timeout);
	EXPECT_EQ(alternate.alt_pkey_index, got->alt_pkey_index);
}

TEST_F(values, of_an_alternate_path_are_those_of_query)
{
	struct values v = sets[variant->set];
	struct ibv_qp_attr now;

	v.rtr.alt_ah_attr = alternate.alt_ah_attr;
	v.rtr.alt_port_num = alternate.alt_port_num;
	v.rtr.alt_pkey_index = alternate.alt_pkey_index;
	v.rtr.alt_timeout = alternate.alt_timeout;
	v.rtr_mask |= IBV_QP_ALT_PATH;
	v.rts.path_mig_state = IBV_MIG_REARM;
	v.rts_mask |= IBV_QP_PATH_MIG_STATE;
	shared(_metadata, &self->node, &v, &now);
	same_alternate(_metadata, &now);
	same_address(_metadata, &v.rtr.ah_attr, &now.ah_attr);
	EXPECT_EQ(v.rts.timeout, now.timeout);
	EXPECT_EQ(IBV_MIG_REARM, now.path_mig_state);
	upstream(_metadata, &self->node, &v, &now);
	same_alternate(_metadata, &now);
	EXPECT_EQ(IBV_MIG_REARM, now.path_mig_state);
}

/* Without a state, a path is for a QP in SQD, which no mlx5 QP reaches. */
TEST_F(values, of_a_path_without_a_state_are_refused)
{
	const struct values *v = &sets[variant->set];
	struct ibv_qp_attr attr = alternate, now;
	struct mlx5ep_xrc_rcv_qp *qp;

	ASSERT_EQ(0, create_in_init(self->node.xrcd, &qp));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &v->rtr, v->rtr_mask, NULL));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &v->rts, v->rts_mask, NULL));
	attr.ah_attr = alternate.alt_ah_attr;
	attr.port_num = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_AV, NULL));
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(
				   qp, &attr, IBV_QP_AV | IBV_QP_PORT, NULL));
	attr.qp_state = IBV_QPS_SQD;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_STATE,
						    NULL));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(qp, &now, NULL));
	EXPECT_EQ(IBV_QPS_RTS, now.qp_state);
	same_address(_metadata, &v->rtr.ah_attr, &now.ah_attr);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

/* A MODIFY without a state answers with the state that the module knows. */
TEST_F(values, of_a_refused_state_are_not_those_of_the_qp)
{
	const struct values *v = &sets[variant->set];
	struct mlx5_ep_xrc_rcv_qp_modify answer = {};
	struct ibv_qp_attr attr = {};
	struct mlx5ep_xrc_rcv_qp *qp;

	ASSERT_EQ(0, create_in_init(self->node.xrcd, &qp));
	/* RTR wants more than a state. */
	attr.qp_state = IBV_QPS_RTR;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_STATE,
						    NULL));
	attr.qp_access_flags = v->access;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_ACCESS_FLAGS,
					      &answer));
	EXPECT_EQ(IBV_QPS_INIT, answer.qp_state);
	EXPECT_EQ(0, answer.flags);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

/* ERR is the last state. */
TEST_F(values, of_states_end_with_err)
{
	struct mlx5_ep_xrc_rcv_qp_modify answer = {};
	struct ibv_qp_attr attr = {};
	struct mlx5ep_xrc_rcv_qp *qp;

	ASSERT_EQ(0, create_in_init(self->node.xrcd, &qp));
	attr.qp_state = IBV_QPS_ERR;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_STATE,
					      &answer));
	EXPECT_EQ(IBV_QPS_ERR, answer.qp_state);
	attr.qp_state = IBV_QPS_ERR + 1;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_STATE,
						    NULL));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

/* What the mask does not name may be anything, and changes nothing. */
TEST_F(values, that_the_mask_leaves_out_are_not_looked_at)
{
	struct mlx5_ep_xrc_rcv_qp_modify answer = {};
	struct ibv_qp_attr attr, now;
	struct mlx5ep_xrc_rcv_qp *qp;

	ASSERT_EQ(0, create_in_init(self->node.xrcd, &qp));
	memset(&attr, 0xff, sizeof(attr));
	attr.qp_access_flags = 0;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_ACCESS_FLAGS,
					      &answer));
	EXPECT_EQ(IBV_QPS_INIT, answer.qp_state);
	EXPECT_EQ(0, answer.flags);
	/* Nor is the state in which the QP is one that this call asks for. */
	attr.qp_state = IBV_QPS_INIT;
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_ACCESS_FLAGS,
					      &answer));
	EXPECT_EQ(0, answer.flags);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(qp, &now, NULL));
	EXPECT_EQ(IBV_QPS_INIT, now.qp_state);
	EXPECT_EQ(IBV_ACCESS_REMOTE_WRITE, now.qp_access_flags);
	EXPECT_EQ(0, now.pkey_index);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

/* Who names the state in which the QP is wants the change, and no "already there". */
TEST_F(values, of_the_current_state_are_passed_on)
{
	const struct values *v = &sets[variant->set];
	struct mlx5_ep_xrc_rcv_qp_modify answer = {};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_RTS,
	};
	struct mlx5ep_xrc_rcv_qp *qp;

	ASSERT_EQ(0, create_in_init(self->node.xrcd, &qp));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &v->rtr, v->rtr_mask, NULL));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &v->rts, v->rts_mask, NULL));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_STATE,
					      &answer));
	EXPECT_EQ(MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY, answer.flags);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_modify(
			     qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE,
			     &answer));
	EXPECT_EQ(IBV_QPS_RTS, answer.qp_state);
	EXPECT_EQ(0, answer.flags);
	attr.cur_qp_state = IBV_QPS_INIT;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_modify(
				   qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE,
				   NULL));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

TEST_HARNESS_MAIN
