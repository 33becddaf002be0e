// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where watches live: slots in chunks, words in the area that user space maps.
 * Both grow as watches are added, up to the capacity, and are kept for reuse
 * until the notifier is closed; all of it is charged to the memory cgroup of
 * who makes it grow. The area outlives the notifier as long as it is
 * mapped.
 */
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "mr_slots.h"

static void watch_area_free(struct kref *ref)
{
	struct mlx5_ep_watch_area *area =
		container_of(ref, struct mlx5_ep_watch_area, ref);
	unsigned long i;

	for (i = 0; i < area->nr_pages && area->pages[i]; i++)
		free_page((unsigned long)area->pages[i]);
	kvfree(area);
}

/**
 * mlx5_ep_watch_area_put - drop a reference to the mapped memory
 * @area: the area
 */
void mlx5_ep_watch_area_put(struct mlx5_ep_watch_area *area)
{
	kref_put(&area->ref, watch_area_free);
}

/**
 * mlx5_ep_watch_area_alloc - make the memory that user space will map
 * @capacity: number of words
 *
 * Only the header page is there at first. Sleeps.
 *
 * Return: the area with one reference, or NULL.
 */
struct mlx5_ep_watch_area *mlx5_ep_watch_area_alloc(u32 capacity)
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
 * mlx5_ep_watches_check - may the caller use these watches
 * @ws: the watches
 *
 * Return: 0; -EXDEV from another address space, before and after fini; -EIO
 * after fini.
 */
int mlx5_ep_watches_check(struct mlx5_ep_watches *ws)
{
	int ret;

	spin_lock(&ws->lock);
	ret = watches_check(ws);
	spin_unlock(&ws->lock);
	return ret;
}

/**
 * mlx5_ep_watches_get_area - take a reference to the mapped memory
 * @ws: the watches
 *
 * Return: the area, or an ERR_PTR as of mlx5_ep_watches_check().
 */
struct mlx5_ep_watch_area *mlx5_ep_watches_get_area(struct mlx5_ep_watches *ws)
{
	struct mlx5_ep_watch_area *area;
	int ret;

	spin_lock(&ws->lock);
	ret = watches_check(ws);
	if (ret) {
		area = ERR_PTR(ret);
	} else {
		area = ws->area;
		kref_get(&area->ref);
	}
	spin_unlock(&ws->lock);
	return area;
}

/* Allocates what the words of @slots slots from @base on lack. */
static int watches_grow_words(struct mlx5_ep_watches *ws, u32 base, u32 slots)
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
		/* Zeroed before a fault finds it. */
		smp_store_release(&area->pages[i], page);
	}
	return 0;
}

/**
 * mlx5_ep_watches_grow - make free slots, unless there are some already
 * @ws: the watches
 *
 * Sleeps.
 *
 * Return: 0, -ENOSPC, -ENOMEM, -EXDEV or -EIO.
 */
int mlx5_ep_watches_grow(struct mlx5_ep_watches *ws)
{
	struct mlx5_ep_watch_area *area;
	struct mlx5_ep_watch_chunk *chunk;
	u32 base, slots;
	int ret;

	/* Keeps ws->area while fini may run. */
	area = mlx5_ep_watches_get_area(ws);
	if (IS_ERR(area))
		return PTR_ERR(area);

	mutex_lock(&ws->grow_lock);
	ret = 0;
	if (!list_empty_careful(&ws->partial))
		goto out_unlock;
	base = ws->nr_chunks * WATCHES_PER_CHUNK;
	ret = -ENOSPC;
	if (base >= ws->capacity)
		goto out_unlock;
	slots = min_t(u32, WATCHES_PER_CHUNK, ws->capacity - base);

	ret = watches_grow_words(ws, base, slots);
	if (ret)
		goto out_unlock;
	ret = -ENOMEM;
	chunk = kzalloc(WATCH_CHUNK_SIZE, WATCH_GFP);
	if (!chunk)
		goto out_unlock;
	INIT_LIST_HEAD(&chunk->pending_node);
	chunk->base = base;
	chunk->free = GENMASK_ULL(slots - 1, 0);

	spin_lock(&ws->lock);
	ret = watches_check(ws);
	if (!ret) {
		ws->chunks[ws->nr_chunks++] = chunk;
		WRITE_ONCE(ws->bytes, ws->bytes + WATCH_CHUNK_SIZE);
		list_add(&chunk->partial_node, &ws->partial);
		chunk = NULL;
	}
	spin_unlock(&ws->lock);
	kfree(chunk);

out_unlock:
	mutex_unlock(&ws->grow_lock);
	mlx5_ep_watch_area_put(area);
	return ret;
}

/**
 * mlx5_ep_watches_get_stats - what there is, and what happened to it
 * @ws: the watches, before fini
 * @stats: filled in
 */
void mlx5_ep_watches_get_stats(struct mlx5_ep_watches *ws,
			       struct mlx5_ep_watches_stats *stats)
{
	spin_lock(&ws->lock);
	stats->live = ws->live;
	stats->total = ws->total;
	stats->pending = ws->pending;
	spin_unlock(&ws->lock);
	stats->capacity = ws->capacity;
	stats->bytes = READ_ONCE(ws->bytes);
}

/**
 * mlx5_ep_watch_find - the watch that user space names
 * @ws: the watches, locked
 * @ref: its slot and armed word
 *
 * Return: the watch, or NULL where it is gone.
 */
struct mlx5_ep_watch *
mlx5_ep_watch_find(struct mlx5_ep_watches *ws,
		   const struct mlx5_ep_watch_ref *ref)
{
	u32 slot, number;
	u64 word;

	if (ref->slot >= ws->capacity)
		return NULL;
	/* The user's: a CPU that guesses must not look past the end either. */
	slot = array_index_nospec(ref->slot, ws->capacity);
	number = slot / WATCHES_PER_CHUNK;
	if (number >= ws->nr_chunks)
		return NULL;
	/* A free slot's word is 0, whose generation nobody has. */
	word = *watch_word(ws, slot) & ~MLX5_EP_WATCH_STATE_MASK;
	if (!word || ref->word != (word | MLX5_EP_WATCH_ARMED))
		return NULL;
	return &ws->chunks[number]->watches[slot % WATCHES_PER_CHUNK];
}
