/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_XRCD_H
#define MLX5EP_XRCD_H

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct mlx5ep_xrcd - an open XRC domain
 *
 * It must stay open as long as the process has registrations in it. A forked child
 * that closes a domain of its parent frees its copy only.
 */
struct mlx5ep_xrcd;

/**
 * mlx5ep_xrcd_open() - open an XRC domain
 * @fd: a file; processes that pass the same file get the same domain. -1: a new
 *	domain that no other process can open
 * @oflags: as for ibv_open_xrcd(3): O_CREAT creates the domain if the file has
 *	none; O_CREAT | O_EXCL fails if the file has one
 *
 * Return: 0. -EAGAIN if the file has no domain and O_CREAT is not set. -EINVAL
 * if it has one and O_EXCL is set. -EBADF. -ENOMEM.
 */
int mlx5ep_xrcd_open(struct ibv_context *context, int fd, int oflags,
		     struct mlx5ep_xrcd **xrcd);

/**
 * mlx5ep_xrcd_wrap() - use an XRC domain that ibv_open_xrcd(3) opened
 * @ibv_xrcd: the caller closes it after mlx5ep_xrcd_close()
 *
 * Return: 0. -EINVAL if libibverbs did not store the domain's handle. -ENOMEM.
 */
int mlx5ep_xrcd_wrap(struct ibv_xrcd *ibv_xrcd, struct mlx5ep_xrcd **xrcd);

/**
 * mlx5ep_xrcd_ibv() - the verbs object of a domain, for instance for an SRQ
 */
struct ibv_xrcd *mlx5ep_xrcd_ibv(const struct mlx5ep_xrcd *xrcd);

/**
 * mlx5ep_xrcd_close() - close an XRC domain
 * @xrcd: freed on success, unchanged on failure
 *
 * For a domain of mlx5ep_xrcd_wrap() the call frees @xrcd only, and cannot
 * fail.
 *
 * Return: 0. -EBUSY while the process has registrations, SRQs or QPs that were
 * created through @xrcd. -EXDEV in a child that shares the memory.
 */
int mlx5ep_xrcd_close(struct mlx5ep_xrcd *xrcd);

#ifdef __cplusplus
}
#endif

#endif
