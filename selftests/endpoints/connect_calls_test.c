// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * What connecting an endpoint asks of verbs, with endpoint_connect.c compiled into this
 * program and with verbs that are made up: the attributes of each step, the GID that is
 * chosen, the limits of the fields, and what is undone if a step fails.
 */
#include "kselftest_harness.h"

#include "../../userlib/endpoint_connect.c"

#define STEPS	3	/* INIT, RTR, RTS */
#define GIDS	300

/* What the adapter has, and what was asked of it. */
static struct {
	struct ibv_port_attr port;
	struct ibv_gid_entry gids[GIDS];
	int gid_errors[GIDS];	/* ENODATA: the entry is empty */
	struct ibv_device_attr device;
	int port_error, device_error;
	int failing;		/* step that fails, from 1; 0: none */

	struct ibv_qp_attr steps[STEPS + 1];
	int masks[STEPS + 1];
	int n_steps;
	unsigned int port_num;	/* of the last query */
	unsigned int gid_port;
} fake;

static int fake_query_port(struct ibv_context *context, uint8_t port_num,
			   struct ibv_port_attr *attr, size_t size)
{
	fake.port_num = port_num;
	memcpy(attr, &fake.port, size);
	return fake.port_error;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t gid_index, struct ibv_gid_entry *entry, uint32_t flags,
		      size_t size)
{
	fake.gid_port = port_num;
	memcpy(entry, &fake.gids[gid_index], size);
	return fake.gid_errors[gid_index];
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	*attr = fake.device;
	return fake.device_error;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int at = fake.n_steps <= STEPS ? fake.n_steps++ : STEPS;

	fake.steps[at] = *attr;
	fake.masks[at] = mask;
	return fake.n_steps == fake.failing ? EBUSY : 0;
}

FIXTURE(connect)
{
	struct verbs_context verbs;
	struct ibv_qp qp;
	struct {
		struct mlx5ep_endpoint_address address;
		uint32_t behind;
	} remote;
	struct mlx5ep_connect_attr attr;
};

/* The port of an adapter on InfiniBand. */
FIXTURE_SETUP(connect)
{
	int i;

	memset(&fake, 0, sizeof(fake));
	fake.port = (struct ibv_port_attr) {
		.lid = 11, .active_mtu = IBV_MTU_2048, .gid_tbl_len = 4,
		.link_layer = IBV_LINK_LAYER_INFINIBAND,
	};
	fake.device.max_qp_rd_atom = 32;
	fake.device.max_qp_init_rd_atom = 64;
	for (i = 0; i < GIDS; i++) {
		fake.gids[i].gid_index = i;
		fake.gids[i].gid_type = IBV_GID_TYPE_ROCE_V1;
		memset(fake.gids[i].gid.raw, 1 + i % 200, 16);
	}
	self->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	self->verbs.sz = sizeof(self->verbs);
	self->verbs.query_port = fake_query_port;
	self->qp = (struct ibv_qp) {
		.context = &self->verbs.context, .qp_type = IBV_QPT_RC, .qp_num = 5,
	};
	self->remote.address = (struct mlx5ep_endpoint_address) {
		.qp_num = PSN_MASK, .psn = PSN_MASK, .lid = 22, .mtu = IBV_MTU_4096,
		.link_layer = IBV_LINK_LAYER_INFINIBAND,
	};
	memset(self->remote.address.gid, 0x77, 16);
	self->remote.behind = 1;
}

FIXTURE_TEARDOWN(connect)
{
}

static int connect_qp(FIXTURE_DATA(connect) *self)
{
	fake.n_steps = 0;
	return mlx5ep_endpoint_connect(&self->qp, &self->attr, &self->remote.address);
}

/* The index of the GID that is chosen, or an error. */
static int chosen(FIXTURE_DATA(connect) *self)
{
	int ret = connect_qp(self);

	return ret ? ret : fake.steps[1].ah_attr.grh.sgid_index;
}

static void ethernet(FIXTURE_DATA(connect) *self)
{
	fake.port.link_layer = IBV_LINK_LAYER_ETHERNET;
	self->remote.address.link_layer = IBV_LINK_LAYER_ETHERNET;
	self->remote.address.lid = 0;
}

static void roce_v2(int i, bool ipv4)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	fake.gids[i].gid_type = IBV_GID_TYPE_ROCE_V2;
	if (ipv4)
		memcpy(fake.gids[i].gid.raw, mapped, sizeof(mapped));
}

#define MASK_RTR (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |	\
		  IBV_QP_RQ_PSN)
#define MASK_RTR_RC (MASK_RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define MASK_RTS (IBV_QP_STATE | IBV_QP_SQ_PSN)
#define MASK_RTS_RC (MASK_RTS | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |	\
		     IBV_QP_MAX_QP_RD_ATOMIC)

TEST_F(connect, without_attributes_takes_those_that_are_documented)
{
	const struct ibv_qp_attr *init = &fake.steps[0], *rtr = &fake.steps[1];
	const struct ibv_qp_attr *rts = &fake.steps[2];

	ASSERT_EQ(0, mlx5ep_endpoint_connect(&self->qp, NULL, &self->remote.address));
	ASSERT_EQ(STEPS, fake.n_steps);
	EXPECT_EQ(1, fake.port_num);
	EXPECT_EQ(IBV_QPS_INIT, init->qp_state);
	EXPECT_EQ(IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		  fake.masks[0]);
	EXPECT_EQ(1, init->port_num);
	EXPECT_EQ(0, init->pkey_index);
	EXPECT_EQ(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		  init->qp_access_flags);

	EXPECT_EQ(IBV_QPS_RTR, rtr->qp_state);
	EXPECT_EQ(MASK_RTR_RC, fake.masks[1]);
	EXPECT_EQ(IBV_MTU_2048, rtr->path_mtu);
	EXPECT_EQ(PSN_MASK, rtr->dest_qp_num);
	EXPECT_EQ(PSN_MASK, rtr->rq_psn);
	EXPECT_EQ(16, rtr->max_dest_rd_atomic);
	EXPECT_EQ(12, rtr->min_rnr_timer);
	EXPECT_EQ(22, rtr->ah_attr.dlid);
	EXPECT_EQ(1, rtr->ah_attr.port_num);
	EXPECT_EQ(0, rtr->ah_attr.is_global);
	EXPECT_EQ(64, rtr->ah_attr.grh.hop_limit);
	EXPECT_EQ(0x77, rtr->ah_attr.grh.dgid.raw[0]);
	EXPECT_EQ(0x77, rtr->ah_attr.grh.dgid.raw[15]);

	EXPECT_EQ(IBV_QPS_RTS, rts->qp_state);
	EXPECT_EQ(MASK_RTS_RC, fake.masks[2]);
	EXPECT_EQ(14, rts->timeout);
	EXPECT_EQ(7, rts->retry_cnt);
	EXPECT_EQ(7, rts->rnr_retry);
	EXPECT_EQ(16, rts->max_rd_atomic);
}

/* Each at the most that its field has. */
TEST_F(connect, passes_on_the_callers_attributes)
{
	const struct ibv_qp_attr *rtr = &fake.steps[1], *rts = &fake.steps[2];
	struct mlx5ep_endpoint_address own;

	self->attr = (struct mlx5ep_connect_attr) {
		.flags = MLX5EP_CONNECT_SGID_INDEX | MLX5EP_CONNECT_GLOBAL,
		.port = 255, .sgid_index = 255, .psn = PSN_MASK, .access = 8,
		.pkey_index = 9, .sl = 15, .traffic_class = 10, .hop_limit = 11,
		.mtu = IBV_MTU_4096, .rd_atomic = 3, .timeout = 31, .retry_cnt = 7,
		.rnr_retry = 7, .min_rnr_timer = 31,
	};
	ASSERT_EQ(0, connect_qp(self));
	EXPECT_EQ(255, fake.port_num);
	EXPECT_EQ(255, fake.gid_port);
	EXPECT_EQ(255, fake.steps[0].port_num);
	EXPECT_EQ(9, fake.steps[0].pkey_index);
	EXPECT_EQ(8, fake.steps[0].qp_access_flags);
	EXPECT_EQ(IBV_MTU_4096, rtr->path_mtu);
	EXPECT_EQ(3, rtr->max_dest_rd_atomic);
	EXPECT_EQ(31, rtr->min_rnr_timer);
	EXPECT_EQ(15, rtr->ah_attr.sl);
	EXPECT_EQ(255, rtr->ah_attr.port_num);
	EXPECT_EQ(1, rtr->ah_attr.is_global);
	EXPECT_EQ(255, rtr->ah_attr.grh.sgid_index);
	EXPECT_EQ(11, rtr->ah_attr.grh.hop_limit);
	EXPECT_EQ(10, rtr->ah_attr.grh.traffic_class);
	EXPECT_EQ(PSN_MASK, rts->sq_psn);
	EXPECT_EQ(31, rts->timeout);
	EXPECT_EQ(3, rts->max_rd_atomic);

	self->attr.retry_cnt = 1;
	self->attr.rnr_retry = 2;
	self->attr.mtu = 0;
	self->remote.address.mtu = IBV_MTU_256;
	ASSERT_EQ(0, connect_qp(self));
	EXPECT_EQ(1, rts->retry_cnt);
	EXPECT_EQ(2, rts->rnr_retry);
	EXPECT_EQ(IBV_MTU_256, rtr->path_mtu);

	ASSERT_EQ(0, mlx5ep_endpoint_address(&self->qp, &self->attr, &own));
	EXPECT_EQ(5, own.qp_num);
	EXPECT_EQ(PSN_MASK, own.psn);
	EXPECT_EQ(11, own.lid);
	EXPECT_EQ(IBV_MTU_2048, own.mtu);
	EXPECT_EQ(IBV_LINK_LAYER_INFINIBAND, own.link_layer);
	EXPECT_EQ(0, memcmp(own.gid, fake.gids[255].gid.raw, 16));
	EXPECT_EQ(0, own.reserved[7]);
}

TEST_F(connect, of_a_uc_qp_sets_what_it_has)
{
	self->qp.qp_type = IBV_QPT_UC;
	ASSERT_EQ(0, connect_qp(self));
	EXPECT_EQ(MASK_RTR, fake.masks[1]);
	EXPECT_EQ(MASK_RTS, fake.masks[2]);
	self->qp.qp_type = IBV_QPT_UD;
	EXPECT_EQ(-EOPNOTSUPP, connect_qp(self));
	self->qp.qp_type = IBV_QPT_RC;
	self->qp.state = IBV_QPS_ERR;
	EXPECT_EQ(-EISCONN, connect_qp(self));
	EXPECT_EQ(0, fake.n_steps);
}

TEST_F(connect, reads_and_atomics_are_as_many_as_the_device_has)
{
	fake.device.max_qp_init_rd_atom = 5;
	ASSERT_EQ(0, connect_qp(self));
	EXPECT_EQ(5, fake.steps[1].max_dest_rd_atomic);
	fake.device.max_qp_rd_atom = 4;
	ASSERT_EQ(0, connect_qp(self));
	EXPECT_EQ(4, fake.steps[2].max_rd_atomic);
	fake.device_error = EIO;
	EXPECT_EQ(-EIO, connect_qp(self));
	EXPECT_EQ(0, fake.n_steps);
	/* The caller's number needs no query. */
	self->attr.rd_atomic = 200;
	ASSERT_EQ(0, connect_qp(self));
	EXPECT_EQ(200, fake.steps[1].max_dest_rd_atomic);
}

TEST_F(connect, on_ethernet_takes_the_first_gid_of_ipv4)
{
	ethernet(self);
	fake.gid_errors[0] = ENODATA;
	roce_v2(1, false);
	roce_v2(2, true);
	roce_v2(3, true);
	EXPECT_EQ(2, chosen(self));
	EXPECT_EQ(1, fake.steps[1].ah_attr.is_global);
	/* That of an address of IPv4 in version 1 is none. */
	fake.gids[2].gid_type = IBV_GID_TYPE_ROCE_V1;
	EXPECT_EQ(3, chosen(self));
	/* What is behind the table is not there. */
	fake.port.gid_tbl_len = 3;
	EXPECT_EQ(1, chosen(self));
	roce_v2(2, false);
	memset(fake.gids[2].gid.raw, 3, 16);
	EXPECT_EQ(1, chosen(self));
	fake.gid_errors[2] = EIO;
	EXPECT_EQ(-EIO, chosen(self));
}

TEST_F(connect, on_ethernet_takes_the_first_gid_if_none_is_of_version_2)
{
	ethernet(self);
	EXPECT_EQ(0, chosen(self));
	/* An index has 8 bits. */
	fake.port.gid_tbl_len = GIDS;
	roce_v2(256, true);
	EXPECT_EQ(0, chosen(self));
	roce_v2(255, false);
	EXPECT_EQ(255, chosen(self));
	self->attr.flags = MLX5EP_CONNECT_SGID_INDEX;
	self->attr.sgid_index = 7;
	EXPECT_EQ(7, chosen(self));
	fake.gid_errors[7] = ENODATA;
	EXPECT_EQ(-ENODATA, chosen(self));
	EXPECT_EQ(0, fake.n_steps);
}

TEST_F(connect, takes_a_remote_without_lid_by_its_gid_only)
{
	/* Ethernet's GIDs are nothing here. */
	roce_v2(2, true);
	EXPECT_EQ(0, chosen(self));
	self->remote.address.lid = 0;
	EXPECT_EQ(-EINVAL, connect_qp(self));
	self->attr.flags = MLX5EP_CONNECT_GLOBAL;
	EXPECT_EQ(0, connect_qp(self));
	EXPECT_EQ(1, fake.steps[1].ah_attr.is_global);
	self->remote.address.link_layer = IBV_LINK_LAYER_ETHERNET;
	EXPECT_EQ(-EINVAL, connect_qp(self));
	EXPECT_EQ(0, fake.n_steps);
}

TEST_F(connect, refuses_an_address_that_is_none)
{
	const struct mlx5ep_endpoint_address good = self->remote.address;
	unsigned int i;

#define WRONG(field, value)						\
	do {								\
		self->remote.address = good;				\
		self->remote.address.field = value;			\
		EXPECT_EQ(-EINVAL, connect_qp(self));			\
	} while (0)
	for (i = 0; i < sizeof(good.reserved) / sizeof(good.reserved[0]); i++)
		WRONG(reserved[i], 1);
	WRONG(reserved1, 1);
	WRONG(qp_num, PSN_MASK + 1);
	WRONG(psn, PSN_MASK + 1);
	WRONG(mtu, IBV_MTU_256 - 1);
	WRONG(mtu, IBV_MTU_4096 + 1);
	EXPECT_EQ(0, fake.n_steps);
}

TEST_F(connect, refuses_what_no_field_has)
{
	static const struct mlx5ep_connect_attr bad[] = {
		{ .flags = 1 << 2 }, { .port = 256 }, { .psn = PSN_MASK + 1 },
		{ .flags = MLX5EP_CONNECT_SGID_INDEX, .sgid_index = 256 },
		{ .sgid_index = 1 }, { .mtu = IBV_MTU_4096 + 1 }, { .sl = 16 },
		{ .timeout = 32 }, { .retry_cnt = 8 }, { .rnr_retry = 8 },
		{ .min_rnr_timer = 32 },
	};
	struct mlx5ep_endpoint_address own, before;
	unsigned int i;

	memset(&own, 0x55, sizeof(own));
	before = own;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		self->attr = bad[i];
		EXPECT_EQ(-EINVAL, connect_qp(self));
		EXPECT_EQ(-EINVAL, mlx5ep_endpoint_address(&self->qp, &bad[i], &own));
	}
	fake.port_error = ENODEV;
	EXPECT_EQ(-ENODEV, mlx5ep_endpoint_address(&self->qp, NULL, &own));
	fake.port_error = 0;
	fake.gid_errors[0] = EIO;
	EXPECT_EQ(-EIO, mlx5ep_endpoint_address(&self->qp, NULL, &own));
	EXPECT_EQ(0, memcmp(&own, &before, sizeof(own)));
	EXPECT_EQ(0, fake.n_steps);
}

TEST_F(connect, goes_back_to_reset_if_a_step_fails)
{
	int step;

	for (step = 1; step <= STEPS; step++) {
		fake.failing = step;
		EXPECT_EQ(-EBUSY, connect_qp(self));
		ASSERT_EQ(step + 1, fake.n_steps);
		EXPECT_EQ(IBV_QPS_RESET, fake.steps[step].qp_state);
		EXPECT_EQ(IBV_QP_STATE, fake.masks[step]);
	}
}

TEST_HARNESS_MAIN
