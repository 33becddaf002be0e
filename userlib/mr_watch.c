// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watches, and registrations with a watch: one ioctl per call. A child that shares the
 * memory of the process may verify, which changes a word to what is true. The module refuses
 * it the calls that add and delete: to ask for the process id here would be a system call.
 */
#include <stdlib.h>
#include <sys/ioctl.h>

#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include <mlx5ep/mr_watch.h>

#include "internal.h"
#include "notifier.h"

/* A retry is needed only if another thread changed the range meanwhile. */
#define REG_TRIES 100

static int watch_ioctl(const struct mlx5ep_notifier *notifier,
		       unsigned long request, void *entries, size_t size,
		       unsigned int count, uint32_t flags)
{
	struct mlx5_ep_watch_batch batch = {
		.entries = (uintptr_t)entries,
		.count = count,
		.flags = flags,
		.entry_size = size,
	};

	return ioctl(notifier->fd, request, &batch) ? -errno : 0;
}

MLX5EP_EXPORT int _mlx5ep_watch_add_batch(struct mlx5ep_notifier *notifier,
					  struct mlx5_ep_watch_add *ranges,
					  size_t size,
					  struct mlx5ep_watch *watches,
					  unsigned int count)
{
	const struct mlx5_ep_watch_add *range = ranges;
	unsigned int i;
	int ret;

	if (!notifier_usable(notifier))
		return -EXDEV;
	ret = watch_ioctl(notifier, MLX5_EP_IOC_WATCH_ADD, ranges, size, count,
			  0);
	if (ret)
		return ret;
	for (i = 0; i < count; i++) {
		watches[i] = (struct mlx5ep_watch) {
			.word = &notifier->words[range->slot],
			.armed = range->word,
			.notifier = notifier,
			.slot = range->slot,
		};
		range = (const void *)((const char *)range + size);
	}
	return 0;
}

MLX5EP_EXPORT int mlx5ep_watch_add(struct mlx5ep_notifier *notifier,
				   const void *addr, size_t length,
				   uint64_t cookie, struct mlx5ep_watch *watch)
{
	struct mlx5_ep_watch_add range = {
		.addr = (uintptr_t)addr,
		.length = length,
		.cookie = cookie,
	};

	return mlx5ep_watch_add_batch(notifier, &range, watch, 1);
}

MLX5EP_EXPORT int mlx5ep_watch_dmabuf(struct mlx5ep_notifier *notifier, int fd,
				      uint64_t offset, size_t length,
				      uint64_t cookie,
				      struct mlx5ep_watch *watch)
{
	struct mlx5_ep_watch_dmabuf req = {
		.offset = offset,
		.length = length,
		.cookie = cookie,
		.fd = fd,
	};
	struct mlx5_ep_watch_dmabuf_resp resp;
	struct mlx5ep_cmd cmd;
	int object, ret;

	ret = mlx5ep_process_may_change(notifier->memory);
	if (ret)
		return ret;
	if (!notifier->context)
		return -EOPNOTSUPP;
	object = mlx5ep_uverbs_id(notifier->context, "object notifier");
	mlx5ep_cmd_init(&cmd, object, MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF);
	mlx5ep_cmd_fd(&cmd, MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_HANDLE,
		      notifier->fd);
	mlx5ep_cmd_in(&cmd, MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_REQ, &req,
		      sizeof(req));
	mlx5ep_cmd_out(&cmd, MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_RESP, &resp,
		       sizeof(resp));
	ret = mlx5ep_cmd_exec(notifier->context, &cmd);
	if (ret)
		return ret;
	*watch = (struct mlx5ep_watch) {
		.word = &notifier->words[resp.slot],
		.armed = resp.word,
		.notifier = notifier,
		.slot = resp.slot,
	};
	return 0;
}

static int watch_ref(struct mlx5ep_watch *watch, unsigned long request,
		     uint32_t flags)
{
	struct mlx5_ep_watch_ref ref = {
		.word = watch->armed,
		.slot = watch->slot,
	};
	int ret;

	ret = watch_ioctl(watch->notifier, request, &ref, sizeof(ref), 1,
			  flags);
	return ret ? ret : ref.result;
}

MLX5EP_EXPORT int mlx5ep_watch_del(struct mlx5ep_watch *watch)
{
	if (!notifier_usable(watch->notifier))
		return -EXDEV;
	return watch_ref(watch, MLX5_EP_IOC_WATCH_DEL, 0);
}

MLX5EP_EXPORT int mlx5ep_watch_del_batch(struct mlx5ep_watch *watches,
					 unsigned int count)
{
	struct mlx5_ep_watch_ref *refs;
	unsigned int i;
	int ret;

	if (!count)
		return -EINVAL;
	if (!notifier_usable(watches->notifier))
		return -EXDEV;
	refs = calloc(count, sizeof(*refs));
	if (!refs)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		refs[i].word = watches[i].armed;
		refs[i].slot = watches[i].slot;
	}
	ret = watch_ioctl(watches->notifier, MLX5_EP_IOC_WATCH_DEL, refs,
			  sizeof(*refs), count, 0);
	free(refs);
	return ret;
}

MLX5EP_EXPORT int mlx5ep_watch_record(struct mlx5ep_watch *watch)
{
	int ret = mlx5ep_process_may_change(watch->notifier->memory);

	if (!ret)
		ret = watch_ref(watch, MLX5_EP_IOC_WATCH_VERIFY,
				MLX5_EP_WATCH_VERIFY_RECORD);
	if (ret < 0)
		return ret;
	return ret == MLX5_EP_WATCH_STATE_ARMED ? 0 : -EAGAIN;
}

MLX5EP_EXPORT int mlx5ep_watch_verify(struct mlx5ep_watch *watch)
{
	int ret;

	if (!notifier_usable(watch->notifier))
		return -EXDEV;
	ret = watch_ref(watch, MLX5_EP_IOC_WATCH_VERIFY, 0);
	switch (ret) {
	case MLX5_EP_WATCH_STATE_ARMED:
		return 0;
	case MLX5_EP_WATCH_STATE_STALE:
		return -ESTALE;
	case MLX5_EP_WATCH_STATE_SUSPECT:
		return -EAGAIN;
	default:
		return ret;
	}
}

/**
 * mlx5ep_watch_verify_refs() - verify several watches with one call
 * @refs: word and slot of each; receives the state, or a negative errno
 * @count: length of @refs, 1 to %MLX5_EP_WATCH_MAX_BATCH
 *
 * Return: 0 or -errno.
 */
int mlx5ep_watch_verify_refs(const struct mlx5ep_notifier *notifier,
			     struct mlx5_ep_watch_ref *refs,
			     unsigned int count)
{
	return watch_ioctl(notifier, MLX5_EP_IOC_WATCH_VERIFY, refs,
			   sizeof(*refs), count, 0);
}

static int reg_drop(struct mlx5ep_mr *mr)
{
	int ret = ibv_dereg_mr(mr->mr);

	if (ret)
		return -ret;
	/* This fails only if the watch is gone already, with its notifier. */
	mlx5ep_watch_del(&mr->watch);
	return 0;
}

MLX5EP_EXPORT int mlx5ep_dereg_mr(struct mlx5ep_mr *mr)
{
	int ret = mlx5ep_process_may_change(mr->watch.notifier->memory);

	if (!ret)
		ret = reg_drop(mr);
	if (!ret)
		notifier_put(mr->watch.notifier);
	return ret;
}

MLX5EP_EXPORT int mlx5ep_mr_check(struct mlx5ep_mr *mr)
{
	if (!notifier_usable(mr->watch.notifier))
		return -EXDEV;
	return mlx5ep_mr_valid(mr) ? 0 : mlx5ep_watch_verify(&mr->watch);
}

/* Gives a registration back that nobody has seen. What fails is tried again. */
static int reg_undo(struct mlx5ep_mr *mr)
{
	int i, ret = -EAGAIN;

	for (i = 0; i < REG_TRIES && ret; i++)
		ret = reg_drop(mr);
	return ret;
}

/*
 * Ends an attempt, whose watch was armed before the memory was registered. Returns 0;
 * -EAGAIN: the memory changed in between. A registration that cannot be given back
 * becomes the caller's, who finds its word stale and deregisters it like any other.
 *
 * If the kernel cannot look at the memory, as at that of a GPU, other memory may come to
 * the address without an event. Then the watch is deleted, and the registration is never
 * valid. One on demand has the right memory all the time.
 */
static int reg_end(struct mlx5ep_mr *try, int access, struct mlx5ep_mr *mr)
{
	int ret;

	if (!try->mr) {
		ret = -errno;
		mlx5ep_watch_del(&try->watch);
		return ret;
	}
	ret = mlx5ep_watch_record(&try->watch);
	if (ret == -EFAULT) {
		if (!(access & IBV_ACCESS_ON_DEMAND))
			mlx5ep_watch_del(&try->watch);
	} else if (ret && !reg_undo(try)) {
		return ret;
	}
	/* mlx5ep_dereg_mr() may come after mlx5ep_notifier_destroy(). */
	notifier_get(try->watch.notifier);
	*mr = *try;
	return 0;
}

/*
 * The watch is armed before ibv_reg_mr() pins the pages. If its word is
 * unchanged after that, the pinned pages are the mapped ones.
 * mlx5ep_watch_record() takes the fingerprint and then looks at the word, so
 * the fingerprint is of these pages too.
 */
MLX5EP_EXPORT int mlx5ep_reg_mr_iova(struct mlx5ep_notifier *notifier,
				     struct ibv_pd *pd, void *addr,
				     size_t length, uint64_t iova, int access,
				     uint64_t cookie, struct mlx5ep_mr *mr)
{
	struct mlx5ep_mr try = {};
	int i, ret = -EAGAIN;

	for (i = 0; i < REG_TRIES && ret == -EAGAIN; i++) {
		ret = mlx5ep_watch_add(notifier, addr, length, cookie,
				       &try.watch);
		if (ret)
			return ret;
		try.mr = ibv_reg_mr_iova2(pd, addr, length, iova, access);
		ret = reg_end(&try, access, mr);
	}
	return ret;
}

/* To register can move the memory: then the second attempt finds it where it is. */
MLX5EP_EXPORT int mlx5ep_reg_dmabuf_mr(struct mlx5ep_notifier *notifier,
				       struct ibv_pd *pd, int fd,
				       uint64_t offset, size_t length,
				       uint64_t iova, int access,
				       uint64_t cookie, struct mlx5ep_mr *mr)
{
	struct mlx5ep_mr try = {};
	int i, ret = -EAGAIN;

	for (i = 0; i < REG_TRIES && ret == -EAGAIN; i++) {
		ret = mlx5ep_watch_dmabuf(notifier, fd, offset, length, cookie,
					  &try.watch);
		if (ret)
			return ret;
		try.mr = ibv_reg_dmabuf_mr(pd, offset, length, iova, fd,
					   access);
		ret = reg_end(&try, access, mr);
	}
	return ret;
}

MLX5EP_EXPORT int mlx5ep_reg_mr(struct mlx5ep_notifier *notifier,
				struct ibv_pd *pd, void *addr, size_t length,
				int access, uint64_t cookie,
				struct mlx5ep_mr *mr)
{
	return mlx5ep_reg_mr_iova(notifier, pd, addr, length, (uintptr_t)addr,
				  access, cookie, mr);
}
