/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How watches are laid out in memory; only the files mr_*.c know it. */
#ifndef MLX5_EP_MR_SLOTS_H
#define MLX5_EP_MR_SLOTS_H

#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched.h>

#include "mr_space.h"
#include "mr_watch.h"

#define WATCH_CHUNK_SIZE	4096
#define WATCHES_PER_CHUNK	50

/**
 * struct mlx5_ep_watch - one watched range
 * @node: in the tree, while the watch exists
 * @start: first page number
 * @subtree_last: the tree's: no watch below that does not rest ends behind it
 * @cookie: the user's
 * @fingerprint: of the pages, if @recorded
 * @npages: length
 * @hit_first: first page hit since the last event was read, from @start
 * @hit_last: last page hit, likewise
 * @seq: number of hits
 * @slot: number of its slot
 * @count: hits since the last event was read, saturating
 * @cause: enum mlx5_ep_watch_cause of them
 * @hits: hits since it was armed, saturating at WATCH_MAX_HITS
 * @recorded: @fingerprint is valid
 * @resting: a further hit would tell nothing new: searches pass it over
 */
struct mlx5_ep_watch {
	struct rb_node node;
	unsigned long start;
	unsigned long subtree_last;
	u64 cookie;
	u64 fingerprint;
	u32 npages;
	u32 hit_first;
	u32 hit_last;
	u32 seq;
	u32 slot;
	u16 count;
	u8 cause;
	u8 hits:6;
	u8 recorded:1;
	u8 resting:1;
};

/*
 * A watch that was hit partly stays in the way of further hits, so that its
 * event covers them too, but not for ever: after that many it rests.
 */
#define WATCH_MAX_HITS		8

/**
 * struct mlx5_ep_watch_chunk - slots that are allocated together
 * @ws: whose they are
 * @pending_node: in mlx5_ep_watches.pending_chunks while @pending is not 0. A
 *	chunk stays there until a reader comes by, because slots are reused
 * @partial_node: in mlx5_ep_watches.partial while @free is not 0
 * @pending: bit per watch with an event
 * @free: bit per free slot
 * @words: the words of the first @split slots, and of the others, which are in
 *	the next page
 * @base: slot number of the first
 * @split: slots whose words are in the same page as that of the first
 * @cursor: where the search for the next event begins
 */
struct mlx5_ep_watch_chunk {
	struct mlx5_ep_watches *ws;
	struct list_head pending_node;
	struct list_head partial_node;
	unsigned long pending;
	u64 free;
	u64 *words[2];
	u32 base;
	u16 split;
	u16 cursor;
	struct mlx5_ep_watch watches[WATCHES_PER_CHUNK];
};

/*
 * Everything is charged to the memory cgroup. If the cgroup is full the caller
 * gets -ENOMEM and the OOM killer is not called.
 */
#define WATCH_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL)

static_assert(sizeof(struct mlx5_ep_watch_chunk) <= WATCH_CHUNK_SIZE);
static_assert(WATCHES_PER_CHUNK <= BITS_PER_LONG);
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

/* For the tree: a watch that rests does not end behind any address. */
static inline unsigned long watch_tree_last(const struct mlx5_ep_watch *w)
{
	return w->resting ? 0 : watch_last(w);
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

/* The same word, by its place in the chunk. */
static __always_inline u64 *chunk_word(const struct mlx5_ep_watch_chunk *chunk,
				       unsigned int index)
{
	if (likely(index < chunk->split))
		return &chunk->words[0][index];
	return &chunk->words[1][index - chunk->split];
}

static inline void watch_set_state(u64 *word, enum mlx5_ep_watch_state state)
{
	/* User space that sees the change also sees what came before it. */
	smp_store_release(word, (*word & ~MLX5_EP_WATCH_STATE_MASK) | state);
}

static inline void watch_unqueue(struct mlx5_ep_watches *ws,
				 struct mlx5_ep_watch_chunk *chunk,
				 unsigned int index)
{
	chunk->pending &= ~BIT_ULL(index);
	WRITE_ONCE(ws->pending, ws->pending - 1);
	WRITE_ONCE(ws->header->watch_pending, ws->pending);
}

/* May an invalidation of a range be under way? Locked. */
static inline bool watches_in_flight(struct mlx5_ep_watches *ws,
				     unsigned long first, unsigned long last)
{
	lockdep_assert_held(&ws->space->lock);
	return inflight_overlaps(&ws->space->inflight, first << PAGE_SHIFT,
				 (last + 1) << PAGE_SHIFT);
}

/* See mlx5_ep_watch_find(). */
static __always_inline struct mlx5_ep_watch *
watch_find(struct mlx5_ep_watches *ws, const struct mlx5_ep_watch_ref *ref)
{
	struct mlx5_ep_watch_chunk *chunk;
	u32 slot, number, index;
	u64 word;

	if (ref->slot >= ws->capacity)
		return NULL;
	/* @ref is the user's: no speculation past the end. */
	slot = array_index_nospec(ref->slot, ws->capacity);
	number = slot / WATCHES_PER_CHUNK;
	if (number >= ws->nr_chunks)
		return NULL;
	chunk = ws->chunks[number];
	index = slot % WATCHES_PER_CHUNK;
	/* The word of a free slot is 0; no watch has the generation 0. */
	word = *chunk_word(chunk, index) & ~MLX5_EP_WATCH_STATE_MASK;
	if (!word || ref->word != (word | MLX5_EP_WATCH_STATE_ARMED))
		return NULL;
	return &chunk->watches[index];
}

/* mr_invalidate.c */
int mlx5_ep_watches_wait_inflight(struct mlx5_ep_watches *ws,
				  unsigned long first, unsigned long last);
void mlx5_ep_watch_report(struct mlx5_ep_watch *w, unsigned long first,
			  unsigned long last, enum mlx5_ep_watch_cause cause);

/* mr_slots.c */
struct mlx5_ep_watch_area *mlx5_ep_watch_area_alloc(u32 capacity);
int mlx5_ep_watches_grow(struct mlx5_ep_watches *ws);
struct mlx5_ep_watch *mlx5_ep_watch_find(struct mlx5_ep_watches *ws,
					 const struct mlx5_ep_watch_ref *ref);

#endif /* MLX5_EP_MR_SLOTS_H */
