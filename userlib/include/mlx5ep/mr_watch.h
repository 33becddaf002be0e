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
 * A watch is an address range and a word. While the word has the value that it
 * had when the watch was armed, the range has the same memory as then. A system
 * call that changes the memory changes the word before it returns, whichever
 * thread or process makes it. A registration together with a watch of its range
 * is a &struct mlx5ep_mr. It is valid while the adapter and the process use the
 * same memory.
 *
 * The word can also be "suspect": the memory may have changed or not, for
 * instance because the kernel tried to migrate a page. mlx5ep_watch_verify()
 * finds out.
 *
 * A watch can also be one of a dma-buf, such as memory of a GPU. Its word becomes
 * stale before the driver that exports the memory moves or revokes it. It does not
 * see that a program gives the memory back to its allocator while the dma-buf
 * exists.
 */

/**
 * struct mlx5ep_watch - one watched range
 * @word: its word, in the notifier's mapping
 * @armed: the value of the word while the range is unchanged
 * @slot: the number of the watch in @notifier
 * @reserved: 0
 */
struct mlx5ep_watch {
	const uint64_t *word;
	uint64_t armed;
	struct mlx5ep_notifier *notifier;
	uint32_t slot;
	uint32_t reserved[5];
};

/**
 * mlx5ep_watch_valid() - is the range unchanged?
 *
 * The call costs one load and one compare, and so cannot look which process makes
 * it. In a child of fork() it returns false. A child that was forked in another way,
 * by a system call of the program, must not make it: the word is not mapped there.
 *
 * Return: true if it is unchanged. false if it changed, or if that is not
 * known: mlx5ep_watch_verify() then finds out.
 */
static inline bool mlx5ep_watch_valid(const struct mlx5ep_watch *watch)
{
	return __atomic_load_n(watch->word, __ATOMIC_ACQUIRE) == watch->armed;
}

/**
 * mlx5ep_watch_add() - watch a range
 * @addr: first byte; the range is extended to whole pages and need not be
 *	mapped
 * @length: in bytes, at least 1
 * @cookie: is in each event of this watch
 *
 * Return: 0. -EINVAL if the range is empty or wraps around. -EFAULT if it is
 * not in user space. -ENOSPC if the notifier is full. -ENOMEM. -EXDEV in a
 * forked child. -EIO if the device is gone.
 */
int mlx5ep_watch_add(struct mlx5ep_notifier *notifier, const void *addr,
		     size_t length, uint64_t cookie,
		     struct mlx5ep_watch *watch);

/* The exported call. @size: size of a range in the calling program. */
int _mlx5ep_watch_add_batch(struct mlx5ep_notifier *notifier,
			    struct mlx5_ep_watch_add *ranges, size_t size,
			    struct mlx5ep_watch *watches, unsigned int count);

/**
 * mlx5ep_watch_add_batch() - watch several ranges, all or none
 * @ranges: the caller sets addr, length, cookie, and flags to 0; the call
 *	writes the other fields
 * @watches: written on success
 * @count: length of both arrays, 1 to %MLX5_EP_WATCH_MAX_BATCH
 *
 * Return: as mlx5ep_watch_add().
 */
static inline int mlx5ep_watch_add_batch(struct mlx5ep_notifier *notifier,
					 struct mlx5_ep_watch_add *ranges,
					 struct mlx5ep_watch *watches,
					 unsigned int count)
{
	return _mlx5ep_watch_add_batch(notifier, ranges, sizeof(*ranges),
				       watches, count);
}

/**
 * mlx5ep_watch_dmabuf() - watch a range of a dma-buf
 * @fd: of the dma-buf; it may be closed afterwards
 * @offset: first byte in the buffer; the range is extended to whole pages
 * @length: in bytes, at least 1
 * @cookie: is in each event of this watch, whose start is an offset in the buffer
 *
 * The watch holds the buffer until it is deleted.
 *
 * Return: 0. -EINVAL if the range is empty or not within the buffer, or if @fd is
 * none of a dma-buf. -EBADF. -EOPNOTSUPP if the kernel tells nobody of dma-bufs that
 * are moved, or if the exporter refuses. -EDQUOT if the user has as many of these
 * watches on the device as dmabuf_watches_per_user allows. -ENOSPC if the notifier
 * is full. -ENOMEM. -EXDEV in a forked child. -EIO if the device is gone.
 */
int mlx5ep_watch_dmabuf(struct mlx5ep_notifier *notifier, int fd,
			uint64_t offset, size_t length, uint64_t cookie,
			struct mlx5ep_watch *watch);

/**
 * mlx5ep_watch_del() - delete a watch
 *
 * An event of the watch that was not read is dropped.
 *
 * Return: 0. -ENOENT if it is deleted already. -EXDEV in a forked child. -EIO
 * if the device is gone.
 */
int mlx5ep_watch_del(struct mlx5ep_watch *watch);

/**
 * mlx5ep_watch_del_batch() - delete several watches of one notifier
 * @count: length of @watches, 1 to %MLX5_EP_WATCH_MAX_BATCH
 *
 * Return: 0. -ENOENT if one was deleted already; the others are deleted now.
 * -ENOMEM: none is deleted. -EXDEV in a forked child. -EIO if the device is
 * gone.
 */
int mlx5ep_watch_del_batch(struct mlx5ep_watch *watches, unsigned int count);

/**
 * mlx5ep_watch_record() - take the fingerprints of the range's pages
 *
 * To be called after the range was registered.
 *
 * Return: 0. -EAGAIN if the range may have changed since the watch was added:
 * the registration may have other pages. -EFAULT if the kernel cannot look at the range:
 * a page is not mapped, or is no memory of the kernel's, as that of a GPU. The watch may
 * stay valid then although other memory has come to the address, so do not keep the
 * registration, unless it is one on demand. -ENOENT if the watch is deleted. -ENOMEM.
 * -EXDEV. -EIO. -EINTR.
 */
int mlx5ep_watch_record(struct mlx5ep_watch *watch);

/**
 * mlx5ep_watch_verify() - compare the range's pages with the fingerprints
 * @watch: its range has been registered since mlx5ep_watch_record()
 *
 * The call looks at the part of the range that was hit, in steps of 2 MiB. If
 * another thread looks at it already, the call waits for that thread.
 *
 * Return: 0 if the range is unchanged; the watch is valid again. -ESTALE if it
 * changed, or if its pages are not pinned, as those of a registration are; the watch is
 * stale for ever. -EAGAIN if the range changed again during the call. -ENOENT if the watch
 * is deleted. -ENOMEM. -EXDEV. -EIO. -EINTR.
 */
int mlx5ep_watch_verify(struct mlx5ep_watch *watch);

/**
 * struct mlx5ep_mr - a registration and a watch of its range
 * @reserved: 0
 */
struct mlx5ep_mr {
	struct ibv_mr *mr;
	struct mlx5ep_watch watch;
	uint64_t reserved[2];
};

/**
 * mlx5ep_reg_mr() - register a range and watch it
 * @pd: of any device
 * @length: in bytes, at least 1
 * @access: as for ibv_reg_mr()
 * @cookie: is in each event of the watch
 *
 * If the result is valid, the adapter has the pages that the process sees. This
 * holds also if other threads change the range during the call. A registration of memory
 * at which the kernel cannot look, as that of a GPU, is never valid, unless it is one on
 * demand.
 *
 * Return: 0. The errors of mlx5ep_watch_add() and ibv_reg_mr(). -EAGAIN if the
 * range changed during each of many attempts.
 */
int mlx5ep_reg_mr(struct mlx5ep_notifier *notifier, struct ibv_pd *pd,
		  void *addr, size_t length, int access, uint64_t cookie,
		  struct mlx5ep_mr *mr);

/**
 * mlx5ep_reg_mr_iova() - register a range at another I/O virtual address
 * @pd: of any device
 * @length: in bytes, at least 1
 * @iova: what work requests use as the address of the first byte
 * @access: as for ibv_reg_mr()
 * @cookie: is in each event of the watch
 *
 * Return: as mlx5ep_reg_mr(). -EINVAL if @iova and @addr differ by no multiple
 * of the page size.
 */
int mlx5ep_reg_mr_iova(struct mlx5ep_notifier *notifier, struct ibv_pd *pd,
		       void *addr, size_t length, uint64_t iova, int access,
		       uint64_t cookie, struct mlx5ep_mr *mr);

/**
 * mlx5ep_reg_dmabuf_mr() - register a range of a dma-buf and watch it
 * @pd: of any device
 * @fd: of the dma-buf; it may be closed afterwards
 * @offset: first byte in the buffer
 * @length: in bytes, at least 1
 * @iova: what work requests use as the address of the first byte
 * @access: as for ibv_reg_dmabuf_mr()
 * @cookie: is in each event of the watch
 *
 * Return: 0. The errors of mlx5ep_watch_dmabuf() and ibv_reg_dmabuf_mr(). -EAGAIN if
 * the memory was moved during each of many attempts.
 */
int mlx5ep_reg_dmabuf_mr(struct mlx5ep_notifier *notifier, struct ibv_pd *pd,
			 int fd, uint64_t offset, size_t length, uint64_t iova,
			 int access, uint64_t cookie, struct mlx5ep_mr *mr);

/**
 * mlx5ep_dereg_mr() - deregister a range and delete its watch
 * @mr: of mlx5ep_reg_mr(), mlx5ep_reg_mr_iova() or mlx5ep_reg_dmabuf_mr()
 *
 * If the watch is gone already, with its notifier, only the range is
 * deregistered.
 *
 * Return: 0. -EXDEV in a forked child, or the negative errno of ibv_dereg_mr():
 * registration and watch are then unchanged.
 */
int mlx5ep_dereg_mr(struct mlx5ep_mr *mr);

/**
 * mlx5ep_mr_valid() - is the memory of a registration unchanged?
 *
 * Return: as mlx5ep_watch_valid().
 */
static inline bool mlx5ep_mr_valid(const struct mlx5ep_mr *mr)
{
	return mlx5ep_watch_valid(&mr->watch);
}

/**
 * mlx5ep_mr_check() - as mlx5ep_mr_valid(), and verify if that is not known
 *
 * Return: 0 if it is unchanged. -EXDEV in a forked child. Else as
 * mlx5ep_watch_verify().
 */
int mlx5ep_mr_check(struct mlx5ep_mr *mr);

#ifdef __cplusplus
}
#endif

#endif
