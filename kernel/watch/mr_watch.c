// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watched ranges of an address space.
 *
 * One mmu_notifier follows the address space of a notifier (mr_invalidate.c); the
 * watches are in an interval tree of our own, by page number.
 * Documentation/notifications.md has the figures of this and other ways.
 *
 * A watch lives in a slot. Slots come in chunks of 4 KiB, found by number from
 * user space's slot and by address from the tree's nodes. A watch's word,
 * which user space maps, is
 *
 *	generation << 2 | state
 *
 * and the generation is never used twice in a notifier.
 *
 * What never happens:
 * - a system call that unmaps, moves or frees a page of a watched range returns
 *   with the word still armed: the word changes in the callback, before
 *   the page table does;
 * - a watch is armed while an invalidation of its range is under way that it has
 *   not been told of: add waits for the end of those that began before;
 * - verify arms a watch that was hit after verify had begun to look: @seq of
 *   the watch counts hits;
 * - a stale watch becomes armed again.
 *
 * Locking: mlx5_ep_watches.lock is a leaf but for the wait queue's, and is
 * taken in the callback, which may be called by reclaim: under it nothing
 * sleeps, allocates, or touches user memory. @grow_lock is outside it and is
 * held over an allocation, never over a fault.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "mr_slots.h"

#define WATCH_MAX_PAGES		U32_MAX

/* Watches handled in one go with the lock held. */
#define WATCH_LOCK_BATCH	64

/**
 * mlx5_ep_watches_init - begin to follow the caller's address space
 * @ws: zeroed
 * @capacity: watches at most, not 0
 * @wait: woken when there is an event to read
 *
 * Holds mm_count of the address space, never mm_users. Sleeps.
 *
 * Return: 0, -ENOMEM, or -EINTR.
 */
int mlx5_ep_watches_init(struct mlx5_ep_watches *ws, u32 capacity,
			 wait_queue_head_t *wait)
{
	int ret = -ENOMEM;

	spin_lock_init(&ws->lock);
	mutex_init(&ws->grow_lock);
	init_waitqueue_head(&ws->settled);
	ws->tree = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&ws->pending_chunks);
	INIT_LIST_HEAD(&ws->partial);
	ws->capacity = capacity;
	ws->wait = wait;

	ws->chunks = kvcalloc(DIV_ROUND_UP(capacity, WATCHES_PER_CHUNK),
			      sizeof(*ws->chunks), WATCH_GFP);
	if (!ws->chunks)
		return ret;
	ws->area = mlx5_ep_watch_area_alloc(capacity);
	if (!ws->area)
		goto err_chunks;
	ws->bytes = DIV_ROUND_UP(capacity, WATCHES_PER_CHUNK) *
			    sizeof(*ws->chunks) +
		    struct_size(ws->area, pages, ws->area->nr_pages) +
		    PAGE_SIZE;
	ret = mlx5_ep_watches_follow(ws);
	if (ret)
		goto err_area;
	return 0;

err_area:
	mlx5_ep_watch_area_put(ws->area);
err_chunks:
	kvfree(ws->chunks);
	return ret;
}

/* Mappings may outlive the notifier: none of their words may stay armed. */
static void watches_kill_words(struct mlx5_ep_watches *ws)
{
	struct mlx5_ep_notifier_page *header = ws->area->pages[0];
	u32 i, j;

	for (i = 0; i < ws->nr_chunks; i++) {
		struct mlx5_ep_watch_chunk *chunk = ws->chunks[i];

		for (j = 0; j < WATCHES_PER_CHUNK; j++) {
			if (chunk->base + j >= ws->capacity)
				break;
			if (!(chunk->free & BIT_ULL(j)))
				watch_set_state(watch_word(ws, chunk->base + j),
						MLX5_EP_WATCH_STALE);
		}
		cond_resched();
	}
	/* After the words. */
	smp_store_release(&header->flags, MLX5_EP_NOTIFIER_PAGE_DEAD);
}

/**
 * mlx5_ep_watches_fini - stop following
 * @ws: the watches
 *
 * All words become stale. The structure stays valid: every other call fails
 * with -EIO from here on. Waits for running callbacks; sleeps.
 */
void mlx5_ep_watches_fini(struct mlx5_ep_watches *ws)
{
	u32 i;

	mlx5_ep_watches_unfollow(ws);

	/* Nobody else touches words and chunks now. */
	if (!ws->mm_gone)
		watches_kill_words(ws);
	for (i = 0; i < ws->nr_chunks; i++) {
		kfree(ws->chunks[i]);
		cond_resched();
	}
	kvfree(ws->chunks);
	mlx5_ep_watch_area_put(ws->area);
}

static int watch_add_check(const struct mlx5_ep_watch_add *add)
{
	u64 end;

	if (add->flags || !add->length ||
	    check_add_overflow(add->addr, add->length, &end) ||
	    end > U64_MAX - PAGE_SIZE)
		return -EINVAL;
	if (PFN_UP(end) - PFN_DOWN(add->addr) > WATCH_MAX_PAGES)
		return -EINVAL;
	if (PAGE_ALIGN(end) > TASK_SIZE)
		return -EFAULT;
	return 0;
}

static void watch_count(struct mlx5_ep_watches *ws,
			const struct mlx5_ep_watch *w, int by)
{
	inflight_count_watch(&ws->inflight, w->start << PAGE_SHIFT,
			     (watch_last(w) + 1) << PAGE_SHIFT, by);
}

/* Returns true where the caller must wait for an invalidation to end. */
static bool watch_add_locked(struct mlx5_ep_watches *ws,
			     struct mlx5_ep_watch_add *add)
{
	struct mlx5_ep_watch_chunk *chunk =
		list_first_entry(&ws->partial, struct mlx5_ep_watch_chunk,
				 partial_node);
	unsigned int index = __ffs64(chunk->free);
	struct mlx5_ep_watch *w = &chunk->watches[index];

	chunk->free &= ~BIT_ULL(index);
	if (!chunk->free)
		list_del(&chunk->partial_node);

	w->start = PFN_DOWN(add->addr);
	w->npages = PFN_UP(add->addr + add->length) - w->start;
	w->cookie = add->cookie;
	w->recorded = 0;
	watch_tree_insert(w, &ws->tree);
	watch_count(ws, w, 1);
	ws->live++;

	w->slot = chunk->base + index;
	add->slot = w->slot;
	add->word = ++ws->generation << 2 | MLX5_EP_WATCH_ARMED;
	/* Release, as every change of a word. */
	smp_store_release(watch_word(ws, add->slot), add->word);
	return watches_in_flight(ws, w->start, watch_last(w));
}

static int watch_del_locked(struct mlx5_ep_watches *ws,
			    const struct mlx5_ep_watch_ref *ref)
{
	struct mlx5_ep_watch *w = mlx5_ep_watch_find(ws, ref);
	struct mlx5_ep_watch_chunk *chunk;
	unsigned int index;

	if (!w)
		return -ENOENT;
	chunk = watch_chunk(w);
	index = w - chunk->watches;

	/* Release, as every change of a word. */
	smp_store_release(watch_word(ws, ref->slot), MLX5_EP_WATCH_FREE);
	watch_tree_remove(w, &ws->tree);
	watch_count(ws, w, -1);
	ws->live--;
	if (chunk->pending & BIT_ULL(index)) {
		watch_unqueue(ws, chunk, index);
		watches_publish(ws);
	}
	if (!chunk->free)
		list_add(&chunk->partial_node, &ws->partial);
	chunk->free |= BIT_ULL(index);
	return 0;
}

static void watches_undo_add(struct mlx5_ep_watches *ws,
			     const struct mlx5_ep_watch_add *adds,
			     unsigned int count)
{
	while (count--) {
		struct mlx5_ep_watch_ref ref = {
			.word = adds[count].word,
			.slot = adds[count].slot,
		};

		mlx5_ep_watches_del(ws, &ref, 1);
	}
}

/**
 * mlx5_ep_watches_add - arm watches
 * @ws: the watches
 * @adds: the ranges; @word and @slot are filled in
 * @count: length of @adds
 *
 * Once it returns, every change to a range changes the watch's word before the
 * system call which made it returns. Sleeps.
 *
 * Return: 0; else none was added and it is -EINVAL, -EFAULT, -ENOSPC, -ENOMEM,
 * -EXDEV or -EIO, as uapi/rdma/mlx5_ep_notifier.h says.
 */
int mlx5_ep_watches_add(struct mlx5_ep_watches *ws,
			struct mlx5_ep_watch_add *adds, unsigned int count)
{
	unsigned int i, batch;
	bool wait = false;
	int ret;

	for (i = 0; i < count; i++) {
		ret = watch_add_check(&adds[i]);
		if (ret)
			return ret;
	}

	for (i = 0; i < count;) {
		spin_lock(&ws->lock);
		ret = watches_check(ws);
		for (batch = 0; !ret && batch < WATCH_LOCK_BATCH && i < count;
		     batch++, i++) {
			if (list_empty(&ws->partial))
				break;
			wait |= watch_add_locked(ws, &adds[i]);
		}
		spin_unlock(&ws->lock);
		if (!ret && !batch)
			ret = mlx5_ep_watches_grow(ws);
		if (ret) {
			watches_undo_add(ws, adds, i);
			return ret;
		}
		if (i < count)
			cond_resched();
	}

	/*
	 * An invalidation whose callback came before the insertion may have the
	 * page table still to change: wait until it has.
	 */
	for (i = 0; wait && i < count; i++)
		mlx5_ep_watches_settle(ws, PFN_DOWN(adds[i].addr),
				       PFN_UP(adds[i].addr + adds[i].length) -
				       1);
	return 0;
}

/**
 * mlx5_ep_watches_del - disarm watches
 * @ws: the watches
 * @refs: which; @result is filled in
 * @count: length of @refs
 *
 * Return: 0; -ENOENT where at least one was not found, the others are gone;
 * -EXDEV; -EIO.
 */
int mlx5_ep_watches_del(struct mlx5_ep_watches *ws,
			struct mlx5_ep_watch_ref *refs, unsigned int count)
{
	unsigned int i, batch;
	int ret = 0;

	for (i = 0; i < count;) {
		int check;

		spin_lock(&ws->lock);
		check = watches_check(ws);
		for (batch = 0; !check && batch < WATCH_LOCK_BATCH && i < count;
		     batch++, i++) {
			refs[i].result = watch_del_locked(ws, &refs[i]);
			if (refs[i].result)
				ret = refs[i].result;
		}
		spin_unlock(&ws->lock);
		if (check)
			return check;
		if (i < count)
			cond_resched();
	}
	return ret;
}

static void watch_take_event(struct mlx5_ep_watches *ws,
			     struct mlx5_ep_watch_chunk *chunk,
			     struct mlx5_ep_event *event)
{
	u64 ahead = chunk->pending & ~(BIT_ULL(chunk->cursor) - 1);
	unsigned int index = __ffs64(ahead ?: chunk->pending);
	struct mlx5_ep_watch *w = &chunk->watches[index];
	u32 slot = chunk->base + index;

	*event = (struct mlx5_ep_event){
		.cookie = w->cookie,
		.start = (u64)(w->start + w->hull_first) << PAGE_SHIFT,
		.length = (u64)(w->hull_last - w->hull_first + 1) << PAGE_SHIFT,
		.word = (*watch_word(ws, slot) & ~MLX5_EP_WATCH_STATE_MASK) |
			MLX5_EP_WATCH_ARMED,
		.type = MLX5_EP_EVENT_WATCH,
		.slot = slot,
		.cause = w->cause,
		.count = w->count,
	};
	chunk->cursor = (index + 1) % WATCHES_PER_CHUNK;
	watch_unqueue(ws, chunk, index);
}

/**
 * mlx5_ep_watches_take_events - the events that nobody has read
 * @ws: the watches
 * @events: filled in
 * @count: length of @events
 *
 * Return: the number taken; 0 also after fini.
 */
unsigned int mlx5_ep_watches_take_events(struct mlx5_ep_watches *ws,
					 struct mlx5_ep_event *events,
					 unsigned int count)
{
	struct mlx5_ep_watch_chunk *chunk;
	unsigned int i = 0;

	spin_lock(&ws->lock);
	while (!ws->dead && i < count && ws->pending) {
		chunk = list_first_entry(&ws->pending_chunks,
					 struct mlx5_ep_watch_chunk,
					 pending_node);
		if (chunk->pending)
			watch_take_event(ws, chunk, &events[i++]);
		/* In turn. */
		if (chunk->pending)
			list_move_tail(&chunk->pending_node,
				       &ws->pending_chunks);
		else
			list_del_init(&chunk->pending_node);
	}
	if (i)
		watches_publish(ws);
	spin_unlock(&ws->lock);
	return i;
}
