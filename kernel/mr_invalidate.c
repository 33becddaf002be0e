// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the kernel tells of an address space, and what it does to watches.
 *
 * An invalidation is told before the page table changes and again when it has.
 * Between the two lies the change: who arms or looks at a range meanwhile has to
 * wait for the second (mlx5_ep_watches_settle()). So the ranges of invalidations
 * that are under way are kept, whether they hit a watch or not: the first few
 * exactly, any others as one range that holds them all. That waits for no
 * invalidation of other ranges, however many threads unmap all the time, which
 * an mmu_interval_notifier over the whole address space would: its core knows
 * the end of all only, and costs more (Documentation/notifications.md).
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

/* An invalidation begins. Locked. */
static __always_inline void watches_begin(struct mlx5_ep_watches *ws,
					  unsigned long first,
					  unsigned long last)
{
	struct mlx5_ep_inflight *inflight = &ws->inflight;

	if (inflight->count < MLX5_EP_INFLIGHT) {
		inflight->ranges[inflight->count++] =
			(struct mlx5_ep_range){ first, last };
		return;
	}
	if (!inflight->more++) {
		inflight->more_first = first;
		inflight->more_last = last;
		return;
	}
	inflight->more_first = min(inflight->more_first, first);
	inflight->more_last = max(inflight->more_last, last);
}

/*
 * One of those with that range has ended: which one makes no difference, as the
 * common range of the others stays until all of them have. Locked.
 */
static __always_inline void watches_end(struct mlx5_ep_watches *ws,
					unsigned long first, unsigned long last)
{
	struct mlx5_ep_inflight *inflight = &ws->inflight;
	unsigned int i;

	for (i = 0; i < inflight->count; i++) {
		if (inflight->ranges[i].first != first ||
		    inflight->ranges[i].last != last)
			continue;
		inflight->ranges[i] = inflight->ranges[--inflight->count];
		return;
	}
	if (!WARN_ON_ONCE(!inflight->more))
		inflight->more--;
}

/*
 * Hits all watches that overlap. Where there are very many the lock is let go
 * for a moment: nodes come in the order of their start, so those from @from
 * on are still to come; those which begin before and reach over it come again.
 * It is let go only when at least half of a round was new.
 */
static void watches_hit(struct mlx5_ep_watches *ws, unsigned long first,
			unsigned long last, enum mlx5_ep_watch_cause cause,
			const struct mmu_notifier_range *range)
{
	unsigned int again = 0, fresh = 0;
	struct mlx5_ep_watch *w;
	unsigned long from = first;
	bool wake = false;

	spin_lock(&ws->lock);
	watches_begin(ws, first, last);
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

static int watches_range_start(struct mmu_notifier *mn,
			       const struct mmu_notifier_range *range)
{
	struct mlx5_ep_watches *ws =
		container_of(mn, struct mlx5_ep_watches, mn);
	enum mlx5_ep_watch_cause cause;

	if (range_cause(range, &cause))
		watches_hit(ws, range->start >> PAGE_SHIFT,
			    (range->end - 1) >> PAGE_SHIFT, cause, range);
	return 0;
}

static void watches_range_end(struct mmu_notifier *mn,
			      const struct mmu_notifier_range *range)
{
	struct mlx5_ep_watches *ws =
		container_of(mn, struct mlx5_ep_watches, mn);
	enum mlx5_ep_watch_cause cause;
	bool wake;

	if (!range_cause(range, &cause))
		return;
	spin_lock(&ws->lock);
	watches_end(ws, range->start >> PAGE_SHIFT,
		    (range->end - 1) >> PAGE_SHIFT);
	wake = ws->waiters;
	spin_unlock(&ws->lock);
	if (wake)
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
	ws->waiters++;
	spin_unlock(&ws->lock);
	wait_event(ws->settled, watches_settled(ws, first, last));
	spin_lock(&ws->lock);
	ws->waiters--;
	spin_unlock(&ws->lock);
}
