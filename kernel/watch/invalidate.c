// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The mmu_notifier of an address space, and what its callbacks do to watches.
 *
 * The kernel calls back before an invalidation changes the page table and again
 * after. A thread that arms or verifies a watch in between must wait for the
 * second call (mlx5_ep_watches_wait_inflight()). Therefore inflight.h counts
 * all invalidations under way, whether they hit a watch or not. A thread waits
 * for invalidations of its own range only, so it does not starve while other
 * threads unmap all the time. With an mmu_interval_notifier over the whole
 * address space it would: the core knows only when all invalidations have
 * ended. It also costs more (Documentation/notifications-internals.md).
 *
 * Every munmap() of the process comes here, and most are of memory that nobody
 * watches. What these cost matters as much as the cost of a hit.
 *
 * All notifiers of a process share one subscription, so a munmap() costs the
 * same with one notifier and with a thousand. mmu_notifier_get() counts them.
 * mmu_notifier_put() waits for no grace period: it frees the space after one,
 * and callbacks may run until then. A callback uses a notifier's watches only
 * under the lock, where it finds them in the tree, and does not use them after.
 */
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "watch/hit.h"
#include "watch/invalidate.h"

/*
 * May mprotect() of the range unshare a page table? Processes that map the same
 * hugetlbfs file share the page tables of whole, aligned ranges of PUD_SIZE
 * (1 GiB). Unsharing clears the whole table, and the kernel calls it a change of
 * protection. It first widens the range so that it includes all of the table
 * (adjust_range_if_pmd_sharing_possible() in mm/hugetlb.c).
 */
static bool range_may_unshare(const struct mmu_notifier_range *range)
{
	return ALIGN(range->start, PUD_SIZE) + PUD_SIZE <= range->end;
}

/* Returns false if the pages stay what they are. */
static __always_inline bool range_cause(const struct mmu_notifier_range *range,
					enum mlx5_ep_watch_cause *cause)
{
	*cause = MLX5_EP_WATCH_CAUSE_CLEAR;
	switch (range->event) {
	case MMU_NOTIFY_PROTECTION_VMA:
		return range_may_unshare(range);
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
static noinline int watches_begin_locked(struct mlx5_ep_watch_space *space,
					 const struct mmu_notifier_range *range,
					 bool list)
{
	enum mlx5_ep_watch_cause cause;
	bool ended = false;

	spin_lock(&space->lock);
	if (list)
		ended = mlx5_ep_inflight_list(&space->inflight, range);
	if (range_cause(range, &cause))
		mlx5_ep_watches_hit(space, range, cause);
	spin_unlock(&space->lock);
	if (unlikely(ended))
		wake_up_all(&space->ended);
	return 0;
}

/* A short invalidation begins in a block with INFLIGHT_LISTED or _WIDE. */
static noinline int watches_begin_flagged(struct mlx5_ep_watch_space *space,
					  const struct mmu_notifier_range *range,
					  unsigned int flags)
{
	bool list = flags & INFLIGHT_LISTED;

	if (!list && tree_misses(space, inflight_index(range->start), range) &&
	    tree_misses(space, WATCH_TREE_WIDE, range))
		return 0;
	return watches_begin_locked(space, range, list);
}

/*
 * An invalidation begins in block @i, which has INFLIGHT_LOOK. Apart from its
 * caller, which saves no registers for memory that nobody watches.
 */
static noinline notrace int
watches_begin_look(struct mlx5_ep_watch_space *space,
		   const struct mmu_notifier_range *range, unsigned long i)
{
	unsigned int flags = inflight_flags(space->inflight.blocks + i);

	if (unlikely(!inflight_is_small(range->start, range->end)))
		return watches_begin_locked(space, range, true);
	/* To load the range again costs less than to keep it. */
	barrier();
	if (unlikely(flags & (INFLIGHT_LISTED | INFLIGHT_WIDE)))
		return watches_begin_flagged(space, range, flags);
	if (tree_misses(space, i, range))
		return 0;
	if (likely(range->event == MMU_NOTIFY_UNMAP))
		return mlx5_ep_watches_unmap(space, range);
	return watches_begin_locked(space, range, false);
}

/*
 * Each munmap() of the process comes here and to space_range_end(), so their
 * instructions are counted (Documentation/notifications-internals.md). The entry
 * for function tracing would be two of some 20: hence notrace.
 */
static notrace int space_range_start(struct mmu_notifier *mn,
				     const struct mmu_notifier_range *range)
{
	struct mlx5_ep_watch_space *space =
		container_of(mn, struct mlx5_ep_watch_space, mn);
	unsigned long i = inflight_index(range->start);

	if (unlikely(inflight_begin(&space->inflight, i)))
		return watches_begin_look(space, range, i);
	if (unlikely(!inflight_is_small(range->start, range->end)))
		return watches_begin_locked(space, range, true);
	return 0;
}

static noinline void
watches_end_locked(struct mlx5_ep_watch_space *space,
		   const struct mmu_notifier_range *range)
{
	bool wake;

	spin_lock(&space->lock);
	wake = mlx5_ep_inflight_end_listed(&space->inflight, range);
	spin_unlock(&space->lock);
	if (wake)
		wake_up_all(&space->ended);
}

static notrace void space_range_end(struct mmu_notifier *mn,
				    const struct mmu_notifier_range *range)
{
	struct mlx5_ep_watch_space *space =
		container_of(mn, struct mlx5_ep_watch_space, mn);
	bool wake;

	if (inflight_end(&space->inflight, range, &wake))
		watches_end_locked(space, range);
	else if (unlikely(wake))
		wake_up_all(&space->ended);
}

/*
 * The address space goes: from now on nobody finds a watch, or touches a tree. May
 * sleep.
 */
static void space_release(struct mmu_notifier *mn, struct mm_struct *mm)
{
	struct mlx5_ep_watch_space *space =
		container_of(mn, struct mlx5_ep_watch_space, mn);
	struct mlx5_ep_watches *ws;
	unsigned int i;

	spin_lock(&space->lock);
	space->mm_gone = true;
	for (i = 0; i < WATCH_TREES; i++)
		space->trees[i] = RB_ROOT_CACHED;
	while (!list_empty(&space->watches)) {
		ws = list_first_entry(&space->watches, struct mlx5_ep_watches,
				      node);
		list_move(&ws->node, &space->gone);
		WRITE_ONCE(ws->mm_gone, true);
		wake_up_interruptible_poll(ws->wait, EPOLLIN | EPOLLHUP);
		if (need_resched() || spin_is_contended(&space->lock)) {
			spin_unlock(&space->lock);
			cond_resched();
			spin_lock(&space->lock);
		}
	}
	spin_unlock(&space->lock);
}

/* Called with mmap_lock held for write. */
static struct mmu_notifier *space_alloc(struct mm_struct *mm)
{
	struct mlx5_ep_watch_space *space =
		kvzalloc(sizeof(*space), WATCH_GFP);
	unsigned int i;

	if (!space)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&space->lock);
	for (i = 0; i < WATCH_TREES; i++)
		space->starts[i] = ULONG_MAX;
	INIT_LIST_HEAD(&space->watches);
	INIT_LIST_HEAD(&space->gone);
	init_waitqueue_head(&space->ended);
	return &space->mn;
}

/* Called when no callback can run any more. */
static void space_free(struct mmu_notifier *mn)
{
	kvfree(container_of(mn, struct mlx5_ep_watch_space, mn));
}

static const struct mmu_notifier_ops space_mn_ops = {
	.invalidate_range_start = space_range_start,
	.invalidate_range_end = space_range_end,
	.release = space_release,
	.alloc_notifier = space_alloc,
	.free_notifier = space_free,
};

/**
 * mlx5_ep_watch_space_get() - the caller's address space
 *
 * The first call subscribes to it; then no invalidation is under way, as the
 * core locks out all who could begin one. Holds mm_count, never mm_users.
 * Sleeps.
 *
 * The core gives up for any signal, as it has to lock each mapping of the process. The
 * program did not ask for something that can be interrupted. So it is as with fork():
 * the signal is handled, and the system call is made again. It never ends if a signal
 * comes in each attempt.
 *
 * Return: the space, for mlx5_ep_watch_space_put(); -ENOMEM, -ERESTARTNOINTR
 */
struct mlx5_ep_watch_space *mlx5_ep_watch_space_get(void)
{
	struct mmu_notifier *mn =
		mmu_notifier_get(&space_mn_ops, current->mm);

	if (mn == ERR_PTR(-EINTR))
		return ERR_PTR(-ERESTARTNOINTR);
	if (IS_ERR(mn))
		return ERR_CAST(mn);
	return container_of(mn, struct mlx5_ep_watch_space, mn);
}

/**
 * mlx5_ep_watch_spaces_flush() - wait until all spaces that were put are freed
 *
 * For the end of the module. Sleeps.
 */
void mlx5_ep_watch_spaces_flush(void)
{
	mmu_notifier_synchronize();
}

static bool range_ended(struct mlx5_ep_watches *ws, unsigned long first,
			unsigned long last)
{
	bool ended;

	spin_lock(&ws->space->lock);
	ended = ws->dead || !watches_in_flight(ws, first, last);
	spin_unlock(&ws->space->lock);
	return ended;
}

/**
 * mlx5_ep_watches_wait_inflight() - wait until no invalidation of a range is
 *	under way
 * @ws: watches between mlx5_ep_watches_get() and _put(); the lock of their
 *	address space is not held
 * @first: first page number
 * @last: last page number
 *
 * Sleeps.
 *
 * Return: 0; -EINTR: a fatal signal
 */
int mlx5_ep_watches_wait_inflight(struct mlx5_ep_watches *ws,
				  unsigned long first, unsigned long last)
{
	struct mlx5_ep_watch_space *space = ws->space;
	int ret;

	if (range_ended(ws, first, last))
		return 0;
	spin_lock(&space->lock);
	mlx5_ep_inflight_wait_begin(&space->inflight);
	spin_unlock(&space->lock);
	ret = wait_event_killable(space->ended, range_ended(ws, first, last));
	spin_lock(&space->lock);
	mlx5_ep_inflight_wait_end(&space->inflight);
	spin_unlock(&space->lock);
	return ret ? -EINTR : 0;
}
