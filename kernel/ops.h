/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The operations of the ib_device that mlx5_ep wraps. */

#ifndef MLX5_EP_OPS_H
#define MLX5_EP_OPS_H

struct mlx5_ep_device;

int mlx5_ep_ops_check(struct mlx5_ep_device *edev);
void mlx5_ep_ops_wrap(struct mlx5_ep_device *edev);
bool mlx5_ep_ops_give_back(struct mlx5_ep_device *edev);
void mlx5_ep_ops_unwrap(struct mlx5_ep_device *edev);

#endif
