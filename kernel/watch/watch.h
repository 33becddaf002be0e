/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The watched ranges of a notifier, as notifier*.c sees them. */
#ifndef MLX5_EP_WATCH_H
#define MLX5_EP_WATCH_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <rdma/mlx5_ep_notifier.h>

/*
 * Watches of one call. They are added or deleted before the lock is let go. The
 * longest ranges cost some 3000 instructions each.
 */
#define WATCH_PIECE		16U

struct mlx5_ep_account;
struct mlx5_ep_device;
struct mlx5_ep_watch_chunk;
struct mlx5_ep_watch_dmabuf;
struct mlx5_ep_watch_dmabuf_resp;
struct mlx5_ep_watch_space;
struct mm_struct;

/**
 * struct mlx5_ep_watch_area - the memory that user space maps
 * @ref: one of the notifier, one of each mapping
 * @nr_pages: length of @pages
 * @pages: header, then words; allocated with the slots, freed with the area
 */
struct mlx5_ep_watch_area {
	struct kref ref;
	unsigned long nr_pages;
	void *pages[];
};

/**
 * struct mlx5_ep_watches - the watched ranges of one notifier
 * @space: the address space, whose lock protects what follows up to
 *	@grow_lock, and the words
 * @mm: the address space; compared only, it may be freed
 * @users: 1 until fini, and 1 per call that is running; the last one frees all
 * @node: in @space->watches
 * @dead: no watch can be added or verified any more
 * @mm_gone: the address space is gone, and all mappings with it
 * @nr_chunks: chunks allocated
 * @live: number of watches
 * @generation: of the watch armed last
 * @pending: watches with an event that nobody has read
 * @parts_bytes: memory of the fingerprints of long watches
 * @pending_chunks: chunks which hold them
 * @partial: chunks with a free slot
 * @dmabufs: struct mlx5_ep_dmabuf of watches that were deleted
 * @area: what user space maps
 * @header: its first page
 * @chunks: by number, allocated in order
 * @bytes: memory allocated for the rest of this; changes under @grow_lock
 * @grow_lock: serialises the allocation of chunks; taken before the space's
 * @reap_lock: held while dma-bufs are detached; taken before the space's
 * @capacity: slots
 * @wait: woken when @pending becomes positive, and when the address space goes
 */
struct mlx5_ep_watches {
	struct mlx5_ep_watch_space *space;
	const struct mm_struct *mm;
	refcount_t users;
	struct list_head node;
	bool dead;
	bool mm_gone;
	u32 nr_chunks;
	u32 live;
	u64 generation;
	u64 pending;
	u64 parts_bytes;
	struct list_head pending_chunks;
	struct list_head partial;
	struct list_head dmabufs;
	struct mlx5_ep_watch_area *area;
	struct mlx5_ep_notifier_page *header;
	struct mlx5_ep_watch_chunk **chunks;
	size_t bytes;
	struct mutex grow_lock;
	struct mutex reap_lock;
	u32 capacity;
	wait_queue_head_t *wait;
};

/**
 * struct mlx5_ep_watches_stats - what debugfs shows
 * @live: number of watches
 * @capacity: watches that the notifier has room for
 * @bytes: their memory, all charged to the memory cgroup
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

/* watch.c */
int mlx5_ep_watches_init(struct mlx5_ep_watches *ws, u32 capacity,
			 wait_queue_head_t *wait);
void mlx5_ep_watches_fini(struct mlx5_ep_watches *ws);
int mlx5_ep_watches_add(struct mlx5_ep_watches *ws,
			struct mlx5_ep_watch_add *adds, unsigned int count);
void mlx5_ep_watches_undo_add(struct mlx5_ep_watches *ws,
			      const struct mlx5_ep_watch_add *adds,
			      unsigned int count);
int mlx5_ep_watches_del(struct mlx5_ep_watches *ws,
			struct mlx5_ep_watch_ref *refs, unsigned int count);

/* slots.c */
int mlx5_ep_watch_slots_check(const struct mlx5_ep_watches *ws);
int mlx5_ep_watch_slots_get(struct mlx5_ep_watches *ws);
void mlx5_ep_watch_slots_put(struct mlx5_ep_watches *ws);
void mlx5_ep_watch_slots_area_put(struct mlx5_ep_watch_area *area);
void mlx5_ep_watch_slots_get_stats(struct mlx5_ep_watches *ws,
				   struct mlx5_ep_watches_stats *stats);

/* dmabuf.c */
int mlx5_ep_watch_dmabuf_add(struct mlx5_ep_watches *ws,
			     struct mlx5_ep_device *edev,
			     struct mlx5_ep_account *user,
			     const struct mlx5_ep_watch_dmabuf *req,
			     struct mlx5_ep_watch_dmabuf_resp *resp);
void mlx5_ep_watch_dmabuf_reap(struct mlx5_ep_watches *ws);

/* event.c */
unsigned int mlx5_ep_watch_event_take(struct mlx5_ep_watches *ws,
				      struct mlx5_ep_event *events,
				      unsigned int count);

/* verify.c */
int mlx5_ep_watch_verify(struct mlx5_ep_watches *ws,
			 struct mlx5_ep_watch_ref *ref, bool record);

/* ioctl.c */
long mlx5_ep_watch_ioctl(struct mlx5_ep_watches *ws, unsigned int cmd,
			 void __user *arg);

#endif /* MLX5_EP_WATCH_H */
