/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The attributes of a device. */

#ifndef MLX5_EP_SYSFS_H
#define MLX5_EP_SYSFS_H

struct device;
struct mlx5_ep_device;

int mlx5_ep_sysfs_add(struct mlx5_ep_device *edev, struct device *entry);
void mlx5_ep_sysfs_remove(struct mlx5_ep_device *edev,
			  const struct device *entry);

#endif
