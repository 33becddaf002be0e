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
 * A notifier tells a process what happens to the ranges that it watches and to
 * the XRC receive QPs that it is registered with: by events that are read from a
 * descriptor, and by words in a mapping that change without a system call.
 * It belongs to the address space that created it; a forked child must make
 * its own, and may only destroy the one that it inherited.
 */

struct mlx5ep_notifier;

/**
 * mlx5ep_notifier_create - make a notifier
 * @context: of a device that the module is attached to; outlives the notifier
 * @watches: most ranges watched at a time; 0: 65536, or the module's limit
 * @notifier: written on success
 *
 * Return: 0; -EOPNOTSUPP without the module; -EDQUOT where @watches is above
 * the module's limit (notifier_max_watches); -ENOMEM; -EMFILE; -EIO where the
 * device is gone.
 */
int mlx5ep_notifier_create(struct ibv_context *context, uint32_t watches,
			   struct mlx5ep_notifier **notifier);

/**
 * mlx5ep_notifier_destroy - close it; its watches are gone with it
 * @notifier: a notifier or NULL; in a forked child, only the child's share
 *
 * Return: 0.
 */
int mlx5ep_notifier_destroy(struct mlx5ep_notifier *notifier);

/**
 * mlx5ep_notifier_fd - its descriptor, for poll() and fcntl(O_NONBLOCK)
 * @notifier: the notifier
 *
 * Return: the descriptor; close-on-exec; closed by destroy.
 */
int mlx5ep_notifier_fd(const struct mlx5ep_notifier *notifier);

/**
 * mlx5ep_notifier_page - its mapped counters
 * @notifier: the notifier
 *
 * Return: read-only, changes by itself; valid until destroy.
 */
const volatile struct mlx5_ep_notifier_page *
mlx5ep_notifier_page(const struct mlx5ep_notifier *notifier);

/**
 * mlx5ep_notifier_read - take events
 * @notifier: the notifier
 * @events: where to write
 * @count: most events to take, not 0
 *
 * Blocks while there is none, unless the descriptor is O_NONBLOCK.
 *
 * Return: events taken; -EAGAIN; -EINTR; -EXDEV in a forked child; -EIO once the
 * device is gone and that has been told.
 */
ssize_t mlx5ep_notifier_read(struct mlx5ep_notifier *notifier,
			     struct mlx5_ep_event *events, size_t count);

/**
 * mlx5ep_notifier_usable - is this the address space that made it?
 * @notifier: the notifier
 *
 * Return: false in a forked child. One load.
 */
bool mlx5ep_notifier_usable(const struct mlx5ep_notifier *notifier);

#ifdef __cplusplus
}
#endif

#endif
