/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The event channel as the files notifier*.c know it. */
#ifndef MLX5_EP_NOTIFIER_PRIV_H
#define MLX5_EP_NOTIFIER_PRIV_H

#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/uverbs_ioctl.h>

#include "watch/notifier.h"
#include "watch/watch.h"

struct mlx5_ep_account;

/**
 * struct mlx5_ep_notifier - the channel
 * @uobj: the file's object; must be first
 * @user: for whom it counts, may be NULL; until destroyed
 * @node: in the device's list, until destroyed
 * @tgid: thread group of the creator, until destroyed
 * @comm: name of the creator
 * @watches: watched ranges
 * @wait: readers and pollers
 * @source_lock: protects what follows
 * @dead: destroyed; no event comes any more
 * @removed: destroyed because the device is gone
 * @told: a reader has had the last event of the channel
 * @sources: struct mlx5_ep_notifier_source that have an unread event; once @dead, those
 *	that had one
 * @source_total: events posted by sources, ever
 * @source_pending: length of @sources; 0 once @dead
 * @header: of the mapped area, NULL once @dead
 */
struct mlx5_ep_notifier {
	struct ib_uobject uobj;
	struct mlx5_ep_device *edev;
	struct mlx5_ep_account *user;
	struct list_head node;
	struct pid *tgid;
	char comm[TASK_COMM_LEN];
	struct mlx5_ep_watches watches;
	wait_queue_head_t wait;
	spinlock_t source_lock;
	bool dead;
	bool removed;
	bool told;
	struct list_head sources;
	u64 source_total;
	u64 source_pending;
	struct mlx5_ep_notifier_page *header;
};

static inline struct mlx5_ep_notifier *notifier_of(struct ib_uobject *uobj)
{
	return container_of(uobj, struct mlx5_ep_notifier, uobj);
}

/* notifier_source.c */
unsigned int mlx5_ep_notifier_take_sources(struct mlx5_ep_notifier *notifier,
					   struct mlx5_ep_event *events,
					   unsigned int count);

/* notifier_file.c */
extern const struct file_operations mlx5_ep_notifier_fops;

#endif /* MLX5_EP_NOTIFIER_PRIV_H */
