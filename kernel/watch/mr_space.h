/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The address space of a process, which all its notifiers share. */
#ifndef MLX5_EP_MR_SPACE_H
#define MLX5_EP_MR_SPACE_H

#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "mr_inflight.h"

/**
 * struct mlx5_ep_watch_tree - watches by range, see mr_tree.h
 * @root: tree of struct mlx5_ep_watch
 * @start: lower bound, an address; read without the lock
 * @end: upper bound, behind the last address; read without the lock
 */
struct mlx5_ep_watch_tree {
	struct rb_root_cached root;
	unsigned long start;
	unsigned long end;
};

/**
 * struct mlx5_ep_watch_space - an address space that has notifiers
 * @mn: the subscription; counts the notifiers, the last one frees this
 * @lock: protects what follows, and all watches of all notifiers in it
 * @inflight: invalidations of any range, watched or not
 * @mm_gone: the address space is gone: no tree must be touched any more
 * @watches: struct mlx5_ep_watches.node
 * @gone: those of @watches that know that the address space is gone
 * @ended: woken when an invalidation ends, if a thread waits for it
 * @wide: watches that lie in more than one block
 * @blocks: watches that lie in one block, by block
 */
struct mlx5_ep_watch_space {
	struct mmu_notifier mn;
	spinlock_t lock;
	struct mlx5_ep_inflight inflight;
	bool mm_gone;
	struct list_head watches;
	struct list_head gone;
	wait_queue_head_t ended;
	struct mlx5_ep_watch_tree wide;
	struct mlx5_ep_watch_tree blocks[INFLIGHT_BLOCKS];
};

struct mlx5_ep_watch_space *mlx5_ep_watch_space_get(void);

/* Any context. Does not wait: running callbacks may still use @space. */
static inline void mlx5_ep_watch_space_put(struct mlx5_ep_watch_space *space)
{
	mmu_notifier_put(&space->mn);
}

#endif /* MLX5_EP_MR_SPACE_H */
