/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5_EP_MR_WATCH_H
#define MLX5_EP_MR_WATCH_H

#include <linux/kref.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <rdma/mlx5_ep_notifier.h>

#include "mr_inflight.h"

/**
 * struct mlx5_ep_watch_area - the memory that user space maps
 * @ref: one of the notifier, one of each mapping
 * @nr_pages: length of @pages
 * @pages: header, then words; allocated as slots are, freed with the area
 */
struct mlx5_ep_watch_area {
	struct kref ref;
	unsigned long nr_pages;
	void *pages[];
};

/**
 * struct mlx5_ep_watches - the watched ranges of one address space
 * @mn: the subscription
 * @lock: protects what follows up to @grow_lock, and the words
 * @tree: live watches by range
 * @inflight: invalidations of any range, watched or not
 * @dead: no watch can be added or change any more
 * @mm_gone: the address space is gone, and all mappings with it
 * @nr_chunks: chunks allocated
 * @live: watches there are
 * @generation: of the watch armed last
 * @total: hits, ever
 * @pending: watches with an event that nobody has read
 * @pending_chunks: chunks which hold them
 * @partial: chunks with a free slot
 * @area: what user space maps
 * @chunks: by number, allocated in order
 * @bytes: memory allocated for all this; changes under @grow_lock
 * @grow_lock: serialises the allocation of chunks; outside @lock
 * @capacity: slots
 * @settled: woken when an invalidation ends, if somebody waits
 * @wait: woken when @pending leaves zero, and when the address space goes
 */
struct mlx5_ep_watches {
	struct mmu_notifier mn;
	spinlock_t lock;
	struct rb_root_cached tree;
	struct mlx5_ep_inflight inflight;
	bool dead;
	bool mm_gone;
	u32 nr_chunks;
	u32 live;
	u64 generation;
	u64 total;
	u64 pending;
	struct list_head pending_chunks;
	struct list_head partial;
	struct mlx5_ep_watch_area *area;
	struct mlx5_ep_watch_chunk **chunks;
	size_t bytes;
	struct mutex grow_lock;
	u32 capacity;
	wait_queue_head_t settled;
	wait_queue_head_t *wait;
};

/**
 * struct mlx5_ep_watches_stats - for people to look at
 * @live: watches there are
 * @capacity: watches there can be
 * @bytes: memory that they take, all charged to the memory cgroup
 * @total: hits, ever
 * @pending: watches with an event that nobody has read
 */
struct mlx5_ep_watches_stats {
	u32 live;
	u32 capacity;
	u64 bytes;
	u64 total;
	u64 pending;
};

int mlx5_ep_watches_init(struct mlx5_ep_watches *ws, u32 capacity,
			 wait_queue_head_t *wait);
void mlx5_ep_watches_fini(struct mlx5_ep_watches *ws);
int mlx5_ep_watches_check(struct mlx5_ep_watches *ws);
struct mlx5_ep_watch_area *
mlx5_ep_watches_get_area(struct mlx5_ep_watches *ws);
void mlx5_ep_watch_area_put(struct mlx5_ep_watch_area *area);

int mlx5_ep_watches_add(struct mlx5_ep_watches *ws,
			struct mlx5_ep_watch_add *adds, unsigned int count);
int mlx5_ep_watches_del(struct mlx5_ep_watches *ws,
			struct mlx5_ep_watch_ref *refs, unsigned int count);
int mlx5_ep_watches_verify(struct mlx5_ep_watches *ws,
			   struct mlx5_ep_watch_ref *ref, bool record);
long mlx5_ep_watches_ioctl(struct mlx5_ep_watches *ws, unsigned int cmd,
			   void __user *arg);
void mlx5_ep_watches_get_stats(struct mlx5_ep_watches *ws,
			       struct mlx5_ep_watches_stats *stats);
unsigned int mlx5_ep_watches_take_events(struct mlx5_ep_watches *ws,
					 struct mlx5_ep_event *events,
					 unsigned int count);

#endif /* MLX5_EP_MR_WATCH_H */
