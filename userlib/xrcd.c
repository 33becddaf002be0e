// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC domains. Verbs open and close them. This file finds the kernel's handle
 * of a domain, which the module's calls need and verbs do not return.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"
#include "process.h"
#include "xrcd.h"

/*
 * Since version 1.2 libibverbs allocates every struct ibv_xrcd as the first
 * member of this structure (struct verbs_xrcd in libibverbs/driver.h of
 * rdma-core).
 */
#define XRCD_HAS_HANDLE (1 << 0)

struct provider_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
	uint32_t handle;
};

/**
 * mlx5ep_xrcd_init() - find the handle of an open XRC domain
 * @xrcd: written on success
 *
 * Return: 0, or -EINVAL if libibverbs did not store the handle.
 */
int mlx5ep_xrcd_init(struct mlx5ep_xrcd *xrcd, struct ibv_xrcd *ibv)
{
	const struct provider_xrcd *provider = (const void *)ibv;

	if (!(provider->comp_mask & XRCD_HAS_HANDLE))
		return -EINVAL;
	xrcd->ibv = ibv;
	xrcd->handle = provider->handle;
	xrcd->memory = mlx5ep_process_memory();
	xrcd->owned = false;
	return 0;
}

MLX5EP_EXPORT int mlx5ep_xrcd_wrap(struct ibv_xrcd *ibv_xrcd,
				   struct mlx5ep_xrcd **xrcd)
{
	struct mlx5ep_xrcd *new;
	int ret;

	new = malloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	ret = mlx5ep_xrcd_init(new, ibv_xrcd);
	if (ret)
		free(new);
	else
		*xrcd = new;
	return ret;
}

MLX5EP_EXPORT int mlx5ep_xrcd_open(struct ibv_context *context, int fd,
				   int oflags, struct mlx5ep_xrcd **xrcd)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = oflags,
	};
	struct ibv_xrcd *ibv;
	int ret;

	if (mlx5ep_process_shared())
		return -EXDEV;
	ibv = ibv_open_xrcd(context, &attr);
	if (!ibv)
		return errno ? -errno : -EIO;
	ret = mlx5ep_xrcd_wrap(ibv, xrcd);
	if (ret)
		ibv_close_xrcd(ibv);
	else
		(*xrcd)->owned = true;
	return ret;
}

MLX5EP_EXPORT struct ibv_xrcd *mlx5ep_xrcd_ibv(const struct mlx5ep_xrcd *xrcd)
{
	return xrcd->ibv;
}

MLX5EP_EXPORT int mlx5ep_xrcd_close(struct mlx5ep_xrcd *xrcd)
{
	int ret = 0;

	/* The domain of a forked child is its parent's. */
	if (xrcd->owned && process_same(xrcd->memory)) {
		if (mlx5ep_process_shared())
			return -EXDEV;
		ret = ibv_close_xrcd(xrcd->ibv);
	}
	/* Some providers return -1 and set errno, others return the errno. */
	if (ret)
		return ret < 0 ? -errno : -ret;
	free(xrcd);
	return 0;
}
