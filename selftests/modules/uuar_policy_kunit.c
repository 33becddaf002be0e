// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs the uUAR policies in a kernel where KASAN and UBSAN check each access to
 * a table. The table has exactly the length that it states. This suite is about
 * the accesses; uuar_policy_test is about the choices.
 */

#include <kunit/test.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/prandom.h>

#include "uuar/uuar_policy.c"

static const enum mlx5_ep_uuar_policy policies[] = {
	MLX5_EP_UUAR_POLICY_INDEPENDENT,
	MLX5_EP_UUAR_POLICY_SHARED_UAR,
	MLX5_EP_UUAR_POLICY_SHARED_UUAR,
};

static const unsigned int sizes[] = { 1, 2, 3, 5, 16, MLX5_EP_MAX_PAGES };

static struct mlx5_ep_uuar_table *new_table(struct kunit *test,
					    unsigned int pages)
{
	struct mlx5_ep_uuar_table *t;

	t = kunit_kzalloc(test, struct_size(t, pages, pages), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, t);
	t->nr_pages = pages;
	return t;
}

static unsigned int qps_of_all(const struct mlx5_ep_uuar_table *t)
{
	unsigned int page, qps = 0;

	for (page = 0; page < t->nr_pages; page++)
		qps += mlx5_ep_uuar_page_qps(&t->pages[page]);
	return qps;
}

/* Pick and release at random until the table has been full for a while. */
static void churn(struct kunit *test, struct mlx5_ep_uuar_table *t,
		  struct rnd_state *rnd)
{
	unsigned int uuars = 2 * t->nr_pages, rounds = min(4 * uuars, 96U);
	unsigned int i, victim, qps = 0;
	int uuar;

	for (i = 0; i < rounds; i++) {
		uuar = mlx5_ep_uuar_policy_pick(t);
		if (uuar < 0) {
			KUNIT_ASSERT_EQ(test, -ENOSPC, uuar);
			KUNIT_ASSERT_TRUE(test, t->strict || !t->pages[0].known);
		} else {
			KUNIT_ASSERT_LT(test, uuar, uuars);
			KUNIT_ASSERT_TRUE(test, t->pages[uuar / 2].known);
			if (uuar && !mlx5_ep_uuar_table_locked(t, uuar))
				KUNIT_ASSERT_EQ(test, 0,
						mlx5_ep_uuar_table_qps(t, uuar));
			mlx5_ep_uuar_table_add(t, uuar);
			qps++;
		}
		victim = prandom_u32_state(rnd) % uuars;
		if (i % 3 == 2 && mlx5_ep_uuar_table_qps(t, victim)) {
			mlx5_ep_uuar_table_del(t, victim);
			qps--;
		}
	}
	KUNIT_EXPECT_EQ(test, qps, qps_of_all(t));
}

static void picks_stay_inside_the_table(struct kunit *test)
{
	unsigned int size, policy, low, page;
	struct mlx5_ep_uuar_table *t;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 1);
	for (size = 0; size < ARRAY_SIZE(sizes); size++)
		for (policy = 0; policy < ARRAY_SIZE(policies); policy++)
			for (low = 0; low < 8; low++) {
				t = new_table(test, sizes[size]);
				t->policy = policies[policy];
				t->strict = low & 1;
				/* up to one more than there are */
				t->low_latency = (2 * t->nr_pages + 1) * low / 7;
				for (page = 0; page < t->nr_pages; page++)
					t->pages[page].known = low & 2 ||
						prandom_u32_state(&rnd) & 1;
				churn(test, t, &rnd);
				kunit_kfree(test, t);
			}
}

static void sizes_stay_in_their_range(struct kunit *test)
{
	static const unsigned int values[] = { 0, 1, 4, 256, 257, UINT_MAX };
	struct mlx5_ep_uuar_sizing s;
	unsigned int n, i, pages;

	for (n = 0; n < ARRAY_SIZE(policies) * 7776; n++) {
		i = n / ARRAY_SIZE(policies);
		s = (struct mlx5_ep_uuar_sizing){
			.policy = policies[n % ARRAY_SIZE(policies)],
			.wanted = values[i % 6],
			.cpus = values[i / 6 % 6],
			.mappings = values[(i + 1) % 6],
			.library = values[i / 36 % 6],
			.low_latency = values[i / 216 % 6],
			.available = values[i / 1296],
		};
		pages = mlx5_ep_uuar_policy_pages(&s);
		KUNIT_ASSERT_GE(test, pages, 1);
		KUNIT_ASSERT_LE(test, pages, MLX5_EP_MAX_PAGES);
		KUNIT_ASSERT_LE(test, pages, max(s.available, 1));
		KUNIT_ASSERT_LT(test, mlx5_ep_uuar_policy_low_latency(
					s.low_latency, pages), 2 * pages);
	}
}

static struct kunit_case uuar_policy_cases[] = {
	KUNIT_CASE(picks_stay_inside_the_table),
	KUNIT_CASE(sizes_stay_in_their_range),
	{}
};

static struct kunit_suite uuar_policy_suite = {
	.name = "mlx5_ep_uuar_policy",
	.test_cases = uuar_policy_cases,
};

kunit_test_suite(uuar_policy_suite);

MODULE_DESCRIPTION("KUnit tests of mlx5_ep's uUAR policies");
MODULE_LICENSE("Dual BSD/GPL");
