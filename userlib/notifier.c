// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The notifier: its file and its mapping. A forked child inherits the file but
 * not the mapping, so a call asks whose notifier it is before it touches that.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "internal.h"
#include "notifier.h"

#define NOTIFIER_DEV "/dev/mlx5_ep"

/* A notifier of a device. Returns its file, or a negative errno. */
static int notifier_of_context(struct ibv_context *context, uint32_t watches)
{
	int object = mlx5ep_uverbs_id(context, "object notifier");
	struct mlx5ep_cmd cmd;
	int ret;

	mlx5ep_cmd_init(&cmd, object, MLX5_EP_METHOD_NOTIFIER_CREATE);
	mlx5ep_cmd_fd(&cmd, MLX5_EP_ATTR_NOTIFIER_CREATE_HANDLE, 0);
	if (watches)
		mlx5ep_cmd_in(&cmd, MLX5_EP_ATTR_NOTIFIER_CREATE_CAPACITY,
			      &watches, sizeof(watches));
	ret = mlx5ep_cmd_exec(context, &cmd);
	if (ret)
		return ret;
	return mlx5ep_cmd_result(&cmd, MLX5_EP_ATTR_NOTIFIER_CREATE_HANDLE);
}

/* A notifier that knows of no device. Returns its file, or a negative errno. */
static int notifier_of_dev(uint32_t watches)
{
	struct mlx5_ep_notifier_create create = { .capacity = watches };
	int fd = open(NOTIFIER_DEV, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return errno == ENOENT || errno == ENODEV || errno == ENXIO ?
			       -EOPNOTSUPP : -errno;
	ret = ioctl(fd, MLX5_EP_IOC_NOTIFIER_CREATE, &create);
	if (ret < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/*
 * For the first notifier of a process the kernel takes the locks of all its mappings, and
 * begins anew after each signal. With many mappings and a fast timer that would never end.
 */
static int notifier_open(struct ibv_context *context, uint32_t watches)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = context ? notifier_of_context(context, watches) :
			notifier_of_dev(watches);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

/* The length depends on the capacity, which is on the first page. */
static int notifier_map(struct mlx5ep_notifier *notifier)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	struct mlx5_ep_notifier_page *page;
	size_t len;
	void *map;

	page = mmap(NULL, page_size, PROT_READ, MAP_SHARED, notifier->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	len = MLX5_EP_NOTIFIER_WORDS_OFFSET +
	      page->capacity * sizeof(uint64_t);
	len = (len + page_size - 1) & ~(page_size - 1);
	munmap(page, page_size);

	map = mmap(NULL, len, PROT_READ, MAP_SHARED, notifier->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	notifier->page = map;
	notifier->words = (void *)((char *)map +
				   MLX5_EP_NOTIFIER_WORDS_OFFSET);
	notifier->map.start = map;
	notifier->map.len = len;
	mlx5ep_process_map_add(&notifier->map);
	return 0;
}

/* @context is NULL for a notifier of no device. */
static int notifier_make(struct ibv_context *context, uint32_t watches,
			 struct mlx5ep_notifier **out)
{
	struct mlx5ep_notifier *notifier;
	int ret;

	if (mlx5ep_process_shared())
		return -EXDEV;
	notifier = calloc(1, sizeof(*notifier));
	if (!notifier)
		return -ENOMEM;
	ret = -ENOMEM;
	notifier->memory = mlx5ep_process_memory();
	if (!notifier->memory)
		goto err_free;
	ret = notifier_open(context, watches);
	if (ret < 0)
		goto err_free;
	notifier->context = context;
	notifier->fd = ret;
	ret = notifier_map(notifier);
	if (ret)
		goto err_close;
	pthread_mutex_init(&notifier->reading, NULL);
	notifier->users = 1;
	*out = notifier;
	return 0;

err_close:
	close(notifier->fd);
err_free:
	free(notifier);
	return ret;
}

MLX5EP_EXPORT int mlx5ep_notifier_create(struct ibv_context *context,
					 uint32_t watches,
					 struct mlx5ep_notifier **out)
{
	return notifier_make(context, watches, out);
}

MLX5EP_EXPORT int mlx5ep_notifier_open(uint32_t watches,
				       struct mlx5ep_notifier **out)
{
	return notifier_make(NULL, watches, out);
}

/**
 * mlx5ep_notifier_any() - create a notifier for a device of whatever driver
 * @context: of the device; must stay open as long as the notifier exists
 * @watches: as for mlx5ep_notifier_create()
 * @out: a notifier of the device, which can watch dma-bufs; one of no device where the
 *	module is not attached to it
 *
 * Return: 0 or -errno.
 */
int mlx5ep_notifier_any(struct ibv_context *context, uint32_t watches,
			struct mlx5ep_notifier **out)
{
	int ret = notifier_make(context, watches, out);

	return ret == -EOPNOTSUPP ? notifier_make(NULL, watches, out) : ret;
}

MLX5EP_EXPORT int mlx5ep_notifier_destroy(struct mlx5ep_notifier *notifier)
{
	bool own;

	if (!notifier)
		return 0;
	own = notifier_usable(notifier);
	if (own && mlx5ep_process_shared())
		return -EXDEV;
	if (own && notifier->caches)
		return -EBUSY;
	mlx5ep_process_map_remove(&notifier->map);
	if (own || notifier->map.blank)
		munmap(notifier->map.start, notifier->map.len);
	close(notifier->fd);
	notifier->fd = -1;
	notifier_put(notifier);
	return 0;
}

MLX5EP_EXPORT int mlx5ep_notifier_fd(const struct mlx5ep_notifier *notifier)
{
	return notifier->fd;
}

MLX5EP_EXPORT const volatile struct mlx5_ep_notifier_page *
mlx5ep_notifier_page(const struct mlx5ep_notifier *notifier)
{
	return notifier_usable(notifier) ? notifier->page : NULL;
}

MLX5EP_EXPORT ssize_t mlx5ep_notifier_read(struct mlx5ep_notifier *notifier,
					   struct mlx5_ep_event *events,
					   size_t count)
{
	ssize_t ret = mlx5ep_process_may_change(notifier->memory);

	if (ret)
		return ret;
	ret = read(notifier->fd, events, count * sizeof(*events));
	return ret < 0 ? -errno : ret / (ssize_t)sizeof(*events);
}

MLX5EP_EXPORT bool
mlx5ep_notifier_usable(const struct mlx5ep_notifier *notifier)
{
	return notifier_usable(notifier);
}
