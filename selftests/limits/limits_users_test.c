// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * For whom a context counts, in user namespaces too, and what is said when a limit
 * refuses; with user.c and limit.c of the module compiled into this program.
 */
#include "kselftest_harness.h"

#include "accounts_kernel.h"
#include "limits.inc"	/* user.c and others, without what they include */

#define NO_LIMIT UINT_MAX

static struct user_namespace initial = { .owner = { 0 } };
static struct user_namespace below = { &initial, 1, { 10 } };
static struct user_namespace lowest = { &below, 2, { 11 } };

FIXTURE(users)
{
	struct mlx5_ep_device dev;
};

FIXTURE_SETUP(users)
{
	memset(&fake, 0, sizeof(fake));
	mlx5_ep_accounts_init(&self->dev.users);
	fake.ns = &initial;
	fake.uid = 12;
}

FIXTURE_TEARDOWN(users)
{
	EXPECT_EQ(0, fake.blocks);
	EXPECT_EQ(0, fake.misuses);
}

#define EXPECT_ACCOUNT(user, number)					\
	do {								\
		ASSERT_NE(NULL, user);					\
		EXPECT_EQ(number, (user)->id);				\
		EXPECT_EQ(NO_LIMIT, (user)->limit);			\
		EXPECT_EQ(1, mlx5_ep_account_held(user, MLX5_EP_CONTEXTS)); \
	} while (0)

TEST_F(users, of_the_initial_namespace_count_for_themselves)
{
	struct mlx5_ep_account *user = mlx5_ep_user_get(&self->dev.users), *again;

	EXPECT_ACCOUNT(user, 12);
	EXPECT_EQ(NULL, user->parent);
	again = mlx5_ep_user_get(&self->dev.users);
	EXPECT_EQ(user, again);
	EXPECT_EQ(2, mlx5_ep_account_held(user, MLX5_EP_CONTEXTS));
	mlx5_ep_user_put(&self->dev.users, again);
	EXPECT_ACCOUNT(user, 12);
	mlx5_ep_user_put(&self->dev.users, user);
	mlx5_ep_user_put(&self->dev.users, NULL);
}

TEST_F(users, of_a_namespace_count_for_each_owner_above)
{
	struct mlx5_ep_account *user;

	fake.ns = &lowest;
	user = mlx5_ep_user_get(&self->dev.users);
	EXPECT_ACCOUNT(user, 12);
	EXPECT_ACCOUNT(user->parent, 11);
	EXPECT_ACCOUNT(user->parent->parent, 10);
	EXPECT_EQ(NULL, user->parent->parent->parent);
	mlx5_ep_user_put(&self->dev.users, user);

	fake.ns = &below;
	user = mlx5_ep_user_get(&self->dev.users);
	EXPECT_ACCOUNT(user, 12);
	EXPECT_ACCOUNT(user->parent, 10);
	EXPECT_EQ(NULL, user->parent->parent);
	mlx5_ep_user_put(&self->dev.users, user);
}

TEST_F(users, that_own_their_namespace_count_once)
{
	struct user_namespace same = { &below, 2, { 10 } };
	struct mlx5_ep_account *user;

	fake.ns = &same;
	user = mlx5_ep_user_get(&self->dev.users);
	EXPECT_ACCOUNT(user, 12);
	EXPECT_ACCOUNT(user->parent, 10);
	EXPECT_EQ(NULL, user->parent->parent);
	mlx5_ep_user_put(&self->dev.users, user);
	fake.uid = 10;
	user = mlx5_ep_user_get(&self->dev.users);
	EXPECT_ACCOUNT(user, 10);
	EXPECT_EQ(NULL, user->parent);
	mlx5_ep_user_put(&self->dev.users, user);
}

TEST_F(users, without_memory_leave_nothing)
{
	fake.ns = &lowest;
	for (fake.fails = 1; fake.fails <= 3; fake.fails++) {
		fake.asked = 0;
		EXPECT_EQ(NULL, mlx5_ep_user_get(&self->dev.users));
		EXPECT_EQ(fake.fails, fake.asked);
		EXPECT_EQ(0, fake.blocks);
	}
}

TEST_F(users, are_refused_and_named_where_they_are_full)
{
	static const struct {
		enum mlx5_ep_resource resource;
		enum mlx5_ep_reason reason;
		const char *what, *name;
	} cases[] = {
		{ MLX5_EP_UAR_PAGES, MLX5_EP_REASON_USER, "UAR pages",
		  "uar_user_limit" },
		{ MLX5_EP_NOTIFIERS, MLX5_EP_REASON_NOTIFIERS, "notifiers",
		  "notifiers_per_user" },
		{ MLX5_EP_DMABUF_WATCHES, MLX5_EP_REASON_DMABUF_WATCHES,
		  "watches of dma-bufs", "dmabuf_watches_per_user" },
		{ MLX5_EP_XRC_QPS, MLX5_EP_REASON_XRC_QPS_USER,
		  "shared XRC receive QPs", "xrc_qps_per_user" },
		{ MLX5_EP_XRC_REGS, MLX5_EP_REASON_XRC_REGS_USER,
		  "XRC registrations", "xrc_regs_per_user" },
	};
	struct mlx5_ep_account *user;
	char line[256];
	unsigned int i;

	fake.ns = &below;
	user = mlx5_ep_user_get(&self->dev.users);
	ASSERT_NE(NULL, user);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(0, mlx5_ep_user_charge(&self->dev, user,
						 cases[i].resource, 3, 4));
		EXPECT_EQ(i, fake.traced);
		/* One less is left for the owner. */
		mlx5_ep_account_uncharge(user, cases[i].resource, 3);
		EXPECT_EQ(0, mlx5_ep_user_charge(&self->dev, user->parent,
						 cases[i].resource, 3, 4));
		EXPECT_EQ(-EDQUOT, mlx5_ep_user_charge(&self->dev, user,
						       cases[i].resource, 2, 4));
		EXPECT_EQ(i + 1, fake.traced);
		EXPECT_EQ(1, self->dev.refusals.number[cases[i].reason].counter);
		EXPECT_STREQ(cases[i].what, fake.what);
		EXPECT_STREQ("user 10", fake.who);
		EXPECT_EQ(3, fake.held);
		EXPECT_EQ(2, fake.refused);
		EXPECT_EQ(4, fake.limit);
		snprintf(line, sizeof(line),
			 "mlx5_ep: user 10 holds 3 %s and is refused 2 more: close contexts or raise %s (4)\n",
			 cases[i].what, cases[i].name);
		EXPECT_STREQ(line, fake.log);
		EXPECT_EQ(0, mlx5_ep_account_held(user, cases[i].resource));
		mlx5_ep_account_uncharge(user->parent, cases[i].resource, 3);
	}
	EXPECT_EQ(0, mlx5_ep_user_charge(&self->dev, NULL, MLX5_EP_UAR_PAGES, 9, 4));
	mlx5_ep_user_put(&self->dev.users, user);
}

TEST_F(users, are_not_named_where_a_process_or_a_cgroup_is_full)
{
	struct mlx5_ep_refusal refusal = {
		.what = "watches of a notifier",
		.refused = 8,
		.reason = MLX5_EP_REASON_WATCHES,
		.limit = 7,
	};

	EXPECT_EQ(-EDQUOT, mlx5_ep_limit_refuse_process(&self->dev, &refusal));
	EXPECT_EQ(NULL, refusal.who);
	EXPECT_STREQ("name[77]", fake.who);
	EXPECT_EQ(1, fake.traced);
	refusal.who = "cgroup /a";
	refusal.reason = MLX5_EP_REASON_CGROUP;
	EXPECT_EQ(-EDQUOT, mlx5_ep_limit_refuse(&self->dev, &refusal));
	EXPECT_STREQ("cgroup /a", fake.who);
	EXPECT_NE(NULL, strstr(fake.log, "or raise its limit in uar_cgroup_limits (7)"));
}

TEST_F(users, read_how_often_each_limit_refused)
{
	char text[4096];

	mlx5_ep_limit_count_refusal(&self->dev, MLX5_EP_REASON_BUDGET);
	mlx5_ep_limit_count_refusal(&self->dev, MLX5_EP_REASON_STRICT_QP);
	mlx5_ep_limit_count_refusal(&self->dev, MLX5_EP_REASON_STRICT_QP);
	EXPECT_EQ(strlen("uar_budget 1\nuar_user_limit 0\nuar_cgroup_limits 0\n"
			 "notifier_max_watches 0\nnotifiers_per_user 0\n"
			 "dmabuf_watches_per_user 0\nxrc_qps_per_device 0\n"
			 "xrc_qps_per_user 0\nxrc_regs_per_user 0\n"
			 "strict_context 0\nstrict_qp 2\n"),
		  mlx5_ep_limit_show_refusals(&self->dev, text));
	EXPECT_EQ(0, strncmp(text, "uar_budget 1\nuar_user_limit 0\n", 30));
	EXPECT_NE(NULL, strstr(text, "\nstrict_context 0\nstrict_qp 2\n"));
}

TEST_HARNESS_MAIN
