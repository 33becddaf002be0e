// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which watches an invalidation hits, and what a hit does that is seldom needed
 * (hit.h has the rest). All of it is done under the lock of the address space.
 */
#include <linux/poll.h>
#include <linux/sched.h>

#include "watch/hit.h"

/* Watches that are hit before the lock is let go for a moment. */
#define WATCH_HIT_BATCH		256

/**
 * mlx5_ep_watch_hit_tell() - let readers find an event
 * @ws: the lock of their address space is held, as nothing else keeps them there
 * @chunk: has a watch with an event that nobody has read, already counted
 */
void mlx5_ep_watch_hit_tell(struct mlx5_ep_watches *ws,
			    struct mlx5_ep_watch_chunk *chunk)
{
	if (!chunk->queued) {
		chunk->queued = true;
		list_add_tail(&chunk->pending_node, &ws->pending_chunks);
	}
	if (ws->pending == 1 && wq_has_sleeper(ws->wait))
		wake_up_interruptible_poll(ws->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * mlx5_ep_watch_hit_report() - change the word of a watch and queue its event
 * @w: not stale; the lock of its address space is held
 * @first: first page hit, may lie before the range
 * @last: last page hit, may lie behind the range
 * @cause: MLX5_EP_WATCH_CAUSE_CLEAR makes it suspect, any other stale
 */
void mlx5_ep_watch_hit_report(struct mlx5_ep_watch *w, unsigned long first,
			      unsigned long last,
			      enum mlx5_ep_watch_cause cause)
{
	hit_watch(w, first, last, cause);
}

/* Links a cleared watch behind @w, in the order of the tree, as one that rests. */
static void hit_cursor_insert(struct mlx5_ep_watch *cursor,
			      struct mlx5_ep_watch *w,
			      struct rb_root_cached *root)
{
	struct rb_node **link = &w->node.rb_right, *parent = &w->node;

	cursor->start = w->start;
	cursor->resting = true;
	while (*link) {
		parent = *link;
		link = &parent->rb_left;
	}
	rb_link_node(&cursor->node, parent, link);
	rb_insert_augmented_cached(&cursor->node, root, false,
				   &watch_tree_augment);
}

/*
 * Lets the lock go for a moment. Returns the next watch after @w, as
 * tree_walk_next() does. @w may be gone meanwhile, hence the cursor.
 */
static noinline struct mlx5_ep_watch *
hit_break(struct mlx5_ep_watch_space *space,
	  struct rb_root_cached *root, struct mlx5_ep_watch *w,
	  unsigned long first, bool may_sleep)
	__must_hold(&space->lock)
{
	struct mlx5_ep_watch cursor = {};

	hit_cursor_insert(&cursor, w, root);
	spin_unlock(&space->lock);
	if (may_sleep)
		cond_resched();
	spin_lock(&space->lock);
	if (space->mm_gone)
		return NULL;
	w = tree_walk_next(&cursor, first, true);
	watch_tree_remove(&cursor, root);
	return w;
}

/*
 * Hits the watches of a tree that overlap. Locked; lets the lock go for a moment
 * when it came by @left watches, which the trees of one invalidation share.
 */
static __always_inline void hit_tree(struct mlx5_ep_watch_space *space,
				     struct rb_root_cached *root,
				     const struct mmu_notifier_range *range,
				     enum mlx5_ep_watch_cause cause,
				     unsigned int *left)
{
	unsigned long first = range->start >> PAGE_SHIFT;
	unsigned long last = (range->end - 1) >> PAGE_SHIFT;
	struct mlx5_ep_watch *w = tree_walk_first(root, first);

	while (w && w->start <= last) {
		bool correct = true;

		if (!w->resting && watch_last(w) >= first) {
			hit_watch(w, first, last, cause);
			correct = cause == MLX5_EP_WATCH_CAUSE_CLEAR;
		}
		if (likely(--*left)) {
			w = correct ? tree_walk_next(w, first, true) :
				      tree_walk_next(w, first, false);
			continue;
		}
		w = hit_break(space, root, w, first,
			      mmu_notifier_range_blockable(range));
		*left = WATCH_HIT_BATCH;
	}
}

/* The trees of the blocks behind the first one, and of wide watches. */
static noinline void
hit_other_trees(struct mlx5_ep_watch_space *space,
		const struct mmu_notifier_range *range,
		enum mlx5_ep_watch_cause cause, unsigned int left)
{
	unsigned long block = range->start >> INFLIGHT_BLOCK_SHIFT;
	unsigned long n = ((range->end - 1) >> INFLIGHT_BLOCK_SHIFT) - block;

	for (n = min(n, INFLIGHT_BLOCKS - 1); n && !space->mm_gone; n--)
		hit_tree(space, &space->trees[++block % INFLIGHT_BLOCKS],
			 range, cause, &left);
	if (!space->mm_gone)
		hit_tree(space, &space->trees[WATCH_TREE_WIDE], range, cause,
			 &left);
}

static __always_inline void hit_trees(struct mlx5_ep_watch_space *space,
				      const struct mmu_notifier_range *range,
				      enum mlx5_ep_watch_cause cause)
{
	unsigned int left = WATCH_HIT_BATCH;

	hit_tree(space, &space->trees[inflight_index(range->start)], range,
		 cause, &left);
	if (!inflight_is_narrow(range->start, range->end) ||
	    !RB_EMPTY_ROOT(&space->trees[WATCH_TREE_WIDE].rb_root))
		hit_other_trees(space, range, cause, left);
}

/**
 * mlx5_ep_watch_hit() - hit all watches that an invalidation overlaps
 * @space: its lock is held, and may be let go for moments
 * @range: of the invalidation
 * @cause: what it is; UNMAP has code of its own
 */
void mlx5_ep_watch_hit(struct mlx5_ep_watch_space *space,
		       const struct mmu_notifier_range *range,
		       enum mlx5_ep_watch_cause cause)
{
	if (space->mm_gone)
		return;
	if (cause == MLX5_EP_WATCH_CAUSE_UNMAP)
		hit_trees(space, range, MLX5_EP_WATCH_CAUSE_UNMAP);
	else
		hit_trees(space, range, MLX5_EP_WATCH_CAUSE_CLEAR);
}

/**
 * mlx5_ep_watch_hit_unmap() - munmap() of a range that may have watches
 * @space: its lock is taken here
 * @range: of the invalidation, short; no wide watch reaches its block
 *
 * Most invalidations that hit a watch come here. Most blocks have one watch, and
 * that needs no loop. Not in the file of its caller, where the compiler would see
 * that it returns 0, and would not jump to it.
 *
 * Return: 0, as a callback of the kernel that begins an invalidation
 */
int notrace mlx5_ep_watch_hit_unmap(struct mlx5_ep_watch_space *space,
				    const struct mmu_notifier_range *range)
{
	unsigned long first, last;
	struct mlx5_ep_watch *w;

	spin_lock(&space->lock);
	/* The address of the lock is not worth a register that has to be saved. */
	OPTIMIZER_HIDE_VAR(space);
	first = range->start >> PAGE_SHIFT;
	last = (range->end - 1) >> PAGE_SHIFT;
	w = hit_only_watch(&space->trees[inflight_index(range->start)]);
	if (unlikely(!w || !hit_is_narrow(first, last)))
		mlx5_ep_watch_hit(space, range, MLX5_EP_WATCH_CAUSE_UNMAP);
	else if (likely(w->start <= last && watch_last(w) >= first &&
			!w->resting))
		hit_watch(w, first, last, MLX5_EP_WATCH_CAUSE_UNMAP);
	spin_unlock(&space->lock);
	return 0;
}
