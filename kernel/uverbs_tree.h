/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Our uverbs objects and methods in the tree of a device. */

#ifndef MLX5_EP_UVERBS_TREE_H
#define MLX5_EP_UVERBS_TREE_H

#include <linux/types.h>

struct mlx5_ep_device;

/**
 * enum mlx5_ep_part - what a device can have in its uverbs tree, or lack
 * @MLX5_EP_PART_CONTEXT: methods on contexts
 * @MLX5_EP_PART_QP: methods on QPs
 * @MLX5_EP_PART_NOTIFIER: the object of notifiers
 * @MLX5_EP_PART_XRC: the object of shared XRC receive QPs, whose methods take a notifier
 * @MLX5_EP_PART_UARS: hook of the driver's UAR objects
 * @MLX5_EP_PART_DEVX_QPS: hook of the driver's DevX objects
 * @MLX5_EP_PARTS: how many there are
 */
enum mlx5_ep_part {
	MLX5_EP_PART_CONTEXT,
	MLX5_EP_PART_QP,
	MLX5_EP_PART_NOTIFIER,
	MLX5_EP_PART_XRC,
	MLX5_EP_PART_UARS,
	MLX5_EP_PART_DEVX_QPS,
	MLX5_EP_PARTS,
};

int mlx5_ep_uverbs_tree_create(struct mlx5_ep_device *edev);
void mlx5_ep_uverbs_tree_publish(struct mlx5_ep_device *edev);
bool mlx5_ep_uverbs_tree_take_back(struct mlx5_ep_device *edev);
void mlx5_ep_uverbs_tree_remove(struct mlx5_ep_device *edev);
ssize_t mlx5_ep_uverbs_tree_show(const struct mlx5_ep_device *edev, char *buf);
const char *mlx5_ep_uverbs_tree_part_name(enum mlx5_ep_part part);

#endif
