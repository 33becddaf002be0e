/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UAR pages as processes map them, and how a page comes when a QP needs it. */

#ifndef MLX5_EP_UAR_MAP_H
#define MLX5_EP_UAR_MAP_H

#include <linux/types.h>

struct ib_ucontext;
struct mlx5_ep_context;
struct vm_area_struct;

int mlx5_ep_uar_map(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
		    struct vm_area_struct *vma);
u32 mlx5_ep_uar_map_dynamic(struct mlx5_ep_context *ectx, u32 bfreg);
int mlx5_ep_uar_map_back(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
			 unsigned int page, u32 *uar);

#endif
