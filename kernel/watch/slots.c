// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where watches live: slots in chunks, words in the area that user space maps.
 * Both grow as watches are added, up to the capacity, and are kept for reuse
 * until the notifier is closed. All of it is charged to the memory cgroup of the
 * process that makes it grow. The area outlives the notifier while it is mapped.
 *
 * Calls on a notifier may run while fini does. Each holds a use
 * (mlx5_ep_watch_slots_get()), which keeps the memory and the address space there;
 * what they may still do is decided by @dead, under the lock.
 */
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "watch/slots.h"

static void slots_area_free(struct kref *ref)
{
	struct mlx5_ep_watch_area *area =
		container_of(ref, struct mlx5_ep_watch_area, ref);
	unsigned long i;

	for (i = 0; i < area->nr_pages && area->pages[i]; i++) {
		free_page((unsigned long)area->pages[i]);
		cond_resched();
	}
	kvfree(area);
}

/**
 * mlx5_ep_watch_slots_area_put() - drop a reference to the mapped memory
 * @area: area to which the caller gives one reference up; the last one frees
 *	its pages
 *
 * May sleep.
 */
void mlx5_ep_watch_slots_area_put(struct mlx5_ep_watch_area *area)
{
	kref_put(&area->ref, slots_area_free);
}

/**
 * mlx5_ep_watch_slots_area_alloc() - make the memory that user space will map
 * @capacity: number of words
 *
 * At first only the header page is allocated. Sleeps.
 *
 * Return: the area, with one reference; NULL: no memory
 */
struct mlx5_ep_watch_area *mlx5_ep_watch_slots_area_alloc(u32 capacity)
{
	unsigned long nr_pages =
		DIV_ROUND_UP(MLX5_EP_NOTIFIER_WORDS_OFFSET +
			     capacity * sizeof(u64), PAGE_SIZE);
	struct mlx5_ep_notifier_page *header;
	struct mlx5_ep_watch_area *area;

	area = kvzalloc(struct_size(area, pages, nr_pages), WATCH_GFP);
	if (!area)
		return NULL;
	kref_init(&area->ref);
	area->nr_pages = nr_pages;

	header = (void *)get_zeroed_page(WATCH_GFP);
	if (!header) {
		kvfree(area);
		return NULL;
	}
	header->version = MLX5_EP_NOTIFIER_VERSION;
	header->capacity = capacity;
	area->pages[0] = header;
	return area;
}

/**
 * mlx5_ep_watch_slots_check() - may the caller use these watches?
 * @ws: watches whose memory the caller keeps valid
 *
 * Return: 0; -EXDEV: from another address space, also after fini; -EIO: after
 * fini. Without the lock of the space, the answer 0 may be outdated.
 */
int mlx5_ep_watch_slots_check(const struct mlx5_ep_watches *ws)
{
	if (current->mm != ws->mm)
		return -EXDEV;
	return READ_ONCE(ws->dead) ? -EIO : 0;
}

/**
 * mlx5_ep_watch_slots_get() - begin a call on watches
 * @ws: watches whose memory the caller keeps valid; they may be after fini
 *
 * Return: 0: their memory and their space stay until mlx5_ep_watch_slots_put();
 * -EXDEV, -EIO: as mlx5_ep_watch_slots_check()
 */
int mlx5_ep_watch_slots_get(struct mlx5_ep_watches *ws)
{
	if (current->mm != ws->mm)
		return -EXDEV;
	return refcount_inc_not_zero(&ws->users) ? 0 : -EIO;
}

static void slots_chunk_free(struct mlx5_ep_watch_chunk *chunk)
{
	u32 i;

	/* A slot that is free has no parts. */
	for (i = 0; i < WATCHES_PER_CHUNK; i++)
		mlx5_ep_fingerprint_parts_put(watch_parts(&chunk->watches[i]));
	kfree(chunk);
}

static void slots_free(struct mlx5_ep_watches *ws)
{
	u32 i;

	mlx5_ep_watch_space_put(ws->space);
	for (i = 0; i < ws->nr_chunks; i++) {
		slots_chunk_free(ws->chunks[i]);
		cond_resched();
	}
	kvfree(ws->chunks);
	mlx5_ep_watch_slots_area_put(ws->area);
}

/**
 * mlx5_ep_watch_slots_put() - end a call on watches
 * @ws: watches for which mlx5_ep_watch_slots_get() returned 0; the last put frees
 *	what they own, and not @ws itself
 *
 * Sleeps.
 */
void mlx5_ep_watch_slots_put(struct mlx5_ep_watches *ws)
{
	if (refcount_dec_and_test(&ws->users))
		slots_free(ws);
}

/* Allocates pages for the words of @slots slots from @base on. */
static int slots_grow_words(struct mlx5_ep_watches *ws, u32 base, u32 slots)
{
	struct mlx5_ep_watch_area *area = ws->area;
	size_t end = MLX5_EP_NOTIFIER_WORDS_OFFSET +
		     (base + slots) * sizeof(u64) - 1;
	unsigned long i = (MLX5_EP_NOTIFIER_WORDS_OFFSET +
			   base * sizeof(u64)) >> PAGE_SHIFT;

	for (; i <= end >> PAGE_SHIFT; i++) {
		void *page;

		if (area->pages[i])
			continue;
		page = (void *)get_zeroed_page(WATCH_GFP);
		if (!page)
			return -ENOMEM;
		WRITE_ONCE(ws->bytes, ws->bytes + PAGE_SIZE);
		/* The page is zeroed before a fault finds it. */
		smp_store_release(&area->pages[i], page);
	}
	return 0;
}

static struct mlx5_ep_watch_chunk *slots_chunk_alloc(struct mlx5_ep_watches *ws,
						     u32 base, u32 slots)
{
	struct mlx5_ep_watch_chunk *chunk =
		kzalloc(WATCH_CHUNK_SIZE, WATCH_GFP);

	if (!chunk)
		return NULL;
	chunk->ws = ws;
	chunk->base = base;
	chunk->free = GENMASK_ULL(slots - 1, 0);
	chunk->words[0] = slots_word(ws, base);
	chunk->split = min_t(size_t, slots,
			     (PAGE_SIZE - offset_in_page(chunk->words[0])) /
			     sizeof(u64));
	if (chunk->split < slots)
		chunk->words[1] = slots_word(ws, base + chunk->split);
	return chunk;
}

static int slots_grow_locked(struct mlx5_ep_watches *ws)
{
	u32 base = ws->nr_chunks * WATCHES_PER_CHUNK;
	struct mlx5_ep_watch_chunk *chunk;
	u32 slots;
	int ret;

	if (!list_empty_careful(&ws->partial))
		return 0;
	if (base >= ws->capacity)
		return -ENOSPC;
	slots = min_t(u32, WATCHES_PER_CHUNK, ws->capacity - base);
	ret = slots_grow_words(ws, base, slots);
	if (ret)
		return ret;
	chunk = slots_chunk_alloc(ws, base, slots);
	if (!chunk)
		return -ENOMEM;

	spin_lock(&ws->space->lock);
	ret = mlx5_ep_watch_slots_check(ws);
	if (!ret) {
		ws->chunks[ws->nr_chunks++] = chunk;
		WRITE_ONCE(ws->bytes, ws->bytes + WATCH_CHUNK_SIZE);
		list_add(&chunk->partial_node, &ws->partial);
		chunk = NULL;
	}
	spin_unlock(&ws->space->lock);
	kfree(chunk);
	return ret;
}

/**
 * mlx5_ep_watch_slots_grow() - make free slots, unless there are some already
 * @ws: used by the caller
 *
 * Sleeps.
 *
 * Return: 0; -ENOSPC, -ENOMEM, -EIO
 */
int mlx5_ep_watch_slots_grow(struct mlx5_ep_watches *ws)
{
	int ret;

	mutex_lock(&ws->grow_lock);
	ret = slots_grow_locked(ws);
	mutex_unlock(&ws->grow_lock);
	return ret;
}

/**
 * mlx5_ep_watch_slots_get_stats() - how many there are, and their hits
 * @ws: before fini
 * @stats: filled in
 */
void mlx5_ep_watch_slots_get_stats(struct mlx5_ep_watches *ws,
				   struct mlx5_ep_watches_stats *stats)
{
	spin_lock(&ws->space->lock);
	stats->live = ws->live;
	stats->total = ws->header->watch_total;
	stats->pending = ws->pending;
	stats->bytes = READ_ONCE(ws->bytes) + ws->parts_bytes;
	spin_unlock(&ws->space->lock);
	stats->capacity = ws->capacity;
}

/**
 * mlx5_ep_watch_slots_find() - the watch that user space names
 * @ws: used by the caller, the lock of its space held
 * @ref: its slot and armed word
 *
 * Return: the watch; NULL: it was deleted
 */
struct mlx5_ep_watch *
mlx5_ep_watch_slots_find(struct mlx5_ep_watches *ws,
			 const struct mlx5_ep_watch_ref *ref)
{
	return slots_find(ws, ref);
}
