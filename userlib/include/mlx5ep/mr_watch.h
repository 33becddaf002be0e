/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_MR_WATCH_H
#define MLX5EP_MR_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <mlx5ep/notifier.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: Watches
 *
 * A watch is a range of addresses and a word. As long as the word is what it
 * was when the watch was armed, the memory there is the memory that was there
 * then. It changes before the system call that changed the memory returns,
 * whoever made that call. A registration and its watch together are a
 * &struct mlx5ep_mr: valid while the adapter and the process mean the same
 * memory.
 *
 * The word may also say "suspect": something happened that may have changed the
 * memory, as page migration tries to. mlx5ep_watch_verify() then tells.
 */

/**
 * struct mlx5ep_watch - one watched range
 * @word: its word, in the notifier's mapping
 * @armed: what the word is while nothing happened
 * @notifier: where it lives
 * @slot: its number there
 */
struct mlx5ep_watch {
	const uint64_t *word;
	uint64_t armed;
	struct mlx5ep_notifier *notifier;
	uint32_t slot;
};

/**
 * mlx5ep_watch_valid - has nothing happened to the range?
 * @watch: the watch
 *
 * One load and one compare.
 *
 * Return: true while the range is what it was; false where it is not, or where
 * that is not known: mlx5ep_watch_verify() tells which.
 */
static inline bool mlx5ep_watch_valid(const struct mlx5ep_watch *watch)
{
	return __atomic_load_n(watch->word, __ATOMIC_ACQUIRE) == watch->armed;
}

/**
 * mlx5ep_watch_add - watch a range
 * @notifier: the notifier
 * @addr: first byte; the range is taken to whole pages and need not be mapped
 * @length: bytes, not 0
 * @cookie: comes back with each event
 * @watch: written on success
 *
 * Return: 0; -EINVAL for a range that is empty or wraps; -EFAULT for one that is
 * not user space; -ENOSPC where the notifier is full; -ENOMEM; -EXDEV in a
 * forked child; -EIO where the device is gone.
 */
int mlx5ep_watch_add(struct mlx5ep_notifier *notifier, const void *addr,
		     size_t length, uint64_t cookie,
		     struct mlx5ep_watch *watch);

/**
 * mlx5ep_watch_add_batch - watch ranges, all or none
 * @notifier: the notifier
 * @ranges: addr, length and cookie of each; flags zero; the rest is written
 * @watches: written on success
 * @count: length of both, 1 to %MLX5_EP_WATCH_MAX_BATCH
 *
 * Return: as mlx5ep_watch_add().
 */
int mlx5ep_watch_add_batch(struct mlx5ep_notifier *notifier,
			   struct mlx5_ep_watch_add *ranges,
			   struct mlx5ep_watch *watches, unsigned int count);

/**
 * mlx5ep_watch_del - stop watching
 * @watch: the watch; not valid from here on
 *
 * An event of it that nobody has read is dropped.
 *
 * Return: 0; -ENOENT where it is deleted already; -EXDEV; -EIO.
 */
int mlx5ep_watch_del(struct mlx5ep_watch *watch);

/**
 * mlx5ep_watch_del_batch - stop watching several of one notifier
 * @watches: the watches
 * @count: how many, 1 to %MLX5_EP_WATCH_MAX_BATCH
 *
 * Return: 0; -ENOENT where any was deleted already, the others are gone; -ENOMEM,
 * and none is gone; -EXDEV; -EIO.
 */
int mlx5ep_watch_del_batch(struct mlx5ep_watch *watches, unsigned int count);

/**
 * mlx5ep_watch_record - remember which pages are there, once registered
 * @watch: the watch
 *
 * Return: 0; -EAGAIN where something happened to the range since it was armed:
 * the registration may be of other pages; -ENOENT; -EXDEV; -EIO; -EINTR.
 */
int mlx5ep_watch_record(struct mlx5ep_watch *watch);

/**
 * mlx5ep_watch_verify - resolve a watch that is not valid
 * @watch: the watch; its range is registered since it was recorded
 *
 * Return: 0 where the range is what it was, and the watch valid again; -ESTALE
 * where it is not, for good; -EAGAIN where it keeps changing: not valid now;
 * -ENOENT; -EXDEV; -EIO; -EINTR.
 */
int mlx5ep_watch_verify(struct mlx5ep_watch *watch);

/**
 * struct mlx5ep_mr - a registration that knows when it is stale
 * @mr: the registration
 * @watch: of the same range
 */
struct mlx5ep_mr {
	struct ibv_mr *mr;
	struct mlx5ep_watch watch;
};

/**
 * mlx5ep_reg_mr - register a range and watch it, as one
 * @notifier: the notifier
 * @pd: protection domain, of any device
 * @addr: first byte
 * @length: bytes, not 0
 * @access: as for ibv_reg_mr()
 * @cookie: comes back with each event
 * @mr: written on success
 *
 * Whatever other threads do to the range meanwhile: either the result is not
 * valid, or the adapter has the pages that the process sees.
 *
 * Return: 0; as mlx5ep_watch_add() and ibv_reg_mr(); -EAGAIN where the range
 * kept changing.
 */
int mlx5ep_reg_mr(struct mlx5ep_notifier *notifier, struct ibv_pd *pd,
		  void *addr, size_t length, int access, uint64_t cookie,
		  struct mlx5ep_mr *mr);

/**
 * mlx5ep_dereg_mr - undo mlx5ep_reg_mr()
 * @mr: the registration
 *
 * Where the notifier is gone or of another process the watch is, too, and the
 * registration alone is undone.
 *
 * Return: 0; as ibv_dereg_mr(), and nothing is undone.
 */
int mlx5ep_dereg_mr(struct mlx5ep_mr *mr);

/**
 * mlx5ep_mr_valid - may it be used?
 * @mr: the registration
 *
 * Return: as mlx5ep_watch_valid().
 */
static inline bool mlx5ep_mr_valid(const struct mlx5ep_mr *mr)
{
	return mlx5ep_watch_valid(&mr->watch);
}

/**
 * mlx5ep_mr_check - may it be used, whatever it takes to know
 * @mr: the registration
 *
 * Return: 0; as mlx5ep_watch_verify() where it is not valid at once.
 */
static inline int mlx5ep_mr_check(struct mlx5ep_mr *mr)
{
	return mlx5ep_mr_valid(mr) ? 0 : mlx5ep_watch_verify(&mr->watch);
}

#ifdef __cplusplus
}
#endif

#endif
