// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC domains. Verbs open and close them; what is added here is the kernel's
 * handle, which the module's calls need and verbs keep to themselves.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"
#include "xrcd.h"

/*
 * What stands behind every struct ibv_xrcd since libibverbs 1.2, for providers
 * to use: struct verbs_xrcd of rdma-core, libibverbs/driver.h.
 */
#define XRCD_HAS_HANDLE (1 << 0)

struct provider_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
	uint32_t handle;
};

/**
 * mlx5ep_xrcd_init - find the handle of an XRC domain
 * @xrcd: to be filled
 * @ibv: open domain
 *
 * Return: 0; -EINVAL where libibverbs did not note it.
 */
int mlx5ep_xrcd_init(struct mlx5ep_xrcd *xrcd, struct ibv_xrcd *ibv)
{
	const struct provider_xrcd *provider = (const void *)ibv;

	if (!(provider->comp_mask & XRCD_HAS_HANDLE))
		return -EINVAL;
	xrcd->ibv = ibv;
	xrcd->handle = provider->handle;
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
	int ret = xrcd->owned ? ibv_close_xrcd(xrcd->ibv) : 0;

	/* Providers say -1 and errno, or the errno. */
	if (ret)
		return ret < 0 ? -errno : -ret;
	free(xrcd);
	return 0;
}
