/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_XRCD_H
#define MLX5EP_XRCD_H

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct mlx5ep_xrcd - an XRC domain that shared receive QPs can be put in
 *
 * A process needs one open for as long as it has registrations in it.
 */
struct mlx5ep_xrcd;

/**
 * mlx5ep_xrcd_open - open an XRC domain
 * @context: open context
 * @fd: file whose inode names the domain to other processes; -1 for a domain
 *	of this call's own
 * @oflags: as for ibv_open_xrcd(3): O_CREAT creates the domain where the file
 *	has none, O_CREAT | O_EXCL insists on that
 * @xrcd: written on success
 *
 * Return: 0; -EAGAIN where the file has no domain and O_CREAT is not given;
 * -EINVAL where it has one and O_EXCL is; -EBADF; -ENOMEM.
 */
int mlx5ep_xrcd_open(struct ibv_context *context, int fd, int oflags,
		     struct mlx5ep_xrcd **xrcd);

/**
 * mlx5ep_xrcd_wrap - use an XRC domain that ibv_open_xrcd(3) opened
 * @ibv_xrcd: stays with the caller, who closes it after mlx5ep_xrcd_close()
 * @xrcd: written on success
 *
 * Return: 0; -EINVAL where libibverbs did not note the domain's handle;
 * -ENOMEM.
 */
int mlx5ep_xrcd_wrap(struct ibv_xrcd *ibv_xrcd, struct mlx5ep_xrcd **xrcd);

/**
 * mlx5ep_xrcd_ibv - the domain as verbs know it, for instance for its SRQs
 * @xrcd: open domain
 */
struct ibv_xrcd *mlx5ep_xrcd_ibv(const struct mlx5ep_xrcd *xrcd);

/**
 * mlx5ep_xrcd_close - close an XRC domain
 * @xrcd: not to be used any more on success; unchanged on failure
 *
 * Return: 0; -EBUSY while this process has registrations, SRQs or QPs in it
 * through this opening. A wrapped domain is only let go, which cannot fail.
 */
int mlx5ep_xrcd_close(struct mlx5ep_xrcd *xrcd);

#ifdef __cplusplus
}
#endif

#endif
