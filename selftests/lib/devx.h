/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RC QPs that a program makes by DevX, send queues without a QP, and DC targets, with
 * stock libmlx5 only: the program writes the commands, owns the queue, and rings the UAR
 * page that it chose.
 */
#ifndef SELFTESTS_DEVX_H
#define SELFTESTS_DEVX_H

#include <stdint.h>
#include <infiniband/mlx5dv.h>

#include "verbs.h"

struct devx_qp {
	struct mlx5dv_devx_obj *obj;
	struct mlx5dv_devx_umem *umem;
	void *mem;		/* send queue, then doorbell record */
	uint32_t qpn;
	uint16_t posted;
};

/**
 * devx_qp_create() - make a QP on a UAR page
 * @page_id: number of the page in the device, as in struct mlx5dv_devx_uar
 *
 * Return: 0 or -errno.
 */
int devx_qp_create(struct verbs_setup *setup, uint32_t page_id,
		   struct devx_qp *qp);
void devx_qp_destroy(struct devx_qp *qp);

/* A send queue without a QP, as @qp; it can be rung when it is ready. */
int devx_sq_create(struct verbs_setup *setup, uint32_t page_id,
		   struct devx_qp *qp);
int devx_sq_make_ready(struct devx_qp *qp);

/* A DC target, as @qp, with receives of @srq. Return: 0 or -errno. */
int devx_dct_create(struct verbs_setup *setup, struct ibv_srq *srq,
		    struct devx_qp *qp);

/* Connect a QP to itself. Return: 0 or -errno. */
int devx_qp_connect(struct verbs_setup *setup, struct devx_qp *qp);

/* Bring a QP of verbs from RESET to INIT. Return: 0 or -errno. */
int devx_init_verbs_qp(struct ibv_qp *qp);

/* Post a request that does nothing, and ring the register @reg for it. */
void devx_qp_ring(struct devx_qp *qp, void *reg);

/* Allocate a UAR of this type, and ring it by a QP. Return: 0 or -errno. */
int devx_uar_rung(struct verbs_setup *setup, uint32_t type);

#endif
