/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What `rdma -dd resource show` says of QPs and SRQs beside the driver's own. */

#ifndef MLX5_EP_RESTRACK_H
#define MLX5_EP_RESTRACK_H

struct mlx5_ep_device;

void mlx5_ep_restrack_wrap(struct mlx5_ep_device *edev);
void mlx5_ep_restrack_unwrap(struct mlx5_ep_device *edev);

#endif
