/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Our uverbs objects and methods in the tree of a device. */

#ifndef MLX5_EP_UVERBS_TREE_H
#define MLX5_EP_UVERBS_TREE_H

#include <linux/types.h>

struct mlx5_ep_device;

int mlx5_ep_uverbs_tree_add(struct mlx5_ep_device *edev);
void mlx5_ep_uverbs_tree_remove(struct mlx5_ep_device *edev);
ssize_t mlx5_ep_uverbs_tree_show(char *buf);

#endif
