/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The list of a context's QPs, read while QPs come and go. */

#ifndef MLX5_EP_QP_LIST_H
#define MLX5_EP_QP_LIST_H

#include "uuar/qp_uuar.h"

/**
 * struct mlx5_ep_qp_cursor - a reader's place in the list of a context's QPs
 * @ectx: open context whose list it is
 * @at: in the list behind the QPs that the reader has passed
 * @end: in the list behind the QPs that were there when the reader began
 *
 * Both are in @ectx->qps as QPs are, and no QPs: their own ectx is NULL.
 */
struct mlx5_ep_qp_cursor {
	struct mlx5_ep_context *ectx;
	struct mlx5_ep_qp at;
	struct mlx5_ep_qp end;
};

unsigned int mlx5_ep_qp_list_begin(struct mlx5_ep_qp_cursor *cursor,
				   struct mlx5_ep_context *ectx);
unsigned int mlx5_ep_qp_list_next(struct mlx5_ep_qp_cursor *cursor,
				  struct mlx5_ep_qp_info *infos,
				  unsigned int room);
void mlx5_ep_qp_list_end(struct mlx5_ep_qp_cursor *cursor);

#endif
