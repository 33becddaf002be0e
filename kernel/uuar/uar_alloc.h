/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UAR pages that a library allocates as uverbs objects. */

#ifndef MLX5_EP_UAR_ALLOC_H
#define MLX5_EP_UAR_ALLOC_H

#include <linux/types.h>

struct mlx5_ep_device;
struct uapi_definition;

const struct uapi_definition *
mlx5_ep_uar_alloc_hook(struct mlx5_ep_device *edev,
		       const struct uapi_definition *defs);
void mlx5_ep_uar_alloc_unhook(struct mlx5_ep_device *edev);
bool mlx5_ep_uar_alloc_is_hooked(const struct mlx5_ep_device *edev);

#endif
