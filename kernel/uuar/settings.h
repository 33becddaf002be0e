/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What an administrator has set for a device, kept while the device is away. */

#ifndef MLX5_EP_SETTINGS_H
#define MLX5_EP_SETTINGS_H

struct mlx5_ep_device;

int mlx5_ep_settings_restore(struct mlx5_ep_device *edev);
void mlx5_ep_settings_save(struct mlx5_ep_device *edev);
void mlx5_ep_settings_fini(void);

#endif
