// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watched ranges of an address space.
 *
 * One mmu_interval_notifier covers the whole address space of a notifier; the
 * watches are in an interval tree of our own, by page number. That is cheaper
 * than a subscription per watch in all but the munmap() that hits none (see
 * Documentation/notifications.md for the figures).
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
 *   not been told of: add waits for those that began before;
 * - verify arms a watch that was hit after verify had begun to look: @seq of
 *   the watch counts hits;
 * - a stale watch becomes armed again.
 *
 * Locking: mlx5_ep_watches.lock is a leaf but for the wait queue's, and is
 * taken in the callback, which may be called by reclaim: under it nothing
 * sleeps, allocates, or touches user memory. @grow_lock is outside it and is
 * held over an allocation, never over a fault.
 */
#include <linux/interval_tree_generic.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "mr_slots.h"

#define WATCH_MAX_PAGES		U32_MAX
#define WATCH_MAX_COUNT		U16_MAX

/* Watches handled in one go with the lock held. */
#define WATCH_LOCK_BATCH	64
#define WATCH_HIT_BATCH		1024

INTERVAL_TREE_DEFINE(struct mlx5_ep_watch, node, unsigned long, subtree_last,
		     watch_start, watch_last, static, watch_tree)

/* Returns true where the watch is the first to have an event. */
static bool watch_queue(struct mlx5_ep_watches *ws,
			struct mlx5_ep_watch_chunk *chunk, unsigned int index)
{
	if (!chunk->pending)
		list_add_tail(&chunk->pending_node, &ws->pending_chunks);
	chunk->pending |= BIT_ULL(index);
	/* Read without the lock by who waits. */
	WRITE_ONCE(ws->pending, ws->pending + 1);
	return ws->pending == 1;
}

static void watch_unqueue(struct mlx5_ep_watches *ws,
			  struct mlx5_ep_watch_chunk *chunk, unsigned int index)
{
	chunk->pending &= ~BIT_ULL(index);
	if (!chunk->pending)
		list_del(&chunk->pending_node);
	WRITE_ONCE(ws->pending, ws->pending - 1);
}

/*
 * A watched range was hit, as mlx5_ep_watch_report() has it. Inline: munmap() of
 * memory with many watches does little else.
 */
static __always_inline bool watch_hit(struct mlx5_ep_watches *ws,
				      struct mlx5_ep_watch *w,
				      unsigned long first, unsigned long last,
				      enum mlx5_ep_watch_cause cause)
{
	u64 *word = watch_word(ws, w->slot), was = *word;
	struct mlx5_ep_watch_chunk *chunk;
	unsigned int index;

	w->seq++;
	if ((was & MLX5_EP_WATCH_STATE_MASK) == MLX5_EP_WATCH_STALE)
		return false;
	/* What user space has seen before, it still sees after. */
	smp_store_release(word, (was & ~MLX5_EP_WATCH_STATE_MASK) |
			  (cause == MLX5_EP_WATCH_CAUSE_CLEAR ?
			   MLX5_EP_WATCH_SUSPECT : MLX5_EP_WATCH_STALE));
	ws->total++;

	first = max(first, w->start) - w->start;
	last = min(last, watch_last(w)) - w->start;
	chunk = watch_chunk(w);
	index = w->slot - chunk->base;
	if (chunk->pending & BIT_ULL(index)) {
		w->hull_first = min_t(u32, w->hull_first, first);
		w->hull_last = max_t(u32, w->hull_last, last);
		w->cause |= cause;
		if (w->count < WATCH_MAX_COUNT)
			w->count++;
		return false;
	}
	w->hull_first = first;
	w->hull_last = last;
	w->cause = cause;
	w->count = 1;
	return watch_queue(ws, chunk, index);
}

/**
 * mlx5_ep_watch_report - a watched range was hit
 * @ws: the watches, locked
 * @w: the watch
 * @first: first page hit, may lie before the range
 * @last: last page hit, may lie behind it
 * @cause: MLX5_EP_WATCH_CAUSE_CLEAR makes it suspect, any other stale
 *
 * Return: true where there was no event to read before, and readers are to be
 * woken once the lock is released.
 */
bool mlx5_ep_watch_report(struct mlx5_ep_watches *ws, struct mlx5_ep_watch *w,
			  unsigned long first, unsigned long last,
			  enum mlx5_ep_watch_cause cause)
{
	return watch_hit(ws, w, first, last, cause);
}

/**
 * mlx5_ep_watches_wake - wake who waits for an event, if anybody does
 * @ws: the watches, not locked
 */
void mlx5_ep_watches_wake(struct mlx5_ep_watches *ws)
{
	if (wq_has_sleeper(ws->wait))
		wake_up_interruptible_poll(ws->wait, EPOLLIN | EPOLLRDNORM);
}

/* Notes an invalidation, called with the lock held. */
static void watches_note_range(struct mlx5_ep_watches *ws, unsigned long first,
			       unsigned long last, unsigned long cur_seq)
{
	struct mlx5_ep_inflight *inflight = &ws->inflight;
	unsigned int i;

	mmu_interval_set_seq(&ws->mni, cur_seq);
	if (inflight->seq != cur_seq) {
		inflight->seq = cur_seq;
		inflight->count = 1;
		inflight->ranges[0].first = first;
		inflight->ranges[0].last = last;
		return;
	}
	if (inflight->count < MLX5_EP_INFLIGHT) {
		i = inflight->count++;
		inflight->ranges[i].first = first;
		inflight->ranges[i].last = last;
		return;
	}
	i = MLX5_EP_INFLIGHT - 1;
	inflight->ranges[i].first = min(inflight->ranges[i].first, first);
	inflight->ranges[i].last = max(inflight->ranges[i].last, last);
}

/**
 * mlx5_ep_watches_in_flight - may a range be under invalidation right now
 * @ws: the watches, locked
 * @first: first page number
 * @last: last page number
 *
 * The page table may change after the callback, up to the end of the
 * invalidation, of which only the core knows. mmu_interval_read_begin() waits
 * until all of the whole address space have ended, which may take long where many
 * threads unmap: so it is asked only where this says true.
 *
 * Return: false where every invalidation that touches the range has ended, or has
 * not had its callback yet.
 */
bool mlx5_ep_watches_in_flight(const struct mlx5_ep_watches *ws,
			       unsigned long first, unsigned long last)
{
	unsigned int i;

	for (i = 0; i < ws->inflight.count; i++)
		if (ws->inflight.ranges[i].first <= last &&
		    ws->inflight.ranges[i].last >= first)
			return true;
	return false;
}

/*
 * Hits all watches that overlap. Where there are very many the lock is let go
 * for a moment: nodes come in the order of their start, so those from @from
 * on are still to come; those which begin before and reach over it come again.
 * It is let go only when at least half of a round was new.
 */
static void watches_hit(struct mlx5_ep_watches *ws, unsigned long first,
			unsigned long last, enum mlx5_ep_watch_cause cause,
			const struct mmu_notifier_range *range,
			unsigned long cur_seq)
{
	unsigned int again = 0, fresh = 0;
	struct mlx5_ep_watch *w;
	unsigned long from = first;
	bool wake = false;

	spin_lock(&ws->lock);
	watches_note_range(ws, first, last, cur_seq);
	if (ws->dead)
		goto out_unlock;

	w = watch_tree_iter_first(&ws->tree, first, last);
	if (!w)
		goto out_unlock;
	while (w) {
		wake |= watch_hit(ws, w, first, last, cause);
		if (w->start > from)
			fresh++;
		else
			again++;
		if (fresh < WATCH_HIT_BATCH || fresh < again ||
		    !need_resched() || !mmu_notifier_range_blockable(range)) {
			w = watch_tree_iter_next(w, from, last);
			continue;
		}
		from = w->start;
		again = 0;
		fresh = 0;
		spin_unlock(&ws->lock);
		cond_resched();
		spin_lock(&ws->lock);
		if (ws->dead)
			goto out_unlock;
		w = watch_tree_iter_first(&ws->tree, from, last);
	}
	mlx5_ep_watches_publish(ws);

out_unlock:
	spin_unlock(&ws->lock);
	if (wake)
		mlx5_ep_watches_wake(ws);
}

static void watches_release_mm(struct mlx5_ep_watches *ws,
			       unsigned long cur_seq)
{
	spin_lock(&ws->lock);
	mmu_interval_set_seq(&ws->mni, cur_seq);
	WRITE_ONCE(ws->mm_gone, true);
	spin_unlock(&ws->lock);
	wake_up_interruptible_poll(ws->wait, EPOLLIN | EPOLLHUP);
}

static bool watches_invalidate(struct mmu_interval_notifier *mni,
			       const struct mmu_notifier_range *range,
			       unsigned long cur_seq)
{
	struct mlx5_ep_watches *ws =
		container_of(mni, struct mlx5_ep_watches, mni);
	enum mlx5_ep_watch_cause cause;

	switch (range->event) {
	case MMU_NOTIFY_PROTECTION_VMA:
	case MMU_NOTIFY_PROTECTION_PAGE:
	case MMU_NOTIFY_SOFT_DIRTY:
		return true;
	case MMU_NOTIFY_RELEASE:
		watches_release_mm(ws, cur_seq);
		return true;
	case MMU_NOTIFY_UNMAP:
		cause = MLX5_EP_WATCH_CAUSE_UNMAP;
		break;
	default:
		cause = MLX5_EP_WATCH_CAUSE_CLEAR;
		break;
	}
	watches_hit(ws, range->start >> PAGE_SHIFT,
		    (range->end - 1) >> PAGE_SHIFT, cause, range, cur_seq);
	return true;
}

static const struct mmu_interval_notifier_ops watches_mni_ops = {
	.invalidate = watches_invalidate,
};

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
	ret = mmu_interval_notifier_insert(&ws->mni, current->mm, 0, ULONG_MAX,
					   &watches_mni_ops);
	if (ret)
		goto err_area;
	/*
	 * The core puts off the insertion while invalidations are under way:
	 * once these are over we see all that follow.
	 */
	mmu_interval_read_begin(&ws->mni);
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

	spin_lock(&ws->lock);
	ws->dead = true;
	spin_unlock(&ws->lock);
	mmu_interval_notifier_remove(&ws->mni);

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
	ws->live++;

	w->slot = chunk->base + index;
	add->slot = w->slot;
	add->word = ++ws->generation << 2 | MLX5_EP_WATCH_ARMED;
	/* Release, as every change of a word. */
	smp_store_release(watch_word(ws, add->slot), add->word);
	return mlx5_ep_watches_in_flight(ws, w->start, watch_last(w));
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
	ws->live--;
	if (chunk->pending & BIT_ULL(index)) {
		watch_unqueue(ws, chunk, index);
		mlx5_ep_watches_publish(ws);
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
		ret = mlx5_ep_watches_check_locked(ws);
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
		cond_resched();
	}

	/*
	 * An invalidation whose callback came before the insertion may have the
	 * page table still to change: wait until it has.
	 */
	if (wait)
		mmu_interval_read_begin(&ws->mni);
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
		check = mlx5_ep_watches_check_locked(ws);
		for (batch = 0; !check && batch < WATCH_LOCK_BATCH && i < count;
		     batch++, i++) {
			refs[i].result = watch_del_locked(ws, &refs[i]);
			if (refs[i].result)
				ret = refs[i].result;
		}
		spin_unlock(&ws->lock);
		if (check)
			return check;
		cond_resched();
	}
	return ret;
}

static void watch_take_event(struct mlx5_ep_watches *ws,
			     struct mlx5_ep_event *event)
{
	struct mlx5_ep_watch_chunk *chunk =
		list_first_entry(&ws->pending_chunks,
				 struct mlx5_ep_watch_chunk, pending_node);
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
	list_move_tail(&chunk->pending_node, &ws->pending_chunks);
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
	unsigned int i = 0;

	spin_lock(&ws->lock);
	while (!ws->dead && i < count && ws->pending)
		watch_take_event(ws, &events[i++]);
	if (i)
		mlx5_ep_watches_publish(ws);
	spin_unlock(&ws->lock);
	return i;
}
