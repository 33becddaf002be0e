/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The address space of a process, which all its notifiers share. */
#ifndef MLX5_EP_WATCH_SPACE_H
#define MLX5_EP_WATCH_SPACE_H

#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "watch/inflight.h"

/*
 * Trees of watches are numbered: of those in one block, by block; and one more of
 * those that lie in several blocks.
 */
#define WATCH_TREE_WIDE		INFLIGHT_BLOCKS
#define WATCH_TREES		(INFLIGHT_BLOCKS + 1)

/**
 * struct mlx5_ep_watch_space - an address space that has notifiers
 * @mn: the subscription; counts the notifiers, the last one frees this
 * @lock: protects what follows, and all watches of all notifiers in it
 * @inflight: invalidations of any range, watched or not
 * @mm_gone: the address space is gone: no tree must be touched any more
 * @watches: struct mlx5_ep_watches.node
 * @gone: those of @watches that know that the address space is gone
 * @ended: woken when an invalidation ends, if a thread waits for it
 * @starts: lower bounds of the trees (tree.h), addresses; read without the lock
 * @ends: upper bounds, behind the last address; read without the lock
 * @trees: of struct mlx5_ep_watch
 */
struct mlx5_ep_watch_space {
	struct mmu_notifier mn;
	spinlock_t lock;
	struct mlx5_ep_inflight inflight;
	bool mm_gone;
	struct list_head watches;
	struct list_head gone;
	wait_queue_head_t ended;
	unsigned long starts[WATCH_TREES];
	unsigned long ends[WATCH_TREES];
	struct rb_root_cached trees[WATCH_TREES];
};

/* May an invalidation of a range of pages be under way? Locked. */
static inline bool space_in_flight(struct mlx5_ep_watch_space *space,
				   unsigned long first, unsigned long last)
{
	lockdep_assert_held(&space->lock);
	return inflight_overlaps(&space->inflight, first << PAGE_SHIFT,
				 (last + 1) << PAGE_SHIFT);
}

struct mlx5_ep_watch_space *mlx5_ep_watch_space_get(void);
void mlx5_ep_watch_spaces_flush(void);

/* Any context. Does not wait: running callbacks may still use @space. */
static inline void mlx5_ep_watch_space_put(struct mlx5_ep_watch_space *space)
{
	mmu_notifier_put(&space->mn);
}

#endif /* MLX5_EP_WATCH_SPACE_H */
