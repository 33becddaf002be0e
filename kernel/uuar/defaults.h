/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What devices are to have from their first moment on. */

#ifndef MLX5_EP_DEFAULTS_H
#define MLX5_EP_DEFAULTS_H

#include "device.h"

/**
 * struct mlx5_ep_defaults - what can be set for a device
 * @settings: as in struct mlx5_ep_device
 * @budget: as in struct mlx5_ep_device; UAR pages
 * @user_limit: as in struct mlx5_ep_device; UAR pages
 * @exempt: as in struct mlx5_ep_device
 */
struct mlx5_ep_defaults {
	struct mlx5_ep_settings settings;
	unsigned int budget;
	unsigned int user_limit;
	char exempt[MLX5_EP_EXEMPT_LEN];
};

void mlx5_ep_defaults_get(const char *parent, const char *device,
			  struct mlx5_ep_defaults *values);
int mlx5_ep_exempt_parse(const char *buf, char *exempt);

#endif
