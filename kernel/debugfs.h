/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tables of what is open now. */

#ifndef MLX5_EP_DEBUGFS_H
#define MLX5_EP_DEBUGFS_H

struct mlx5_ep_device;

void mlx5_ep_debugfs_init(void);
void mlx5_ep_debugfs_fini(void);
void mlx5_ep_debugfs_add(struct mlx5_ep_device *edev);
void mlx5_ep_debugfs_remove(struct mlx5_ep_device *edev);

#endif
