// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A notifier: the event channel of a process, which is a file (notifier_file.c). It is an
 * object of a device (notifier_object.c), or comes from /dev/mlx5_ep (notifier_dev.c).
 *
 * Its watches (watch.c) and the sources that other objects embed
 * (notifier_source.c) have events for it. Events coalesce in what they are
 * about, so memory is bounded by the number of watches and registrations, and no
 * event is lost because there is no room.
 *
 * Lifetime: the file holds what the notifier is part of; sources hold that too. The end of
 * the object (close, device removal) or of the file ends everything but that memory.
 *
 * @source_lock is taken by event handlers with interrupts off. It is never held
 * together with the lock of an address space (space.h). The lock of the list that has the
 * notifier is taken before either.
 */
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <rdma/mlx5_ep_notifier.h>

#include "account/limit.h"
#include "account/user.h"
#include "watch/notifier_priv.h"

/*
 * Whatever the parameter says: numbers of slots are of 32 bits, with room for a chunk.
 * This is 2^28.
 */
#define NOTIFIER_MOST_WATCHES 0x10000000U

#define NOTIFIER_DEFAULT_WATCHES 65536

static unsigned int notifier_max_watches = 1 << 20;
module_param(notifier_max_watches, uint, 0644);
MODULE_PARM_DESC(notifier_max_watches,
	"Watches that one notifier may have, at most 268435456 (default 1048576)");

static unsigned int notifiers_per_user = 16384;
module_param(notifiers_per_user, uint, 0644);
MODULE_PARM_DESC(notifiers_per_user,
	"notifiers that a user may have on a device, and as many of /dev/mlx5_ep; more are refused with EDQUOT (default 16384)");

static u32 notifier_most_watches(void)
{
	return min(READ_ONCE(notifier_max_watches), NOTIFIER_MOST_WATCHES);
}

/* Counts the notifier for its user, and begins to follow the caller's address space. */
static int notifier_charge(struct mlx5_ep_notifier *notifier,
			   struct mlx5_ep_device *edev,
			   struct mlx5_ep_account *user, u32 capacity)
{
	int ret;

	ret = mlx5_ep_user_charge(edev, user, MLX5_EP_NOTIFIERS, 1,
				  READ_ONCE(notifiers_per_user));
	if (ret)
		return ret;
	ret = mlx5_ep_watches_init(&notifier->watches, capacity,
				   &notifier->wait);
	if (ret)
		mlx5_ep_account_uncharge(user, MLX5_EP_NOTIFIERS, 1);
	return ret;
}

/**
 * mlx5_ep_notifier_begin() - begin a notifier of the caller's address space
 * @notifier: all bytes are zero
 * @edev: the device; NULL: none
 * @user: for whom it counts, until mlx5_ep_notifier_end(); may be NULL
 * @capacity: watches at most; 0: as many as is usual
 *
 * Nobody lists the notifier yet. Sleeps.
 *
 * Return: 0; -EDQUOT: a limit refuses; -ENOMEM; -ERESTARTNOINTR
 */
int mlx5_ep_notifier_begin(struct mlx5_ep_notifier *notifier,
			   struct mlx5_ep_device *edev,
			   struct mlx5_ep_account *user, u32 capacity)
{
	struct mlx5_ep_refusal refusal = {
		.what = "watches of a notifier",
		.refused = capacity,
		.reason = MLX5_EP_REASON_WATCHES,
		.limit = notifier_most_watches(),
	};
	int ret;

	if (capacity > refusal.limit)
		return mlx5_ep_limit_refuse_process(edev, &refusal);
	if (!capacity)
		capacity = min(NOTIFIER_DEFAULT_WATCHES, refusal.limit);
	if (!capacity)
		return -EINVAL;
	init_waitqueue_head(&notifier->wait);
	spin_lock_init(&notifier->source_lock);
	INIT_LIST_HEAD(&notifier->sources);
	ret = notifier_charge(notifier, edev, user, capacity);
	if (ret)
		return ret;
	notifier->user = user;
	notifier->header = notifier->watches.header;
	notifier->tgid = get_pid(task_tgid(current));
	get_task_comm(notifier->comm, current->group_leader);
	return 0;
}

/**
 * mlx5_ep_notifier_end() - end a notifier; its memory stays
 * @notifier: one that begun, and that nobody lists any more
 * @removed: because its device is gone
 *
 * Sleeps.
 */
void mlx5_ep_notifier_end(struct mlx5_ep_notifier *notifier, bool removed)
{
	put_pid(notifier->tgid);
	spin_lock_irq(&notifier->source_lock);
	notifier->removed = removed;
	notifier->header = NULL;
	WRITE_ONCE(notifier->source_pending, 0);
	/* There may be very many sources: each leaves the list when it ends. */
	WRITE_ONCE(notifier->dead, true);
	spin_unlock_irq(&notifier->source_lock);

	mlx5_ep_watches_fini(&notifier->watches);
	mlx5_ep_account_uncharge(notifier->user, MLX5_EP_NOTIFIERS, 1);
	wake_up_interruptible_poll(&notifier->wait,
				   EPOLLIN | EPOLLERR | EPOLLHUP);
}

/**
 * mlx5_ep_notifier_list() - print notifiers
 * @notifiers: list of struct mlx5_ep_notifier.node, whose lock is held
 * @seq: a file of debugfs, one line per notifier
 */
void mlx5_ep_notifier_list(struct list_head *notifiers, struct seq_file *seq)
{
	struct mlx5_ep_watches_stats stats;
	struct mlx5_ep_notifier *notifier;
	u64 total, pending;

	seq_puts(seq, "pid watches capacity bytes events unread xrc_events xrc_unread comm\n");
	list_for_each_entry(notifier, notifiers, node) {
		mlx5_ep_watch_slots_get_stats(&notifier->watches, &stats);
		spin_lock_irq(&notifier->source_lock);
		total = notifier->source_total;
		pending = notifier->source_pending;
		spin_unlock_irq(&notifier->source_lock);
		seq_printf(seq, "%d %u %u %llu %llu %llu %llu %llu ",
			   pid_nr(notifier->tgid), stats.live, stats.capacity,
			   stats.bytes, stats.total, stats.pending, total,
			   pending);
		seq_escape(seq, notifier->comm, "\n\\");
		seq_putc(seq, '\n');
	}
}
