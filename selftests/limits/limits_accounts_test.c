// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The accounts of users and cgroups, compiled into this program: their trees, the
 * edges of their limits, and what is left of them.
 */
#include "kselftest_harness.h"

#include <pthread.h>

#include "accounts_kernel.h"
#include "limits.inc"	/* account.c and others, without what they include */

#define PAGES	MLX5_EP_UAR_PAGES
#define NO_LIMIT UINT_MAX
/* Ids in one bucket of the table. */
#define ID	7u
#define OTHER	(ID + 256u)
#define THIRD	(ID + 512u)

static struct mlx5_ep_accounts accounts;
static struct mlx5_ep_account *made;	/* by meanwhile_get() */

FIXTURE(accounts)
{
	struct mlx5_ep_account *top, *a, *b;
};

static struct mlx5_ep_account *accounts_get(struct mlx5_ep_account *parent,
					    u64 id, unsigned int limit)
{
	if (parent)
		mlx5_ep_account_hold(&accounts, parent);
	return mlx5_ep_account_get(&accounts, parent, id, limit);
}

static void accounts_put(struct mlx5_ep_account *account)
{
	mlx5_ep_account_put(&accounts, account);
}

#define CHARGE(account, number) \
	mlx5_ep_account_charge(account, PAGES, number, NO_LIMIT)
#define HELD(account) mlx5_ep_account_held(account, PAGES)

/* Two accounts below one. */
FIXTURE_SETUP(accounts)
{
	memset(&accounts, 0xa5, sizeof(accounts));
	memset(&fake, 0, sizeof(fake));
	mlx5_ep_accounts_init(&accounts);
	self->top = accounts_get(NULL, 1, NO_LIMIT);
	self->a = accounts_get(self->top, ID, NO_LIMIT);
	self->b = accounts_get(self->top, OTHER, NO_LIMIT);
	ASSERT_NE(NULL, self->top);
	ASSERT_NE(NULL, self->a);
	ASSERT_NE(NULL, self->b);
	ASSERT_EQ(3, fake.blocks);
}

FIXTURE_TEARDOWN(accounts)
{
	fake.full = false;
	accounts_put(self->a);
	accounts_put(self->b);
	EXPECT_EQ(1, fake.blocks);
	EXPECT_EQ(1, self->top->refs);
	accounts_put(self->top);
	EXPECT_EQ(0, fake.blocks);
	EXPECT_EQ(0, fake.misuses);
}

TEST_F(accounts, are_found_by_id_and_parent)
{
	struct mlx5_ep_account *again, *below;

	EXPECT_NE(self->a, self->b);
	again = accounts_get(self->top, ID, 5);
	EXPECT_EQ(self->a, again);
	EXPECT_EQ(2, self->a->refs);
	/* The limit of one that is there stays. */
	EXPECT_EQ(NO_LIMIT, self->a->limit);
	accounts_put(again);
	EXPECT_EQ(1, self->a->refs);

	below = accounts_get(self->b, ID, 5);
	EXPECT_NE(self->a, below);
	EXPECT_EQ(self->b, below->parent);
	EXPECT_EQ(5, below->limit);
	EXPECT_EQ(ID, below->id);
	accounts_put(below);
	EXPECT_EQ(3, fake.blocks);
}

TEST_F(accounts, above_live_as_long_as_those_below)
{
	struct mlx5_ep_account *c = accounts_get(self->a, 3, NO_LIMIT);
	struct mlx5_ep_account *d = accounts_get(c, 4, NO_LIMIT);

	accounts_put(c);
	EXPECT_EQ(5, fake.blocks);
	mlx5_ep_account_hold(&accounts, d);
	mlx5_ep_account_hold(&accounts, NULL);
	accounts_put(d);
	EXPECT_EQ(5, fake.blocks);
	accounts_put(d);
	EXPECT_EQ(3, fake.blocks);
	accounts_put(NULL);
	/* A new one begins with nothing. */
	c = accounts_get(self->a, 3, NO_LIMIT);
	EXPECT_EQ(NULL, CHARGE(c, 2));
	mlx5_ep_account_uncharge(c, PAGES, 2);
	EXPECT_EQ(0, HELD(c));
	accounts_put(c);
}

/* A user can nest cgroups deeply: the lock is not held while all of them go. */
TEST_F(accounts, that_go_with_those_above_go_one_by_one)
{
	struct mlx5_ep_account *below = accounts_get(self->a, 0, NO_LIMIT), *next;
	unsigned int i;

	for (i = 1; i < 1000; i++) {
		next = accounts_get(below, i, NO_LIMIT);
		ASSERT_NE(NULL, next);
		accounts_put(below);
		below = next;
	}
	EXPECT_EQ(1003, fake.blocks);
	accounts_put(below);
	EXPECT_EQ(3, fake.blocks);
	EXPECT_EQ(1, self->a->refs);
	EXPECT_EQ(0, fake.freed_locked);
}

TEST_F(accounts, above_are_charged_too)
{
	EXPECT_EQ(NULL, CHARGE(self->a, 2));
	EXPECT_EQ(NULL, CHARGE(self->b, 3));
	EXPECT_EQ(2, HELD(self->a));
	EXPECT_EQ(3, HELD(self->b));
	EXPECT_EQ(5, HELD(self->top));
	EXPECT_EQ(0, mlx5_ep_account_held(self->top, MLX5_EP_NOTIFIERS));
	mlx5_ep_account_uncharge(self->a, PAGES, 1);
	EXPECT_EQ(1, HELD(self->a));
	EXPECT_EQ(4, HELD(self->top));
	mlx5_ep_account_uncharge(self->a, PAGES, 1);
	mlx5_ep_account_uncharge(self->b, PAGES, 3);
	EXPECT_EQ(0, HELD(self->top));
	EXPECT_EQ(NULL, CHARGE(NULL, 2));
	mlx5_ep_account_uncharge(NULL, PAGES, 2);
}

TEST_F(accounts, are_refused_at_their_limit_and_not_before)
{
	mlx5_ep_account_set_limit(&accounts, ID, 4);
	EXPECT_EQ(NULL, CHARGE(self->a, 3));
	EXPECT_EQ(self->a, CHARGE(self->a, 2));
	EXPECT_EQ(NULL, CHARGE(self->a, 1));
	EXPECT_EQ(self->a, CHARGE(self->a, 1));
	EXPECT_EQ(NULL, CHARGE(self->a, 0));
	/* Below what is held. */
	mlx5_ep_account_set_limit(&accounts, ID, 2);
	EXPECT_EQ(self->a, CHARGE(self->a, 1));
	EXPECT_EQ(4, HELD(self->a));
	EXPECT_EQ(4, HELD(self->top));
	mlx5_ep_account_uncharge(self->a, PAGES, 3);
	EXPECT_EQ(NULL, CHARGE(self->a, 1));
	EXPECT_EQ(self->a, CHARGE(self->a, 1));
	mlx5_ep_account_uncharge(self->a, PAGES, 2);
}

TEST_F(accounts, without_a_limit_hold_what_can_be_counted)
{
	EXPECT_EQ(NULL, CHARGE(self->a, 5));
	EXPECT_EQ(self->a, CHARGE(self->a, UINT_MAX));
	EXPECT_EQ(5, HELD(self->a));
	mlx5_ep_account_uncharge(self->a, PAGES, 5);
}

TEST_F(accounts, below_a_full_one_get_back_what_was_added)
{
	struct mlx5_ep_account *c = accounts_get(self->a, 3, NO_LIMIT);

	mlx5_ep_account_set_limit(&accounts, ID, 4);
	EXPECT_EQ(NULL, CHARGE(self->a, 3));
	EXPECT_EQ(self->a, CHARGE(c, 2));
	EXPECT_EQ(0, HELD(c));
	EXPECT_EQ(3, HELD(self->a));
	EXPECT_EQ(3, HELD(self->top));
	mlx5_ep_account_set_limit(&accounts, 1, 3);
	EXPECT_EQ(self->top, CHARGE(c, 1));
	EXPECT_EQ(0, HELD(c));
	EXPECT_EQ(3, HELD(self->a));
	EXPECT_EQ(3, HELD(self->top));
	mlx5_ep_account_uncharge(self->a, PAGES, 3);
	accounts_put(c);
}

/* Who tries in a loop at a limit takes no room from others, not for an instant. */
TEST_F(accounts, that_are_refused_were_not_charged_in_between)
{
	struct mlx5_ep_account *c = accounts_get(self->a, 3, NO_LIMIT);

	mlx5_ep_account_set_limit(&accounts, 1, 3);
	EXPECT_EQ(NULL, CHARGE(self->b, 3));
	fake.added = 0;
	EXPECT_EQ(self->top, CHARGE(c, 1));
	EXPECT_EQ(self->top, mlx5_ep_account_full(c, PAGES, 1, NO_LIMIT));
	EXPECT_EQ(NULL, mlx5_ep_account_full(c, PAGES, 0, NO_LIMIT));
	EXPECT_EQ(self->a, mlx5_ep_account_full(self->a, MLX5_EP_NOTIFIERS, 5, 4));
	EXPECT_EQ(NULL, mlx5_ep_account_full(NULL, PAGES, 1, 0));
	EXPECT_EQ(0, fake.added);
	mlx5_ep_account_uncharge(self->b, PAGES, 3);
	accounts_put(c);
}

TEST_F(accounts, obey_the_lower_of_two_limits)
{
	EXPECT_EQ(NULL, mlx5_ep_account_charge(self->a, PAGES, 2, 2));
	EXPECT_EQ(self->a, mlx5_ep_account_charge(self->a, PAGES, 1, 2));
	EXPECT_EQ(self->top, mlx5_ep_account_charge(self->b, PAGES, 1, 2));
	EXPECT_EQ(0, HELD(self->b));
	mlx5_ep_account_set_limit(&accounts, ID, 3);
	EXPECT_EQ(NULL, mlx5_ep_account_charge(self->a, PAGES, 1, 9));
	EXPECT_EQ(self->a, mlx5_ep_account_charge(self->a, PAGES, 1, 9));
	mlx5_ep_account_uncharge(self->a, PAGES, 3);
}

TEST_F(accounts, with_one_id_have_one_limit)
{
	struct mlx5_ep_account *below = accounts_get(self->b, ID, NO_LIMIT);
	struct mlx5_ep_account *third = accounts_get(self->a, THIRD, 9);

	EXPECT_FALSE(mlx5_ep_account_is_limited(self->a));
	EXPECT_TRUE(mlx5_ep_account_is_limited(third));
	mlx5_ep_account_set_limit(&accounts, ID, 4);
	EXPECT_EQ(4, self->a->limit);
	EXPECT_EQ(4, below->limit);
	EXPECT_EQ(NO_LIMIT, self->b->limit);
	EXPECT_EQ(9, third->limit);
	EXPECT_TRUE(mlx5_ep_account_is_limited(self->a));
	EXPECT_FALSE(mlx5_ep_account_is_limited(self->b));
	EXPECT_FALSE(mlx5_ep_account_is_limited(NULL));
	/* One that is above counts. */
	mlx5_ep_account_set_limit(&accounts, 1, 8);
	EXPECT_TRUE(mlx5_ep_account_is_limited(self->b));
	accounts_put(below);
	accounts_put(third);
}

TEST_F(accounts, without_memory_leave_the_one_above_as_it_was)
{
	struct mlx5_ep_account *again;
	int asked;

	fake.full = true;
	EXPECT_EQ(NULL, accounts_get(self->a, 3, NO_LIMIT));
	EXPECT_EQ(1, self->a->refs);
	EXPECT_EQ(3, fake.blocks);
	/* One that is there needs none. */
	asked = fake.asked;
	again = accounts_get(self->top, ID, NO_LIMIT);
	EXPECT_EQ(self->a, again);
	EXPECT_EQ(asked, fake.asked);
	accounts_put(again);
}

static void meanwhile_get(void)
{
	fake.misuses += accounts.lock.held;
	made = accounts_get(made, 3, NO_LIMIT);
}

static void meanwhile_get_last(void)
{
	meanwhile_get();
	fake.full = true;
}

TEST_F(accounts, that_two_make_at_once_are_one)
{
	struct mlx5_ep_account *c;

	made = self->a;
	fake.meanwhile = meanwhile_get;
	c = accounts_get(self->a, 3, NO_LIMIT);
	EXPECT_EQ(made, c);
	EXPECT_EQ(2, c->refs);
	EXPECT_EQ(2, self->a->refs);
	EXPECT_EQ(4, fake.blocks);
	accounts_put(c);
	accounts_put(made);
	EXPECT_EQ(1, self->a->refs);

	/* Only the other one has found memory. */
	made = self->a;
	fake.meanwhile = meanwhile_get_last;
	c = accounts_get(self->a, 3, NO_LIMIT);
	EXPECT_EQ(made, c);
	accounts_put(c);
	accounts_put(made);
}

/* Holds up to @limit with others, and looks whether they hold more. */
static void *charge_often(void *more)
{
	struct mlx5_ep_account *a = made;
	int i;

	for (i = 0; i < 100000; i++) {
		if (CHARGE(a, 1))
			continue;
		if (HELD(a) > 2)
			*(bool *)more = true;
		mlx5_ep_account_uncharge(a, PAGES, 1);
	}
	return NULL;
}

TEST_F(accounts, hold_what_threads_hold)
{
	pthread_t threads[3];
	bool more = false;
	unsigned int i;

	mlx5_ep_account_set_limit(&accounts, ID, 2);
	made = self->a;
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, charge_often, &more));
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		ASSERT_EQ(0, pthread_join(threads[i], NULL));
	EXPECT_FALSE(more);
	EXPECT_EQ(0, HELD(self->a));
	EXPECT_EQ(0, HELD(self->top));
}

TEST_HARNESS_MAIN
