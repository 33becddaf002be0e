// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core, timeout: 120 */
/*
 * Which watches an invalidation hits, with tree.h and hit.c of the module and the
 * kernel's interval trees compiled into this program. Watches are added, deleted and
 * armed again by chance, also while a long invalidation lets the lock go. After each
 * step the trees must be in order and their bounds wide enough. Each invalidation must
 * have hit once what it overlaps by a list that this program keeps, and nothing else.
 */
#include "kselftest_harness.h"

#include <rdma/mlx5_ep_notifier.h>

#include "watches_kernel.h"
#include "watch_slots.inc"	/* slots.c and event.c */

/* What the trees and hit.c take of the kernel beside that. */
#define noinline		__attribute__((noinline))
#define notrace
#define __must_hold(lock)
#define U16_MAX			UINT16_MAX
#define OPTIMIZER_HIDE_VAR(x)	__asm__("" : "=r" (x) : "0" (x))
#define rcu_assign_pointer(p, value) ((p) = (value))
#define rcu_dereference_raw(p)	(p)
#define EPOLLIN			1
#define EPOLLRDNORM		2

static struct {
	bool blockable;		/* the invalidation may sleep */
	bool sleeper;		/* a reader waits */
	int woken;
	int of;			/* what it was woken for */
	unsigned int parts_hit;
} told;

#define mmu_notifier_range_blockable(range) ((void)(range), told.blockable)
#define wq_has_sleeper(wait)	((void)(wait), told.sleeper)
#define wake_up_interruptible_poll(wait, what) \
	((void)(wait), told.woken++, (void)(told.of = (what)))

static bool __test_and_set_bit(unsigned long bit, unsigned long *word)
{
	bool was = *word & BIT(bit);

	*word |= BIT(bit);
	return was;
}

#include "watch_trees.inc"	/* tree.h, hit.h, hit.c, the kernel's trees */
#include "watches_fixture.h"

#define BLOCK_PAGES		(1ul << (INFLIGHT_BLOCK_SHIFT - PAGE_SHIFT))
#define CAPACITY		900u
#define MANY			700u
#define STEPS			12000

/* The first two are beside each other; two trees have watches of two of them. */
static const unsigned long blocks[] = { 255, 256, 257, 258, 511, 512 };

/* What the list knows of the watch of a slot. */
struct known {
	bool exists;
	bool must;		/* the invalidation has to hit it */
	bool may;		/* it may, as the watch changed while the lock was free */
	bool event;		/* it had an event before the invalidation */
	struct mlx5_ep_watch before;
};

static struct known known[CAPACITY];
static u32 existing;
static u32 most;		/* watches that there are at once */
static bool wide;		/* watches of several blocks are added, too */
static struct mmu_notifier_range now;	/* what is under way */
static unsigned int wrong;	/* of the trees, seen while the lock was free */
static unsigned int unlocks;	/* how often the lock was let go */
static unsigned int breaks;	/* of these, within an invalidation */
static bool near;		/* ranges begin and end near a watch */

static u32 below(u32 n)
{
	static u64 state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}

/* Puts a node in the place of its parent, which becomes its child. */
static void rise(struct rb_node *node, struct rb_node *parent, struct rb_root *root,
		 void (*rotate)(struct rb_node *old, struct rb_node *new))
{
	struct rb_node *above = rb_parent(parent), *inner;

	if (parent->rb_left == node) {
		inner = node->rb_right;
		parent->rb_left = inner;
		node->rb_right = parent;
	} else {
		inner = node->rb_left;
		parent->rb_right = inner;
		node->rb_left = parent;
	}
	if (inner)
		rb_set_parent(inner, parent);
	rb_set_parent(parent, node);
	rb_set_parent(node, above);
	__rb_change_child(parent, node, above, root);
	rotate(parent, node);
}

/*
 * The kernel balances its trees, so that a node may rise or fall at any insertion. Here
 * a new one rises by chance: all must hold for a tree of any shape. Each node is black,
 * which shows that it has come by here.
 */
void __rb_insert_augmented(struct rb_node *node, struct rb_root *root,
			   void (*rotate)(struct rb_node *old, struct rb_node *new))
{
	struct rb_node *parent;

	node->__rb_parent_color |= RB_BLACK;
	while ((parent = rb_parent(node)) && below(2))
		rise(node, parent, root, rotate);
}

void __rb_erase_color(struct rb_node *parent, struct rb_root *root,
		      void (*rotate)(struct rb_node *old, struct rb_node *new))
{
}

struct rb_node *rb_next(const struct rb_node *node)
{
	const struct rb_node *at = node->rb_right;

	if (at) {
		while (at->rb_left)
			at = at->rb_left;
		return (struct rb_node *)at;
	}
	for (at = node; rb_parent(at) && rb_parent(at)->rb_right == at;)
		at = rb_parent(at);
	return rb_parent(at);
}

void mlx5_ep_fingerprint_parts_hit(struct mlx5_ep_watch *w, u32 first, u32 last)
{
	told.parts_hit += first <= last && last < w->npages;
}

void mlx5_ep_fingerprint_parts_put(struct mlx5_ep_watch_parts *parts)
{
	fake.misuses += parts != NULL;
}

static bool overlaps(const struct mlx5_ep_watch *w)
{
	return watch_addr(w) < now.end && watch_addr_end(w) > now.start;
}

/* As watch_add_locked(). */
static void add_range(unsigned long first, u32 npages)
{
	struct mlx5_ep_watch *w = slots_take(&ws);

	w->start = first;
	w->npages = npages;
	w->fingerprint = 0;
	slots_begin(&ws, w, 0, false);
	tree_insert(&space, w);
	slots_arm(&ws, w);
	known[watch_chunk(w)->base + w->index] = (struct known){
		.exists = true, .may = overlaps(w), .before = *w,
	};
	existing++;
}

static void watch_trees_add(void)
{
	unsigned long first = blocks[below(6)] * BLOCK_PAGES + below(BLOCK_PAGES);
	u32 room = BLOCK_PAGES - first % BLOCK_PAGES, npages = 1 + below(64);

	if (wide && !below(8))
		add_range(first, room + 1 + below(2 * BLOCK_PAGES));
	else
		add_range(first, min(npages, room));
}

/* As watch_del_locked(). */
static void del(u32 number)
{
	struct mlx5_ep_watch *w = slot(number);
	struct mlx5_ep_watch_chunk *chunk = watch_chunk(w);

	*slots_word(&ws, number) = MLX5_EP_WATCH_STATE_FREE;
	tree_remove(&space, w);
	ws.live--;
	if (chunk->pending & BIT_ULL(w->index))
		slots_unqueue(&ws, chunk, w->index);
	if (!chunk->free)
		list_add(&chunk->partial_node, &ws.partial);
	chunk->free |= BIT_ULL(w->index);
	known[number].exists = false;
	existing--;
}

/* As VERIFY. */
static void arm_again(u32 number)
{
	struct mlx5_ep_watch *w = slot(number);

	tree_wake(&space, w);
	w->hits = 0;
	slots_set_state(slots_word(&ws, number), MLX5_EP_WATCH_STATE_ARMED);
	known[number].may |= overlaps(w);
}

static void change(void)
{
	u32 number = below(min(2 * most, CAPACITY)), what = below(3);

	if (!known[number].exists && existing < most)
		watch_trees_add();
	else if (!known[number].exists)
		return;
	else if (!what)
		del(number);
	else
		arm_again(number);
}

/*
 * Counts what is wrong in the part of a tree below a node. @last is the start of the
 * watch before, @ends where the last of those ends that can be hit. The mark of an
 * invalidation that has let the lock go has no pages.
 */
static u32 look_below(struct rb_node *rb, unsigned long tree, unsigned long *last,
		      unsigned long *ends, u32 *found)
{
	struct mlx5_ep_watch *w = watch_entry(rb);
	unsigned long here = 0;
	u32 n = 0;

	if (rb->rb_left) {
		n += rb_parent(rb->rb_left) != rb;
		n += look_below(rb->rb_left, tree, last, &here, found);
	}
	n += w->start < *last || rb_is_red(rb);
	*last = w->start;
	if (w->npages) {
		*found += 1;
		n += tree_of(watch_addr(w), watch_addr_end(w)) != tree;
	}
	if (!w->resting)
		here = max(here, watch_last(w));
	if (rb->rb_right) {
		n += rb_parent(rb->rb_right) != rb;
		n += look_below(rb->rb_right, tree, last, &here, found);
	}
	n += w->subtree_last < here;
	*ends = max(*ends, here);
	return n;
}

/* Counts what is wrong in the trees, and bounds that leave a watch out. */
static u32 watch_trees_look(void)
{
	unsigned long tree, last, ends;
	u32 number, found = 0, n = 0;

	for (tree = 0; tree < WATCH_TREES; tree++) {
		struct rb_root_cached *root = &space.trees[tree];

		last = 0;
		ends = 0;
		if (root->rb_root.rb_node)
			n += look_below(root->rb_root.rb_node, tree, &last, &ends,
					&found);
		n += root->rb_leftmost != rb_first(&root->rb_root);
	}
	n += found != existing;
	for (number = 0; number < CAPACITY; number++) {
		struct mlx5_ep_watch *w = slot(number);
		unsigned long start = watch_addr(w), end = watch_addr_end(w);

		if (!known[number].exists || w->resting)
			continue;
		tree = tree_of(start, end);
		n += space.starts[tree] > start || space.ends[tree] < end;
		if (tree != WATCH_TREE_WIDE)
			n += space.starts[tree_before(tree)] > start ||
			     space.ends[tree_before(tree)] < end;
	}
	return n;
}

/* Others use the lock while an invalidation has let it go. */
static void others(void)
{
	u32 n = 1 + below(30);

	unlocks++;
	while (n--)
		change();
	wrong += watch_trees_look();
}

/* A range of a few pages, of some blocks, or of all, which are more than trees. */
static void choose_range(void)
{
	unsigned long first = blocks[below(6)] * BLOCK_PAGES + below(BLOCK_PAGES);
	unsigned long npages = 1 + below(100);

	if (!below(3))
		npages = BLOCK_PAGES / 2 + below(3 * BLOCK_PAGES);
	if (!below(10)) {
		first = below(BLOCK_PAGES);
		npages = 2 * INFLIGHT_BLOCKS * BLOCK_PAGES;
	} else if (near && known[0].exists && below(4)) {
		first = (below(2) ? slot(0)->start : watch_last(slot(0))) - 2;
		first += below(4);
		npages = 1 + below(5);
	}
	now.start = first << PAGE_SHIFT;
	now.end = (first + npages) << PAGE_SHIFT;
}

/* A short munmap() goes a way of its own, where no watch is of several blocks. */
static void invalidate(enum mlx5_ep_watch_cause cause)
{
	if (cause == MLX5_EP_WATCH_CAUSE_UNMAP && !wide &&
	    inflight_is_small(now.start, now.end)) {
		wrong += mlx5_ep_watch_hit_unmap(&space, &now) != 0;
		return;
	}
	spin_lock(&space.lock);
	mlx5_ep_watch_hit(&space, &now, cause);
	spin_unlock(&space.lock);
}

/* Is an event that of a watch that was hit once more since @k? */
static bool event_is_right(const struct known *k, const struct mlx5_ep_watch *w,
			   enum mlx5_ep_watch_cause cause)
{
	u32 first = max(now.start, watch_addr(w)) - watch_addr(w);
	u32 last = min(now.end, watch_addr_end(w)) - watch_addr(w) - 1;

	first >>= PAGE_SHIFT;
	last >>= PAGE_SHIFT;
	if (k->event) {
		first = min(first, k->before.hit_first);
		last = max(last, k->before.hit_last);
		cause |= k->before.cause;
	}
	return w->hit_first == first && w->hit_last == last && w->cause == cause &&
	       w->count == (k->event ? k->before.count + 1 : 1);
}

/* A watch is suspect. It rests when all of it was hit, or when it was hit often. */
static bool suspect_is_right(const struct known *k, const struct mlx5_ep_watch *w,
			     u64 state)
{
	bool whole = now.start <= watch_addr(w) && now.end >= watch_addr_end(w);

	return state == MLX5_EP_WATCH_STATE_SUSPECT && w->hits == k->before.hits + 1 &&
	       w->resting == (whole || w->hits == WATCH_MAX_HITS);
}

/* Was the watch of a slot hit as it should? */
static bool is_right(u32 number, enum mlx5_ep_watch_cause cause)
{
	const struct known *k = &known[number];
	struct mlx5_ep_watch *w = slot(number);
	u64 state = *slots_word(&ws, number) & MLX5_EP_WATCH_STATE_MASK;
	u32 hits = w->seq - k->before.seq;

	if (hits < k->must || hits > (u32)k->must + k->may)
		return false;
	if (!k->must || k->may)
		return true;
	if (!(watch_chunk(w)->pending & BIT_ULL(w->index)) ||
	    !event_is_right(k, w, cause))
		return false;
	if (cause == MLX5_EP_WATCH_CAUSE_UNMAP)
		return w->resting && state == MLX5_EP_WATCH_STATE_STALE;
	return suspect_is_right(k, w, state);
}

/* Are the numbers of events those that the watches have? */
static bool events_are_counted(void)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < ws.nr_chunks; i++)
		n += __builtin_popcountl(ws.chunks[i]->pending);
	return ws.pending == n && ws.header->watch_pending == n;
}

/* Reads all events. */
static bool events_are_read(void)
{
	static struct mlx5_ep_event events[CAPACITY];
	u64 n = ws.pending;

	return mlx5_ep_watch_event_take(&ws, events, CAPACITY) == n &&
	       !ws.pending;
}

/* The hits of all slots, whatever watch was there. */
static u32 hits_ever(void)
{
	u32 number, n = 0;

	for (number = 0; number < CAPACITY; number++)
		n += slot(number)->seq;
	return n;
}

/* Invalidates a range and counts the watches that were not hit as they should. */
static u32 watch_trees_step(void)
{
	enum mlx5_ep_watch_cause cause = below(2) ? MLX5_EP_WATCH_CAUSE_UNMAP :
						    MLX5_EP_WATCH_CAUSE_CLEAR;
	/* At the end the lock is let go in any case. */
	u32 number, n = 0, hits = hits_ever(), already = unlocks + 1;
	u64 total = ws.header->watch_total;

	choose_range();
	told.blockable = below(2);
	for (number = 0; number < CAPACITY; number++) {
		struct mlx5_ep_watch *w = slot(number);
		struct known *k = &known[number];

		k->must = k->exists && !w->resting && overlaps(w);
		k->may = false;
		k->event = watch_chunk(w)->pending & BIT_ULL(w->index);
		k->before = *w;
	}
	fake.unlocked = others;
	invalidate(cause);
	fake.unlocked = NULL;
	for (number = 0; number < CAPACITY; number++)
		n += known[number].exists && !is_right(number, cause);
	n += ws.header->watch_total != total + hits_ever() - hits;
	breaks += unlocks - already;
	return n + !events_are_counted();
}

FIXTURE(trees) {};

FIXTURE_SETUP(trees)
{
	memset(known, 0, sizeof(known));
	memset(&told, 0, sizeof(told));
	memset(&now, 0, sizeof(now));
	existing = 0;
	unlocks = 0;
	breaks = 0;
	wrong = 0;
	wide = false;
	near = false;
	most = MANY;
	watches_begin(CAPACITY);
	memset(space.starts, 0xff, sizeof(space.starts));
	while (existing < CAPACITY) {
		ASSERT_EQ(0, mlx5_ep_watch_slots_grow(&ws));
		watch_trees_add();
	}
	while (existing)
		del(existing - 1);
}

FIXTURE_TEARDOWN(trees)
{
	EXPECT_EQ(0, watches_end());
}

/* Arms all watches again. */
static void arm_all(void)
{
	u32 number;

	for (number = 0; number < CAPACITY; number++)
		if (known[number].exists)
			arm_again(number);
}

/* Deletes all watches. Bounds that are left count as wrong. */
static u32 del_all(void)
{
	unsigned long tree;
	u32 number, n = 0;

	for (number = 0; number < CAPACITY; number++)
		if (known[number].exists)
			del(number);
	for (tree = 0; tree < WATCH_TREES; tree++)
		n += space.starts[tree] != ULONG_MAX || space.ends[tree] != 0;
	return n;
}

/* Does steps by chance. Most of the time there are many watches that can be hit. */
static u32 steps(void)
{
	u32 i, n = 0;

	for (i = 0; i < STEPS && !n; i++) {
		if (!below(12))
			n += watch_trees_step();
		else
			change();
		if (!below(60))
			arm_all();
		if (!below(60))
			n += !events_are_read();
		n += watch_trees_look() + wrong;
	}
	return n;
}

TEST_F(trees, of_blocks_hit_what_an_invalidation_overlaps)
{
	EXPECT_EQ(0, steps());
	EXPECT_LT(50, breaks);
	EXPECT_LT(0, fake.resched);
	EXPECT_EQ(0, told.parts_hit);
	EXPECT_EQ(0, del_all());
}

TEST_F(trees, of_wide_watches_hit_what_an_invalidation_overlaps)
{
	wide = true;
	EXPECT_EQ(0, steps());
	EXPECT_LT(50, breaks);
	EXPECT_LT(0, told.parts_hit);
	EXPECT_EQ(0, del_all());
}

/* Most trees have one watch, or none. */
TEST_F(trees, of_few_watches_hit_what_an_invalidation_overlaps)
{
	most = 4;
	near = true;
	EXPECT_EQ(0, steps());
	EXPECT_EQ(0, del_all());
}

/* The sleep is the caller's: an invalidation that may not sleep only lets the lock go. */
TEST_F(trees, are_left_for_a_moment_without_sleep)
{
	while (existing < MANY)
		watch_trees_add();
	now.start = blocks[0] * BLOCK_PAGES << PAGE_SHIFT;
	now.end = now.start + (8ul << INFLIGHT_BLOCK_SHIFT);
	fake.resched = 0;
	fake.spun = 0;
	invalidate(MLX5_EP_WATCH_CAUSE_CLEAR);
	EXPECT_EQ(0, fake.resched);
	EXPECT_LT(1, fake.spun);
	told.blockable = true;
	arm_all();
	fake.spun = 0;
	invalidate(MLX5_EP_WATCH_CAUSE_CLEAR);
	EXPECT_EQ(fake.spun - 1, fake.resched);
}

/* An invalidation beside the only watch of a block takes no lock. */
TEST_F(trees, have_bounds_that_end_where_the_watches_end)
{
	struct mmu_notifier_range beside;
	unsigned long start, end, tree;

	add_range(blocks[1] * BLOCK_PAGES, 7);
	start = watch_addr(slot(0));
	end = watch_addr_end(slot(0));
	tree = tree_of(start, end);
	beside = (struct mmu_notifier_range){ start - PAGE_SIZE, start };
	EXPECT_TRUE(tree_misses(&space, tree, &beside));
	beside.end++;
	EXPECT_FALSE(tree_misses(&space, tree, &beside));
	EXPECT_FALSE(tree_misses(&space, tree_before(tree), &beside));
	beside = (struct mmu_notifier_range){ end, end + PAGE_SIZE };
	EXPECT_TRUE(tree_misses(&space, tree, &beside));
	beside.start--;
	EXPECT_FALSE(tree_misses(&space, tree, &beside));
	EXPECT_TRUE(tree_misses(&space, tree_behind(tree), &beside));
}

/* Bounds come closer at either side when the watch there is deleted. */
TEST_F(trees, have_bounds_that_follow_the_watches)
{
	unsigned long first = blocks[1] * BLOCK_PAGES;
	unsigned long tree = inflight_index(first << PAGE_SHIFT);

	add_range(first, 4);
	add_range(first + 100, 4);
	add_range(first + 200, 4);
	del(0);
	EXPECT_EQ((first + 100) << PAGE_SHIFT, space.starts[tree]);
	EXPECT_EQ((first + 100) << PAGE_SHIFT, space.starts[tree_before(tree)]);
	EXPECT_EQ((first + 204) << PAGE_SHIFT, space.ends[tree]);
	del(2);
	EXPECT_EQ((first + 100) << PAGE_SHIFT, space.starts[tree]);
	EXPECT_EQ((first + 104) << PAGE_SHIFT, space.ends[tree]);
	EXPECT_EQ((first + 104) << PAGE_SHIFT, space.ends[tree_before(tree)]);
}

/* The process has gone while the lock was free: its trees are no longer touched. */
static void process_goes(void)
{
	unsigned long tree;

	unlocks++;
	space.mm_gone = true;
	for (tree = 0; tree < WATCH_TREES; tree++)
		space.trees[tree].rb_root.rb_node = (void *)16ul;
}

TEST_F(trees, of_a_process_that_has_gone_are_not_searched)
{
	wide = true;
	while (existing < MANY)
		watch_trees_add();
	now.start = blocks[0] * BLOCK_PAGES << PAGE_SHIFT;
	now.end = now.start + (64ul << INFLIGHT_BLOCK_SHIFT);
	fake.unlocked = process_goes;
	spin_lock(&space.lock);
	mlx5_ep_watch_hit(&space, &now, MLX5_EP_WATCH_CAUSE_UNMAP);
	fake.unlocked = NULL;
	mlx5_ep_watch_hit(&space, &now, MLX5_EP_WATCH_CAUSE_UNMAP);
	spin_unlock(&space.lock);
	EXPECT_EQ(1, unlocks);
	EXPECT_LT(200, hits_ever());
	EXPECT_GE(WATCH_HIT_BATCH, hits_ever());
}

/* Invalidates a watch. */
static void watch_trees_hit(u32 number)
{
	now.start = watch_addr(slot(number));
	now.end = watch_addr_end(slot(number));
	invalidate(MLX5_EP_WATCH_CAUSE_CLEAR);
}

/* Who waits is woken by an event when there was none, be it of another chunk or not. */
TEST_F(trees, wake_a_reader_by_the_first_event)
{
	struct mlx5_ep_event events[4];

	while (existing < WATCHES_PER_CHUNK + 2)
		watch_trees_add();
	watch_trees_hit(0);
	EXPECT_EQ(0, told.woken);
	EXPECT_EQ(1, ws.pending);
	told.sleeper = true;
	watch_trees_hit(WATCHES_PER_CHUNK);
	EXPECT_EQ(0, told.woken);
	EXPECT_EQ(2, ws.header->watch_pending);
	EXPECT_EQ(2, mlx5_ep_watch_event_take(&ws, events, 4));
	watch_trees_hit(WATCHES_PER_CHUNK + 1);
	EXPECT_EQ(1, told.woken);
	EXPECT_EQ(EPOLLIN | EPOLLRDNORM, told.of);
	watch_trees_hit(1);
	EXPECT_EQ(1, told.woken);
	EXPECT_EQ(2, mlx5_ep_watch_event_take(&ws, events, 4));
}

/* Nobody reads the event of a watch that goes, and its chunk stays where it was. */
TEST_F(trees, wake_a_reader_by_the_first_event_that_is_left)
{
	struct mlx5_ep_event events[4];

	while (existing < 3)
		watch_trees_add();
	watch_trees_hit(0);
	del(0);
	told.sleeper = true;
	watch_trees_hit(1);
	EXPECT_EQ(1, told.woken);
	EXPECT_EQ(&ws.pending_chunks, ws.chunks[0]->pending_node.next);
	EXPECT_EQ(1, mlx5_ep_watch_event_take(&ws, events, 4));
	EXPECT_EQ(0, mlx5_ep_watch_event_take(&ws, events, 4));
}

/* A watch of more than one part tells its parts. */
TEST_F(trees, tell_the_parts_of_long_watches)
{
	add_range(0, WATCH_PART_PAGES);
	watch_trees_hit(0);
	EXPECT_EQ(0, told.parts_hit);
	add_range(WATCH_PART_PAGES, WATCH_PART_PAGES + 1);
	watch_trees_hit(1);
	EXPECT_EQ(1, told.parts_hit);
}

/* The number of hits that an event tells stops at the greatest one. */
TEST_F(trees, count_hits_of_an_event_without_overflow)
{
	add_range(9, 3);
	now.start = watch_addr(slot(0));
	now.end = now.start + PAGE_SIZE;
	invalidate(MLX5_EP_WATCH_CAUSE_CLEAR);
	EXPECT_EQ(1, slot(0)->count);
	slot(0)->count = U16_MAX - 1;
	invalidate(MLX5_EP_WATCH_CAUSE_CLEAR);
	EXPECT_EQ(U16_MAX, slot(0)->count);
	invalidate(MLX5_EP_WATCH_CAUSE_CLEAR);
	EXPECT_EQ(U16_MAX, slot(0)->count);
	EXPECT_TRUE(slot(0)->hits == 3);
}

/* A watch that is hit again and again in one place rests after the eighth time. */
TEST_F(trees, rest_after_hits_in_one_place)
{
	unsigned int i;

	add_range(9, 3);
	now.start = watch_addr(slot(0));
	now.end = now.start + PAGE_SIZE;
	for (i = 1; i <= WATCH_MAX_HITS + 2; i++) {
		EXPECT_EQ(i > WATCH_MAX_HITS, (bool)slot(0)->resting);
		invalidate(MLX5_EP_WATCH_CAUSE_CLEAR);
		EXPECT_EQ(min(i, WATCH_MAX_HITS), slot(0)->seq);
	}
}

/* A watch is reported by itself, as those of dma-bufs are. */
TEST_F(trees, are_not_needed_for_a_report)
{
	add_range(3, 9);
	mlx5_ep_watch_hit_report(slot(0), 5, 23, MLX5_EP_WATCH_CAUSE_UNMAP);
	EXPECT_EQ(1, slot(0)->seq);
	EXPECT_EQ(2, slot(0)->hit_first);
	EXPECT_EQ(8, slot(0)->hit_last);
}

TEST_HARNESS_MAIN
