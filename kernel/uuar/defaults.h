/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What devices are to have from their first moment on. */

#ifndef MLX5_EP_DEFAULTS_H
#define MLX5_EP_DEFAULTS_H

struct mlx5_ep_device;
struct mlx5_ep_values;

void mlx5_ep_defaults_get(const struct mlx5_ep_device *edev,
			  struct mlx5_ep_values *values);

#endif
