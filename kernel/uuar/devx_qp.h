/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* QPs that programs make by DevX. */

#ifndef MLX5_EP_DEVX_QP_H
#define MLX5_EP_DEVX_QP_H

struct mlx5_ep_device;
struct uapi_definition;

const struct uapi_definition *
mlx5_ep_devx_qp_hook(struct mlx5_ep_device *edev,
		     const struct uapi_definition *defs);
void mlx5_ep_devx_qp_unhook(struct mlx5_ep_device *edev);

#endif
