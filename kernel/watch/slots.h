/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How watches are laid out in memory; only the files of this folder know it. */
#ifndef MLX5_EP_WATCH_SLOTS_H
#define MLX5_EP_WATCH_SLOTS_H

#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sizes.h>

#include "watch/space.h"
#include "watch/watch.h"

struct dma_buf;
struct dma_buf_attachment;

#define WATCH_CHUNK_SIZE	4096
#define WATCHES_PER_CHUNK	50U

/* A watch has a fingerprint for each part of so many pages, and for the rest. */
#define WATCH_PART_PAGES	(SZ_2M / PAGE_SIZE)

/**
 * struct mlx5_ep_watch_parts - fingerprints of a watch of more than one part
 * @users: 1 of the watch, 1 of the thread that looks
 * @hit_first: first page hit since verify armed the watch, from its start; the
 *	lock of the address space protects it
 * @hit_last: last page hit, likewise; less than @hit_first if none was hit
 * @next: in a list of those whose watches were deleted
 * @fingerprints: one per part
 */
struct mlx5_ep_watch_parts {
	refcount_t users;
	u32 hit_first;
	u32 hit_last;
	struct mlx5_ep_watch_parts *next;
	u64 fingerprints[];
};

/**
 * struct mlx5_ep_dmabuf - what a watch of a dma-buf has beside the others
 * @node: in mlx5_ep_watches.dmabufs, once the watch is deleted
 * @ws: whose it is
 * @w: its watch; NULL before that is armed and once it is deleted; the lock of the
 *	address space protects it
 * @buf: held
 * @attach: by which the exporter finds this; NULL: it never moves the buffer
 * @user: for whom it counts, may be NULL
 */
struct mlx5_ep_dmabuf {
	struct list_head node;
	struct mlx5_ep_watches *ws;
	struct mlx5_ep_watch *w;
	struct dma_buf *buf;
	struct dma_buf_attachment *attach;
	struct mlx5_ep_account *user;
};

/**
 * struct mlx5_ep_watch - one watched range
 * @node: in the tree, while the watch exists, unless it is one of a dma-buf
 * @start: first page number; in a dma-buf from its first page on
 * @subtree_last: upper bound of the last pages of the watches in the subtree that
 *	do not rest; never too small
 * @cookie: the user gave it, and events have it
 * @fingerprint: of the pages, if @recorded; of a watch of one part
 * @parts: fingerprints of a longer watch; NULL before they are recorded
 * @dmabuf: of a watch of a dma-buf
 * @npages: length
 * @hit_first: first page hit since the last event was read, from @start
 * @hit_last: last page hit, likewise
 * @seq: number of hits
 * @count: hits since the last event was read, saturating
 * @cause: enum mlx5_ep_watch_cause of them
 * @index: of its slot in its chunk
 * @hits: hits since it was armed, saturating at WATCH_MAX_HITS
 * @recorded: there are fingerprints
 * @looked_at: a thread looks at its pages (verify.c)
 * @resting: a further hit would tell nothing new: searches pass it over
 * @is_dmabuf: the watch is one of a dma-buf: no tree has it, it has no fingerprint
 */
struct mlx5_ep_watch {
	struct rb_node node;
	unsigned long start;
	unsigned long subtree_last;
	u64 cookie;
	union {
		u64 fingerprint;
		struct mlx5_ep_watch_parts *parts;
		struct mlx5_ep_dmabuf *dmabuf;
	};
	u32 npages;
	u32 hit_first;
	u32 hit_last;
	u32 seq;
	u16 count;
	u16 cause;
	u8 index;
	u8 hits:4;
	u8 recorded:1;
	u8 looked_at:1;
	u8 resting:1;
	u8 is_dmabuf:1;
};

/*
 * A watch that was hit partly stays in the way of further hits, so that its
 * event covers them too, but not for ever: after that many it rests.
 */
#define WATCH_MAX_HITS		8

/**
 * struct mlx5_ep_watch_chunk - slots that are allocated together
 * @ws: whose they are
 * @pending_node: in mlx5_ep_watches.pending_chunks while @queued
 * @queued: since @pending was not 0. A chunk stays queued until a reader comes by,
 *	because slots are reused
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
	u8 split;
	u8 cursor;
	bool queued;
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

/* NULL also if the watch has one part only. */
static inline struct mlx5_ep_watch_parts *
watch_parts(const struct mlx5_ep_watch *w)
{
	return w->npages > WATCH_PART_PAGES && !w->is_dmabuf ? w->parts : NULL;
}

/*
 * Takes its dma-buf from a watch. mlx5_ep_watch_dmabuf_reap() detaches it, as that
 * sleeps. Locked.
 */
static inline void slots_drop_dmabuf(struct mlx5_ep_watches *ws,
				     struct mlx5_ep_watch *w)
{
	list_add(&w->dmabuf->node, &ws->dmabufs);
	w->dmabuf->w = NULL;
	w->dmabuf = NULL;
}

static inline size_t watch_parts_size(u32 npages)
{
	struct mlx5_ep_watch_parts *parts = NULL;

	return struct_size(parts, fingerprints,
			   DIV_ROUND_UP(npages, WATCH_PART_PAGES));
}

/* No page was hit. Locked, but for parts that no watch has yet. */
static inline void watch_parts_clean(struct mlx5_ep_watch_parts *parts)
{
	parts->hit_first = U32_MAX;
	parts->hit_last = 0;
}

/*
 * Takes its parts from a watch and puts them in front of a list, as nothing is
 * freed under the lock. Locked.
 */
static inline void slots_drop_parts(struct mlx5_ep_watches *ws,
				    struct mlx5_ep_watch *w,
				    struct mlx5_ep_watch_parts **list)
{
	struct mlx5_ep_watch_parts *parts = watch_parts(w);

	if (likely(!parts))
		return;
	ws->parts_bytes -= watch_parts_size(w->npages);
	w->parts = NULL;
	parts->next = *list;
	*list = parts;
}

static inline u64 *slots_word(struct mlx5_ep_watches *ws, u32 slot)
{
	size_t offset = MLX5_EP_NOTIFIER_WORDS_OFFSET + slot * sizeof(u64);

	return ws->area->pages[offset >> PAGE_SHIFT] + offset_in_page(offset);
}

/* The same word, by its place in the chunk. */
static __always_inline u64 *
slots_chunk_word(const struct mlx5_ep_watch_chunk *chunk, unsigned long index)
{
	if (likely(index < chunk->split))
		return &chunk->words[0][index];
	return &chunk->words[1][index - chunk->split];
}

static inline void slots_set_state(u64 *word, enum mlx5_ep_watch_state state)
{
	/* User space that sees the change also sees what came before it. */
	smp_store_release(word, (*word & ~MLX5_EP_WATCH_STATE_MASK) | state);
}

static inline void slots_unqueue(struct mlx5_ep_watches *ws,
				 struct mlx5_ep_watch_chunk *chunk,
				 unsigned int index)
{
	chunk->pending &= ~BIT_ULL(index);
	WRITE_ONCE(ws->pending, ws->pending - 1);
	WRITE_ONCE(ws->header->watch_pending, ws->pending);
}

/* Takes a free slot. There is one. Locked. */
static __always_inline struct mlx5_ep_watch *
slots_take(struct mlx5_ep_watches *ws)
{
	struct mlx5_ep_watch_chunk *chunk =
		list_first_entry(&ws->partial, struct mlx5_ep_watch_chunk,
				 partial_node);
	unsigned int index = __ffs64(chunk->free);
	struct mlx5_ep_watch *w = &chunk->watches[index];

	/* Clears the lowest bit that is set. */
	chunk->free &= chunk->free - 1;
	if (unlikely(!chunk->free))
		list_del(&chunk->partial_node);
	w->index = index;
	return w;
}

/* Gives a new watch its first state, and the notifier one watch more. Locked. */
static __always_inline void slots_begin(struct mlx5_ep_watches *ws,
					struct mlx5_ep_watch *w, u64 cookie,
					bool is_dmabuf)
{
	w->cookie = cookie;
	w->hits = 0;
	w->recorded = false;
	w->looked_at = false;
	w->resting = false;
	w->is_dmabuf = is_dmabuf;
	ws->live++;
}

/* Arms the word of a new watch and returns it. Locked. */
static __always_inline u64 slots_arm(struct mlx5_ep_watches *ws,
				     struct mlx5_ep_watch *w)
{
	u64 word = ++ws->generation << 2 | MLX5_EP_WATCH_STATE_ARMED;

	/* User space that sees the word also sees what came before it. */
	smp_store_release(slots_chunk_word(watch_chunk(w), w->index), word);
	return word;
}

/* See mlx5_ep_watch_slots_find(). */
static __always_inline struct mlx5_ep_watch *
slots_find(struct mlx5_ep_watches *ws, const struct mlx5_ep_watch_ref *ref)
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
	word = *slots_chunk_word(chunk, index) & ~MLX5_EP_WATCH_STATE_MASK;
	if (!word || ref->word != (word | MLX5_EP_WATCH_STATE_ARMED))
		return NULL;
	return &chunk->watches[index];
}

/* fingerprint.c */
void mlx5_ep_fingerprint_init(void);
const char *mlx5_ep_fingerprint_refusal(void);
int mlx5_ep_fingerprint_take(unsigned long first, unsigned long npages,
			     bool pinned, u64 *fingerprint);
struct mlx5_ep_watch_parts *mlx5_ep_fingerprint_parts_alloc(u32 npages);
void mlx5_ep_fingerprint_parts_hit(struct mlx5_ep_watch *w, u32 first,
				   u32 last);
void mlx5_ep_fingerprint_parts_put(struct mlx5_ep_watch_parts *parts);
void mlx5_ep_fingerprint_parts_put_list(struct mlx5_ep_watch_parts *parts);

/* slots.c */
struct mlx5_ep_watch_area *mlx5_ep_watch_slots_area_alloc(u32 capacity);
int mlx5_ep_watch_slots_grow(struct mlx5_ep_watches *ws);
struct mlx5_ep_watch *
mlx5_ep_watch_slots_find(struct mlx5_ep_watches *ws,
			 const struct mlx5_ep_watch_ref *ref);

#endif /* MLX5_EP_WATCH_SLOTS_H */
