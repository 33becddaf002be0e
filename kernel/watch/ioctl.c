// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ioctls for watches: batches of entries in the caller's memory.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <rdma/mlx5_ep_notifier.h>

#include "compat/compat.h"
#include "watch/watch.h"

static_assert(sizeof(struct mlx5_ep_watch_add) == 40);
static_assert(sizeof(struct mlx5_ep_watch_ref) == 16);
static_assert(sizeof(struct mlx5_ep_watch_batch) == 24);

/*
 * A batch is worked on in pieces of WATCH_PIECE entries, which are copied to the
 * stack: to allocate memory for a whole batch costs 80 instructions for each watch, as
 * the kernel clears it. Returns the entries of the next piece, after others could
 * run.
 */
static u32 ioctl_next_piece(u32 count, u32 done)
{
	if (done)
		cond_resched();
	return min(count - done, WATCH_PIECE);
}

/*
 * Each field is copied by itself, and only in the direction that it goes:
 * copy_from_user() of a few bytes takes longer than adding a watch.
 */
static int ioctl_batch_get(struct mlx5_ep_watch_batch *batch,
			   const struct mlx5_ep_watch_batch __user *from)
{
	int ret = -EFAULT;

	if (!user_access_begin(from, sizeof(*from)))
		return ret;
	unsafe_get_user(batch->entries, &from->entries, end);
	unsafe_get_user(batch->count, &from->count, end);
	unsafe_get_user(batch->flags, &from->flags, end);
	unsafe_get_user(batch->entry_size, &from->entry_size, end);
	unsafe_get_user(batch->reserved, &from->reserved, end);
	ret = 0;

end:
	user_access_end();
	return ret;
}

static int ioctl_adds_get(struct mlx5_ep_watch_add *adds, u32 count, u32 size,
			  const struct mlx5_ep_watch_add __user *from)
{
	int ret = -EFAULT;

	if (!user_access_begin(from, count * size))
		return ret;
	for (; count--; adds++, from = (const void __user *)from + size) {
		unsafe_get_user(adds->addr, &from->addr, end);
		unsafe_get_user(adds->length, &from->length, end);
		unsafe_get_user(adds->cookie, &from->cookie, end);
		unsafe_get_user(adds->flags, &from->flags, end);
	}
	ret = 0;

end:
	user_access_end();
	return ret;
}

static int ioctl_adds_put(const struct mlx5_ep_watch_add *adds, u32 count,
			  u32 size, struct mlx5_ep_watch_add __user *to)
{
	int ret = -EFAULT;

	if (!user_access_begin(to, count * size))
		return ret;
	for (; count--; adds++, to = (void __user *)to + size) {
		unsafe_put_user(adds->word, &to->word, end);
		unsafe_put_user(adds->slot, &to->slot, end);
	}
	ret = 0;

end:
	user_access_end();
	return ret;
}

static int ioctl_refs_get(struct mlx5_ep_watch_ref *refs, u32 count, u32 size,
			  const struct mlx5_ep_watch_ref __user *from)
{
	int ret = -EFAULT;

	if (!user_access_begin(from, count * size))
		return ret;
	for (; count--; refs++, from = (const void __user *)from + size) {
		unsafe_get_user(refs->word, &from->word, end);
		unsafe_get_user(refs->slot, &from->slot, end);
	}
	ret = 0;

end:
	user_access_end();
	return ret;
}

static int ioctl_refs_put(const struct mlx5_ep_watch_ref *refs, u32 count,
			  u32 size, struct mlx5_ep_watch_ref __user *to)
{
	int ret = -EFAULT;

	if (!user_access_begin(to, count * size))
		return ret;
	for (; count--; refs++, to = (void __user *)to + size)
		unsafe_put_user(refs->result, &to->result, end);
	ret = 0;

end:
	user_access_end();
	return ret;
}

static void __user *ioctl_batch_entry(const struct mlx5_ep_watch_batch *batch,
				      u32 i)
{
	return u64_to_user_ptr(batch->entries + (u64)i * batch->entry_size);
}

/*
 * Deletes the first watches of a batch. Their entries have been written. Where one
 * cannot be read any more, it ends, and the watches of that piece and of later ones
 * stay.
 */
static void ioctl_adds_undo(struct mlx5_ep_watches *ws, u32 count,
			    const struct mlx5_ep_watch_batch *batch)
{
	struct mlx5_ep_watch_add adds[WATCH_PIECE] __uninitialized;
	u32 done, n, i;

	for (done = 0; done < count; done += n) {
		n = ioctl_next_piece(count, done);
		for (i = 0; i < n; i++) {
			struct mlx5_ep_watch_add __user *add =
				ioctl_batch_entry(batch, done + i);

			if (get_user(adds[i].word, &add->word) ||
			    get_user(adds[i].slot, &add->slot))
				return;
		}
		mlx5_ep_watches_undo_add(ws, adds, n);
	}
}

static int ioctl_adds_piece(struct mlx5_ep_watches *ws, u32 count, u32 size,
			    void __user *user)
{
	struct mlx5_ep_watch_add adds[WATCH_PIECE] __uninitialized;
	int ret;

	ret = ioctl_adds_get(adds, count, size, user);
	if (ret)
		return ret;
	ret = mlx5_ep_watches_add(ws, adds, count);
	if (ret || !ioctl_adds_put(adds, count, size, user))
		return ret;
	mlx5_ep_watches_undo_add(ws, adds, count);
	return -EFAULT;
}

/*
 * Adds all or none. A thread of the caller that changes the entries meanwhile can
 * prevent that the first ones are deleted again, which is its own loss.
 */
static int ioctl_add(struct mlx5_ep_watches *ws,
		     const struct mlx5_ep_watch_batch *batch)
{
	u32 done, n;
	int ret;

	for (done = 0; done < batch->count; done += n) {
		n = ioctl_next_piece(batch->count, done);
		ret = ioctl_adds_piece(ws, n, batch->entry_size,
				       ioctl_batch_entry(batch, done));
		if (unlikely(ret)) {
			ioctl_adds_undo(ws, done, batch);
			return ret;
		}
	}
	return 0;
}

/* Returns 0; -ENOENT: at least one was not found; another errno. */
static int ioctl_refs_piece(struct mlx5_ep_watches *ws, unsigned int cmd,
			    u32 count, bool record, u32 size, void __user *user)
{
	struct mlx5_ep_watch_ref refs[WATCH_PIECE] __uninitialized;
	int ret;
	u32 i;

	ret = ioctl_refs_get(refs, count, size, user);
	if (ret)
		return ret;
	if (cmd == MLX5_EP_IOC_WATCH_DEL)
		ret = mlx5_ep_watches_del(ws, refs, count);
	for (i = 0; cmd == MLX5_EP_IOC_WATCH_VERIFY && !ret && i < count; i++)
		ret = mlx5_ep_watch_verify(ws, &refs[i], record);
	if (ret && ret != -ENOENT)
		return ret;
	return ioctl_refs_put(refs, count, size, user) ?: ret;
}

static int ioctl_refs(struct mlx5_ep_watches *ws, unsigned int cmd,
		      const struct mlx5_ep_watch_batch *batch)
{
	bool record = batch->flags & MLX5_EP_WATCH_VERIFY_RECORD;
	int ret = 0, err;
	u32 done, n;

	for (done = 0; done < batch->count; done += n) {
		n = ioctl_next_piece(batch->count, done);
		err = ioctl_refs_piece(ws, cmd, n, record, batch->entry_size,
				       ioctl_batch_entry(batch, done));
		if (err)
			ret = err;
		if (err && err != -ENOENT)
			break;
	}
	return ret;
}

/* What a newer program has in an entry, and this module does not know, is 0. */
static int ioctl_entries_check(const struct mlx5_ep_watch_batch *batch,
			       size_t known)
{
	u8 __user *rest = u64_to_user_ptr(batch->entries + known);
	u32 done, n, i;
	int ret;

	if (batch->entry_size < known || batch->entry_size % 8 ||
	    batch->entry_size > MLX5_EP_WATCH_MAX_ENTRY)
		return -EINVAL;
	for (done = 0; done < batch->count; done += n) {
		n = ioctl_next_piece(batch->count, done);
		for (i = 0; i < n; i++, rest += batch->entry_size) {
			ret = check_zeroed_user(rest,
						batch->entry_size - known);
			if (ret <= 0)
				return ret ?: -EOPNOTSUPP;
		}
	}
	return 0;
}

/* Handles a batch whose header has been checked. */
static int ioctl_batch(struct mlx5_ep_watches *ws, unsigned int cmd,
		       const struct mlx5_ep_watch_batch *batch)
{
	size_t size = cmd == MLX5_EP_IOC_WATCH_ADD ?
			      sizeof(struct mlx5_ep_watch_add) :
			      sizeof(struct mlx5_ep_watch_ref);
	int ret;

	if (batch->entry_size != size) {
		ret = ioctl_entries_check(batch, size);
		if (ret)
			return ret;
	}
	return cmd == MLX5_EP_IOC_WATCH_ADD ? ioctl_add(ws, batch) :
					      ioctl_refs(ws, cmd, batch);
}

/**
 * mlx5_ep_watch_ioctl() - add, delete or verify a batch of watches
 * @ws: watches of the file on which ioctl() is called; no lock is held
 * @cmd: MLX5_EP_IOC_WATCH_ADD and so on
 * @arg: struct mlx5_ep_watch_batch
 *
 * Sleeps.
 *
 * Return: 0, or an errno as uapi/rdma/mlx5_ep_notifier.h says
 */
long mlx5_ep_watch_ioctl(struct mlx5_ep_watches *ws, unsigned int cmd,
			 void __user *arg)
{
	struct mlx5_ep_watch_batch batch __uninitialized;
	int ret;

	if (cmd != MLX5_EP_IOC_WATCH_ADD && cmd != MLX5_EP_IOC_WATCH_DEL &&
	    cmd != MLX5_EP_IOC_WATCH_VERIFY)
		return -ENOTTY;
	ret = ioctl_batch_get(&batch, arg);
	if (ret)
		return ret;
	if (!batch.count || batch.count > MLX5_EP_WATCH_MAX_BATCH ||
	    batch.reserved ||
	    batch.flags & ~(cmd == MLX5_EP_IOC_WATCH_VERIFY ?
			    MLX5_EP_WATCH_VERIFY_RECORD : 0))
		return -EINVAL;
	ret = mlx5_ep_watch_slots_get(ws);
	if (ret)
		return ret;
	ret = ioctl_batch(ws, cmd, &batch);
	mlx5_ep_watch_slots_put(ws);
	return ret;
}
