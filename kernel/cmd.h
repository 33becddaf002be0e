/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Firmware commands and capabilities. */

#ifndef MLX5_EP_CMD_H
#define MLX5_EP_CMD_H

#include <linux/types.h>

struct mlx5_core_dev;

bool mlx5_ep_cmd_is_linked(void);
int mlx5_ep_cmd_query_qp_uar(struct mlx5_core_dev *mdev, u32 qpn, u32 *uar);
unsigned int mlx5_ep_cmd_uar_pages(struct mlx5_core_dev *mdev);
unsigned int mlx5_ep_cmd_uars_together(struct mlx5_core_dev *mdev);
unsigned int mlx5_ep_cmd_uars_told(struct mlx5_core_dev *mdev);

#endif
