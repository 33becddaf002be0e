// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the kernel tells of an address space, and what it does to watches.
 *
 * An invalidation is told before the page table changes and again when it has.
 * Between the two lies the change: who arms or looks at a range meanwhile has to
 * wait for the second (mlx5_ep_watches_settle()), so mr_inflight.h keeps what is
 * under way, whether it hit a watch or not. That waits for no invalidation of
 * other ranges, however many threads unmap all the time, which an
 * mmu_interval_notifier over the whole address space would: its core knows the
 * end of all only, and costs more (Documentation/notifications.md).
 *
 * Every munmap() of the process comes here, and most are of memory that nobody
 * watches: what these cost counts as much as what a hit costs.
 */
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched.h>

#include "mr_slots.h"

#define WATCH_MAX_COUNT		U16_MAX

/* Watches hit in one go with the lock held. */
#define WATCH_HIT_BATCH		1024

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

/*
 * Hits all watches from @w on that overlap. Where there are very many the lock is
 * let go for a moment: nodes come in the order of their start, so those from
 * @from on are still to come; those which begin before and reach over it come
 * again. It is let go only when at least half of a round was new. Locked. Returns
 * true where readers are to be woken.
 */
static noinline bool watches_hit_rest(struct mlx5_ep_watches *ws,
				      struct mlx5_ep_watch *w,
				      unsigned long first, unsigned long last,
				      enum mlx5_ep_watch_cause cause,
				      bool may_sleep)
{
	unsigned int again = 0, fresh = 0;
	unsigned long from = first;
	bool wake = false;

	while (w) {
		wake |= watch_hit(ws, w, first, last, cause);
		if (w->start > from)
			fresh++;
		else
			again++;
		if (fresh < WATCH_HIT_BATCH || fresh < again ||
		    !need_resched() || !may_sleep) {
			w = watch_tree_iter_next(w, from, last);
			continue;
		}
		from = w->start;
		again = 0;
		fresh = 0;
		spin_unlock(&ws->lock);
		cond_resched();
		spin_lock(&ws->lock);
		w = watch_tree_iter_first(&ws->tree, from, last);
	}
	return wake;
}

/* Hits all watches that overlap, most often one. As watches_hit_rest(). */
static __always_inline bool watches_hit(struct mlx5_ep_watches *ws,
					const struct mmu_notifier_range *range,
					enum mlx5_ep_watch_cause cause)
{
	unsigned long first = range->start >> PAGE_SHIFT;
	unsigned long last = (range->end - 1) >> PAGE_SHIFT;
	struct mlx5_ep_watch *w;
	bool wake;

	w = watch_tree_iter_first(&ws->tree, first, last);
	if (!w)
		return false;
	wake = watch_hit(ws, w, first, last, cause);
	w = watch_tree_iter_next(w, first, last);
	if (w)
		wake |= watches_hit_rest(ws, w, first, last, cause,
					 mmu_notifier_range_blockable(range));
	watches_publish(ws);
	return wake;
}

/* Returns false where the pages are what they were. */
static __always_inline bool range_cause(const struct mmu_notifier_range *range,
					enum mlx5_ep_watch_cause *cause)
{
	switch (range->event) {
	case MMU_NOTIFY_PROTECTION_VMA:
	case MMU_NOTIFY_PROTECTION_PAGE:
	case MMU_NOTIFY_SOFT_DIRTY:
		return false;
	case MMU_NOTIFY_UNMAP:
		*cause = MLX5_EP_WATCH_CAUSE_UNMAP;
		return true;
	default:
		*cause = MLX5_EP_WATCH_CAUSE_CLEAR;
		return true;
	}
}

static noinline void watches_begin_locked(struct mlx5_ep_watches *ws,
					  const struct mmu_notifier_range *range,
					  bool list)
{
	bool settled = false, wake = false;
	enum mlx5_ep_watch_cause cause;

	spin_lock(&ws->lock);
	if (unlikely(list))
		settled = mlx5_ep_inflight_list(&ws->inflight, range);
	if (range_cause(range, &cause))
		wake = watches_hit(ws, range, cause);
	spin_unlock(&ws->lock);
	if (unlikely(settled))
		wake_up_all(&ws->settled);
	if (wake)
		mlx5_ep_watches_wake(ws);
}

static int watches_range_start(struct mmu_notifier *mn,
			       const struct mmu_notifier_range *range)
{
	struct mlx5_ep_watches *ws =
		container_of(mn, struct mlx5_ep_watches, mn);
	bool list;

	if (inflight_begin(&ws->inflight, range, &list))
		watches_begin_locked(ws, range, list);
	return 0;
}

static noinline void watches_end_locked(struct mlx5_ep_watches *ws,
					const struct mmu_notifier_range *range)
{
	bool wake;

	spin_lock(&ws->lock);
	wake = mlx5_ep_inflight_end_listed(&ws->inflight, range);
	spin_unlock(&ws->lock);
	if (wake)
		wake_up_all(&ws->settled);
}

static void watches_range_end(struct mmu_notifier *mn,
			      const struct mmu_notifier_range *range)
{
	struct mlx5_ep_watches *ws =
		container_of(mn, struct mlx5_ep_watches, mn);
	bool wake;

	if (inflight_end(&ws->inflight, range, &wake))
		watches_end_locked(ws, range);
	else if (unlikely(wake))
		wake_up_all(&ws->settled);
}

/* The address space goes, or we stop to follow it. */
static void watches_release(struct mmu_notifier *mn, struct mm_struct *mm)
{
	struct mlx5_ep_watches *ws =
		container_of(mn, struct mlx5_ep_watches, mn);

	spin_lock(&ws->lock);
	if (!ws->dead)
		WRITE_ONCE(ws->mm_gone, true);
	spin_unlock(&ws->lock);
	wake_up_interruptible_poll(ws->wait, EPOLLIN | EPOLLHUP);
}

static const struct mmu_notifier_ops watches_mn_ops = {
	.invalidate_range_start = watches_range_start,
	.invalidate_range_end = watches_range_end,
	.release = watches_release,
};

/**
 * mlx5_ep_watches_follow - be told of the caller's address space
 * @ws: the watches, no one has them yet
 *
 * No invalidation is under way when it returns: the core locks out all who could
 * make one. Holds mm_count, never mm_users. Sleeps.
 *
 * Return: 0, -ENOMEM, or -EINTR.
 */
int mlx5_ep_watches_follow(struct mlx5_ep_watches *ws)
{
	ws->mn.ops = &watches_mn_ops;
	return mmu_notifier_register(&ws->mn, current->mm);
}

/**
 * mlx5_ep_watches_unfollow - be told no more
 * @ws: the watches
 *
 * Nothing can be added from here on. Waits for running callbacks; sleeps.
 */
void mlx5_ep_watches_unfollow(struct mlx5_ep_watches *ws)
{
	spin_lock(&ws->lock);
	ws->dead = true;
	spin_unlock(&ws->lock);
	mmu_notifier_unregister(&ws->mn, ws->mn.mm);
	/* Of what is under way the end will not be told. */
	wake_up_all(&ws->settled);
}

static bool watches_settled(struct mlx5_ep_watches *ws, unsigned long first,
			    unsigned long last)
{
	bool settled;

	spin_lock(&ws->lock);
	settled = ws->dead || !watches_in_flight(ws, first, last);
	spin_unlock(&ws->lock);
	return settled;
}

/**
 * mlx5_ep_watches_settle - wait until no invalidation of a range is under way
 * @ws: the watches
 * @first: first page number
 * @last: last page number
 *
 * Sleeps.
 */
void mlx5_ep_watches_settle(struct mlx5_ep_watches *ws, unsigned long first,
			    unsigned long last)
{
	if (watches_settled(ws, first, last))
		return;
	spin_lock(&ws->lock);
	mlx5_ep_inflight_wait_begin(&ws->inflight);
	spin_unlock(&ws->lock);
	wait_event(ws->settled, watches_settled(ws, first, last));
	spin_lock(&ws->lock);
	mlx5_ep_inflight_wait_end(&ws->inflight);
	spin_unlock(&ws->lock);
}
