// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core, timeout: 120 */
/*
 * The invalidations that are under way, and what the sign of a block says, with
 * inflight.c of the module compiled into this program: random calls, after each
 * of which numbers, flags and answers must be those of a list of all that is under
 * way, which is kept beside.
 */
#include "kselftest_harness.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What inflight.c takes of the kernel, for a program of one thread. */
typedef uint32_t u32;
typedef struct { int counter; } atomic_t;

struct mmu_notifier_range {
	unsigned long start, end;
};

static unsigned int warnings;

#undef __always_inline
#define __always_inline		inline __attribute__((always_inline, unused))
#define likely(x)		(x)
#define unlikely(x)		(x)
#define min(a, b)		((a) < (b) ? (a) : (b))
#define BIT(n)			(1ul << (n))
#define smp_mb()		do {} while (0)	/* nobody else runs */
#define smp_mb__before_atomic()	do {} while (0)	/* likewise */
#define WARN_ON_ONCE(x)		({ bool _is = (x); warnings += _is; _is; })

#define atomic_read(v)		((v)->counter)
#define atomic_inc(v)		((void)(v)->counter++)
#define atomic_dec(v)		((void)(v)->counter--)
#define atomic_dec_return(v)	(--(v)->counter)
#define atomic_or(bits, v)	((void)((v)->counter |= (int)(bits)))
#define atomic_andnot(bits, v)	((void)((v)->counter &= ~(int)(bits)))
#define atomic_add_negative(n, v) (((v)->counter += (n)) < 0)

#define DECLARE_BITMAP(name, bits) bool name[bits]
#define __set_bit(i, map)	((map)[i] = true)
#define test_bit(i, map)	((map)[i])

#include "inflight.inc"	/* inflight.h and .c, without what they include */

#define PAGE	4096ul
#define BLOCK	(1ul << 24)
#define BLOCKS	256ul
#define MOST	12u	/* of each kind at once, in random calls */
#define STEPS	30000

static struct mlx5_ep_inflight f;

struct active {
	struct mmu_notifier_range range;
	bool small, listed;
};

static struct active *active[256];
static struct mmu_notifier_range watches[MOST];
static unsigned int n_active, n_watches, waiters;
static bool wide[BLOCKS];	/* a wide watch came since the block had none */

static bool overlap(const struct mmu_notifier_range *a,
		    const struct mmu_notifier_range *b)
{
	return a->start < b->end && b->start < a->end;
}

/* May a short invalidation that begins in the block reach the range? */
static bool reaches(unsigned long block, const struct mmu_notifier_range *range)
{
	unsigned long at = range->start / BLOCK - 1, i;

	for (i = 0; i < BLOCKS && at + i <= (range->end - 1) / BLOCK; i++)
		if ((at + i) % BLOCKS == block)
			return true;
	return false;
}

static unsigned long block_of(const struct active *a)
{
	return a->range.start / BLOCK % BLOCKS;
}

static struct mmu_notifier_range any_range(void)
{
	static const unsigned long lengths[] = {
		PAGE, 3 * PAGE, BLOCK - PAGE, BLOCK, BLOCK + PAGE, 2 * BLOCK,
		5 * BLOCK, BLOCKS * BLOCK - PAGE, 2 * BLOCKS * BLOCK,
	};
	unsigned long start = (1000 * BLOCKS + random() % 4) * BLOCK;
	struct mmu_notifier_range range;

	start += random() % 3 ? 0 : BLOCKS * BLOCK;
	start += random() % 2 ? random() % 4096 * PAGE : random() % 2 * (BLOCK - PAGE);
	range.start = start;
	range.end = start + lengths[random() % (random() % 2 ? 9 : 4)];
	return range;
}

/* As space_range_start(). Returns whether threads must be woken. */
static bool begin(struct active *a)
{
	unsigned long i = block_of(a);
	bool sign = inflight_begin(&f, i);
	bool list = !a->small ||
		    (sign && inflight_flags(&f.blocks[i]) & INFLIGHT_LISTED);

	active[n_active++] = a;
	return list && mlx5_ep_inflight_list(&f, &a->range);
}

static struct active *new_active(struct mmu_notifier_range range)
{
	struct active *a = calloc(1, sizeof(*a));

	a->range = range;
	a->small = range.end - range.start <= BLOCK;
	return a;
}

/* As space_range_end(). Returns whether the list was looked at, and @wake. */
static bool inflight_end_one(unsigned int which, bool *wake)
{
	struct active *a = active[which];
	bool listed = inflight_end(&f, &a->range, wake);

	if (listed)
		*wake = mlx5_ep_inflight_end_listed(&f, &a->range);
	active[which] = active[--n_active];
	free(a);
	return listed;
}

FIXTURE(inflight) {};

FIXTURE_SETUP(inflight)
{
	srandom(1);
}

FIXTURE_TEARDOWN(inflight)
{
	unsigned int i;

	EXPECT_EQ(0, warnings);
	EXPECT_EQ(0, f.count);
	EXPECT_EQ(0, f.more);
	for (i = 0; i < BLOCKS; i++) {
		EXPECT_EQ(0, atomic_read(&f.blocks[i].small));
		EXPECT_EQ(0, f.blocks[i].watched);
	}
}

/* How many short ones that are not listed began in the block. */
static unsigned int inflight_number_of(unsigned long block)
{
	unsigned int i, n = 0;

	for (i = 0; i < n_active; i++)
		n += active[i]->small && !active[i]->listed &&
		     block_of(active[i]) == block;
	return n;
}

static bool is_listed(unsigned long block)
{
	unsigned int i;

	for (i = 0; i < n_active; i++)
		if (active[i]->listed && block_of(active[i]) == block)
			return true;
	return waiters;
}

static unsigned int watched(unsigned long block)
{
	unsigned int i, n = 0;

	for (i = 0; i < n_watches; i++)
		n += reaches(block, &watches[i]);
	return n;
}

static bool may_overlap(const struct mmu_notifier_range *range)
{
	unsigned int i;

	for (i = 0; i < n_active; i++)
		if (active[i]->listed ? overlap(&active[i]->range, range) :
					reaches(block_of(active[i]), range))
			return true;
	return false;
}

static bool block_is_right(unsigned long i)
{
	unsigned int flags = inflight_flags(&f.blocks[i]), n = watched(i);

	if (!n)
		wide[i] = false;
	return f.blocks[i].watched == n &&
	       (flags & INFLIGHT_NUMBER) == inflight_number_of(i) &&
	       !!(flags & INFLIGHT_LISTED) == is_listed(i) &&
	       !!(flags & INFLIGHT_LOOK) == (is_listed(i) || n) &&
	       !!(flags & INFLIGHT_WIDE) == wide[i];
}

static void count_watch(const struct mmu_notifier_range *range, int by)
{
	unsigned long i;

	inflight_count_watch(&f, range->start, range->end, by);
	for (i = 0; i < BLOCKS && by > 0; i++)
		if (range->start / BLOCK != (range->end - 1) / BLOCK)
			wide[i] |= reaches(i, range);
}

/* One random call. Returns whether its answer is right. */
static bool inflight_step(void)
{
	unsigned int which, i;
	bool wake, expect;
	struct active *a;

	switch (random() % 8) {
	case 0: case 1:
		if (n_active == MOST)
			return true;
		a = new_active(any_range());
		a->listed = !a->small || waiters;
		expect = a->listed && waiters &&
			 !inflight_number_of(block_of(a));
		return begin(a) == expect;
	case 2: case 3:
		if (!n_active)
			return true;
		which = random() % n_active;
		expect = is_listed(block_of(active[which]));
		return inflight_end_one(which, &wake) == expect &&
		       wake == (waiters > 0);
	case 4:
		if (n_watches < MOST) {
			watches[n_watches] = any_range();
			count_watch(&watches[n_watches++], 1);
		}
		return true;
	case 5:
		if (n_watches) {
			which = random() % n_watches;
			count_watch(&watches[which], -1);
			watches[which] = watches[--n_watches];
		}
		return true;
	case 6:
		if (waiters < 2) {
			waiters++;
			mlx5_ep_inflight_wait_begin(&f);
		}
		return true;
	default:
		if (!waiters)
			return true;
		mlx5_ep_inflight_wait_end(&f);
		if (!--waiters)
			for (i = 0; i < n_active; i++)
				active[i]->listed = !active[i]->small;
		return true;
	}
}

TEST_F(inflight, is_what_began_and_has_not_ended)
{
	struct mmu_notifier_range range;
	unsigned long i;
	int n;
	bool wake;

	for (n = 0; n < STEPS; n++) {
		ASSERT_TRUE(inflight_step());
		for (i = 0; i < 12; i++)
			ASSERT_TRUE(block_is_right(i < 8 ? i : BLOCKS + 7 - i));
		if (!(n % 64))
			for (i = 0; i < BLOCKS; i++)
				ASSERT_TRUE(block_is_right(i));
		range = any_range();
		ASSERT_EQ(may_overlap(&range),
			  inflight_overlaps(&f, range.start, range.end));
	}
	while (waiters) {
		mlx5_ep_inflight_wait_end(&f);
		if (!--waiters)
			for (i = 0; i < n_active; i++)
				active[i]->listed = !active[i]->small;
	}
	while (n_active)
		inflight_end_one(0, &wake);
	while (n_watches)
		count_watch(&watches[--n_watches], -1);
}

/* A range that no other touches. */
static struct mmu_notifier_range far(unsigned int n, unsigned long length)
{
	unsigned long start = (5000 + 7 * n) * BLOCK;

	return (struct mmu_notifier_range){ start, start + length };
}

TEST_F(inflight, covers_everything_where_the_list_is_full)
{
	struct mmu_notifier_range nowhere = far(1000, PAGE);
	unsigned int i;
	bool wake;

	for (i = 0; i < INFLIGHT_LIST; i++)
		EXPECT_FALSE(begin(new_active(far(i, 2 * BLOCK))));
	EXPECT_FALSE(inflight_overlaps(&f, nowhere.start, nowhere.end));
	/* A short one stays a number, also while a thread waits. */
	mlx5_ep_inflight_wait_begin(&f);
	EXPECT_FALSE(begin(new_active(far(900, PAGE))));
	EXPECT_FALSE(inflight_overlaps(&f, nowhere.start, nowhere.end));
	EXPECT_TRUE(inflight_overlaps(&f, far(900, PAGE).start, far(900, PAGE).end));
	/* A long one is taken to be everywhere. */
	EXPECT_TRUE(begin(new_active(far(901, 2 * BLOCK))));
	EXPECT_TRUE(inflight_overlaps(&f, nowhere.start, nowhere.end));
	mlx5_ep_inflight_wait_end(&f);
	/* Nobody knows where it began, so each block looks at the list. */
	for (i = 0; i < BLOCKS; i++)
		EXPECT_TRUE(inflight_flags(&f.blocks[i]) & INFLIGHT_LISTED);
	EXPECT_FALSE(begin(new_active(nowhere)));
	EXPECT_TRUE(inflight_end_one(n_active - 1, &wake));
	EXPECT_TRUE(inflight_flags(inflight_block(&f, nowhere.start)) &
		    INFLIGHT_LISTED);
	EXPECT_TRUE(inflight_end_one(n_active - 1, &wake));
	EXPECT_FALSE(wake);
	EXPECT_FALSE(inflight_overlaps(&f, nowhere.start, nowhere.end));
	EXPECT_TRUE(inflight_end_one(n_active - 1, &wake));
	while (n_active)
		EXPECT_TRUE(inflight_end_one(0, &wake));
	/* The flag of a block goes when an invalidation ends there. */
	for (i = 0; i < BLOCKS; i++) {
		begin(new_active((struct mmu_notifier_range){
			i * BLOCK + BLOCK * BLOCKS, i * BLOCK + BLOCK * BLOCKS + PAGE }));
		inflight_end_one(0, &wake);
	}
}

TEST_HARNESS_MAIN
