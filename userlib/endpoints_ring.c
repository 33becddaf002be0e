// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A QP with its CQ, and the address that it rings.
 *
 * The CQ is never given to mlx5dv_init_obj(): that makes libmlx5 leave the CQEs
 * of destroyed QPs in it.
 */
#include <infiniband/mlx5dv.h>

#include "endpoints.h"
#include "internal.h"

#define CQE_BYTES 64
/*
 * The mmap offset of a UAR page has a command in bits 8 to 15 of its page number;
 * pages that came after the context have one from 9 up
 * (MLX5_IB_MMAP_OFFSET_START, drivers/infiniband/hw/mlx5/mlx5_ib.h)
 */
#define MMAP_DYNAMIC 9

static const struct ibv_qp_cap default_cap = {
	.max_send_wr = 128,
	.max_recv_wr = 128,
	.max_send_sge = 1,
	.max_recv_sge = 1,
};

static bool cap_is_zero(const struct ibv_qp_cap *cap)
{
	return !cap->max_send_wr && !cap->max_recv_wr && !cap->max_send_sge &&
		!cap->max_recv_sge && !cap->max_inline_data;
}

static int read_back(struct ring *ring)
{
	struct mlx5dv_qp dv = { .comp_mask = MLX5DV_QP_MASK_UAR_MMAP_OFFSET };
	struct mlx5dv_obj obj = {};
	struct ibv_cq *cq = ibv_cq_ex_to_cq(ring->cq);
	int ret;

	obj.qp.in = ring->qp;
	obj.qp.out = &dv;
	ret = mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	if (ret)
		return -ret;
	ring->reg = (uintptr_t)dv.bf.reg;
	ring->blueflame = dv.bf.size;
	ring->dynamic = (dv.comp_mask & MLX5DV_QP_MASK_UAR_MMAP_OFFSET) &&
		((unsigned long)dv.uar_mmap_offset >> 20 & 0xff) >=
		MMAP_DYNAMIC;
	ring->bytes = (uint64_t)dv.sq.wqe_cnt * dv.sq.stride +
		(uint64_t)dv.rq.wqe_cnt * dv.rq.stride +
		((uint64_t)cq->cqe + 1) * CQE_BYTES;
	return 0;
}

/**
 * ring_init - create a CQ and a QP
 * @set: with its attributes
 * @ring: written
 * @home: context
 * @dom: thread domain of the QP, or NULL
 *
 * Return: 0 or -errno; what was made so far is in @ring for ring_fini().
 */
int ring_init(struct mlx5ep_endpoints *set, struct ring *ring,
	      struct home *home, struct domain *dom)
{
	const struct mlx5ep_endpoints_attr *attr = &set->attr;
	struct ibv_cq_init_attr_ex cq_attr = {
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
	};
	struct ibv_qp_init_attr qp_attr = {
		.srq = attr->srq,
		.cap = cap_is_zero(&attr->cap) ? default_cap : attr->cap,
		.qp_type = attr->qp_type ? attr->qp_type : IBV_QPT_RC,
		.sq_sig_all = attr->sq_sig_all,
	};

	ring->home = home;
	ring->dom = dom;
	cq_attr.cqe = attr->cqe ? attr->cqe :
		qp_attr.cap.max_send_wr + qp_attr.cap.max_recv_wr + 1;
	if (!(attr->flags & MLX5EP_ENDPOINTS_LOCKED_CQ) &&
	    (set->category != MLX5EP_MPI_THREADS || set->n == 1))
		cq_attr.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	ring->cq = ibv_create_cq_ex(home->ctx, &cq_attr);
	if (!ring->cq)
		return -errno;
	qp_attr.send_cq = ibv_cq_ex_to_cq(ring->cq);
	qp_attr.recv_cq = qp_attr.send_cq;
	ring->qp = ibv_create_qp(dom ? dom->pd : home->pd, &qp_attr);
	if (!ring->qp)
		return -errno;
	return read_back(ring);
}

/**
 * ring_fini - destroy QP and CQ; may be called again after a failure
 * @ring: ring, or one that was never made
 *
 * Return: 0 or -errno.
 */
int ring_fini(struct ring *ring)
{
	int ret;

	if (ring->qp) {
		ret = ibv_destroy_qp(ring->qp);
		if (ret)
			return -ret;
		ring->qp = NULL;
	}
	if (ring->cq) {
		ret = ibv_destroy_cq(ibv_cq_ex_to_cq(ring->cq));
		if (ret)
			return -ret;
		ring->cq = NULL;
	}
	return 0;
}
