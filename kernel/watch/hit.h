/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a hit does to a watch. Inline, as each munmap() of watched memory comes
 * here; hit.c has the rest.
 */
#ifndef MLX5_EP_WATCH_HIT_H
#define MLX5_EP_WATCH_HIT_H

#include <linux/wait.h>

#include "watch/tree.h"

#define WATCH_MAX_COUNT		U16_MAX

void mlx5_ep_watch_hit_tell(struct mlx5_ep_watches *ws,
			    struct mlx5_ep_watch_chunk *chunk);
void mlx5_ep_watch_hit_report(struct mlx5_ep_watch *w, unsigned long first,
			      unsigned long last,
			      enum mlx5_ep_watch_cause cause);
int mlx5_ep_watch_hit_unmap(struct mlx5_ep_watch_space *space,
			    const struct mmu_notifier_range *range);
void mlx5_ep_watch_hit(struct mlx5_ep_watch_space *space,
		       const struct mmu_notifier_range *range,
		       enum mlx5_ep_watch_cause cause);

/* The watch of a tree that has one only; NULL: it has none, or several. */
static __always_inline struct mlx5_ep_watch *
hit_only_watch(const struct rb_root_cached *root)
{
	struct rb_node *rb = root->rb_root.rb_node;

	if (!rb || (unsigned long)rb->rb_left | (unsigned long)rb->rb_right)
		return NULL;
	return watch_entry(rb);
}

/* Are two page numbers in one block? */
static __always_inline bool hit_is_narrow(unsigned long first,
					  unsigned long last)
{
	return !((first ^ last) >> (INFLIGHT_BLOCK_SHIFT - PAGE_SHIFT));
}

/*
 * Adds a hit to the event of a watch, which is at @index of @chunk. Returns true
 * if the watch had none.
 */
static __always_inline bool hit_add_event(struct mlx5_ep_watch_chunk *chunk,
					  unsigned long index,
					  struct mlx5_ep_watch *w, u32 first,
					  u32 last,
					  enum mlx5_ep_watch_cause cause)
{
	if (__test_and_set_bit(index, &chunk->pending)) {
		w->hit_first = min(w->hit_first, first);
		w->hit_last = max(w->hit_last, last);
		w->cause |= cause;
		if (w->count < WATCH_MAX_COUNT)
			w->count++;
		return false;
	}
	w->hit_first = first;
	w->hit_last = last;
	w->count = 1;
	w->cause = cause;
	return true;
}

/*
 * Count one more watch of @chunk with an event, and tell readers. The caller does
 * this last: few hits make the call below, and no register is saved for it.
 */
static __always_inline void hit_tell(struct mlx5_ep_watches *ws,
				     struct mlx5_ep_watch_chunk *chunk,
				     struct mlx5_ep_notifier_page *header)
{
	u64 pending = ws->pending + 1;

	/* Waiting readers look at it without the lock. */
	WRITE_ONCE(ws->pending, pending);
	WRITE_ONCE(header->watch_pending, pending);
	if (unlikely(!chunk->queued) ||
	    (pending == 1 && unlikely(wq_has_sleeper(ws->wait))))
		mlx5_ep_watch_hit_tell(ws, chunk);
}

/* A hit that leaves a watch suspect. @whole: all of it was hit */
static __always_inline void hit_count(struct mlx5_ep_watch *w, bool whole)
{
	if (w->hits < WATCH_MAX_HITS)
		w->hits++;
	if (whole || w->hits == WATCH_MAX_HITS)
		w->resting = true;
}

/*
 * A watched range was hit, see mlx5_ep_watch_hit_report(). Inline, as munmap() of
 * memory with many watches does little else.
 */
static __always_inline void hit_watch(struct mlx5_ep_watch *w,
				      unsigned long first, unsigned long last,
				      enum mlx5_ep_watch_cause cause)
{
	struct mlx5_ep_watch_chunk *chunk = watch_chunk(w);
	struct mlx5_ep_watches *ws = chunk->ws;
	struct mlx5_ep_notifier_page *header = ws->header;
	unsigned long index = w->index;
	u64 *word = slots_chunk_word(chunk, index), was = *word;
	bool clear = cause == MLX5_EP_WATCH_CAUSE_CLEAR;
	u32 from = max(first, w->start) - w->start;
	u32 to = min(last, watch_last(w)) - w->start;
	bool first_event;

	w->seq++;
	/* User space that sees the change also sees what came before it. */
	smp_store_release(word, (was & ~MLX5_EP_WATCH_STATE_MASK) |
			  (clear ? MLX5_EP_WATCH_STATE_SUSPECT :
				   MLX5_EP_WATCH_STATE_STALE));
	/* The word comes before the number that counts it. */
	smp_store_release(&header->watch_total, header->watch_total + 1);

	first_event = hit_add_event(chunk, index, w, from, to, cause);
	if (!clear) {
		w->resting = true;
	} else {
		hit_count(w, to - from + 1 == w->npages);
		if (unlikely(w->npages > WATCH_PART_PAGES))
			mlx5_ep_fingerprint_parts_hit(w, from, to);
	}
	if (first_event)
		hit_tell(ws, chunk, header);
}

#endif /* MLX5_EP_WATCH_HIT_H */
