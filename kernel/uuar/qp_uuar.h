/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* QPs and the uUARs that they ring. */

#ifndef MLX5_EP_QP_UUAR_H
#define MLX5_EP_QP_UUAR_H

#include <linux/list.h>
#include <linux/types.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

struct ib_qp;
struct mlx5_ep_context;
struct mlx5_ep_uuar_table;
struct mlx5_ep_xrc_qp;

/**
 * struct mlx5_ep_qp - our side of a QP
 * @ectx: context of a user's QP that we noted; NULL for all others
 * @node: in @ectx->qps
 * @qp: the QP that this belongs to
 * @uar: UAR page named in the request; MLX5_EP_UAR_UNKNOWN when none was
 * @uuar: static bfreg index where the policy placed it; negative when it did
 *	not
 * @shared: of an XRC target QP: the registrations with it, under the lock of
 *	the device's struct mlx5_ep_xrc; NULL for none
 *
 * Lives behind the driver's QP in the same allocation, zeroed at birth.
 */
struct mlx5_ep_qp {
	struct mlx5_ep_context *ectx;
	struct list_head node;
	struct ib_qp *qp;
	u32 uar;
	int uuar;
	struct mlx5_ep_xrc_qp *shared;
};

int mlx5_ep_qp_place(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
		     bool closed);
void mlx5_ep_qp_placed(struct mlx5_ep_qp *eqp, u32 uar);
void mlx5_ep_qp_unplace(struct mlx5_ep_qp *eqp);
void mlx5_ep_qp_note(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
		     u32 uar);
void mlx5_ep_qp_release(struct mlx5_ep_qp *eqp);
void mlx5_ep_qp_uuar_get(struct mlx5_ep_qp *eqp, struct mlx5_ep_qp_uuar *uuar);
void mlx5_ep_context_info_get(struct mlx5_ep_context *ectx,
			      struct mlx5_ep_context_info *info);
void mlx5_ep_uuar_info_get(const struct mlx5_ep_uuar_table *table,
			   unsigned int uuar, struct mlx5_ep_uuar_info *info);

#endif
