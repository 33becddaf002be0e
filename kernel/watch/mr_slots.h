/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How watches are laid out in memory: known to mr_*.c alone.
 */
#ifndef MLX5_EP_MR_SLOTS_H
#define MLX5_EP_MR_SLOTS_H

#include <linux/interval_tree_generic.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "mr_watch.h"

#define WATCH_CHUNK_SIZE	4096
#define WATCHES_PER_CHUNK	50

/**
 * struct mlx5_ep_watch - one watched range
 * @node: in the tree, while live
 * @start: first page number
 * @subtree_last: the tree's: greatest last page number below
 * @cookie: the user's
 * @fingerprint: of the pages at record time, where @recorded
 * @npages: length
 * @hull_first: first page hit since the last event was read, from @start
 * @hull_last: last page hit, likewise
 * @seq: number of hits
 * @slot: number of its slot
 * @count: hits since the last event was read, saturating
 * @cause: enum mlx5_ep_watch_cause of them
 * @recorded: @fingerprint is valid
 */
struct mlx5_ep_watch {
	struct rb_node node;
	unsigned long start;
	unsigned long subtree_last;
	u64 cookie;
	u64 fingerprint;
	u32 npages;
	u32 hull_first;
	u32 hull_last;
	u32 seq;
	u32 slot;
	u16 count;
	u8 cause;
	bool recorded;
};

/**
 * struct mlx5_ep_watch_chunk - slots that are allocated together
 * @pending_node: in mlx5_ep_watches.pending_chunks while @pending is not 0, and
 *	on until a reader comes by: slots are reused, with events nobody reads
 * @partial_node: in mlx5_ep_watches.partial while @free is not 0
 * @pending: bit per watch with an event
 * @free: bit per free slot
 * @base: slot number of the first
 * @cursor: where the search for the next event begins
 * @watches: the slots
 */
struct mlx5_ep_watch_chunk {
	struct list_head pending_node;
	struct list_head partial_node;
	u64 pending;
	u64 free;
	u32 base;
	u32 cursor;
	struct mlx5_ep_watch watches[WATCHES_PER_CHUNK];
};

/*
 * All of it is charged to the memory cgroup, and where that is full the caller
 * gets -ENOMEM, not the OOM killer.
 */
#define WATCH_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL)

static_assert(sizeof(struct mlx5_ep_watch_chunk) <= WATCH_CHUNK_SIZE);
static_assert(WATCHES_PER_CHUNK <= 64);
static_assert(sizeof(struct mlx5_ep_notifier_page) <=
	      MLX5_EP_NOTIFIER_WORDS_OFFSET);

static inline unsigned long watch_start(const struct mlx5_ep_watch *w)
{
	return w->start;
}

static inline unsigned long watch_last(const struct mlx5_ep_watch *w)
{
	return w->start + w->npages - 1;
}

static inline struct mlx5_ep_watch_chunk *
watch_chunk(struct mlx5_ep_watch *w)
{
	return (void *)((unsigned long)w & ~(WATCH_CHUNK_SIZE - 1UL));
}

static inline u64 *watch_word(struct mlx5_ep_watches *ws, u32 slot)
{
	size_t offset = MLX5_EP_NOTIFIER_WORDS_OFFSET + slot * sizeof(u64);

	return ws->area->pages[offset >> PAGE_SHIFT] + offset_in_page(offset);
}

static inline void watch_set_state(u64 *word, enum mlx5_ep_watch_state state)
{
	/* What user space has seen before, it still sees after. */
	smp_store_release(word, (*word & ~MLX5_EP_WATCH_STATE_MASK) | state);
}

INTERVAL_TREE_DEFINE(struct mlx5_ep_watch, node, unsigned long, subtree_last,
		     watch_start, watch_last, static __maybe_unused,
		     watch_tree)

/* Returns true where the watch is the first to have an event. */
static inline bool watch_queue(struct mlx5_ep_watches *ws,
			       struct mlx5_ep_watch_chunk *chunk,
			       unsigned int index)
{
	if (list_empty(&chunk->pending_node))
		list_add_tail(&chunk->pending_node, &ws->pending_chunks);
	chunk->pending |= BIT_ULL(index);
	/* Read without the lock by who waits. */
	WRITE_ONCE(ws->pending, ws->pending + 1);
	return ws->pending == 1;
}

static inline void watch_unqueue(struct mlx5_ep_watches *ws,
				 struct mlx5_ep_watch_chunk *chunk,
				 unsigned int index)
{
	chunk->pending &= ~BIT_ULL(index);
	WRITE_ONCE(ws->pending, ws->pending - 1);
}

/* May the caller use these watches? As mlx5_ep_watches_check(). Locked. */
static inline int watches_check(const struct mlx5_ep_watches *ws)
{
	lockdep_assert_held(&ws->lock);
	/* Compared only: after fini the address space may be freed. */
	if (current->mm != ws->mn.mm)
		return -EXDEV;
	return ws->dead ? -EIO : 0;
}

/* Shows the counters in the mapped header. Locked. */
static inline void watches_publish(struct mlx5_ep_watches *ws)
{
	struct mlx5_ep_notifier_page *header = ws->area->pages[0];

	/* After the words that it counts. */
	smp_store_release(&header->watch_total, ws->total);
	WRITE_ONCE(header->watch_pending, ws->pending);
}

/* May a range be under invalidation? Locked. */
static inline bool watches_in_flight(struct mlx5_ep_watches *ws,
				     unsigned long first, unsigned long last)
{
	return inflight_overlaps(&ws->inflight, first << PAGE_SHIFT,
				 (last + 1) << PAGE_SHIFT);
}

int mlx5_ep_watches_follow(struct mlx5_ep_watches *ws);
void mlx5_ep_watches_unfollow(struct mlx5_ep_watches *ws);
void mlx5_ep_watches_settle(struct mlx5_ep_watches *ws, unsigned long first,
			    unsigned long last);
struct mlx5_ep_watch_area *mlx5_ep_watch_area_alloc(u32 capacity);
int mlx5_ep_watches_grow(struct mlx5_ep_watches *ws);
struct mlx5_ep_watch *mlx5_ep_watch_find(struct mlx5_ep_watches *ws,
					 const struct mlx5_ep_watch_ref *ref);
bool mlx5_ep_watch_report(struct mlx5_ep_watches *ws, struct mlx5_ep_watch *w,
			  unsigned long first, unsigned long last,
			  enum mlx5_ep_watch_cause cause);
void mlx5_ep_watches_wake(struct mlx5_ep_watches *ws);

#endif /* MLX5_EP_MR_SLOTS_H */
