// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * Policies and limits of cgroups: whom they are for, their lists as they are read,
 * and what is left of cgroups that are gone; with cgroup.c of the module compiled
 * into this program.
 */
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "kselftest_harness.h"

#include "cgroups_kernel.h"
#include "limits.inc"	/* account.c and limit.c, without what they include */

/* As kernel/device.h and uuar_policy.h have them. */
struct mlx5_ep_settings {
	unsigned int policy;
	bool strict;
	unsigned int pages;
};

#define POLICY_NAME(policy, name) [policy] = name,

static const char *const mlx5_ep_uuar_policy_names[] = {
	MLX5_EP_UUAR_POLICIES(POLICY_NAME)
};

#undef LINE_MAX		/* cgroup.c has its own */
#include "cgroups.inc"	/* cgroup.c, without what it includes */

#define NO_LIMIT UINT_MAX

enum { ROOT, A, AB, ABC, B, MORE, NUMBER = MORE + 40 };

static struct cgroup cgroups[NUMBER];
static char paths[NUMBER][16];
static struct mlx5_ep_device dev;

static void add_cgroup(int i, int parent, const char *path)
{
	snprintf(paths[i], sizeof(paths[i]), "%s", path);
	cgroups[i] = (struct cgroup){
		.path = paths[i],
		.id = 100 + i,
		.parent = i ? &cgroups[parent] : NULL,
		.level = i ? cgroups[parent].level + 1 : 0,
	};
}

FIXTURE(cgroups)
{
	char text[8192];	/* what was read last */
};

/* The caller is in /a/b, and sees all cgroups. */
FIXTURE_SETUP(cgroups)
{
	char path[16];
	int i;

	memset(&fake, 0, sizeof(fake));
	memset(&dev, 0, sizeof(dev));
	mlx5_ep_accounts_init(&dev.cgroup_accounts);
	INIT_LIST_HEAD(&dev.cgroups);
	add_cgroup(ROOT, ROOT, "/");
	add_cgroup(A, ROOT, "/a");
	add_cgroup(AB, A, "/a/b");
	add_cgroup(ABC, AB, "/a/b/c");
	add_cgroup(B, ROOT, "/b");
	for (i = MORE; i < NUMBER; i++) {
		snprintf(path, sizeof(path), "/m%02d", i - MORE);
		add_cgroup(i, ROOT, path);
	}
	memset(&groups, 0, sizeof(groups));
	groups.all = cgroups;
	groups.number = NUMBER;
	groups.own = &cgroups[AB];
	groups.root = &cgroups[ROOT];
	groups.mutex = &dev.lock;
}

FIXTURE_TEARDOWN(cgroups)
{
	int i;

	mlx5_ep_cgroup_forget(&dev.cgroups);
	EXPECT_EQ(0, fake.blocks);
	EXPECT_EQ(0, fake.misuses);
	EXPECT_EQ(0, groups.rcu);
	EXPECT_FALSE(dev.lock.held);
	for (i = 0; i < NUMBER; i++)
		EXPECT_EQ(0, cgroups[i].refs);
}

static int set_policy(const char *path, unsigned int policy, unsigned int pages)
{
	struct mlx5_ep_cgroup_change change = {
		.settings = { policy, policy == 1, pages },
	};

	return mlx5_ep_cgroup_set(&dev, path, &change);
}

static int cgroup_lists_set_limit(const char *path, unsigned int limit)
{
	struct mlx5_ep_cgroup_change change = { .is_limit = true, .limit = limit };

	return mlx5_ep_cgroup_set(&dev, path, &change);
}

static int take_away(const char *path, bool limit)
{
	struct mlx5_ep_cgroup_change change = {
		.is_limit = limit, .remove = true, .limit = 77,
	};

	return mlx5_ep_cgroup_set(&dev, path, &change);
}

/* Pages of the policy that holds for the caller; -1: there is none. */
static int own_pages(void)
{
	const struct mlx5_ep_settings *settings;

	mutex_lock(&dev.lock);
	settings = mlx5_ep_cgroup_settings(&dev);
	mutex_unlock(&dev.lock);
	return settings ? (int)settings->pages : -1;
}

/* Reads a list by pieces of @step bytes. Returns an errno of the last one, or 0. */
static int read_by(char *text, bool limits, size_t step)
{
	size_t at = 0;
	ssize_t got;

	do {
		memset(text + at, '#', step + 1);
		got = mlx5_ep_cgroup_read(&dev, limits, text + at, at, step);
		if (got < 0)
			return got;
		if (text[at + got] != '#')
			return -EOVERFLOW;
		at += got;
	} while (got == step);
	text[at] = 0;
	return 0;
}

#define EXPECT_LIST(list, limits)					\
	do {								\
		EXPECT_EQ(0, read_by(self->text, limits, 4096));	\
		EXPECT_STREQ(list, self->text);				\
	} while (0)
#define EXPECT_POLICIES(list) EXPECT_LIST(list, false)
#define EXPECT_LIMITS(list) EXPECT_LIST(list, true)

TEST_F(cgroups, have_the_policy_of_the_nearest_that_has_one)
{
	EXPECT_EQ(-1, own_pages());
	EXPECT_EQ(0, set_policy("/b", 1, 9));
	EXPECT_EQ(0, set_policy("/a/b/c", 1, 8));
	EXPECT_EQ(-1, own_pages());
	EXPECT_EQ(0, set_policy("/", 1, 1));
	EXPECT_EQ(1, own_pages());
	EXPECT_EQ(0, set_policy("/a", 1, 2));
	EXPECT_EQ(2, own_pages());
	/* One with a limit only is passed over. */
	EXPECT_EQ(0, cgroup_lists_set_limit("/a/b", 5));
	EXPECT_EQ(2, own_pages());
	EXPECT_EQ(0, set_policy("/a/b", 1, 3));
	EXPECT_EQ(3, own_pages());
	EXPECT_EQ(0, take_away("/a/b", false));
	EXPECT_EQ(0, take_away("/a", false));
	EXPECT_EQ(1, own_pages());
	groups.own = &cgroups[B];
	EXPECT_EQ(9, own_pages());
}

TEST_F(cgroups, are_listed_with_what_was_set_last)
{
	EXPECT_POLICIES("");
	EXPECT_EQ(0, set_policy("/a", 1, 2));
	EXPECT_EQ(0, cgroup_lists_set_limit("/b", 7));
	EXPECT_EQ(0, set_policy("/b", 3, 4));
	EXPECT_EQ(0, cgroup_lists_set_limit("/", 0));
	EXPECT_POLICIES("/a independent 1 2\n/b shared-uuar 0 4\n");
	EXPECT_LIMITS("/b 7\n/ 0\n");
	EXPECT_EQ(0, set_policy("/a", 2, 6));
	EXPECT_EQ(0, cgroup_lists_set_limit("/b", 8));
	EXPECT_POLICIES("/a shared-uar 0 6\n/b shared-uuar 0 4\n");
	EXPECT_LIMITS("/b 8\n/ 0\n");
	EXPECT_EQ(-ENOENT, cgroup_lists_set_limit("/nowhere", 8));
	EXPECT_EQ(3, fake.blocks);
}

TEST_F(cgroups, lose_one_thing_and_keep_the_other)
{
	EXPECT_EQ(-ENOENT, take_away("/a", false));
	EXPECT_EQ(-ENOENT, take_away("/a", true));
	EXPECT_EQ(0, fake.blocks);
	EXPECT_EQ(0, set_policy("/a", 1, 2));
	EXPECT_EQ(-ENOENT, take_away("/a", true));
	EXPECT_POLICIES("/a independent 1 2\n");
	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 3));
	EXPECT_EQ(0, take_away("/a", false));
	EXPECT_EQ(-ENOENT, take_away("/a", false));
	EXPECT_POLICIES("");
	EXPECT_LIMITS("/a 3\n");
	EXPECT_EQ(1, fake.blocks);
	EXPECT_EQ(0, take_away("/a", true));
	EXPECT_LIMITS("");
	EXPECT_EQ(0, fake.blocks);
	/* A limit that is as large as can be is none. */
	EXPECT_EQ(0, cgroup_lists_set_limit("/a", NO_LIMIT));
	EXPECT_EQ(0, fake.blocks);
}

TEST_F(cgroups, get_nothing_where_memory_is_short)
{
	fake.full = true;
	EXPECT_EQ(-ENOMEM, cgroup_lists_set_limit("/a", 3));
	EXPECT_EQ(-ENOMEM, set_policy("/a", 1, 3));
	EXPECT_TRUE(list_empty(&dev.cgroups));
	fake.full = false;
	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 3));
	/* What is there already needs none. */
	fake.full = true;
	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 4));
	fake.full = false;
	EXPECT_LIMITS("/a 4\n");
}

TEST_F(cgroups, are_read_in_pieces_as_in_one)
{
	char whole[sizeof(self->text)];
	size_t step;
	int i;

	for (i = MORE; i < MORE + 12; i++) {
		EXPECT_EQ(0, cgroup_lists_set_limit(paths[i], i));
		EXPECT_EQ(0, set_policy(paths[i], i % 4, i));
	}
	EXPECT_EQ(0, read_by(whole, false, 4096));
	for (step = 1; step < 40; step++) {
		EXPECT_EQ(0, read_by(self->text, false, step));
		EXPECT_STREQ(whole, self->text);
	}
	EXPECT_EQ(0, mlx5_ep_cgroup_read(&dev, false, self->text, strlen(whole), 9));
	EXPECT_EQ(0, mlx5_ep_cgroup_read(&dev, false, self->text, 4096, 9));
	EXPECT_EQ(1, mlx5_ep_cgroup_read(&dev, false, self->text,
					 strlen(whole) - 1, 9));
	EXPECT_EQ(0, mlx5_ep_cgroup_read(&dev, false, self->text, 0, 0));
}

TEST_F(cgroups, without_a_path_are_not_shown)
{
	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 5));
	EXPECT_EQ(0, cgroup_lists_set_limit("/b", 6));
	cgroups[A].hidden = true;
	EXPECT_LIMITS("/b 6\n");
	groups.no_path = -ENOENT;
	EXPECT_LIMITS("/b 6\n");
}

/* What lies behind the piece is not looked up. */
TEST_F(cgroups, are_looked_up_as_far_as_they_are_read)
{
	int i;

	for (i = MORE; i < MORE + 5; i++)
		EXPECT_EQ(0, cgroup_lists_set_limit(paths[i], 1));
	groups.looks = 0;
	EXPECT_EQ(7, mlx5_ep_cgroup_read(&dev, true, self->text, 0, 7));
	EXPECT_EQ(1, groups.looks);
	EXPECT_EQ(35, mlx5_ep_cgroup_read(&dev, true, self->text, 0, 99));
	EXPECT_EQ(6, groups.looks);
}

TEST_F(cgroups, that_are_gone_are_not_shown_and_then_freed)
{
	EXPECT_EQ(0, cgroup_lists_set_limit("/b", 7));
	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 8));
	EXPECT_EQ(0, cgroup_lists_set_limit(paths[MORE], 9));
	cgroups[B].gone = true;
	cgroups[MORE].gone = true;
	EXPECT_LIMITS("/a 8\n");
	EXPECT_EQ(3, fake.blocks);
	EXPECT_EQ(0, set_policy("/a", 1, 2));
	EXPECT_EQ(1, fake.blocks);
	EXPECT_LIMITS("/a 8\n");
	EXPECT_POLICIES("/a independent 1 2\n");
}

TEST_F(cgroups, outside_of_the_namespace_are_not_shown_and_not_freed)
{
	EXPECT_EQ(0, cgroup_lists_set_limit("/b", 7));
	EXPECT_EQ(0, cgroup_lists_set_limit("/a/b", 8));
	EXPECT_EQ(0, cgroup_lists_set_limit("/a/b/c", 9));
	groups.root = &cgroups[AB];
	EXPECT_LIMITS("/ 8\n/c 9\n");
	EXPECT_EQ(0, cgroup_lists_set_limit("/c", 10));
	EXPECT_EQ(-ENOENT, cgroup_lists_set_limit("/b", 10));
	EXPECT_EQ(3, fake.blocks);
	groups.root = &cgroups[ROOT];
	EXPECT_LIMITS("/b 7\n/a/b 8\n/a/b/c 10\n");
}

TEST_F(cgroups, stay_where_the_root_is_gone)
{
	EXPECT_EQ(0, cgroup_lists_set_limit("/b", 7));
	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 8));
	cgroups[B].gone = true;
	cgroups[ROOT].gone = true;
	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 9));
	EXPECT_EQ(2, fake.blocks);
}

static void between_forget(void)
{
	mlx5_ep_cgroup_forget(&dev.cgroups);
}

TEST_F(cgroups, may_be_forgotten_by_two)
{
	EXPECT_EQ(0, cgroup_lists_set_limit("/b", 7));
	cgroups[B].gone = true;
	/* The entry goes while the copy of it is looked at. */
	groups.between = between_forget;
	groups.turn = 2;
	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 9));
	EXPECT_EQ(1, fake.blocks);
	EXPECT_LIMITS("/a 9\n");
}

static int coming;	/* how many entries between_more() adds */

static void between_more(void)
{
	int i;

	mutex_lock(&dev.lock);
	for (i = 0; i < coming; i++)
		cgroup_entry_find_or_add(&dev, cgroups[MORE + i].id)->limit = i;
	mutex_unlock(&dev.lock);
}

/* Entries come while memory for the copies is allocated. */
TEST_F(cgroups, are_all_listed_while_more_come)
{
	int asked;

	for (coming = 13; coming < 20; coming++) {
		EXPECT_EQ(0, cgroup_lists_set_limit("/a", 5));
		asked = fake.asked;
		groups.between = between_more;
		groups.turn = 1;
		EXPECT_EQ(0, read_by(self->text, true, 4096));
		/* A line, and copies: once more if more came than were expected. */
		EXPECT_EQ(coming <= COPIES_MORE ? 2 : 3,
			  fake.asked - asked - coming);
		EXPECT_EQ(0, strncmp(self->text, "/a 5\n/m00 0\n", 12));
		EXPECT_NE(NULL, strstr(self->text, paths[MORE + coming - 1]));
		EXPECT_EQ(1 + coming, fake.blocks);
		mlx5_ep_cgroup_forget(&dev.cgroups);
	}
}

TEST_F(cgroups, are_not_read_without_memory)
{
	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 5));
	fake.fails = fake.asked + 1;
	EXPECT_EQ(-ENOMEM, read_by(self->text, true, 4096));
	fake.fails = fake.asked + 2;
	EXPECT_EQ(-ENOMEM, read_by(self->text, true, 4096));
	EXPECT_EQ(1, fake.blocks);
	/* Nothing dead is found then, and the change is made all the same. */
	fake.fails = fake.asked + 1;
	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 6));
	EXPECT_LIMITS("/a 6\n");
}

TEST_F(cgroups, have_an_account_at_each_level)
{
	struct mlx5_ep_account *account, *again;
	int i;

	account = mlx5_ep_cgroup_account_get(&dev);
	ASSERT_NE(NULL, account);
	EXPECT_EQ(cgroups[AB].id, account->id);
	EXPECT_EQ(NO_LIMIT, account->limit);
	EXPECT_EQ(cgroups[A].id, account->parent->id);
	EXPECT_EQ(cgroups[ROOT].id, account->parent->parent->id);
	EXPECT_EQ(NULL, account->parent->parent->parent);
	again = mlx5_ep_cgroup_account_get(&dev);
	EXPECT_EQ(account, again);
	mlx5_ep_account_put(&dev.cgroup_accounts, again);
	EXPECT_EQ(3, fake.blocks);
	mlx5_ep_account_put(&dev.cgroup_accounts, account);
	EXPECT_EQ(0, fake.blocks);

	/* No memory at any of the levels. */
	for (i = 1; i <= 3; i++) {
		fake.fails = fake.asked + i;
		EXPECT_EQ(NULL, mlx5_ep_cgroup_account_get(&dev));
		EXPECT_EQ(fake.fails, fake.asked);
		EXPECT_EQ(0, fake.blocks);
	}
	fake.fails = 0;
}

/* The caller is moved, and its old cgroup goes, while it is looked for. */
TEST_F(cgroups, account_is_that_of_the_cgroup_to_which_the_caller_is_moved)
{
	struct mlx5_ep_account *account;

	cgroups[AB].self.dying = true;
	groups.next = &cgroups[A];
	account = mlx5_ep_cgroup_account_get(&dev);
	ASSERT_NE(NULL, account);
	EXPECT_EQ(cgroups[A].id, account->id);
	mlx5_ep_account_put(&dev.cgroup_accounts, account);
	EXPECT_EQ(0, fake.blocks);
}

/* Makes the caller's account, with the limits that are set. */
static struct mlx5_ep_account *limited_account(void)
{
	struct mlx5_ep_account *account = mlx5_ep_cgroup_account_get(&dev);

	mutex_lock(&dev.lock);
	mlx5_ep_cgroup_account_limit(&dev, account);
	mutex_unlock(&dev.lock);
	return account;
}

TEST_F(cgroups, limit_accounts_old_and_new)
{
	struct mlx5_ep_account *account;

	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 5));
	EXPECT_EQ(0, cgroup_lists_set_limit("/b", 6));
	EXPECT_EQ(0, set_policy("/a/b", 1, 7));
	account = limited_account();
	EXPECT_EQ(NO_LIMIT, account->limit);
	EXPECT_EQ(5, account->parent->limit);
	EXPECT_EQ(NO_LIMIT, account->parent->parent->limit);
	EXPECT_EQ(0, cgroup_lists_set_limit("/a/b", 4));
	EXPECT_EQ(4, account->limit);
	EXPECT_EQ(5, account->parent->limit);
	EXPECT_EQ(0, take_away("/a", true));
	EXPECT_EQ(NO_LIMIT, account->parent->limit);
	EXPECT_EQ(0, set_policy("/a", 1, 7));
	EXPECT_EQ(NO_LIMIT, account->parent->limit);
	mlx5_ep_account_put(&dev.cgroup_accounts, account);
}

TEST_F(cgroups, that_are_full_are_named)
{
	struct mlx5_ep_account *account;

	EXPECT_EQ(0, cgroup_lists_set_limit("/a", 5));
	account = limited_account();
	EXPECT_EQ(0, mlx5_ep_cgroup_charge(&dev, account, 3));
	EXPECT_EQ(0, fake.traced);
	EXPECT_EQ(-EDQUOT, mlx5_ep_cgroup_charge(&dev, account, 4));
	EXPECT_STREQ("mlx5_ep: cgroup /a holds 3 UAR pages and is refused 4 more: close contexts or raise its limit in uar_cgroup_limits (5)\n",
		     fake.log);
	EXPECT_STREQ("cgroup /a", fake.who);
	EXPECT_EQ(1, fake.traced);
	EXPECT_EQ(1, dev.refusals.number[MLX5_EP_REASON_CGROUP].counter);
	EXPECT_EQ(3, mlx5_ep_account_held(account, MLX5_EP_UAR_PAGES));
	EXPECT_EQ(0, mlx5_ep_cgroup_charge(&dev, account, 2));

	/* From elsewhere it has no name. */
	groups.own = &cgroups[B];
	EXPECT_EQ(-EDQUOT, mlx5_ep_cgroup_charge(&dev, account, 1));
	EXPECT_STREQ("cgroup with id 101", fake.who);
	EXPECT_EQ(5, fake.held);
	EXPECT_EQ(5, fake.limit);
	EXPECT_EQ(1, fake.refused);
	fake.fails = fake.asked + 1;
	EXPECT_EQ(-EDQUOT, mlx5_ep_cgroup_charge(&dev, account, 1));
	EXPECT_STREQ("cgroup", fake.who);
	mlx5_ep_account_uncharge(account, MLX5_EP_UAR_PAGES, 5);
	mlx5_ep_account_put(&dev.cgroup_accounts, account);
	EXPECT_EQ(0, mlx5_ep_cgroup_charge(&dev, NULL, 9));
}

TEST_HARNESS_MAIN
