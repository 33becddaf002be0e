// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core, timeout: 240 */
/*
 * The policies, compiled into this program, on every table of up to four pages
 * and in long random sequences on larger tables. The expected results do not
 * come from the code under test: they are written down here again, from
 * libmlx5's rule and from the table in Documentation/concepts.md.
 */
#include "kselftest_harness.h"

/* As the kernel has them. */
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define min3(a, b, c)	min(min(a, b), c)

/*
 * uuar_policy_mutants_test.sh names a broken policy here; the test must fail.
 */
#ifndef POLICY_SOURCE
#define POLICY_SOURCE "../../kernel/uuar/uuar_policy.c"
#endif
#include POLICY_SOURCE

#define MAX_UUARS (2 * MLX5_EP_MAX_PAGES)

static const enum mlx5_ep_uuar_policy policies[] = {
	MLX5_EP_UUAR_POLICY_INDEPENDENT,
	MLX5_EP_UUAR_POLICY_SHARED_UAR,
	MLX5_EP_UUAR_POLICY_SHARED_UUAR,
};

/* How libmlx5 rings a uUAR (rdma-core, providers/mlx5/mlx5.c). */
enum ring { RING_DOORBELL, RING_LOCKED, RING_LOCKFREE };

static enum ring ring_of(int index, int total, int low_latency)
{
	if (index == 0)
		return RING_DOORBELL;
	return index >= total - low_latency ? RING_LOCKFREE : RING_LOCKED;
}

static struct mlx5_ep_uuar_table *new_table(unsigned int pages)
{
	struct mlx5_ep_uuar_table *t;

	t = calloc(1, sizeof(*t) + pages * sizeof(t->pages[0]));
	if (t)
		t->nr_pages = pages;
	return t;
}

static unsigned int qps_at(const struct mlx5_ep_uuar_table *t, unsigned int i)
{
	return t->pages[i / 2].qps[i % 2];
}

/* Can a QP be placed on the page? */
static bool page_can(const struct mlx5_ep_uuar_table *t, unsigned int page)
{
	return t->pages[page].known || (!t->closed && t->pages[page].empty);
}

/* How many uUARs a policy can use before it has to go to the next level. */
static unsigned int free_at_level(const struct mlx5_ep_uuar_table *t)
{
	unsigned int i, n = 0;

	for (i = 0; i < t->nr_pages; i++) {
		const unsigned int *qps = t->pages[i].qps;

		if (!page_can(t, i))
			continue;
		if (t->policy == MLX5_EP_UUAR_POLICY_INDEPENDENT)
			n += !qps[0] && !qps[1];
		else if (t->policy == MLX5_EP_UUAR_POLICY_SHARED_UAR)
			n += (i && !qps[0]) + !qps[1];
	}
	return n;
}

/* The fewest QPs on any locked uUAR; -1 if there is no locked uUAR. */
static int least_locked(const struct mlx5_ep_uuar_table *t)
{
	int total = 2 * t->nr_pages, i, least = -1;

	for (i = 0; i < total; i++)
		if (page_can(t, i / 2) &&
		    ring_of(i, total, t->low_latency) == RING_LOCKED &&
		    (least < 0 || (int)qps_at(t, i) < least))
			least = qps_at(t, i);
	return least;
}

/* What is wrong if the policy picks @i on the table @t; NULL if nothing is. */
static const char *judge(const struct mlx5_ep_uuar_table *t, int i)
{
	unsigned int exempt = free_at_level(t);
	int total = 2 * t->nr_pages;
	enum ring ring;

	if (i < 0) {
		if (i != -ENOSPC)
			return "an error that is not ENOSPC";
		if (!t->strict)
			return "refused though not strict";
		if (t->policy == MLX5_EP_UUAR_POLICY_SHARED_UUAR)
			return "refused though the level has no end";
		return exempt ? "refused though the level has room" : NULL;
	}
	if (i >= total)
		return "outside of the table";
	if (!page_can(t, i / 2))
		return "on a page that the context does not have";
	ring = ring_of(i, total, t->low_latency);
	if (ring == RING_LOCKFREE && qps_at(t, i))
		return "a second QP on a uUAR without a lock";
	if (exempt && qps_at(t, i))
		return "shared while the level has room";
	if (t->policy == MLX5_EP_UUAR_POLICY_INDEPENDENT && exempt &&
	    (t->pages[i / 2].qps[0] || t->pages[i / 2].qps[1]))
		return "not alone while a page is empty";
	if (t->strict && !exempt &&
	    t->policy != MLX5_EP_UUAR_POLICY_SHARED_UUAR)
		return "taken from the next level though strict";
	if (ring == RING_LOCKED && qps_at(t, i) &&
	    (int)qps_at(t, i) > least_locked(t))
		return "not the least shared uUAR";
	if (ring == RING_DOORBELL && least_locked(t) >= 0)
		return "the doorbell though a uUAR has BlueFlame";
	return NULL;
}

/*
 * Set the table to state @state: 0 to 2 QPs on each uUAR. Returns false if the
 * state is impossible.
 */
static bool set_state(struct mlx5_ep_uuar_table *t, unsigned int state)
{
	int total = 2 * t->nr_pages, i;

	for (i = 0; i < total; i++, state /= 3) {
		t->pages[i / 2].qps[i % 2] = state % 3;
		if (state % 3 && !page_can(t, i / 2))
			return false;
		if (state % 3 == 2 &&
		    ring_of(i, total, t->low_latency) == RING_LOCKFREE)
			return false;
	}
	return true;
}

static unsigned int power(unsigned int base, unsigned int exponent)
{
	return exponent ? base * power(base, exponent - 1) : 1;
}

/* Judge one pick in every state of @t. Returns the number of picks. */
static unsigned int
judge_states(struct __test_metadata *_metadata, struct mlx5_ep_uuar_table *t)
{
	unsigned int state, picks = 0;
	struct mlx5_ep_uuar_table *was = new_table(t->nr_pages);
	size_t size = sizeof(*t) + t->nr_pages * sizeof(t->pages[0]);
	const char *wrong;
	int i;

	for (state = 0; state < power(3, 2 * t->nr_pages); state++) {
		if (!set_state(t, state))
			continue;
		memcpy(was, t, size);
		i = mlx5_ep_uuar_policy_pick(t);
		wrong = judge(t, i);
		EXPECT_EQ(NULL, wrong) {
			TH_LOG("%s: policy %u strict %d pages %u low_latency %u state %u pick %d",
			       wrong, t->policy, t->strict, t->nr_pages,
			       t->low_latency, state, i);
			break;
		}
		EXPECT_EQ(0, memcmp(was, t, size));
		picks++;
	}
	free(was);
	return picks;
}

/*
 * Give the table the pages whose bits are set; every second of them is empty
 * and can be allocated. With @closed, the other pages are empty too, and cannot
 * be allocated.
 */
static void set_usable(struct mlx5_ep_uuar_table *t, unsigned int bits,
		       bool closed)
{
	unsigned int p;

	t->closed = closed;
	for (p = 0; p < t->nr_pages; p++) {
		bool is = bits >> p & 1;

		t->pages[p].empty = closed ? !is : is && p % 2;
		t->pages[p].known = is && !t->pages[p].empty;
	}
}

/* alloc_bfreg() of mlx5_ib: @qps of each of @total uUARs. */
static int mlx5_ib_picks(const unsigned int *qps, int total, int low_latency)
{
	int first_hi = low_latency < total ? total - low_latency : 1;
	int i, least = 1;

	for (i = first_hi; i < total; i++)
		if (!qps[i])
			return i;
	if (first_hi == 1)
		return 0;
	for (i = 1; i < first_hi; i++)
		if (qps[i] < qps[least])
			least = i;
	return least;
}

TEST(stock_is_as_mlx5_ib)
{
	unsigned int pages, low, n, qps[16];
	struct mlx5_ep_uuar_table *t;
	int pick;

	for (pages = 1; pages <= 8; pages++) {
		for (low = 0; low <= 2 * pages; low++) {
			t = new_table(pages);
			ASSERT_NE(NULL, t);
			t->policy = MLX5_EP_UUAR_POLICY_STOCK;
			t->low_latency = low;
			set_usable(t, -1, false);
			memset(qps, 0, sizeof(qps));
			for (n = 0; n < 6 * pages; n++) {
				pick = mlx5_ep_uuar_policy_pick(t);
				ASSERT_EQ(mlx5_ib_picks(qps, 2 * pages, low),
					  pick);
				mlx5_ep_uuar_table_add(t, pick);
				qps[pick]++;
			}
			free(t);
		}
	}
}

/* Page 2 has not been mapped: its uUARs, 4 and 5, are nobody's. */
TEST(stock_leaves_out_a_page_that_is_not_known)
{
	struct mlx5_ep_uuar_table *t = new_table(4);
	unsigned int qps[8] = {}, n, uuar;
	int pick;

	ASSERT_NE(NULL, t);
	t->policy = MLX5_EP_UUAR_POLICY_STOCK;
	set_usable(t, 0xb, false);
	for (n = 0; n < 20; n++) {
		pick = mlx5_ep_uuar_policy_pick(t);
		ASSERT_LT(0, pick);
		mlx5_ep_uuar_table_add(t, pick);
		qps[pick]++;
	}
	for (uuar = 1; uuar < 8; uuar++)
		EXPECT_EQ(uuar == 4 || uuar == 5 ? 0 : 4, qps[uuar]);
	free(t);
}

TEST(every_small_table)
{
	unsigned int pages, low, bits, i, picks = 0;
	struct mlx5_ep_uuar_table *t;

	for (pages = 1; pages <= 4; pages++) {
		t = new_table(pages);
		ASSERT_NE(NULL, t);
		for (i = 0; i < ARRAY_SIZE(policies) * 4; i++) {
			t->policy = policies[i / 4];
			t->strict = i % 2;
			for (low = 0; low <= 2 * pages + 1; low++) {
				t->low_latency = low;
				/*
				 * Page 0 must be known; otherwise no QP is
				 * placed.
				 */
				for (bits = 1; bits < 1U << pages; bits += 2) {
					set_usable(t, bits, i & 2);
					ASSERT_TRUE(
						mlx5_ep_uuar_table_ready(t));
					picks += judge_states(_metadata, t);
				}
			}
		}
		free(t);
	}
	/* The loop has judged picks. */
	EXPECT_LT(100000, picks);
}

TEST(a_table_without_page_0_is_not_ready)
{
	struct mlx5_ep_uuar_table *t = new_table(2);

	ASSERT_NE(NULL, t);
	EXPECT_FALSE(mlx5_ep_uuar_table_ready(t));
	t->pages[1].known = true;
	EXPECT_FALSE(mlx5_ep_uuar_table_ready(t));
	t->pages[0].known = true;
	EXPECT_TRUE(mlx5_ep_uuar_table_ready(t));
	free(t);
}

/*
 * Which page is picked does not depend on whether a page is avoided for this QP or
 * can be used by nobody. The QPs of other processes may be on it.
 */
TEST(avoided_pages_are_as_pages_that_nobody_can_use)
{
	unsigned long avoid[MLX5_EP_MAX_PAGES / (8 * sizeof(long))];
	struct mlx5_ep_uuar_table *t = new_table(MLX5_EP_MAX_PAGES);
	unsigned int round, i, p, on_page_0 = 0;
	int pick;

	ASSERT_NE(NULL, t);
	srandom(2);
	for (round = 0; round < 2000; round++) {
		memset(avoid, 0, sizeof(avoid));
		t->policy = policies[round % ARRAY_SIZE(policies)];
		t->low_latency = random() % 20;
		for (p = 0; p < t->nr_pages; p++) {
			t->pages[p].known = !p || random() % 2;
			t->pages[p].empty = !t->pages[p].known;
			t->pages[p].qps[0] = random() % 3;
			t->pages[p].qps[1] = random() % 3;
			/* In one round of four, page 0 only is left. */
			if (p && (round % 4 == 0 || random() % 2))
				avoid[p / 64] |= 1ul << p % 64;
		}
		t->avoid = avoid;
		pick = mlx5_ep_uuar_policy_pick(t);
		t->avoid = NULL;
		for (i = 0; i < t->nr_pages; i++)
			if (avoid[i / 64] >> i % 64 & 1)
				t->pages[i].known = t->pages[i].empty = false;
		ASSERT_EQ(mlx5_ep_uuar_policy_pick(t), pick);
		on_page_0 += pick < 2;
	}
	EXPECT_LE(500, on_page_0);
	EXPECT_GT(1900, on_page_0);
	free(t);
}

/*
 * Create and destroy QPs in one sequence, and count them besides the module's
 * table.
 */
struct sequence {
	struct mlx5_ep_uuar_table *t;
	unsigned int count[MAX_UUARS];
	unsigned short placed[2000];
	unsigned int n;
};

static const char *policy_step(struct sequence *s)
{
	const char *wrong;
	unsigned int i;
	int uuar;

	if (s->n == ARRAY_SIZE(s->placed) || (s->n && random() % 5 < 2)) {
		i = random() % s->n;
		uuar = s->placed[i];
		s->placed[i] = s->placed[--s->n];
		s->count[uuar]--;
		mlx5_ep_uuar_table_del(s->t, uuar);
	} else {
		uuar = mlx5_ep_uuar_policy_pick(s->t);
		wrong = judge(s->t, uuar);
		if (wrong || uuar < 0)
			return wrong;
		s->placed[s->n++] = uuar;
		s->count[uuar]++;
		mlx5_ep_uuar_table_add(s->t, uuar);
	}
	if (qps_at(s->t, uuar) != s->count[uuar])
		return "the table lost count";
	return NULL;
}

TEST(long_random_sequences)
{
	unsigned int round, steps, i;
	const char *wrong = NULL;
	struct sequence s;

	srandom(1);
	for (round = 0; round < 300 && !wrong; round++) {
		memset(&s, 0, sizeof(s));
		s.t = new_table(1 + random() % (round % 10 ? 20 : 256));
		ASSERT_NE(NULL, s.t);
		s.t->policy = policies[random() % ARRAY_SIZE(policies)];
		s.t->strict = random() % 4 == 0;
		s.t->low_latency = random() % (2 * s.t->nr_pages);
		for (i = 0; i < s.t->nr_pages; i++)
			s.t->pages[i].known = !i || random() % 8;
		for (steps = 0; steps < 3000 && !wrong; steps++)
			wrong = policy_step(&s);
		EXPECT_EQ(NULL, wrong) {
			TH_LOG("%s: round %u step %u", wrong, round, steps);
		}
		for (i = 0; i < 2 * s.t->nr_pages; i++)
			EXPECT_EQ(s.count[i], qps_at(s.t, i));
		free(s.t);
	}
}

/*
 * Place @n QPs on @pages pages. Outputs: pages used, uUARs used, and the most
 * QPs on one uUAR.
 */
static void policy_fill(enum mlx5_ep_uuar_policy policy, unsigned int pages,
			unsigned int n, unsigned int *used, unsigned int *uuars,
			unsigned int *most)
{
	struct mlx5_ep_uuar_table *t = new_table(pages);
	unsigned int i;

	t->policy = policy;
	t->low_latency = 4;
	for (i = 0; i < pages; i++)
		t->pages[i].known = true;
	for (i = 0; i < n; i++)
		mlx5_ep_uuar_table_add(t, mlx5_ep_uuar_policy_pick(t));
	*used = *uuars = *most = 0;
	for (i = 0; i < pages; i++)
		*used += qps_at(t, 2 * i) || qps_at(t, 2 * i + 1);
	for (i = 0; i < 2 * pages; i++) {
		*uuars += qps_at(t, i) > 0;
		if (qps_at(t, i) > *most)
			*most = qps_at(t, i);
	}
	free(t);
}

TEST(sixteen_qps_and_a_hundred)
{
	unsigned int used, uuars, most;

	policy_fill(MLX5_EP_UUAR_POLICY_INDEPENDENT, 16, 16, &used, &uuars,
		    &most);
	EXPECT_EQ(16, used);
	EXPECT_EQ(16, uuars);
	EXPECT_EQ(1, most);
	policy_fill(MLX5_EP_UUAR_POLICY_INDEPENDENT, 16, 100, &used, &uuars,
		    &most);
	EXPECT_EQ(16, used);
	EXPECT_EQ(31, uuars);
	policy_fill(MLX5_EP_UUAR_POLICY_SHARED_UAR, 16, 16, &used, &uuars,
		    &most);
	EXPECT_EQ(8, used);
	EXPECT_EQ(16, uuars);
	/* 16 pages have 27 uUARs besides uUAR 0 and the low latency range. */
	policy_fill(MLX5_EP_UUAR_POLICY_SHARED_UUAR, 16, 54, &used, &uuars,
		    &most);
	EXPECT_EQ(27, uuars);
	EXPECT_EQ(2, most);
	EXPECT_EQ(14, used);
}

TEST(levels_are_what_a_qp_shares)
{
	struct mlx5_ep_uuar_table *t = new_table(2);

	ASSERT_NE(NULL, t);
	mlx5_ep_uuar_table_add(t, 2);
	EXPECT_EQ(1, mlx5_ep_uuar_table_level(t, 2));
	mlx5_ep_uuar_table_add(t, 3);
	EXPECT_EQ(2, mlx5_ep_uuar_table_level(t, 2));
	EXPECT_EQ(2, mlx5_ep_uuar_table_level(t, 3));
	mlx5_ep_uuar_table_add(t, 3);
	EXPECT_EQ(2, mlx5_ep_uuar_table_level(t, 2));
	EXPECT_EQ(3, mlx5_ep_uuar_table_level(t, 3));
	free(t);
}

TEST(locks_are_libmlx5s)
{
	struct mlx5_ep_uuar_table *t;
	unsigned int pages, low, i;

	for (pages = 1; pages <= 20; pages++) {
		t = new_table(pages);
		ASSERT_NE(NULL, t);
		for (low = 0; low <= 2 * pages + 2; low++) {
			t->low_latency = low;
			for (i = 0; i < 2 * pages; i++)
				EXPECT_EQ(ring_of(i, 2 * pages, low) ==
						  RING_LOCKED,
					  mlx5_ep_uuar_table_locked(t, i));
		}
		free(t);
	}
}

/*
 * mlx5_ib's own choice with @low_latency low-latency uUARs (hw/mlx5/qp.c,
 * alloc_bfreg()).
 */
static int stock_pick(unsigned int *count, int total, int low_latency)
{
	int med = total - low_latency - 1, i, best = 1;

	for (i = 1 + (med > 0 ? med : 0); i < total; i++)
		if (!count[i])
			return i;
	if (med <= 0)
		return 0;
	for (i = 1; i < 1 + med; i++)
		if (count[i] < count[best])
			best = i;
	return best;
}

/* Addresses that are compared only. */
static const struct mm_struct *process(unsigned int i)
{
	static const char processes[3];

	return (const void *)&processes[i];
}

/* Each process has a lock of its own for a uUAR, so the lock keeps no other out. */
TEST(processes_share_no_uuar_but_the_first)
{
	struct mlx5_ep_uuar_table *t = new_table(4);
	const struct mm_struct *owners[8][3] = {};
	unsigned int p, n, i, k;
	int uuar;

	ASSERT_NE(NULL, t);
	t->low_latency = 4;
	for (i = 0; i < 4; i++)
		t->pages[i].known = true;
	for (p = 0; p < MLX5_EP_NR_POLICIES; p++) {
		t->policy = p;
		for (i = 0; i < 4; i++)
			memset(t->pages[i].qps, 0, sizeof(t->pages[i].qps));
		memset(owners, 0, sizeof(owners));
		for (n = 0; n < 30; n++) {
			k = n < 10 ? 0 : n / 5 % 3;
			t->owner = process(k);
			uuar = mlx5_ep_uuar_policy_pick(t);
			ASSERT_LE(0, uuar);
			mlx5_ep_uuar_table_add(t, uuar);
			owners[uuar][k] = t->owner;
			/* One process shares with itself. */
			if (n < 10)
				EXPECT_NE(0, uuar);
		}
		for (i = 1; i < 8; i++)
			EXPECT_GE(1, !!owners[i][0] + !!owners[i][1] +
					     !!owners[i][2]) {
				TH_LOG("%s: uUAR %u",
				       mlx5_ep_uuar_policy_names[p],
				       i);
			}
	}
	free(t);
}

TEST(the_low_latency_count_is_safe_with_mlx5_ib_too)
{
	unsigned int pages, library, asked, qp, count[MAX_UUARS];
	int at;

	for (pages = 1; pages <= 12; pages++)
		for (library = 0; library <= 30; library++) {
			asked = mlx5_ep_uuar_policy_low_latency(library, pages);
			ASSERT_LE(asked, library);
			ASSERT_LE(asked, 2 * pages - 1);
			memset(count, 0, sizeof(count));
			for (qp = 0; qp < 6 * pages; qp++) {
				at = stock_pick(count, 2 * pages, asked);
				count[at]++;
				ASSERT_FALSE(count[at] > 1 &&
					     ring_of(at, 2 * pages, library) ==
						     RING_LOCKFREE);
			}
		}
}

TEST(pages_are_within_their_bounds)
{
	static const unsigned int values[] = { 0, 1, 2, 3, 8, 64, 255, 256,
					       257, 100000, ~0U };
	unsigned int i, j, k, pages;

	for (i = 0; i < ARRAY_SIZE(policies); i++)
		for (j = 0; j < ARRAY_SIZE(values); j++)
			for (k = 0; k < ARRAY_SIZE(values); k++) {
				struct mlx5_ep_uuar_sizing s = {
					.policy = policies[i],
					.wanted = values[j],
					.cpus = 2,
					.library = 8,
					.low_latency = 4,
					.available = values[k],
				};

				pages = mlx5_ep_uuar_policy_pages(&s);
				EXPECT_LE(1, pages);
				EXPECT_GE(MLX5_EP_MAX_PAGES, pages);
				if (s.available)
					EXPECT_GE(s.available, pages);
				if (s.wanted >= 3 && s.available >= s.wanted &&
				    s.wanted <= MLX5_EP_MAX_PAGES)
					EXPECT_EQ(s.wanted, pages);
			}
}

TEST(automatic_pages_follow_cpus_and_library)
{
	struct mlx5_ep_uuar_sizing s = {
		.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT,
		.cpus = 2,
		.library = 8,
		.low_latency = 4,
		.available = MLX5_EP_MAX_PAGES,
	};

	EXPECT_EQ(8, mlx5_ep_uuar_policy_pages(&s));
	s.cpus = 15;
	EXPECT_EQ(15, mlx5_ep_uuar_policy_pages(&s));
	/* libmlx5 maps each page at open: 256 threads may have a context each. */
	s.cpus = 128;
	EXPECT_EQ(16, mlx5_ep_uuar_policy_pages(&s));
	s.library = 40;
	EXPECT_EQ(40, mlx5_ep_uuar_policy_pages(&s));
	s.library = 8;
	s.wanted = 128;
	EXPECT_EQ(128, mlx5_ep_uuar_policy_pages(&s));
	s.wanted = 0;
	s.policy = MLX5_EP_UUAR_POLICY_SHARED_UUAR;
	EXPECT_EQ(4, mlx5_ep_uuar_policy_pages(&s));
	s.cpus = 1;
	EXPECT_EQ(4, mlx5_ep_uuar_policy_pages(&s));
	/* uUAR 0, one uUAR with a lock, and twelve of low latency. */
	s.low_latency = 12;
	EXPECT_EQ(7, mlx5_ep_uuar_policy_pages(&s));
	/* Half a page more is one page more. */
	s.low_latency = 7;
	EXPECT_EQ(5, mlx5_ep_uuar_policy_pages(&s));
	s.low_latency = 13;
	EXPECT_EQ(8, mlx5_ep_uuar_policy_pages(&s));
}

/* vm.max_map_count is 65530 where nobody changed it. */
TEST(automatic_pages_leave_mappings_to_the_process)
{
	struct mlx5_ep_uuar_sizing s = {
		.policy = MLX5_EP_UUAR_POLICY_SHARED_UAR,
		.cpus = 128,
		.library = 2,
		.low_latency = 1,
		.available = MLX5_EP_MAX_PAGES,
	};

	s.mappings = 65530 - 16 * 512;
	EXPECT_EQ(16, mlx5_ep_uuar_policy_pages(&s));
	s.mappings++;
	EXPECT_EQ(15, mlx5_ep_uuar_policy_pages(&s));
	s.mappings = 65529;
	EXPECT_EQ(2, mlx5_ep_uuar_policy_pages(&s));
	/* An administrator may allow more. */
	s.mappings = 1000000;
	EXPECT_EQ(2, mlx5_ep_uuar_policy_pages(&s));
	s.wanted = 64;
	EXPECT_EQ(64, mlx5_ep_uuar_policy_pages(&s));
}

TEST_HARNESS_MAIN
