/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Opening of contexts. */

#ifndef MLX5_EP_OPEN_H
#define MLX5_EP_OPEN_H

struct ib_ucontext;
struct ib_udata;
struct mlx5_ep_context;
struct uverbs_attr_bundle;

int mlx5_ep_open(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
		 struct ib_udata *udata);

int mlx5_ep_open_again(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
		       struct uverbs_attr_bundle *attrs);

#endif
