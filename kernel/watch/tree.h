/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which watches does an invalidation hit?
 *
 * Watches are in interval trees. A watch that lies in one block of 16 MiB
 * (inflight.h) is in the tree of that block, which blocks a multiple of
 * INFLIGHT_BLOCKS apart share. Every other watch is in the tree WATCH_TREE_WIDE.
 * So an invalidation searches few watches, however many the process has.
 *
 * Each tree has bounds, between which are all its watches that can be hit. Those
 * of a block include the watches of the next block too, because a short
 * invalidation may reach there. An invalidation that is outside them takes no
 * lock.
 *
 * A watch that rests cannot be hit. Its @subtree_last, and those of its
 * ancestors, may still be too great, but are never too small. They are corrected
 * when a search comes by (tree_walk_next()), and not at the hit, which would
 * have to go up to the root. Therefore the searches of the kernel's own interval
 * trees are not used: they take @subtree_last for exact. An unmap corrects
 * nothing when it leaves a watch that it has just hit, because most programs
 * delete such a watch. If they do not, the next search that comes by corrects.
 *
 * Locking: the lock of the address space; bounds are read without it.
 */
#ifndef MLX5_EP_WATCH_TREE_H
#define MLX5_EP_WATCH_TREE_H

#include <linux/interval_tree_generic.h>

#include "watch/slots.h"

INTERVAL_TREE_DEFINE(struct mlx5_ep_watch, node, unsigned long, subtree_last,
		     watch_start, watch_tree_last, static __maybe_unused,
		     watch_tree)

#define watch_entry(rb)	rb_entry(rb, struct mlx5_ep_watch, node)

/* The first address of a watch, and the one behind its last. */
static __always_inline unsigned long watch_addr(const struct mlx5_ep_watch *w)
{
	return w->start << PAGE_SHIFT;
}

static __always_inline unsigned long
watch_addr_end(const struct mlx5_ep_watch *w)
{
	return (watch_last(w) + 1) << PAGE_SHIFT;
}

static __always_inline unsigned long tree_of(unsigned long start,
					     unsigned long end)
{
	if (unlikely(!inflight_is_narrow(start, end)))
		return WATCH_TREE_WIDE;
	return inflight_index(start);
}

static __always_inline unsigned long tree_before(unsigned long tree)
{
	return (tree - 1) % INFLIGHT_BLOCKS;
}

/* The tree of the next block; @tree again if it belongs to none. */
static __always_inline unsigned long tree_behind(unsigned long tree)
{
	return tree == WATCH_TREE_WIDE ? tree : (tree + 1) % INFLIGHT_BLOCKS;
}

static inline unsigned long tree_start(const struct rb_root_cached *root)
{
	struct rb_node *rb = rb_first_cached(root);

	return rb ? watch_addr(watch_entry(rb)) : ULONG_MAX;
}

static inline unsigned long tree_end(const struct rb_root_cached *root)
{
	struct rb_node *rb = root->rb_root.rb_node;

	return rb ? (watch_entry(rb)->subtree_last + 1) << PAGE_SHIFT : 0;
}

static inline void tree_set_bounds(struct mlx5_ep_watch_space *space,
				   unsigned long tree)
{
	const struct rb_root_cached *root = &space->trees[tree];
	const struct rb_root_cached *next = &space->trees[tree_behind(tree)];

	WRITE_ONCE(space->starts[tree],
		   min(tree_start(root), tree_start(next)));
	WRITE_ONCE(space->ends[tree], max(tree_end(root), tree_end(next)));
}

static __always_inline void tree_include(struct mlx5_ep_watch_space *space,
					 unsigned long tree,
					 unsigned long start, unsigned long end)
{
	if (start < space->starts[tree])
		WRITE_ONCE(space->starts[tree], start);
	if (end > space->ends[tree])
		WRITE_ONCE(space->ends[tree], end);
}

static __always_inline void
tree_bounds_include(struct mlx5_ep_watch_space *space, unsigned long tree,
		    unsigned long start, unsigned long end)
{
	tree_include(space, tree, start, end);
	if (likely(tree != WATCH_TREE_WIDE))
		tree_include(space, tree_before(tree), start, end);
}

/* Corrects the bounds if they may be closer without a watch of this range. */
static __always_inline void tree_exclude(struct mlx5_ep_watch_space *space,
					 unsigned long tree,
					 unsigned long start, unsigned long end)
{
	if (space->starts[tree] >= start || space->ends[tree] <= end)
		tree_set_bounds(space, tree);
}

/* A watch of this range has been removed from @tree. */
static __always_inline void
tree_bounds_exclude(struct mlx5_ep_watch_space *space, unsigned long tree,
		    unsigned long start, unsigned long end)
{
	if (likely(tree != WATCH_TREE_WIDE))
		tree_exclude(space, tree_before(tree), start, end);
	tree_exclude(space, tree, start, end);
}

/* An invalidation hits no watch of these bounds. Called without the lock. */
static __always_inline bool
tree_misses(const struct mlx5_ep_watch_space *space, unsigned long tree,
	    const struct mmu_notifier_range *range)
{
	return READ_ONCE(*(space->ends + tree)) <= range->start ||
	       READ_ONCE(*(space->starts + tree)) >= range->end;
}

static __always_inline void tree_insert(struct mlx5_ep_watch_space *space,
					struct mlx5_ep_watch *w)
{
	unsigned long start = watch_addr(w), end = watch_addr_end(w);
	unsigned long tree = tree_of(start, end);

	watch_tree_insert(w, &space->trees[tree]);
	tree_bounds_include(space, tree, start, end);
}

static __always_inline void tree_remove(struct mlx5_ep_watch_space *space,
					struct mlx5_ep_watch *w)
{
	unsigned long start = watch_addr(w), end = watch_addr_end(w);
	unsigned long tree = tree_of(start, end);

	watch_tree_remove(w, &space->trees[tree]);
	tree_bounds_exclude(space, tree, start, end);
}

/* Makes a watch that rests one that can be hit. */
static inline void tree_wake(struct mlx5_ep_watch_space *space,
			     struct mlx5_ep_watch *w)
{
	unsigned long start = watch_addr(w), end = watch_addr_end(w);

	if (!w->resting)
		return;
	w->resting = false;
	watch_tree_augment.propagate(&w->node, NULL);
	tree_bounds_include(space, tree_of(start, end), start, end);
}

static __always_inline bool tree_ends_before(struct rb_node *rb,
					     unsigned long first)
{
	return !rb || watch_entry(rb)->subtree_last < first;
}

static __always_inline struct mlx5_ep_watch *
tree_walk_down(struct rb_node *rb, unsigned long first)
{
	while (!tree_ends_before(rb->rb_left, first))
		rb = rb->rb_left;
	return watch_entry(rb);
}

/*
 * The watches of a tree in order, but for subtrees that end before @first. Each
 * is a candidate only: it may lie outside the range, or rest.
 */
static __always_inline struct mlx5_ep_watch *
tree_walk_first(const struct rb_root_cached *root, unsigned long first)
{
	struct rb_node *rb = root->rb_root.rb_node;

	if (tree_ends_before(rb, first))
		return NULL;
	return tree_walk_down(rb, first);
}

/*
 * If @correct, corrects @subtree_last of each watch whose subtree it leaves, but
 * the root.
 */
static __always_inline struct mlx5_ep_watch *
tree_walk_next(struct mlx5_ep_watch *w, unsigned long first, bool correct)
{
	struct rb_node *rb = &w->node, *parent;

	if (!tree_ends_before(rb->rb_right, first))
		return tree_walk_down(rb->rb_right, first);
	for (; (parent = rb_parent(rb)); rb = parent) {
		if (correct)
			watch_tree_augment_compute_max(watch_entry(rb), false);
		if (parent->rb_left == rb)
			return watch_entry(parent);
	}
	return NULL;
}

#endif /* MLX5_EP_WATCH_TREE_H */
