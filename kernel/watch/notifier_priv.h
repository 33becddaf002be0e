/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The event channel as the files notifier*.c know it. */
#ifndef MLX5_EP_NOTIFIER_PRIV_H
#define MLX5_EP_NOTIFIER_PRIV_H

#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/uverbs_ioctl.h>

#include "watch/notifier.h"
#include "watch/watch.h"

struct mlx5_ep_account;
struct mlx5_ep_device;
struct pid;
struct seq_file;

/**
 * struct mlx5_ep_notifier - the channel
 * @user: for whom it counts, may be NULL; until it ends
 * @node: in the list of notifiers of the device, or of those without one, until it ends
 * @tgid: thread group of the creator, held until the notifier ends; compared only after that
 * @comm: name of the creator
 * @watches: watched ranges
 * @wait: readers and pollers
 * @source_lock: protects what follows
 * @dead: ended; no event comes any more
 * @removed: ended because the device is gone
 * @told: a reader has had the last event of the channel
 * @sources: struct mlx5_ep_notifier_source that have an unread event; once @dead, those
 *	that had one
 * @source_total: events posted by sources, ever
 * @source_pending: length of @sources; 0 once @dead
 * @header: of the mapped area, NULL once @dead
 *
 * Part of the object of a device (struct notifier_object) or of a file that belongs to
 * no device (notifier_dev.c).
 */
struct mlx5_ep_notifier {
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

/**
 * struct notifier_object - a notifier of a device
 * @uobj: must be first
 * @notifier: its watches, its sources, and who waits for them
 * @edev: the device, until the notifier ends
 * @uverbs: ib_uverbs, which the object holds until its file ends; NULL: it does not
 */
struct notifier_object {
	struct ib_uobject uobj;
	struct mlx5_ep_notifier notifier;
	struct mlx5_ep_device *edev;
	struct module *uverbs;
};

static inline struct notifier_object *notifier_object_of(struct ib_uobject *uobj)
{
	return container_of(uobj, struct notifier_object, uobj);
}

/* notifier.c */
int mlx5_ep_notifier_begin(struct mlx5_ep_notifier *notifier,
			   struct mlx5_ep_device *edev,
			   struct mlx5_ep_account *user, u32 capacity);
void mlx5_ep_notifier_end(struct mlx5_ep_notifier *notifier, bool removed);
void mlx5_ep_notifier_list(struct list_head *notifiers, struct seq_file *seq);

/* notifier_source.c */
unsigned int mlx5_ep_notifier_take_sources(struct mlx5_ep_notifier *notifier,
					   struct mlx5_ep_event *events,
					   unsigned int count);

/* notifier_file.c */
ssize_t mlx5_ep_notifier_read(struct file *filp, char __user *buf, size_t size,
			      loff_t *pos);
__poll_t mlx5_ep_notifier_poll(struct file *filp,
			       struct poll_table_struct *wait);
int mlx5_ep_notifier_mmap(struct file *filp, struct vm_area_struct *vma);
long mlx5_ep_notifier_ioctl(struct file *filp, unsigned int cmd,
			    unsigned long arg);

/* What the files of both kinds of notifiers can do. */
#define NOTIFIER_FILE_OPERATIONS			\
	.owner = THIS_MODULE,				\
	.read = mlx5_ep_notifier_read,			\
	.poll = mlx5_ep_notifier_poll,			\
	.mmap = mlx5_ep_notifier_mmap,			\
	.unlocked_ioctl = mlx5_ep_notifier_ioctl,	\
	.compat_ioctl = compat_ptr_ioctl,		\
	.llseek = noop_llseek

#endif /* MLX5_EP_NOTIFIER_PRIV_H */
