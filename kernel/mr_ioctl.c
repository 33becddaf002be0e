// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ioctls for watches: batches of entries in the caller's memory.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/mlx5_ep_notifier.h>

#include "mr_watch.h"

/* Entries of a batch that fit on the stack. */
#define BATCH_STACK_ENTRIES 8

static int watch_ioctl_add(struct mlx5_ep_watches *ws,
			   struct mlx5_ep_watch_add *adds, u32 count,
			   void __user *to)
{
	u32 i;
	int ret;

	ret = mlx5_ep_watches_add(ws, adds, count);
	if (ret || !copy_to_user(to, adds, count * sizeof(*adds)))
		return ret;

	for (i = 0; i < count; i++) {
		struct mlx5_ep_watch_ref ref = {
			.word = adds[i].word,
			.slot = adds[i].slot,
		};

		mlx5_ep_watches_del(ws, &ref, 1);
	}
	return -EFAULT;
}

static int watch_ioctl_refs(struct mlx5_ep_watches *ws, unsigned int cmd,
			    struct mlx5_ep_watch_ref *refs, u32 count,
			    u32 flags, void __user *to)
{
	int ret = 0;
	u32 i;

	if (cmd == MLX5_EP_IOC_WATCH_DEL)
		ret = mlx5_ep_watches_del(ws, refs, count);
	for (i = 0; cmd == MLX5_EP_IOC_WATCH_VERIFY && !ret && i < count; i++)
		ret = mlx5_ep_watches_verify(ws, &refs[i],
					     flags &
					     MLX5_EP_WATCH_VERIFY_RECORD);
	if (ret && ret != -ENOENT)
		return ret;
	if (copy_to_user(to, refs, count * sizeof(*refs)))
		return -EFAULT;
	return ret;
}

/**
 * mlx5_ep_watches_ioctl - add, delete or verify a batch of watches
 * @ws: the watches
 * @cmd: MLX5_EP_IOC_WATCH_ADD and so on
 * @arg: struct mlx5_ep_watch_batch
 *
 * Sleeps.
 *
 * Return: 0, or an errno as uapi/rdma/mlx5_ep_notifier.h says.
 */
long mlx5_ep_watches_ioctl(struct mlx5_ep_watches *ws, unsigned int cmd,
			   void __user *arg)
{
	union {
		struct mlx5_ep_watch_add adds[BATCH_STACK_ENTRIES];
		struct mlx5_ep_watch_ref refs[BATCH_STACK_ENTRIES];
	} stack;
	struct mlx5_ep_watch_batch batch;
	void *entries = &stack;
	void __user *user;
	size_t size;
	int ret;

	if (cmd != MLX5_EP_IOC_WATCH_ADD && cmd != MLX5_EP_IOC_WATCH_DEL &&
	    cmd != MLX5_EP_IOC_WATCH_VERIFY)
		return -ENOTTY;
	if (copy_from_user(&batch, arg, sizeof(batch)))
		return -EFAULT;
	if (!batch.count || batch.count > MLX5_EP_WATCH_MAX_BATCH ||
	    batch.flags & ~(cmd == MLX5_EP_IOC_WATCH_VERIFY ?
			    MLX5_EP_WATCH_VERIFY_RECORD : 0))
		return -EINVAL;

	user = u64_to_user_ptr(batch.entries);
	size = batch.count * (cmd == MLX5_EP_IOC_WATCH_ADD ?
			      sizeof(stack.adds[0]) : sizeof(stack.refs[0]));
	if (batch.count > BATCH_STACK_ENTRIES) {
		entries = kvmalloc(size, GFP_KERNEL);
		if (!entries)
			return -ENOMEM;
	}

	ret = -EFAULT;
	if (copy_from_user(entries, user, size))
		goto out;
	if (cmd == MLX5_EP_IOC_WATCH_ADD)
		ret = watch_ioctl_add(ws, entries, batch.count, user);
	else
		ret = watch_ioctl_refs(ws, cmd, entries, batch.count,
				       batch.flags, user);
out:
	if (entries != &stack)
		kvfree(entries);
	return ret;
}

