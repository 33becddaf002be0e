// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, guest: xrc-roce, hca: 2, link: eth, timeout: 240, config: VLAN_8021Q */
/*
 * Shared XRC receive QPs over RoCE, between the two HCAs of roce_net.h. The
 * module asks the network stack for the MAC address of the peer. simhca delivers a
 * message if the GID and the MAC address in the QPs of both ends are those of the
 * other end.
 */
#include "kselftest_harness.h"

#include "baseline.h"
#include "roce_net.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_roce_domain"
#define MESSAGES 8
#define SOON 5000	/* ms */
#define NEVER 100	/* ms, before patience */

/* A shared QP in INIT on the first HCA, and a sender on the second. */
struct ends {
	struct baseline base;
	struct xrc_node node;
	struct xrc_sender sender;
	struct mlx5ep_xrc_rcv_qp *qp;
	struct address to_sender, to_node;
};

static int ends_open(struct ends *ends)
{
	int ret;

	unlink(DOMAIN_FILE);
	if (roce_net_up())
		return -EIO;
	ret = baseline_take(&ends->base);
	if (!ret)
		ret = xrc_node_open(&ends->node, xrc_device(0), DOMAIN_FILE, 1);
	if (!ret)
		ret = xrc_sender_open(&ends->sender, xrc_device(1));
	if (!ret)
		ret = mlx5ep_xrc_rcv_qp_get(ends->node.xrcd, "peer", 4, 0, NULL,
					    &ends->qp);
	return ret < 0 ? ret : xrc_qp_step(ends->qp, IBV_QPS_INIT, 0, NULL);
}

static int ends_close(struct ends *ends)
{
	int ret = mlx5ep_xrc_rcv_qp_unreg(ends->qp);

	xrc_sender_close(&ends->sender);
	if (!ret)
		ret = xrc_node_close(&ends->node);
	return ret ? ret : baseline_restored(&ends->base, 5);
}

/* Each end has an index of its own for its own GID. */
static int find_both(struct ends *ends, const char *node, const char *sender,
		     unsigned int type)
{
	uint8_t index;
	int ret;

	ret = roce_net_find(ends->node.ctx, node, type, &ends->to_node);
	if (!ret)
		ret = roce_net_find(ends->sender.ctx, sender, type,
				    &ends->to_sender);
	index = ends->to_node.gid_index;
	ends->to_node.gid_index = ends->to_sender.gid_index;
	ends->to_sender.gid_index = index;
	return ret;
}

static int qp_to_rtr(struct ends *ends)
{
	return xrc_qp_step(ends->qp, IBV_QPS_RTR, ends->sender.qp->qp_num,
			   &ends->to_sender);
}

static int sender_connect(struct ends *ends)
{
	return xrc_sender_connect(&ends->sender,
				  mlx5ep_xrc_rcv_qp_num(ends->qp),
				  &ends->to_node);
}

/* Send messages one after the other; all must arrive. */
static int messages_pass(struct ends *ends)
{
	uint8_t msg[XRC_MSG], got[XRC_MSG];
	unsigned int i, srq;
	int ret;

	for (i = 0; i < MESSAGES; i++) {
		xrc_msg_fill(msg, 1, 0, i);
		ret = xrc_sender_send(&ends->sender, ends->node.srqs[0].num,
				      msg);
		if (!ret)
			ret = xrc_node_recv(&ends->node, &srq, got, SOON);
		if (!ret && !xrc_msg_is(got, 1, 0, i))
			ret = -EBADMSG;
		if (ret)
			return ret;
	}
	return 0;
}

/* Send one message; it must not arrive, and the sender must get no answer. */
static int message_is_lost(struct ends *ends)
{
	uint8_t msg[XRC_MSG];
	unsigned int srq;
	int ret;

	xrc_msg_fill(msg, 1, 0, 0);
	ret = xrc_sender_post(&ends->sender, ends->node.srqs[0].num, msg);
	if (ret)
		return ret;
	ret = xrc_node_recv(&ends->node, &srq, msg, NEVER);
	if (ret != -ETIMEDOUT)
		return ret ? ret : -EEXIST;
	ret = xrc_sender_wait(&ends->sender, NEVER);
	return ret == -ETIMEDOUT ? 0 : -EEXIST;
}

FIXTURE(delivered)
{
	struct ends ends;
};

FIXTURE_VARIANT(delivered)
{
	const char *node, *sender;	/* "": the default GID */
	unsigned int type;
	bool vlan;
};

FIXTURE_VARIANT_ADD(delivered, v1_default) {
	.node = "", .sender = "", .type = IBV_GID_TYPE_ROCE_V1,
};

FIXTURE_VARIANT_ADD(delivered, v1_ipv4) {
	.node = "192.0.2.1", .sender = "192.0.2.2", .type = IBV_GID_TYPE_ROCE_V1,
};

FIXTURE_VARIANT_ADD(delivered, v2_default) {
	.node = "", .sender = "", .type = IBV_GID_TYPE_ROCE_V2,
};

FIXTURE_VARIANT_ADD(delivered, v2_ipv4) {
	.node = "192.0.2.1", .sender = "192.0.2.2", .type = IBV_GID_TYPE_ROCE_V2,
};

FIXTURE_VARIANT_ADD(delivered, v2_ipv6) {
	.node = "2001:db8::1", .sender = "2001:db8::2",
	.type = IBV_GID_TYPE_ROCE_V2,
};

FIXTURE_VARIANT_ADD(delivered, v2_vlan) {
	.node = "198.51.100.1", .sender = "198.51.100.2",
	.type = IBV_GID_TYPE_ROCE_V2, .vlan = true,
};

FIXTURE_SETUP(delivered)
{
	ASSERT_EQ(0, ends_open(&self->ends));
	if (variant->vlan && !roce_net_has_vlan())
		SKIP(return, "this kernel has no VLANs (CONFIG_VLAN_8021Q)");
	ASSERT_EQ(0, find_both(&self->ends, variant->node, variant->sender,
			       variant->type));
}

FIXTURE_TEARDOWN(delivered)
{
	EXPECT_EQ(0, ends_close(&self->ends));
}

TEST_F(delivered, and_query_has_the_path)
{
	struct ends *ends = &self->ends;
	struct mlx5ep_xrc_rcv_qp *second;
	struct ibv_qp_attr attr;

	ASSERT_EQ(0, qp_to_rtr(ends));
	/* Whoever joins is told that the QP is connected, and sees where to. */
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_get(ends->node.xrcd, "peer", 4, 0, NULL,
					   &second));
	EXPECT_EQ(1, xrc_qp_step(second, IBV_QPS_RTR, ends->sender.qp->qp_num,
				 &ends->to_sender));
	EXPECT_EQ(0, xrc_qp_step(second, IBV_QPS_RTS, 0, NULL));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(second, &attr, NULL));
	EXPECT_TRUE(address_is_at(&ends->to_sender, &attr.ah_attr));
	EXPECT_EQ(ends->to_sender.gid_index, attr.ah_attr.grh.sgid_index);
	ASSERT_EQ(0, sender_connect(ends));
	EXPECT_EQ(0, messages_pass(ends));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(second));
}

FIXTURE(wrong)
{
	struct ends ends;
};

FIXTURE_SETUP(wrong)
{
	ASSERT_EQ(0, ends_open(&self->ends));
	ASSERT_EQ(0, find_both(&self->ends, "192.0.2.1", "192.0.2.2",
			       IBV_GID_TYPE_ROCE_V2));
}

FIXTURE_TEARDOWN(wrong)
{
	EXPECT_EQ(0, ends_close(&self->ends));
}

/* The network stack believes in another MAC address of the sender. */
TEST_F(wrong, mac_address_gets_no_message)
{
	struct ends *ends = &self->ends;
	int ret;

	ASSERT_EQ(0, roce_net_shell("ip -n a neigh replace 192.0.2.2 dev port "
				    "lladdr 02:00:00:00:00:99 nud permanent"));
	ret = qp_to_rtr(ends);
	ASSERT_EQ(0, roce_net_shell("ip -n a neigh del 192.0.2.2 dev port"));
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, xrc_qp_step(ends->qp, IBV_QPS_RTS, 0, NULL));
	ASSERT_EQ(0, sender_connect(ends));
	EXPECT_EQ(0, message_is_lost(ends));
}

/* The GID is the node's own, so there is a MAC address, but not the sender's. */
TEST_F(wrong, gid_gets_no_message)
{
	struct ends *ends = &self->ends;

	ends->to_sender.gid = ends->to_node.gid;
	ASSERT_EQ(0, qp_to_rtr(ends));
	ASSERT_EQ(0, xrc_qp_step(ends->qp, IBV_QPS_RTS, 0, NULL));
	ASSERT_EQ(0, sender_connect(ends));
	EXPECT_EQ(0, message_is_lost(ends));
}

/* Nobody answers for the address. The QP stays as it is, and can be connected. */
TEST_F(wrong, unknown_address_is_refused)
{
	union ibv_gid right = self->ends.to_sender.gid;
	struct mlx5_ep_xrc_rcv_qp_info info;
	struct ends *ends = &self->ends;

	ends->to_sender.gid.raw[15] = 77;
	EXPECT_GT(0, qp_to_rtr(ends));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(ends->qp, NULL, &info));
	EXPECT_EQ(IBV_QPS_INIT, info.qp_state);
	ends->to_sender.gid = right;
	ASSERT_EQ(0, qp_to_rtr(ends));
	ASSERT_EQ(0, xrc_qp_step(ends->qp, IBV_QPS_RTS, 0, NULL));
	ASSERT_EQ(0, sender_connect(ends));
	EXPECT_EQ(0, messages_pass(ends));
}

/* The port's own table has no such entry, or the entry is empty. */
TEST_F(wrong, index_is_refused)
{
	struct mlx5_ep_xrc_rcv_qp_info info;
	struct ends *ends = &self->ends;

	ends->to_sender.gid_index = 200;
	EXPECT_EQ(-EINVAL, qp_to_rtr(ends));
	ends->to_sender.gid_index = 15;
	EXPECT_EQ(-ENODATA, qp_to_rtr(ends));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(ends->qp, NULL, &info));
	EXPECT_EQ(IBV_QPS_INIT, info.qp_state);
}

TEST_HARNESS_MAIN
