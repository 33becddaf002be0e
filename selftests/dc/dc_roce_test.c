// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, guest: dc-roce, hca: 2, link: eth, timeout: 240, config: VLAN_8021Q */
/*
 * DC over RoCE, from an initiator on one HCA to a target on the other (see
 * roce_net.h). simhca delivers a message if GID and MAC address in the address
 * vector of the request are the other port's, and if an answer from the target's
 * own address would reach the initiator: both must be on one VLAN.
 */
#include "kselftest_harness.h"

#include "dc_end.h"
#include "roce_net.h"

#define EMPTY_INDEX 14		/* no address of these ports */

/* The address of a port; an end is opened with it. */
static int address_of(const char *device, const char *text, unsigned int type,
		      struct address *address)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i, ret = -ENODEV;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), device))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	memset(address, 0, sizeof(*address));
	if (ctx) {
		ret = roce_net_find(ctx, text, type, address);
		ibv_close_device(ctx);
	}
	return ret;
}

struct ends {
	struct dc_end initiator, target;
	struct dc_to to;
};

static int ends_open(struct ends *ends, const char *from, const char *to,
		     unsigned int type)
{
	struct address a, b;
	int ret = roce_net_up();

	memset(ends, 0, sizeof(*ends));
	if (!ret)
		ret = address_of("mlx5_0", from, type, &a);
	if (!ret)
		ret = address_of("mlx5_1", to, type, &b);
	if (!ret)
		ret = dc_end_open(&ends->initiator, "mlx5_0", &a, 0);
	if (!ret)
		ret = dc_end_open(&ends->target, "mlx5_1", &b, 0);
	if (ret)
		return ret;
	ends->to = dc_to(&ends->initiator, &ends->target);
	return ends->to.ah ? 0 : -errno;
}

static void ends_close(struct ends *ends)
{
	if (ends->to.ah)
		ibv_destroy_ah(ends->to.ah);
	dc_end_close(&ends->initiator);
	dc_end_close(&ends->target);
}

/* What libmlx5 puts into each request that names this address. */
static struct mlx5_wqe_av *vector(struct ibv_ah *ah)
{
	struct mlx5dv_ah dv = {};
	struct mlx5dv_obj obj = { .ah = { .in = ah, .out = &dv } };

	return mlx5dv_init_obj(&obj, MLX5DV_OBJ_AH) ? NULL : dv.av;
}

/* Every operation goes through, and its data is right. */
static int all_pass(struct ends *ends)
{
	struct dc_end *from = &ends->initiator, *to = &ends->target;
	struct ibv_wc wc;
	int ret;

	dc_fill(from, 1);
	ret = dc_recv_post(to, 0);
	if (!ret)
		ret = dc_run(from, &ends->to, IBV_WR_SEND);
	if (!ret && (dc_recv(to, &wc) != DC_LEN ||
		     memcmp(from->from, to->received, DC_LEN)))
		ret = -EBADMSG;
	if (!ret)
		ret = dc_run(from, &ends->to, IBV_WR_RDMA_WRITE);
	if (!ret && memcmp(from->from, to->to, DC_LEN))
		ret = -EBADMSG;
	memset(from->from, 0, DC_LEN);
	if (!ret)
		ret = dc_run(from, &ends->to, IBV_WR_RDMA_READ);
	if (!ret && memcmp(from->from, to->to, DC_LEN))
		ret = -EBADMSG;
	return ret;
}

FIXTURE(delivered)
{
	struct ends ends;
};

FIXTURE_VARIANT(delivered)
{
	const char *from, *to;
	unsigned int type;
};

FIXTURE_VARIANT_ADD(delivered, v1_default) {
	"", "", IBV_GID_TYPE_ROCE_V1 };
FIXTURE_VARIANT_ADD(delivered, v2_ipv4) {
	"192.0.2.1", "192.0.2.2", IBV_GID_TYPE_ROCE_V2 };
FIXTURE_VARIANT_ADD(delivered, v2_ipv6) {
	"2001:db8::1", "2001:db8::2", IBV_GID_TYPE_ROCE_V2 };
FIXTURE_VARIANT_ADD(delivered, v2_vlan) {
	"198.51.100.1", "198.51.100.2", IBV_GID_TYPE_ROCE_V2 };

FIXTURE_SETUP(delivered)
{
	ASSERT_EQ(0, ends_open(&self->ends, variant->from, variant->to,
			       variant->type));
}

FIXTURE_TEARDOWN(delivered)
{
	ends_close(&self->ends);
}

TEST_F(delivered, and_read_back)
{
	EXPECT_EQ(0, all_pass(&self->ends));
}

FIXTURE(wrong)
{
	struct ends ends;
};

FIXTURE_SETUP(wrong)
{
	ASSERT_EQ(0, ends_open(&self->ends, "192.0.2.1", "192.0.2.2",
			       IBV_GID_TYPE_ROCE_V2));
}

FIXTURE_TEARDOWN(wrong)
{
	ends_close(&self->ends);
}

/* Nothing has arrived. A new initiator with the right address gets through. */
static void is_lost(struct __test_metadata *_metadata, struct ends *ends)
{
	struct dc_end *from = &ends->initiator;

	dc_fill(from, 9);
	EXPECT_EQ(IBV_WC_RETRY_EXC_ERR,
		  dc_run(from, &ends->to, IBV_WR_RDMA_WRITE));
	EXPECT_NE(0, memcmp(from->from, ends->target.to, DC_LEN));
	ASSERT_EQ(0, ibv_destroy_ah(ends->to.ah));
	ASSERT_EQ(0, dc_end_renew(from, 0));
	ends->to = dc_to(from, &ends->target);
	ASSERT_NE(NULL, ends->to.ah);
	EXPECT_EQ(0, all_pass(ends));
}

TEST_F(wrong, mac_address_reaches_nobody)
{
	struct mlx5_wqe_av *av = vector(self->ends.to.ah);

	ASSERT_NE(NULL, av);
	av->rmac[5] ^= 1;
	is_lost(_metadata, &self->ends);
}

TEST_F(wrong, gid_reaches_nobody)
{
	struct mlx5_wqe_av *av = vector(self->ends.to.ah);

	ASSERT_NE(NULL, av);
	av->rgid[15] ^= 4;
	is_lost(_metadata, &self->ends);
}

/* The source is an empty entry of the initiator's table. */
TEST_F(wrong, source_reaches_nobody)
{
	struct mlx5_wqe_av *av = vector(self->ends.to.ah);

	ASSERT_NE(NULL, av);
	av->grh_gid_fl = (av->grh_gid_fl & htobe32(0xfffff)) |
			 htobe32(1u << 30 | EMPTY_INDEX << 20);
	is_lost(_metadata, &self->ends);
}

/* The target's own address is on a VLAN: its answers do not arrive. */
TEST_F(wrong, vlan_of_the_target_gets_no_answer)
{
	struct dc_end *target = &self->ends.target;
	struct address vlan;

	ASSERT_EQ(0, address_of("mlx5_1", "198.51.100.2", IBV_GID_TYPE_ROCE_V2,
				&vlan));
	dc_end_close(target);
	ASSERT_EQ(0, dc_end_open(target, "mlx5_1", &vlan, 0));
	self->ends.to.dctn = target->dct->qp_num;
	self->ends.to.addr = (uintptr_t)target->to;
	self->ends.to.rkey = target->mr->rkey;
	EXPECT_EQ(IBV_WC_RETRY_EXC_ERR, dc_run(&self->ends.initiator,
					       &self->ends.to,
					       IBV_WR_RDMA_WRITE));
}

TEST_HARNESS_MAIN
