/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Creation of users' QPs. */

#ifndef MLX5_EP_CREATE_QP_H
#define MLX5_EP_CREATE_QP_H

struct ib_qp;
struct ib_qp_init_attr;
struct ib_udata;
struct mlx5_ep_device;

int mlx5_ep_create_qp(struct mlx5_ep_device *edev, struct ib_qp *qp,
		      struct ib_qp_init_attr *attr, struct ib_udata *udata);
void mlx5_ep_create_qp_modified(struct mlx5_ep_device *edev, struct ib_qp *qp,
				const struct ib_udata *udata);

#endif
