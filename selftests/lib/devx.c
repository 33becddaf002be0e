// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* RC QPs and send queues that are made by DevX, see devx.h. */
#include <errno.h>
#include <stdlib.h>

#include "devx.h"
#include "simhca/base/ifc.h"

#define OP_CREATE_QP 0x500
#define OP_RST2INIT_QP 0x502
#define OP_INIT2RTR_QP 0x503
#define OP_RTR2RTS_QP 0x504
#define OP_CREATE_DCT 0x710
#define OP_CREATE_SQ 0x904
#define OP_MODIFY_SQ 0x905

#define PAGE 4096u
#define LOG_SQ 4
#define BASIC_BLOCK 64u
#define LOG_BASIC_BLOCK 6
#define WQ_TYPE_CYCLIC 1
#define SQ_STATE_RDY 1
#define RQ_ZERO_SIZE 3
#define PM_STATE_MIGRATED 3
/* QPC.dbr_umem_id, which the kernel's header does not name */
#define QPC_DBR_UMEM_ID 0x720

/* What a command that makes a queue names. */
struct names {
	uint32_t pdn, cqn, page_id;
};

static int numbers(struct verbs_setup *setup, struct names *names)
{
	struct mlx5dv_pd pd = {};
	struct mlx5dv_cq cq = {};
	struct mlx5dv_obj obj = {
		.pd = { .in = setup->pd, .out = &pd },
		.cq = { .in = setup->cq, .out = &cq },
	};

	if (mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD | MLX5DV_OBJ_CQ))
		return -EINVAL;
	names->pdn = pd.pdn;
	names->cqn = cq.cqn;
	return 0;
}

static int make_qp(struct verbs_setup *setup, const struct names *names,
		   struct devx_qp *qp)
{
	uint8_t in[IFC_SZ(create_qp_in)] = {}, out[IFC_SZ(create_qp_out)] = {};
	uint8_t *c = IFC_ADDR_OF(create_qp_in, in, qpc);

	IFC_SET(create_qp_in, in, opcode, OP_CREATE_QP);
	IFC_SET(create_qp_in, in, wq_umem_id, qp->umem->umem_id);
	IFC_SET(create_qp_in, in, wq_umem_valid, 1);
	IFC_SET(qpc, c, pm_state, PM_STATE_MIGRATED);
	IFC_SET(qpc, c, rq_type, RQ_ZERO_SIZE);
	IFC_SET(qpc, c, pd, names->pdn);
	IFC_SET(qpc, c, cqn_snd, names->cqn);
	IFC_SET(qpc, c, cqn_rcv, names->cqn);
	IFC_SET(qpc, c, uar_page, names->page_id);
	IFC_SET(qpc, c, log_sq_size, LOG_SQ);
	IFC_SET(qpc, c, dbr_umem_valid, 1);
	ifc_set32(c, QPC_DBR_UMEM_ID, 32, qp->umem->umem_id);
	IFC_SET64(qpc, c, dbr_addr, PAGE);
	qp->obj = mlx5dv_devx_obj_create(setup->ctx, in, sizeof(in), out,
					 sizeof(out));
	if (!qp->obj)
		return -errno;
	qp->qpn = IFC_GET(create_qp_out, out, qpn);
	return 0;
}

static int make_sq(struct verbs_setup *setup, const struct names *names,
		   struct devx_qp *qp)
{
	uint8_t in[IFC_SZ(create_sq_in)] = {}, out[IFC_SZ(create_sq_out)] = {};
	uint8_t *c = IFC_ADDR_OF(create_sq_in, in, ctx);
	uint8_t *wq = IFC_ADDR_OF(sqc, c, wq);

	IFC_SET(create_sq_in, in, opcode, OP_CREATE_SQ);
	IFC_SET(sqc, c, cqn, names->cqn);
	IFC_SET(wq, wq, wq_type, WQ_TYPE_CYCLIC);
	IFC_SET(wq, wq, pd, names->pdn);
	IFC_SET(wq, wq, uar_page, names->page_id);
	IFC_SET(wq, wq, log_wq_stride, LOG_BASIC_BLOCK);
	IFC_SET(wq, wq, log_wq_sz, LOG_SQ);
	IFC_SET(wq, wq, wq_umem_valid, 1);
	IFC_SET(wq, wq, wq_umem_id, qp->umem->umem_id);
	IFC_SET(wq, wq, dbr_umem_valid, 1);
	IFC_SET(wq, wq, dbr_umem_id, qp->umem->umem_id);
	IFC_SET64(wq, wq, dbr_addr, PAGE);
	qp->obj = mlx5dv_devx_obj_create(setup->ctx, in, sizeof(in), out,
					 sizeof(out));
	if (!qp->obj)
		return -errno;
	qp->qpn = IFC_GET(create_sq_out, out, sqn);
	return 0;
}

/* A new queue with its memory, for which @make gives the command. */
static int create_in(struct verbs_setup *setup, uint32_t page_id,
		     struct devx_qp *qp,
		     int (*make)(struct verbs_setup *setup,
				 const struct names *names,
				 struct devx_qp *qp))
{
	struct names names = { .page_id = page_id };
	int ret = -ENOMEM;

	*qp = (struct devx_qp){ .mem = aligned_alloc(PAGE, 2 * PAGE) };
	if (!qp->mem)
		return ret;
	memset(qp->mem, 0, 2 * PAGE);
	qp->umem = mlx5dv_devx_umem_reg(setup->ctx, qp->mem, 2 * PAGE,
					IBV_ACCESS_LOCAL_WRITE);
	if (qp->umem)
		ret = numbers(setup, &names) ?: make(setup, &names, qp);
	if (ret)
		devx_qp_destroy(qp);
	return ret;
}

int devx_qp_create(struct verbs_setup *setup, uint32_t page_id,
		   struct devx_qp *qp)
{
	return create_in(setup, page_id, qp, make_qp);
}

int devx_sq_create(struct verbs_setup *setup, uint32_t page_id,
		   struct devx_qp *qp)
{
	return create_in(setup, page_id, qp, make_sq);
}

int devx_sq_make_ready(struct devx_qp *qp)
{
	uint8_t in[IFC_SZ(modify_sq_in)] = {}, out[IFC_SZ(modify_sq_out)] = {};

	IFC_SET(modify_sq_in, in, opcode, OP_MODIFY_SQ);
	IFC_SET(modify_sq_in, in, sqn, qp->qpn);
	IFC_SET(modify_sq_in, in, ctx.state, SQ_STATE_RDY);
	return mlx5dv_devx_obj_modify(qp->obj, in, sizeof(in), out,
				      sizeof(out)) ? -errno : 0;
}

int devx_dct_create(struct verbs_setup *setup, struct ibv_srq *srq,
		    struct devx_qp *qp)
{
	uint8_t in[IFC_SZ(create_dct_in)] = {}, out[IFC_SZ(create_dct_out)] = {};
	uint8_t *c = IFC_ADDR_OF(create_dct_in, in, dct_context_entry);
	struct mlx5dv_srq dv = { .comp_mask = MLX5DV_SRQ_MASK_SRQN };
	struct mlx5dv_obj obj = { .srq = { .in = srq, .out = &dv } };
	struct names names;

	*qp = (struct devx_qp){};
	if (numbers(setup, &names) || mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ))
		return -EINVAL;
	IFC_SET(create_dct_in, in, opcode, OP_CREATE_DCT);
	IFC_SET(dctc, c, pd, names.pdn);
	IFC_SET(dctc, c, cqn, names.cqn);
	IFC_SET(dctc, c, srqn_xrqn, dv.srqn);
	IFC_SET(dctc, c, mtu, IBV_MTU_1024);
	IFC_SET(dctc, c, port, 1);
	qp->obj = mlx5dv_devx_obj_create(setup->ctx, in, sizeof(in), out,
					 sizeof(out));
	if (!qp->obj)
		return -errno;
	qp->qpn = IFC_GET(create_dct_out, out, dctn);
	return 0;
}

void devx_qp_destroy(struct devx_qp *qp)
{
	if (qp->obj)
		mlx5dv_devx_obj_destroy(qp->obj);
	if (qp->umem)
		mlx5dv_devx_umem_dereg(qp->umem);
	free(qp->mem);
	*qp = (struct devx_qp){};
}

int devx_qp_connect(struct verbs_setup *setup, struct devx_qp *qp)
{
	static const uint16_t steps[] = {
		OP_RST2INIT_QP, OP_INIT2RTR_QP, OP_RTR2RTS_QP,
	};
	uint8_t in[IFC_SZ(rst2init_qp_in)] = {}, out[16];
	uint8_t *c = IFC_ADDR_OF(rst2init_qp_in, in, qpc);
	size_t i;

	IFC_SET(rst2init_qp_in, in, qpn, qp->qpn);
	IFC_SET(qpc, c, pm_state, PM_STATE_MIGRATED);
	IFC_SET(qpc, c, mtu, IBV_MTU_1024);
	IFC_SET(qpc, c, log_msg_max, 30);
	IFC_SET(qpc, c, remote_qpn, qp->qpn);
	IFC_SET(qpc, c, primary_address_path.rlid, setup->address.lid);
	IFC_SET(qpc, c, primary_address_path.vhca_port_num, 1);
	IFC_SET(qpc, c, primary_address_path.ack_timeout, 14);
	IFC_SET(qpc, c, retry_count, 7);
	IFC_SET(qpc, c, rnr_retry, 7);
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		IFC_SET(rst2init_qp_in, in, opcode, steps[i]);
		if (mlx5dv_devx_obj_modify(qp->obj, in, sizeof(in), out,
					   sizeof(out)))
			return -errno;
	}
	return 0;
}

int devx_init_verbs_qp(struct ibv_qp *qp)
{
	uint8_t in[IFC_SZ(rst2init_qp_in)] = {}, out[16] = {};
	uint8_t *c = IFC_ADDR_OF(rst2init_qp_in, in, qpc);

	IFC_SET(rst2init_qp_in, in, opcode, OP_RST2INIT_QP);
	IFC_SET(rst2init_qp_in, in, qpn, qp->qp_num);
	IFC_SET(qpc, c, pm_state, PM_STATE_MIGRATED);
	IFC_SET(qpc, c, primary_address_path.vhca_port_num, 1);
	return -mlx5dv_devx_qp_modify(qp, in, sizeof(in), out, sizeof(out));
}

void devx_qp_ring(struct devx_qp *qp, void *reg)
{
	uint32_t *wqe = qp->mem +
			qp->posted % (1 << LOG_SQ) * BASIC_BLOCK;
	volatile uint32_t *record = qp->mem + PAGE;

	/* Opcode 0 (NOP) with the index; then the number and one segment. */
	wqe[0] = htobe32((uint32_t)qp->posted << 8);
	wqe[1] = htobe32(qp->qpn << 8 | 1);
	qp->posted++;
	__sync_synchronize();
	record[1] = htobe32(qp->posted);
	__sync_synchronize();
	*(volatile uint64_t *)reg = *(uint64_t *)wqe;
}

int devx_uar_rung(struct verbs_setup *setup, uint32_t type)
{
	struct mlx5dv_devx_uar *uar = mlx5dv_devx_alloc_uar(setup->ctx, type);
	struct devx_qp qp;
	int ret;

	if (!uar)
		return -errno;
	ret = devx_qp_create(setup, uar->page_id, &qp);
	if (!ret) {
		ret = devx_qp_connect(setup, &qp);
		if (!ret)
			devx_qp_ring(&qp, uar->reg_addr);
		devx_qp_destroy(&qp);
	}
	mlx5dv_devx_free_uar(uar);
	return ret;
}
