/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What can be set for a device, as text. */

#ifndef MLX5_EP_VALUES_H
#define MLX5_EP_VALUES_H

#include <linux/types.h>

struct mlx5_ep_settings;
struct mlx5_ep_values;

int mlx5_ep_values_set(struct mlx5_ep_values *values, const char *name,
		       const char *text, unsigned int uar_pages);
ssize_t mlx5_ep_values_show(const struct mlx5_ep_values *values,
			    const char *name, char *buf);
int mlx5_ep_values_parse_settings(char *words,
				  struct mlx5_ep_settings *settings);

#endif
