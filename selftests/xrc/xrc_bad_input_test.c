// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * Invalid input and limits: the call returns the documented errno and creates
 * nothing.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "baseline.h"
#include "sysfs.h"
#include "uverbs.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_bad_input_domain"
#define PARAM "/sys/module/mlx5_ep/parameters/"
#define QPS_PER_DEVICE PARAM "xrc_qps_per_device"

FIXTURE(bad)
{
	struct baseline base;
	struct xrc_node node;
	struct mlx5_ep_xrc_rcv_qp_reg answer;
	struct uverbs_call call;
	struct ibv_qp *upstream;	/* what is offered */
	uint32_t xrcd;
};

typedef FIXTURE_DATA(bad) bad_data;

FIXTURE_SETUP(bad)
{
	unlink(DOMAIN_FILE);
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, xrc_node_open(&self->node, NULL, DOMAIN_FILE, 1));
	self->xrcd = uverbs_xrcd_handle(mlx5ep_xrcd_ibv(self->node.xrcd));
	self->upstream = xrc_upstream_create(&self->node);
	ASSERT_NE(NULL, self->upstream);
}

FIXTURE_TEARDOWN(bad)
{
	EXPECT_EQ(0, file_write(QPS_PER_DEVICE, "65536"));
	EXPECT_EQ(0, ibv_destroy_qp(self->upstream));
	EXPECT_EQ(0, xrc_node_close(&self->node));
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

/* Start REG or GET with the attributes that both need. */
static void reg_begin(bad_data *self, int method)
{
	struct uverbs_call *call = &self->call;

	uverbs_begin(call, MLX5_EP_OBJECT_XRC_RCV_QP, method);
	uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE, 0);
	uverbs_handle(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_XRCD, self->xrcd);
	if (method != MLX5_EP_METHOD_XRC_RCV_QP_REG)
		uverbs_out(call, MLX5_EP_ATTR_XRC_RCV_QP_REG_ANSWER,
			   &self->answer, sizeof(self->answer));
}

/* Start GET of the key "k" with a QP that is offered. */
static void offer_begin(bad_data *self, uint32_t handle)
{
	reg_begin(self, MLX5_EP_METHOD_XRC_RCV_QP_GET);
	uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY, "k", 1);
	uverbs_handle(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_GET_QP, handle);
}

static int reg_do(bad_data *self)
{
	return uverbs_do(self->node.ctx, &self->call);
}

TEST_F(bad, key_of_no_bytes_or_too_many)
{
	char key[MLX5_EP_XRC_KEY_MAX + 1] = {};

	reg_begin(self, MLX5_EP_METHOD_XRC_RCV_QP_GET);
	uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY, key, 0);
	EXPECT_EQ(-EINVAL, reg_do(self));
	reg_begin(self, MLX5_EP_METHOD_XRC_RCV_QP_GET);
	uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY, key,
		  sizeof(key));
	EXPECT_EQ(-EINVAL, reg_do(self));
	reg_begin(self, MLX5_EP_METHOD_XRC_RCV_QP_GET);
	EXPECT_EQ(-EINVAL, reg_do(self));
}

TEST_F(bad, key_that_cannot_be_read)
{
	reg_begin(self, MLX5_EP_METHOD_XRC_RCV_QP_GET);
	uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY, (void *)16, 32);
	EXPECT_EQ(-EFAULT, reg_do(self));
}

TEST_F(bad, unknown_flags)
{
	uint32_t flags;

	for (flags = 4; flags; flags <<= 1) {
		reg_begin(self, MLX5_EP_METHOD_XRC_RCV_QP_GET);
		uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY, "k", 1);
		uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_REG_FLAGS,
			  &flags, sizeof(flags));
		EXPECT_EQ(-EINVAL, reg_do(self));
	}
}

TEST_F(bad, unknown_attribute_or_method)
{
	uint32_t value = 0;

	offer_begin(self, self->upstream->handle);
	uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_REG_FLAGS + 5, &value,
		  sizeof(value));
	EXPECT_EQ(-EPROTONOSUPPORT, reg_do(self));
	uverbs_begin(&self->call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_UNREG + 1);
	EXPECT_EQ(-EPROTONOSUPPORT, reg_do(self));
}

/* What a caller from before QPs were offered asks for. */
TEST_F(bad, request_to_create)
{
	struct mlx5ep_xrc_rcv_qp *no;

	reg_begin(self, MLX5_EP_METHOD_XRC_RCV_QP_REG - 1);
	EXPECT_EQ(-EPROTONOSUPPORT, reg_do(self));
	reg_begin(self, MLX5_EP_METHOD_XRC_RCV_QP_GET);
	uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY, "k", 1);
	EXPECT_EQ(-EOPNOTSUPP, reg_do(self));
	EXPECT_EQ(-ENOENT, mlx5ep_xrc_rcv_qp_get(
				   self->node.xrcd, "k", 1,
				   MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY, NULL, &no));
}

/* Ends the registration of the last call. */
static int offer_end(bad_data *self)
{
	uint32_t handle = self->call.attrs[0].data;

	uverbs_begin(&self->call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_UNREG);
	uverbs_handle(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE,
		      handle);
	return reg_do(self);
}

TEST_F(bad, offer_of_another_type_or_domain)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_SEND,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.send_cq = self->node.cq,
		.pd = self->node.pd,
	};
	struct xrc_node other = self->node;
	struct ibv_qp *qp;

	offer_begin(self, 0x7fffff);
	EXPECT_EQ(-ENOENT, reg_do(self));
	offer_begin(self, self->xrcd);
	EXPECT_EQ(-EINVAL, reg_do(self));
	qp = ibv_create_qp_ex(self->node.ctx, &attr);
	ASSERT_NE(NULL, qp);
	offer_begin(self, qp->handle);
	EXPECT_EQ(-EINVAL, reg_do(self));
	EXPECT_EQ(0, ibv_destroy_qp(qp));

	ASSERT_EQ(0, mlx5ep_xrcd_open(other.ctx, -1, O_CREAT, &other.xrcd));
	qp = xrc_upstream_create(&other);
	ASSERT_NE(NULL, qp);
	offer_begin(self, qp->handle);
	EXPECT_EQ(-EINVAL, reg_do(self));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, mlx5ep_xrcd_close(other.xrcd));
}

TEST_F(bad, offer_of_a_qp_in_use)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	uint32_t flags = MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY;

	offer_begin(self, self->upstream->handle);
	uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_REG_FLAGS, &flags,
		  sizeof(flags));
	EXPECT_EQ(-EINVAL, reg_do(self));
	flags = MLX5_EP_XRC_RCV_QP_GET_ANNOUNCE;
	EXPECT_EQ(-EINVAL, reg_do(self));
	ASSERT_EQ(0, ibv_modify_qp(self->upstream, &attr,
				   IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				   IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	offer_begin(self, self->upstream->handle);
	EXPECT_EQ(-EINVAL, reg_do(self));
	attr.qp_state = IBV_QPS_RESET;
	ASSERT_EQ(0, ibv_modify_qp(self->upstream, &attr, IBV_QP_STATE));
	offer_begin(self, self->upstream->handle);
	ASSERT_EQ(0, reg_do(self));
	EXPECT_EQ(self->upstream->qp_num, self->answer.qp_num);
	EXPECT_EQ(MLX5_EP_XRC_RCV_QP_REG_CREATED, self->answer.flags);
	EXPECT_EQ(0, offer_end(self));
}

TEST_F(bad, offer_of_a_qp_that_has_a_key)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	struct ibv_qp *late;

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd,
					   self->upstream->qp_num, NULL, &qp));
	/* It had a record, but no key. */
	offer_begin(self, self->upstream->handle);
	ASSERT_EQ(0, reg_do(self));
	EXPECT_EQ(MLX5_EP_XRC_RCV_QP_REG_CREATED, self->answer.flags);
	EXPECT_EQ(0, offer_end(self));
	/* The same key: it joins itself. */
	offer_begin(self, self->upstream->handle);
	ASSERT_EQ(0, reg_do(self));
	EXPECT_EQ(0, self->answer.flags);
	EXPECT_EQ(0, offer_end(self));
	offer_begin(self, self->upstream->handle);
	self->call.attrs[3].data = 'l';
	EXPECT_EQ(-EEXIST, reg_do(self));
	/* Who comes late joins, whatever it offers. */
	late = xrc_upstream_create(&self->node);
	ASSERT_NE(NULL, late);
	offer_begin(self, late->handle);
	ASSERT_EQ(0, reg_do(self));
	EXPECT_EQ(0, ibv_destroy_qp(late));
	EXPECT_EQ(self->upstream->qp_num, self->answer.qp_num);
	EXPECT_EQ(0, self->answer.flags);
	EXPECT_EQ(0, offer_end(self));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
}

TEST_F(bad, answer_that_cannot_be_written_leaves_nothing)
{
	offer_begin(self, self->upstream->handle);
	self->call.attrs[2].data = 16;
	EXPECT_EQ(-EFAULT, reg_do(self));
	/* The registration has ended, so the teardown can close the domain. */
}

TEST_F(bad, handle_of_no_domain)
{
	offer_begin(self, self->upstream->handle);
	self->call.attrs[1].data = 0x7fffff;
	EXPECT_EQ(-ENOENT, reg_do(self));
	/* The handle is that of a PD. */
	offer_begin(self, self->upstream->handle);
	self->call.attrs[1].data = self->node.pd->handle;
	EXPECT_EQ(-EINVAL, reg_do(self));
}

TEST_F(bad, number_of_no_qp)
{
	static const uint32_t nums[] = { 0, 1, 0xfffffe, 0xffffff, 0x1000000,
					 0xffffffff };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nums); i++) {
		reg_begin(self, MLX5_EP_METHOD_XRC_RCV_QP_REG);
		uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_REG_QP_NUM,
			  &nums[i], sizeof(nums[i]));
		EXPECT_EQ(-ENOENT, reg_do(self)) {
			TH_LOG("number 0x%x", nums[i]);
		}
	}
}

TEST_F(bad, number_of_another_type_or_domain)
{
	struct mlx5ep_xrc_rcv_qp *qp, *none;
	struct xrc_sender sender;
	struct xrc_node other;

	ASSERT_EQ(0, xrc_sender_open(&sender, NULL));
	EXPECT_EQ(-ENOENT, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd,
						 sender.qp->qp_num, NULL,
						 &none));
	xrc_sender_close(&sender);

	ASSERT_EQ(0, xrc_node_open(&other, NULL, NULL, 0));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(other.xrcd, NULL, &qp));
	EXPECT_EQ(-ENOENT, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd,
						 mlx5ep_xrc_rcv_qp_num(qp),
						 NULL, &none));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
	EXPECT_EQ(0, xrc_node_close(&other));
}

TEST_F(bad, notifier_that_is_none)
{
	struct mlx5ep_xrc_events events = { .notifier_fd = 0 };
	struct mlx5ep_xrc_rcv_qp *qp;

	events.notifier_fd = open("/dev/null", O_RDONLY);
	ASSERT_LE(0, events.notifier_fd);
	EXPECT_EQ(-EBADF, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, &events,
						   &qp));
	close(events.notifier_fd);
	EXPECT_EQ(-EBADF, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, &events,
						   &qp));
	events.flags = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, &events,
						    &qp));
	events.flags = 0;
	events.reserved[1] = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "k", 1, 0,
						 &events, &qp));
}

/* Call QUERY with a buffer of @size bytes for the answer. */
static int query_info(bad_data *self, uint32_t handle, void *info, size_t size)
{
	uverbs_begin(&self->call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_QUERY);
	uverbs_handle(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_QUERY_HANDLE,
		      handle);
	uverbs_out(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_QUERY_INFO, info, size);
	return reg_do(self);
}

TEST_F(bad, answers_of_another_size)
{
	struct {
		struct mlx5_ep_xrc_rcv_qp_reg known;
		uint64_t later;
	} reg = { .later = ~0ull };
	struct {
		struct mlx5_ep_xrc_rcv_qp_info known;
		uint64_t later;
	} info;
	uint32_t handle;

	offer_begin(self, self->upstream->handle);
	self->call.attrs[2].len = sizeof(reg.known) - 4;
	EXPECT_EQ(-EINVAL, reg_do(self));
	offer_begin(self, self->upstream->handle);
	self->call.attrs[2].data = (uintptr_t)&reg;
	self->call.attrs[2].len = sizeof(reg);
	ASSERT_EQ(0, reg_do(self));
	EXPECT_EQ(0, reg.later);
	handle = self->call.attrs[0].data;
	memset(&info, 0xff, sizeof(info));
	EXPECT_EQ(-EINVAL, query_info(self, handle, &info,
				      sizeof(info.known) - 4));
	EXPECT_EQ(0, query_info(self, handle, &info, sizeof(info)));
	EXPECT_EQ(reg.known.qp_num, info.known.qp_num);
	EXPECT_EQ(0, info.later);
	uverbs_begin(&self->call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_UNREG);
	uverbs_handle(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE,
		      handle);
	EXPECT_EQ(0, reg_do(self));
}

TEST_F(bad, handles_of_no_registration)
{
	uint32_t handles[] = { 0x7fffff, self->node.pd->handle, self->xrcd };
	struct mlx5_ep_xrc_rcv_qp_info info;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		uverbs_begin(&self->call, MLX5_EP_OBJECT_XRC_RCV_QP,
			     MLX5_EP_METHOD_XRC_RCV_QP_UNREG);
		uverbs_handle(&self->call,
			      MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE, handles[i]);
		EXPECT_EQ(i ? -EINVAL : -ENOENT, reg_do(self));
		EXPECT_EQ(i ? -EINVAL : -ENOENT,
			  query_info(self, handles[i], &info, sizeof(info)));
	}
}

/*
 * Fill in the attributes of RESET to INIT, and make those of case @number
 * wrong.
 */
static void wrong_attributes(struct ib_uverbs_qp_attr *attr, unsigned int number)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	attr->qp_state = IBV_QPS_INIT;
	attr->port_num = 1;
	switch (number) {
	case 0:
		attr->reserved[4] = 1;
		break;
	case 1:
		attr->qp_state = 7;
		break;
	case 2:
		attr->port_num = 2;
		break;
	case 3:
		attr->port_num = 0;
		break;
	case 4:		/* The step would be from RESET to RTR. */
		attr->qp_state = IBV_QPS_RTR;
		break;
	case 5:		/* An attribute is missing. */
		attr->qp_attr_mask &= ~IBV_QP_PORT;
		break;
	case 6:		/* QPs of this type do not have the attribute. */
		attr->qp_attr_mask |= IBV_QP_QKEY;
		break;
	case 7:
		attr->qp_attr_mask |= 1u << 31;
		break;
	case 8:
		attr->pkey_index = 0x7fff;
		break;
	case 9:		/* ib_core has a table of states, of which 7 is not one. */
		attr->qp_attr_mask = IBV_QP_STATE;
		attr->qp_state = 7;
		break;
	}
}

TEST_F(bad, attributes_out_of_range)
{
	struct ib_uverbs_qp_attr attr;
	struct ibv_qp_attr now;
	struct mlx5ep_xrc_rcv_qp *qp;
	uint32_t handle;
	unsigned int i;

	offer_begin(self, self->upstream->handle);
	ASSERT_EQ(0, reg_do(self));
	handle = self->call.attrs[0].data;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->node.xrcd,
					   self->answer.qp_num, NULL, &qp));
	for (i = 0; i < 10; i++) {
		wrong_attributes(&attr, i);
		uverbs_begin(&self->call, MLX5_EP_OBJECT_XRC_RCV_QP,
			     MLX5_EP_METHOD_XRC_RCV_QP_MODIFY);
		uverbs_handle(&self->call,
			      MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_HANDLE, handle);
		uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ATTR,
			  &attr, sizeof(attr));
		EXPECT_EQ(-EINVAL, reg_do(self)) {
			TH_LOG("case %u", i);
		}
		ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_query(qp, &now, NULL));
		EXPECT_EQ(IBV_QPS_RESET, now.qp_state);
	}
	uverbs_begin(&self->call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_MODIFY);
	uverbs_handle(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_HANDLE,
		      handle);
	uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ATTR, (void *)16,
		  sizeof(attr));
	EXPECT_EQ(-EFAULT, reg_do(self));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
	uverbs_begin(&self->call, MLX5_EP_OBJECT_XRC_RCV_QP,
		     MLX5_EP_METHOD_XRC_RCV_QP_UNREG);
	uverbs_handle(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE,
		      handle);
	EXPECT_EQ(0, reg_do(self));
	EXPECT_EQ(-ENOENT, reg_do(self));
}

TEST_F(bad, more_qps_than_a_device_may)
{
	struct mlx5ep_xrc_rcv_qp *qps[2], *join, *no;
	uint32_t num = 0;

	ASSERT_EQ(0, file_write(QPS_PER_DEVICE, "2"));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &qps[0]));
	EXPECT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "a", 1, 0, NULL,
					   &qps[1]));
	EXPECT_EQ(-EDQUOT,
		  mlx5ep_xrc_rcv_qp_create(self->node.xrcd, NULL, &no));
	EXPECT_EQ(-EDQUOT, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "b", 1, 0,
						 NULL, &no));
	EXPECT_EQ(-ENOENT, mlx5ep_xrc_rcv_qp_get(
				   self->node.xrcd, "b", 1,
				   MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY, NULL,
				   &no));
	/* No QP has the number 0, whatever the limit. */
	reg_begin(self, MLX5_EP_METHOD_XRC_RCV_QP_REG);
	uverbs_in(&self->call, MLX5_EP_ATTR_XRC_RCV_QP_REG_QP_NUM, &num,
		  sizeof(num));
	EXPECT_EQ(-ENOENT, reg_do(self));
	/*
	 * A process that joins creates no QP, so the limit does not concern it.
	 */
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "a", 1, 0, NULL,
					   &join));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(join));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qps[0]));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qps[1]));
}

TEST_HARNESS_MAIN
