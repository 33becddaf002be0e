/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_NOTIFIER_H
#define MLX5EP_NOTIFIER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <infiniband/verbs.h>
#include <rdma/mlx5_ep_notifier.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: Notifier
 *
 * A notifier tells a process what happens to the address ranges that it
 * watches, and to the XRC receive QPs that it is registered with. The process
 * reads events from a file descriptor. Each watch also has a word in a mapping,
 * which the kernel changes and the process reads without a system call.
 *
 * A notifier belongs to the address space that created it. A forked child must
 * create its own. It may destroy the one that it inherited; all else returns
 * -EXDEV there. A child of vfork(2) or clone(CLONE_VM), which shares the memory, may
 * ask and verify, and changes nothing: the other calls return -EXDEV.
 */

struct mlx5ep_notifier;

/**
 * mlx5ep_notifier_create() - create a notifier
 * @context: must stay open as long as the notifier exists
 * @watches: maximum number of watches; 0: 65536, or the module's limit if lower
 *
 * The kernel locks each mapping of the process, and begins anew after a signal.
 * A program with tens of thousands of mappings blocks a signal that a timer sends
 * every few milliseconds, as a profiler does, around this call, which otherwise
 * may never end.
 *
 * Return: 0. -EOPNOTSUPP unless mlx5ep_device_attached() says 0. -EDQUOT if @watches is
 * above the module's limit (notifier_max_watches). -ENOMEM. -EMFILE. -EIO if the device
 * is gone. -EXDEV in a child that shares the memory.
 */
int mlx5ep_notifier_create(struct ibv_context *context, uint32_t watches,
			   struct mlx5ep_notifier **notifier);

/**
 * mlx5ep_notifier_open() - create a notifier that needs no device
 * @watches: as for mlx5ep_notifier_create()
 *
 * It is for memory that is registered with any adapter, of any driver, and with several of
 * them. It stays when an adapter goes: what becomes of that adapter's registrations is told
 * by their own library. mlx5ep_watch_dmabuf() and the events of XRC receive QPs need a
 * notifier of mlx5ep_notifier_create().
 *
 * Return: 0. -EOPNOTSUPP without the module, or without /dev/mlx5_ep, as in a container
 * that was not given it. -EACCES. The errors of mlx5ep_notifier_create(), except -EIO.
 */
int mlx5ep_notifier_open(uint32_t watches, struct mlx5ep_notifier **notifier);

/**
 * mlx5ep_notifier_destroy() - close a notifier and delete its watches
 * @notifier: may be NULL; a forked child frees its copy only
 *
 * No call may be given one of the watches afterwards, or at the same time. A
 * registration of mlx5ep_reg_mr() can still be deregistered afterwards, by
 * mlx5ep_dereg_mr(), and nothing else.
 *
 * Return: 0. -EBUSY if caches have their watches here, see
 * mlx5ep_mr_cache_create_on(). -EXDEV in a child that shares the memory.
 */
int mlx5ep_notifier_destroy(struct mlx5ep_notifier *notifier);

/**
 * mlx5ep_notifier_fd() - the descriptor, for poll() and for fcntl(O_NONBLOCK)
 *
 * Return: the descriptor. It is close-on-exec, and mlx5ep_notifier_destroy()
 * closes it.
 */
int mlx5ep_notifier_fd(const struct mlx5ep_notifier *notifier);

/**
 * mlx5ep_notifier_page() - the counters, which the kernel updates
 *
 * Return: a read-only mapping, until mlx5ep_notifier_destroy(). NULL in a forked
 * child.
 */
const volatile struct mlx5_ep_notifier_page *
mlx5ep_notifier_page(const struct mlx5ep_notifier *notifier);

/**
 * mlx5ep_notifier_read() - read events
 * @events: array of @count events, at least 1
 *
 * Waits for an event if there is none, unless the descriptor is O_NONBLOCK.
 *
 * Return: number of events that were read. -EAGAIN if the descriptor is
 * O_NONBLOCK and there is none. -EINTR. -EXDEV in a forked child. -EIO if the
 * device is gone and the event of that was read.
 */
ssize_t mlx5ep_notifier_read(struct mlx5ep_notifier *notifier,
			     struct mlx5_ep_event *events, size_t count);

/**
 * mlx5ep_notifier_usable() - is this the process that created the notifier?
 *
 * The call makes no system call, so a child that shares the memory is taken for its
 * parent.
 *
 * Return: false in a forked child.
 */
bool mlx5ep_notifier_usable(const struct mlx5ep_notifier *notifier);

#ifdef __cplusplus
}
#endif

#endif
