// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * What the library's XRC calls ask of the kernel, what they make of its answers and
 * its errors, and that they keep no memory; with a made-up kernel.
 */
#include "kselftest_harness.h"

#include <sys/wait.h>

#include "cancelled.h"
#include "xrc_fake.h"
#define MLX5EP_OFED_KEEP_XRC_DOMAIN
#include <mlx5ep/ofed_xrc.h>

#define REG(name)	MLX5_EP_ATTR_XRC_RCV_QP_REG_##name
#define METHOD(name)	MLX5_EP_METHOD_XRC_RCV_QP_##name
#define DOMAIN		5

FIXTURE(calls)
{
	struct fake_context c;
	struct fake_domain domain, other;
	struct mlx5ep_xrcd *xrcd;
	struct mlx5ep_xrc_rcv_qp *qp;
};

FIXTURE_SETUP(calls)
{
	ASSERT_EQ(0, fake_open(&self->c));
	self->domain.xrcd.context = &self->c.verbs.context;
	self->domain.comp_mask = 1;	/* the handle is there */
	self->domain.handle = DOMAIN;
	self->other = self->domain;
	self->other.handle = DOMAIN + 1;
	ASSERT_EQ(0, mlx5ep_xrcd_wrap(&self->domain.xrcd, &self->xrcd));
	/* The library reads the ids once. */
	fake.error = EPERM;
	ASSERT_EQ(-EPERM, mlx5ep_xrc_rcv_qp_create(self->xrcd, NULL, &self->qp));
	fake.error = 0;
	fake.handle = 40;
	fake.calls = 0;
	fake.counts = true;
}

FIXTURE_TEARDOWN(calls)
{
	EXPECT_TRUE(thread_is_free());
	EXPECT_EQ(0, fake.blocks);
	EXPECT_EQ(0, fake.qps);
	fake.counts = false;
	EXPECT_EQ(0, mlx5ep_xrcd_close(self->xrcd));
	EXPECT_EQ(0, fake_close(&self->c));
}

#define EXPECT_CALL(method, number, attributes)				\
	do {								\
		EXPECT_EQ(number, fake.calls);				\
		EXPECT_EQ(FAKE_OBJECT, fake.hdr.object_id);		\
		EXPECT_EQ(METHOD(method), fake.hdr.method_id);		\
		EXPECT_EQ(attributes, fake.hdr.num_attrs);		\
	} while (0)

#define EXPECT_ATTR(value, size, id)					\
	do {								\
		const struct ib_uverbs_attr *_attr = fake_attr(id);	\
									\
		ASSERT_NE(NULL, _attr);					\
		EXPECT_EQ(value, _attr->data);				\
		EXPECT_EQ(size, _attr->len);				\
	} while (0)

TEST_F(calls, to_register_name_domain_and_qp)
{
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->xrcd, 77, NULL, &self->qp));
	EXPECT_CALL(REG, 1, 3);
	EXPECT_ATTR(DOMAIN, 0, REG(XRCD));
	EXPECT_ATTR(77, 4, REG(QP_NUM));
	EXPECT_EQ(77, mlx5ep_xrc_rcv_qp_num(self->qp));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->qp));
	EXPECT_CALL(UNREG, 2, 1);
	EXPECT_ATTR(40, 0, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE);
	EXPECT_EQ(-ENOENT, mlx5ep_xrc_rcv_qp_reg(self->xrcd, 0, NULL, &self->qp));
	EXPECT_EQ(2, fake.calls);
}

TEST_F(calls, to_create_return_the_number)
{
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->xrcd, NULL, &self->qp));
	EXPECT_CALL(REG, 1, 3);
	EXPECT_ATTR(FAKE_NEW_NUM, 4, REG(QP_NUM));
	EXPECT_EQ(FAKE_NEW_NUM, mlx5ep_xrc_rcv_qp_num(self->qp));
	EXPECT_EQ(0, fake.qps);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->qp));
	fake.create_error = EMFILE;
	EXPECT_EQ(-EMFILE, mlx5ep_xrc_rcv_qp_create(self->xrcd, NULL, &self->qp));
	EXPECT_EQ(2, fake.calls);
	fake.create_error = 0;
}

TEST_F(calls, to_get_name_the_key_and_tell_who_created)
{
	/* The first call finds none. */
	fake.no_key = 1;
	fake.reg_flags = MLX5_EP_XRC_RCV_QP_REG_CREATED;
	EXPECT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->xrcd, "abc", 3, 0, NULL,
					   &self->qp));
	EXPECT_CALL(GET, 2, 5);
	EXPECT_ATTR(0x636261, 3, REG(KEY));
	EXPECT_ATTR(FAKE_NEW_HANDLE, 0, MLX5_EP_ATTR_XRC_RCV_QP_GET_QP);
	EXPECT_EQ(NULL, fake_attr(REG(FLAGS)));
	EXPECT_EQ(0, fake.qps);
	EXPECT_EQ(FAKE_QP_NUM, mlx5ep_xrc_rcv_qp_num(self->qp));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->qp));

	/* The first call joins. */
	fake.reg_flags = ~MLX5_EP_XRC_RCV_QP_REG_CREATED;
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_get(self->xrcd, "abc", 3, 4, NULL,
					   &self->qp));
	EXPECT_CALL(GET, 4, 5);
	EXPECT_ATTR(0x636261, 3, REG(KEY));
	EXPECT_ATTR(4 | MLX5_EP_XRC_RCV_QP_GET_ANNOUNCE, 4, REG(FLAGS));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->qp));

	/* Others were first, meanwhile; or nothing is to be created. */
	fake.no_key = 1;
	fake.reg_flags = 0;
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_get(self->xrcd, "abc", 3, 0, NULL,
					   &self->qp));
	EXPECT_EQ(0, fake.qps);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->qp));
	fake.no_key = 1;
	EXPECT_EQ(-ENOENT, mlx5ep_xrc_rcv_qp_get(
				   self->xrcd, "abc", 3,
				   MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY, NULL,
				   &self->qp));
	EXPECT_EQ(9, fake.calls);
	EXPECT_ATTR(MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY, 4, REG(FLAGS));
	fake.no_key = 1;
	fake.create_error = ENOMEM;
	EXPECT_EQ(-ENOMEM, mlx5ep_xrc_rcv_qp_get(self->xrcd, "abc", 3, 0, NULL,
						 &self->qp));
	EXPECT_EQ(10, fake.calls);
	fake.create_error = 0;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_get(
				   self->xrcd, "abc", 3,
				   MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY |
				   MLX5_EP_XRC_RCV_QP_GET_ANNOUNCE, NULL,
				   &self->qp));
	EXPECT_EQ(10, fake.calls);
	fake.no_key = 2;
	EXPECT_EQ(-ENOENT, mlx5ep_xrc_rcv_qp_get(self->xrcd, "abc", 3, 0, NULL,
						 &self->qp));
}

TEST_F(calls, with_events_name_notifier_and_cookie)
{
	struct mlx5ep_xrc_events events = { .notifier_fd = 9, .cookie = 1ull << 40 };

	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->xrcd, 77, &events, &self->qp));
	EXPECT_CALL(REG, 1, 5);
	EXPECT_ATTR(9, 0, REG(NOTIFIER));
	EXPECT_ATTR(1ull << 40, 8, REG(COOKIE));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->qp));
	events.flags = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_create(self->xrcd, &events, &self->qp));
	events.flags = 0;
	events.reserved[0] = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_create(self->xrcd, &events, &self->qp));
	events.reserved[0] = 0;
	events.reserved[1] = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_xrc_rcv_qp_create(self->xrcd, &events, &self->qp));
	EXPECT_EQ(2, fake.calls);
}

TEST_F(calls, that_fail_write_nothing)
{
	struct ibv_qp_attr attr, before;

	fake_fill(&attr, sizeof(attr), 7);
	before = attr;
	self->qp = NULL;
	fake.error = EDQUOT;
	EXPECT_EQ(-EDQUOT, mlx5ep_xrc_rcv_qp_reg(self->xrcd, 7, NULL, &self->qp));
	EXPECT_EQ(-EDQUOT, mlx5ep_xrc_rcv_qp_create(self->xrcd, NULL, &self->qp));
	EXPECT_EQ(-EDQUOT, mlx5ep_xrc_rcv_qp_get(self->xrcd, "k", 1, 0, NULL,
						 &self->qp));
	EXPECT_EQ(NULL, self->qp);
	fake.error = 0;
	fake.left = 0;
	fake.calls = 0;
	EXPECT_EQ(-ENOMEM, mlx5ep_xrc_rcv_qp_reg(self->xrcd, 7, NULL, &self->qp));
	EXPECT_EQ(0, fake.calls);
	EXPECT_EQ(NULL, self->qp);
	fake.left = -1;
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->xrcd, 7, NULL, &self->qp));
	fake.error = EBUSY;
	EXPECT_EQ(-EBUSY, mlx5ep_xrc_rcv_qp_query(self->qp, &attr, NULL));
	EXPECT_EQ(0, memcmp(&attr, &before, sizeof(attr)));
	EXPECT_EQ(-EBUSY, mlx5ep_xrc_rcv_qp_modify(self->qp, &attr, 0, NULL));
	EXPECT_EQ(-EBUSY, mlx5ep_xrc_rcv_qp_unreg(self->qp));
	fake.error = EIO;
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->qp));
}

/* What MODIFY is given has the fields of the mask and no others. */
TEST_F(calls, to_modify_give_what_the_mask_says)
{
	struct mlx5_ep_xrc_rcv_qp_modify answer = {};
	struct ib_uverbs_qp_attr want = {};
	struct ibv_qp_attr attr;

	fake_fill(&attr, sizeof(attr), 7);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->xrcd, 7, NULL, &self->qp));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_modify(self->qp, &attr, 0, NULL));
	EXPECT_CALL(MODIFY, 2, 2);
	EXPECT_ATTR(40, 0, MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_HANDLE);
	EXPECT_EQ(0, memcmp(&fake.attr, &want, sizeof(want)));

	want.qp_attr_mask = IBV_QP_PORT;
	want.port_num = attr.port_num;
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_modify(self->qp, &attr, IBV_QP_PORT, &answer));
	EXPECT_CALL(MODIFY, 3, 3);
	EXPECT_EQ(sizeof(answer),
		  fake_attr(MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ANSWER)->len);
	EXPECT_EQ(0x04030201, answer.qp_state);
	EXPECT_EQ(0, memcmp(&fake.attr, &want, sizeof(want)));

	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_modify(self->qp, &attr, IBV_QP_AV, NULL));
	EXPECT_EQ(0, memcmp(fake.attr.ah_attr.grh.dgid, &attr.ah_attr.grh.dgid, 16));
	EXPECT_EQ(attr.ah_attr.dlid, fake.attr.ah_attr.dlid);
	EXPECT_EQ(attr.ah_attr.grh.hop_limit, fake.attr.ah_attr.grh.hop_limit);
	EXPECT_EQ(0, fake.attr.alt_ah_attr.dlid);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_modify(self->qp, &attr, IBV_QP_ALT_PATH, NULL));
	EXPECT_EQ(0, memcmp(fake.attr.alt_ah_attr.grh.dgid,
			    &attr.alt_ah_attr.grh.dgid, 16));
	EXPECT_EQ(attr.alt_ah_attr.sl, fake.attr.alt_ah_attr.sl);
	EXPECT_EQ(attr.alt_timeout, fake.attr.alt_timeout);
	EXPECT_EQ(0, fake.attr.ah_attr.dlid);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->qp));
}

TEST_F(calls, to_query_return_all_that_the_kernel_says)
{
	struct mlx5_ep_xrc_rcv_qp_info info;
	struct ib_uverbs_qp_attr kernel;
	struct ibv_qp_attr attr;

	fake_fill(&kernel, sizeof(kernel), 3);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(self->xrcd, 7, NULL, &self->qp));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_query(self->qp, NULL, &info));
	EXPECT_CALL(QUERY, 2, 2);
	EXPECT_ATTR(40, 0, MLX5_EP_ATTR_XRC_RCV_QP_QUERY_HANDLE);
	EXPECT_ATTR((uintptr_t)&info, sizeof(info),
		    MLX5_EP_ATTR_XRC_RCV_QP_QUERY_INFO);
	EXPECT_EQ(0x05040302, info.qp_num);

	memset(&attr, 0xff, sizeof(attr));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_query(self->qp, &attr, NULL));
	EXPECT_CALL(QUERY, 3, 3);
	EXPECT_EQ(sizeof(info), fake_attr(MLX5_EP_ATTR_XRC_RCV_QP_QUERY_INFO)->len);
	EXPECT_EQ(kernel.dest_qp_num, attr.dest_qp_num);
	EXPECT_EQ(kernel.alt_timeout, attr.alt_timeout);
	EXPECT_EQ(kernel.ah_attr.dlid, attr.ah_attr.dlid);
	EXPECT_EQ(kernel.alt_ah_attr.dlid, attr.alt_ah_attr.dlid);
	EXPECT_EQ(0, memcmp(kernel.ah_attr.grh.dgid, &attr.ah_attr.grh.dgid, 16));
	EXPECT_EQ(0, memcmp(kernel.alt_ah_attr.grh.dgid,
			    &attr.alt_ah_attr.grh.dgid, 16));
	/* The kernel has no such field. */
	EXPECT_EQ(0, attr.rate_limit);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->qp));
}

TEST_F(calls, of_ofed_find_a_qp_by_domain_and_number)
{
	uint32_t num = 1;

	EXPECT_EQ(EINVAL, mlx5ep_ofed_create_xrc_rcv_qp(NULL, &num));
	self->other.comp_mask = 0;
	EXPECT_EQ(EINVAL, mlx5ep_ofed_create_xrc_rcv_qp(&self->other.xrcd, &num));
	EXPECT_EQ(0, fake.calls);
	self->other.comp_mask = 1;
	fake.error = EPERM;
	EXPECT_EQ(EPERM, mlx5ep_ofed_create_xrc_rcv_qp(&self->domain.xrcd, &num));
	EXPECT_EQ(1, num);
	fake.error = 0;
	fake.left = 0;
	EXPECT_EQ(ENOMEM, mlx5ep_ofed_create_xrc_rcv_qp(&self->domain.xrcd, &num));
	fake.left = -1;
	EXPECT_EQ(0, mlx5ep_ofed_create_xrc_rcv_qp(&self->domain.xrcd, &num));
	EXPECT_EQ(FAKE_NEW_NUM, num);
	EXPECT_EQ(ENOENT, mlx5ep_ofed_reg_xrc_rcv_qp(&self->domain.xrcd, 0));
	fake.handle = 41;
	EXPECT_EQ(0, mlx5ep_ofed_reg_xrc_rcv_qp(&self->domain.xrcd, 7));
	EXPECT_EQ(METHOD(REG), fake.hdr.method_id);
	EXPECT_ATTR(7, 4, REG(QP_NUM));
	fake.handle = 42;
	EXPECT_EQ(0, mlx5ep_ofed_reg_xrc_rcv_qp(&self->other.xrcd, 7));
	EXPECT_ATTR(DOMAIN + 1, 0, REG(XRCD));

	EXPECT_EQ(EINVAL, mlx5ep_ofed_unreg_xrc_rcv_qp(&self->domain.xrcd, 8));
	EXPECT_EQ(EINVAL, mlx5ep_ofed_unreg_xrc_rcv_qp(&self->other.xrcd, num));
	fake.error = EBUSY;
	EXPECT_EQ(EBUSY, mlx5ep_ofed_unreg_xrc_rcv_qp(&self->domain.xrcd, 7));
	fake.error = 0;
	EXPECT_EQ(0, mlx5ep_ofed_unreg_xrc_rcv_qp(&self->domain.xrcd, 7));
	EXPECT_ATTR(41, 0, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE);
	EXPECT_EQ(EINVAL, mlx5ep_ofed_unreg_xrc_rcv_qp(&self->domain.xrcd, 7));
	EXPECT_EQ(0, mlx5ep_ofed_unreg_xrc_rcv_qp(&self->other.xrcd, 7));
	EXPECT_ATTR(42, 0, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE);
	EXPECT_EQ(0, mlx5ep_ofed_unreg_xrc_rcv_qp(&self->domain.xrcd, num));
	EXPECT_ATTR(40, 0, MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE);
}

TEST_F(calls, of_ofed_modify_and_query)
{
	struct ibv_qp_init_attr init, before;
	struct ibv_qp_attr attr = {};

	fake_fill(&init, sizeof(init), 7);
	before = init;
	EXPECT_EQ(EINVAL, mlx5ep_ofed_query_xrc_rcv_qp(&self->domain.xrcd, 7, &attr,
						       0, &init));
	EXPECT_EQ(EINVAL, mlx5ep_ofed_modify_xrc_rcv_qp(&self->domain.xrcd, 7,
							&attr, 0));
	EXPECT_EQ(0, memcmp(&init, &before, sizeof(init)));
	EXPECT_EQ(0, mlx5ep_ofed_reg_xrc_rcv_qp(&self->domain.xrcd, 7));
	EXPECT_EQ(0, mlx5ep_ofed_modify_xrc_rcv_qp(&self->domain.xrcd, 7, &attr, 0));
	EXPECT_CALL(MODIFY, 2, 2);
	EXPECT_EQ(0, mlx5ep_ofed_query_xrc_rcv_qp(&self->domain.xrcd, 7, &attr, 0,
						  NULL));
	EXPECT_CALL(QUERY, 3, 3);
	EXPECT_NE(0, attr.dest_qp_num);
	EXPECT_EQ(0, mlx5ep_ofed_query_xrc_rcv_qp(&self->domain.xrcd, 7, &attr, 0,
						  &init));
	EXPECT_EQ(IBV_QPT_XRC_RECV, init.qp_type);
	EXPECT_EQ(&self->domain.xrcd, init.qp_context);
	EXPECT_EQ(NULL, init.send_cq);
	EXPECT_EQ(0, mlx5ep_ofed_unreg_xrc_rcv_qp(&self->domain.xrcd, 7));
}

static struct {
	struct ibv_xrcd *xrcd;	/* of the child's */
	int status;
} child;

/* The child of another thread registers with a QP, and ends that. */
static void fork_and_register(void)
{
	uint32_t num;
	pid_t pid;

	fake.meanwhile = NULL;
	fake.counts = false;
	pid = fork();
	if (!pid) {
		alarm(5);
		_exit(mlx5ep_ofed_create_xrc_rcv_qp(child.xrcd, &num) ||
		      mlx5ep_ofed_unreg_xrc_rcv_qp(child.xrcd, num));
	}
	waitpid(pid, &child.status, 0);
	fake.counts = true;
}

TEST_F(calls, of_ofed_work_in_a_child_that_is_forked_meanwhile)
{
	struct ibv_qp_attr attr = {};

	child.xrcd = &self->other.xrcd;
	ASSERT_EQ(0, mlx5ep_ofed_reg_xrc_rcv_qp(&self->domain.xrcd, 7));
	child.status = -1;
	fake.meanwhile = fork_and_register;
	EXPECT_EQ(0, mlx5ep_ofed_modify_xrc_rcv_qp(&self->domain.xrcd, 7, &attr, 0));
	EXPECT_EQ(0, child.status);
	child.status = -1;
	fake.meanwhile = fork_and_register;
	EXPECT_EQ(0, mlx5ep_ofed_unreg_xrc_rcv_qp(&self->domain.xrcd, 7));
	EXPECT_EQ(0, child.status);
}

static void cancelled_modify(void *xrcd)
{
	struct ibv_qp_attr attr = {};

	mlx5ep_ofed_modify_xrc_rcv_qp(xrcd, 7, &attr, 0);
}

static void cancelled_query(void *xrcd)
{
	struct ibv_qp_attr attr = {};

	mlx5ep_ofed_query_xrc_rcv_qp(xrcd, 7, &attr, 0, NULL);
}

static void cancelled_unreg(void *xrcd)
{
	mlx5ep_ofed_unreg_xrc_rcv_qp(xrcd, 7);
}

/* In each of them the kernel is asked with the list of registrations locked. */
TEST_F(calls, of_ofed_leave_nothing_half_done_in_a_thread_that_is_cancelled)
{
	struct ibv_xrcd *xrcd = &self->domain.xrcd;

	/* A thread has memory too. */
	fake.counts = false;
	ASSERT_EQ(0, mlx5ep_ofed_reg_xrc_rcv_qp(xrcd, 7));
	fake.meanwhile = pthread_testcancel;
	EXPECT_TRUE(cancelled_after(cancelled_modify, xrcd));
	EXPECT_TRUE(cancelled_after(cancelled_query, xrcd));
	EXPECT_TRUE(cancelled_after(cancelled_unreg, xrcd));
	EXPECT_EQ(4, fake.calls);
	fake.meanwhile = NULL;
	/* A lock that is held for ever ends the test by its time limit. */
	EXPECT_EQ(EINVAL, mlx5ep_ofed_unreg_xrc_rcv_qp(xrcd, 7));
}

static struct {
	struct ibv_xrcd_init_attr attr;
	struct ibv_xrcd *answer;
	unsigned int closed;
	int close_error, open_errno;
} provider;

static struct ibv_xrcd *provider_open(struct ibv_context *context,
				      struct ibv_xrcd_init_attr *attr)
{
	provider.attr = *attr;
	errno = provider.open_errno;
	return provider.answer;
}

static int provider_close(struct ibv_xrcd *xrcd)
{
	provider.closed++;
	errno = EBUSY;
	return provider.close_error;
}

TEST_F(calls, to_open_a_domain_close_what_they_opened)
{
	struct ibv_context *ctx = &self->c.verbs.context;
	struct mlx5ep_xrcd *xrcd = NULL;

	self->c.verbs.open_xrcd = provider_open;
	self->c.verbs.close_xrcd = provider_close;
	EXPECT_EQ(-EIO, mlx5ep_xrcd_open(ctx, 3, 4, &xrcd));
	provider.open_errno = EACCES;
	EXPECT_EQ(-EACCES, mlx5ep_xrcd_open(ctx, 3, 4, &xrcd));
	EXPECT_EQ(3, provider.attr.fd);
	EXPECT_EQ(4, provider.attr.oflags);
	EXPECT_EQ(IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		  provider.attr.comp_mask);
	EXPECT_EQ(NULL, xrcd);

	provider.answer = &self->domain.xrcd;
	fake.left = 0;
	EXPECT_EQ(-ENOMEM, mlx5ep_xrcd_open(ctx, 3, 4, &xrcd));
	EXPECT_EQ(1, provider.closed);
	fake.left = -1;
	self->domain.comp_mask = 2;
	EXPECT_EQ(-EINVAL, mlx5ep_xrcd_open(ctx, 3, 4, &xrcd));
	EXPECT_EQ(2, provider.closed);
	EXPECT_EQ(NULL, xrcd);
	self->domain.comp_mask = 3;
	ASSERT_EQ(0, mlx5ep_xrcd_open(ctx, 3, 4, &xrcd));
	EXPECT_EQ(&self->domain.xrcd, mlx5ep_xrcd_ibv(xrcd));
	provider.close_error = -1;
	EXPECT_EQ(-EBUSY, mlx5ep_xrcd_close(xrcd));
	provider.close_error = EINVAL;
	EXPECT_EQ(-EINVAL, mlx5ep_xrcd_close(xrcd));
	provider.close_error = 0;
	EXPECT_EQ(0, mlx5ep_xrcd_close(xrcd));
	EXPECT_EQ(5, provider.closed);
}

TEST_F(calls, to_close_leave_a_domain_that_was_wrapped)
{
	struct mlx5ep_xrcd *xrcd = NULL;

	self->c.verbs.close_xrcd = provider_close;
	self->other.comp_mask = 0;
	EXPECT_EQ(-EINVAL, mlx5ep_xrcd_wrap(&self->other.xrcd, &xrcd));
	EXPECT_EQ(NULL, xrcd);
	self->other.comp_mask = 1;
	ASSERT_EQ(0, mlx5ep_xrcd_wrap(&self->other.xrcd, &xrcd));
	EXPECT_EQ(0, mlx5ep_xrcd_close(xrcd));
	EXPECT_EQ(0, provider.closed);
}

TEST_HARNESS_MAIN
