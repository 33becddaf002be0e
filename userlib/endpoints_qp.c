// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A QP with its CQ, and the address that the QP rings.
 *
 * Never: a CQ passed to mlx5dv_init_obj(). libmlx5 would then leave the CQEs of
 * destroyed QPs in that CQ.
 */
#include <infiniband/mlx5dv.h>

#include "endpoints.h"
#include "internal.h"

#define CQE_BYTES 64
/*
 * The mmap offset of a UAR page has a command in bits 8 to 15 of its page
 * number. It is 9 or more for a page that was allocated after the context was
 * opened (MLX5_IB_MMAP_OFFSET_START, drivers/infiniband/hw/mlx5/mlx5_ib.h).
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

static int read_back(struct endpoint_qp *qp)
{
	struct mlx5dv_qp dv = { .comp_mask = MLX5DV_QP_MASK_UAR_MMAP_OFFSET };
	struct mlx5dv_obj obj = {};
	int ret;

	obj.qp.in = qp->ibv;
	obj.qp.out = &dv;
	ret = mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	if (ret)
		return -ret;
	qp->uuar = (uintptr_t)dv.bf.reg;
	qp->blueflame = dv.bf.size;
	qp->dynamic = (dv.comp_mask & MLX5DV_QP_MASK_UAR_MMAP_OFFSET) &&
		((unsigned long)dv.uar_mmap_offset >> 20 & 0xff) >=
		MMAP_DYNAMIC;
	qp->bytes = (uint64_t)dv.sq.wqe_cnt * dv.sq.stride +
		(uint64_t)dv.rq.wqe_cnt * dv.rq.stride;
	if (qp->cq)
		qp->bytes += ((uint64_t)ibv_cq_ex_to_cq(qp->cq)->cqe + 1) *
			CQE_BYTES;
	return 0;
}

/* The attributes of a QP: those of its endpoint, or else those of the set. */
static struct ibv_qp_init_attr_ex
init_attr(const struct mlx5ep_endpoints_attr *attr,
	  const struct mlx5ep_endpoint_attr *each)
{
	if (each && each->qp_attr)
		return *each->qp_attr;
	return (struct ibv_qp_init_attr_ex) {
		.srq = attr->srq,
		.cap = cap_is_zero(&attr->cap) ? default_cap : attr->cap,
		.qp_type = attr->qp_type ? attr->qp_type : IBV_QPT_RC,
		.sq_sig_all = attr->sq_sig_all,
	};
}

static int cq_init(struct mlx5ep_endpoints *set, struct endpoint_qp *qp,
		   const struct mlx5ep_endpoint_attr *each,
		   const struct ibv_qp_cap *cap)
{
	const struct mlx5ep_endpoints_attr *attr = &set->attr;
	struct ibv_cq_init_attr_ex cq_attr = {
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
	};

	if (each) {
		cq_attr.channel = each->channel;
		cq_attr.comp_vector = each->comp_vector;
		cq_attr.cq_context = each->cq_context;
	}
	cq_attr.cqe = attr->cqe ? attr->cqe :
		cap->max_send_wr + cap->max_recv_wr + 1;
	if (endpoints_cq_unlocked(set))
		cq_attr.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	qp->cq = ibv_create_cq_ex(qp->owner->ctx, &cq_attr);
	if (!qp->cq)
		return -errno;
	qp->send_cq = ibv_cq_ex_to_cq(qp->cq);
	qp->recv_cq = qp->send_cq;
	return 0;
}

/**
 * endpoint_qp_init() - create a QP, and a CQ if the caller has none
 * @set: has its attributes
 * @qp: has its owner and domain; written, also after a failure:
 *	endpoint_qp_fini() undoes what was done
 * @each: attributes of its endpoint, or NULL
 *
 * Return: 0 or -errno.
 */
int endpoint_qp_init(struct mlx5ep_endpoints *set, struct endpoint_qp *qp,
		     const struct mlx5ep_endpoint_attr *each)
{
	struct ibv_qp_init_attr_ex attr = init_attr(&set->attr, each);
	int ret;

	qp->send_cq = attr.send_cq;
	qp->recv_cq = attr.recv_cq;
	if (!attr.send_cq) {
		ret = cq_init(set, qp, each, &attr.cap);
		if (ret)
			return ret;
	}
	attr.send_cq = qp->send_cq;
	attr.recv_cq = qp->recv_cq;
	attr.pd = qp->domain ? qp->domain->pd : qp->owner->pd;
	attr.comp_mask |= IBV_QP_INIT_ATTR_PD;
	qp->ibv = ibv_create_qp_ex(qp->owner->ctx, &attr);
	if (!qp->ibv)
		return -errno;
	return read_back(qp);
}

/**
 * endpoint_qp_fini() - destroy QP and CQ
 * @qp: zeroed, or from endpoint_qp_init()
 *
 * Return: 0 or -errno. After a failure the call can be repeated.
 */
int endpoint_qp_fini(struct endpoint_qp *qp)
{
	int ret;

	if (qp->ibv) {
		ret = ibv_destroy_qp(qp->ibv);
		if (ret)
			return -ret;
		qp->ibv = NULL;
	}
	if (qp->cq) {
		ret = ibv_destroy_cq(ibv_cq_ex_to_cq(qp->cq));
		if (ret)
			return -ret;
		qp->cq = NULL;
	}
	return 0;
}
