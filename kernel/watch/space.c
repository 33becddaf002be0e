// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The address space of a process, and its subscription to invalidations.
 *
 * All notifiers of a process share one subscription, so a munmap() costs the
 * same with one notifier and with a thousand. mmu_notifier_get() counts them.
 * mmu_notifier_put() waits for no grace period: it frees the space after one,
 * and callbacks may run until then. A callback uses a notifier's watches only
 * under the lock, where it finds them in the tree, and does not use them after.
 */
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "watch/invalidate.h"
#include "watch/slots.h"

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
	.invalidate_range_start = mlx5_ep_watch_invalidate_begin,
	.invalidate_range_end = mlx5_ep_watch_invalidate_end,
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
