// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The library with made-up modules, older and newer than itself. What sysfs
 * says decides: where it says no, the library issues no ioctl.
 */
#include "kselftest_harness.h"

#include <pthread.h>

#include "xrc/xrc_fake.h"

FIXTURE(abi)
{
	struct fake_context c;
	struct ibv_context *ctx;
};

/* Every ioctl is answered with ENOTTY, which shows that one was issued. */
FIXTURE_SETUP(abi)
{
	ASSERT_EQ(0, fake_open_stock(&self->c));
	self->ctx = &self->c.verbs.context;
	fake.error = ENOTTY;
	fake.calls = 0;
}

FIXTURE_TEARDOWN(abi)
{
	EXPECT_EQ(0, fake_close(&self->c));
}

TEST_F(abi, without_a_module_nothing_is_tried)
{
	struct mlx5_ep_context_info info;

	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_context_query(self->ctx, &info));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_device_attached(&self->c.dev, NULL, 0));
	EXPECT_EQ(0, fake.calls);
}

TEST_F(abi, an_older_module_lacks_what_it_does_not_list)
{
	struct mlx5_ep_context_info info;
	struct mlx5_ep_features features;

	ASSERT_EQ(0, fake_put(self->c.dir, "abi_version", "1\n"));
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids",
			      "method device query_features 0x1007\n"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_context_query(self->ctx, &info));
	EXPECT_EQ(-ENOTTY, mlx5ep_device_query(self->ctx, &features));
}

TEST_F(abi, a_newer_module_may_list_more)
{
	struct mlx5_ep_context_info info;

	ASSERT_EQ(0, fake_put(self->c.dir, "abi_version", "1\n"));
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids",
			      "object of_tomorrow 0x100b\nmethod device context_query_more 0x1002\nmethod device context_query 0x1005\n"));
	EXPECT_EQ(-ENOTTY, mlx5ep_context_query(self->ctx, &info));
}

TEST_F(abi, a_module_of_tomorrow_may_list_a_page_full)
{
	struct mlx5_ep_context_info info;
	char text[4096];
	size_t len = 0;

	ASSERT_EQ(0, fake_put(self->c.dir, "abi_version", "1\n"));
	while (len < 4000)
		len += sprintf(text + len, "object of_tomorrow_%zu 0x1\n", len);
	sprintf(text + len, "method device context_query 0x1005\n");
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids", text));
	EXPECT_EQ(-ENOTTY, mlx5ep_context_query(self->ctx, &info));
}

struct cancelled {
	struct ibv_context *ctx;
	int ret;
};

/* The thread is cancelled before it calls. */
static void *end_in_call(void *arg)
{
	struct mlx5_ep_context_info info;
	struct cancelled *c = arg;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	c->ret = mlx5ep_context_query(c->ctx, &info);
	pthread_testcancel();
	return NULL;
}

TEST_F(abi, a_thread_that_is_cancelled_keeps_no_lock)
{
	struct cancelled c = { .ctx = self->ctx };
	struct mlx5_ep_context_info info;
	pthread_t thread;
	void *end;

	ASSERT_EQ(0, fake_put(self->c.dir, "abi_version", "1\n"));
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids",
			      "method device context_query 0x1005\n"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, end_in_call, &c));
	ASSERT_EQ(0, pthread_join(thread, &end));
	EXPECT_EQ(PTHREAD_CANCELED, end);
	EXPECT_EQ(-ENOTTY, mlx5ep_context_query(self->ctx, &info));
	EXPECT_EQ(-ENOTTY, c.ret);
}

TEST_F(abi, another_abi_is_not_spoken_to)
{
	struct mlx5_ep_context_info info;

	ASSERT_EQ(0, fake_put(self->c.dir, "abi_version", "2\n"));
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids",
			      "method device context_query 0x1005\n"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_context_query(self->ctx, &info));
}

TEST_F(abi, nonsense_in_the_list_is_an_error)
{
	struct mlx5_ep_context_info info;

	ASSERT_EQ(0, fake_put(self->c.dir, "abi_version", "1\n"));
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids",
			      "method device context_query seven\n"));
	EXPECT_EQ(-EPROTO, mlx5ep_context_query(self->ctx, &info));
}

TEST_F(abi, the_reason_of_a_refusal_is_handed_on_and_cut_to_fit)
{
	char reason[64], few[5];

	ASSERT_EQ(0, fake_put(self->c.dir, "attached",
			      "not attached: uverbs object 0x100a is taken\n"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_device_attached(&self->c.dev, reason,
						      sizeof(reason)));
	EXPECT_STREQ("not attached: uverbs object 0x100a is taken", reason);
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_device_attached(&self->c.dev, few,
						      sizeof(few)));
	EXPECT_STREQ("not ", few);
}

TEST_HARNESS_MAIN
