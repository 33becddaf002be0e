// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Invalidations of an address space: what their callbacks do to watches, and how
 * a thread waits for them.
 *
 * The kernel calls back before an invalidation changes the page table and again
 * after. A thread that arms or verifies a watch in between must wait for the
 * second call (mlx5_ep_watch_invalidate_wait()). Therefore inflight.h counts
 * all invalidations under way, whether they hit a watch or not. A thread waits
 * for invalidations of its own range only, so it does not starve while other
 * threads unmap all the time. With an mmu_interval_notifier over the whole
 * address space it would: the core knows only when all invalidations have
 * ended. It also costs more (Documentation/internals.md).
 *
 * Every munmap() of the process comes here, and most are of memory that nobody
 * watches. What these cost matters as much as the cost of a hit.
 */
#include <linux/mm.h>
#include <linux/sched.h>

#include "watch/hit.h"
#include "watch/invalidate.h"

/*
 * May mprotect() of the range unshare a page table? Processes that map the same
 * hugetlbfs file share the page tables of whole, aligned ranges of PUD_SIZE
 * (1 GiB). Unsharing clears the whole table, and the kernel calls it a change of
 * protection. It first widens the range so that it includes all of the table
 * (adjust_range_if_pmd_sharing_possible() in mm/hugetlb.c).
 */
static bool invalidate_may_unshare(const struct mmu_notifier_range *range)
{
	return ALIGN(range->start, PUD_SIZE) + PUD_SIZE <= range->end;
}

/* Returns false if the pages stay what they are. */
static __always_inline bool
invalidate_cause(const struct mmu_notifier_range *range,
		 enum mlx5_ep_watch_cause *cause)
{
	*cause = MLX5_EP_WATCH_CAUSE_CLEAR;
	switch (range->event) {
	case MMU_NOTIFY_PROTECTION_VMA:
		return invalidate_may_unshare(range);
	case MMU_NOTIFY_PROTECTION_PAGE:
	case MMU_NOTIFY_SOFT_DIRTY:
		return false;
	case MMU_NOTIFY_UNMAP:
		*cause = MLX5_EP_WATCH_CAUSE_UNMAP;
		return true;
	default:
		return true;
	}
}

/* Returns 0, as all that begins an invalidation. */
static noinline int
invalidate_begin_locked(struct mlx5_ep_watch_space *space,
			const struct mmu_notifier_range *range, bool list)
{
	enum mlx5_ep_watch_cause cause;
	bool ended = false;

	spin_lock(&space->lock);
	if (list)
		ended = mlx5_ep_inflight_list(&space->inflight, range);
	if (invalidate_cause(range, &cause))
		mlx5_ep_watch_hit(space, range, cause);
	spin_unlock(&space->lock);
	if (unlikely(ended))
		wake_up_all(&space->ended);
	return 0;
}

/*
 * An invalidation begins in block @i, which has INFLIGHT_LOOK. Apart from its
 * caller, which saves no registers for memory that nobody watches.
 */
static noinline int
invalidate_begin_look(struct mlx5_ep_watch_space *space,
		      const struct mmu_notifier_range *range, unsigned long i)
{
	unsigned int flags = inflight_flags(space->inflight.blocks + i);

	if (unlikely(!inflight_is_small(range->start, range->end)))
		return invalidate_begin_locked(space, range, true);
	/* To load the range again costs less than to keep it. */
	barrier();
	if (unlikely(flags & (INFLIGHT_LISTED | INFLIGHT_WIDE))) {
		bool list = flags & INFLIGHT_LISTED;

		if (!list && tree_misses(space, i, range) &&
		    tree_misses(space, WATCH_TREE_WIDE, range))
			return 0;
		return invalidate_begin_locked(space, range, list);
	}
	if (tree_misses(space, i, range))
		return 0;
	if (likely(range->event == MMU_NOTIFY_UNMAP))
		return mlx5_ep_watch_hit_unmap(space, range);
	return invalidate_begin_locked(space, range, false);
}

/**
 * mlx5_ep_watch_invalidate_begin() - an invalidation begins
 * @mn: of a struct mlx5_ep_watch_space; its lock is taken here
 * @range: of the invalidation
 *
 * Each munmap() of the process comes here and to mlx5_ep_watch_invalidate_end(), so
 * their instructions are counted (Documentation/results/notifications.md). The
 * entry for function tracing would be two of some 20: hence notrace.
 *
 * Return: 0
 */
int notrace
mlx5_ep_watch_invalidate_begin(struct mmu_notifier *mn,
			       const struct mmu_notifier_range *range)
{
	struct mlx5_ep_watch_space *space =
		container_of(mn, struct mlx5_ep_watch_space, mn);
	unsigned long i = inflight_index(range->start);

	if (unlikely(inflight_begin(&space->inflight, i)))
		return invalidate_begin_look(space, range, i);
	if (unlikely(!inflight_is_small(range->start, range->end)))
		return invalidate_begin_locked(space, range, true);
	return 0;
}

static noinline void
invalidate_end_locked(struct mlx5_ep_watch_space *space,
		      const struct mmu_notifier_range *range)
{
	bool wake;

	spin_lock(&space->lock);
	wake = mlx5_ep_inflight_end_listed(&space->inflight, range);
	spin_unlock(&space->lock);
	if (wake)
		wake_up_all(&space->ended);
}

/**
 * mlx5_ep_watch_invalidate_end() - an invalidation has changed the page table
 * @mn: of a struct mlx5_ep_watch_space; its lock is taken here
 * @range: of the invalidation, the same structure as when it began
 */
void notrace
mlx5_ep_watch_invalidate_end(struct mmu_notifier *mn,
			     const struct mmu_notifier_range *range)
{
	struct mlx5_ep_watch_space *space =
		container_of(mn, struct mlx5_ep_watch_space, mn);
	bool wake;

	if (inflight_end(&space->inflight, range, &wake))
		invalidate_end_locked(space, range);
	else if (unlikely(wake))
		wake_up_all(&space->ended);
}

static bool invalidate_ended(struct mlx5_ep_watches *ws, unsigned long first,
			     unsigned long last)
{
	bool ended;

	spin_lock(&ws->space->lock);
	ended = ws->dead || !space_in_flight(ws->space, first, last);
	spin_unlock(&ws->space->lock);
	return ended;
}

/**
 * mlx5_ep_watch_invalidate_wait() - wait until no invalidation of a range is
 *	under way
 * @ws: watches between mlx5_ep_watch_slots_get() and _put(); the lock of their
 *	address space is not held
 * @first: first page number
 * @last: last page number
 *
 * Sleeps.
 *
 * Return: 0; -EINTR: a fatal signal
 */
int mlx5_ep_watch_invalidate_wait(struct mlx5_ep_watches *ws,
				  unsigned long first, unsigned long last)
{
	struct mlx5_ep_watch_space *space = ws->space;
	int ret;

	if (invalidate_ended(ws, first, last))
		return 0;
	spin_lock(&space->lock);
	mlx5_ep_inflight_wait_begin(&space->inflight);
	spin_unlock(&space->lock);
	ret = wait_event_killable(space->ended,
				  invalidate_ended(ws, first, last));
	spin_lock(&space->lock);
	mlx5_ep_inflight_wait_end(&space->inflight);
	spin_unlock(&space->lock);
	return ret ? -EINTR : 0;
}
