// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Raw libibverbs for the tests: contexts, QPs, connections. Traffic is in
 * traffic.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <infiniband/mlx5dv.h>

#include "verbs.h"
#include "verbs_xrc.h"

#define QKEY 0x11111111u

static int failed(const char *what)
{
	int ret = errno ? -errno : -EIO;

	fprintf(stderr, "# %s: %s\n", what, strerror(-ret));
	return ret;
}

struct ibv_device *verbs_find_device(struct ibv_device **list,
				     const char *name)
{
	for (; *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return *list;
	errno = ENODEV;
	return NULL;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	struct ibv_device *device;

	if (!list)
		return NULL;
	device = verbs_find_device(list, name);
	if (device)
		ctx = ibv_open_device(device);
	ibv_free_device_list(list);
	return ctx;
}

const char *verbs_device_name(void)
{
	static char name[64];
	struct ibv_device **list;

	if (getenv("MLX5_EP_DEVICE"))
		return getenv("MLX5_EP_DEVICE");
	list = ibv_get_device_list(NULL);
	snprintf(name, sizeof(name), "%s", list && list[0] ?
		 ibv_get_device_name(list[0]) : "mlx5_0");
	if (list)
		ibv_free_device_list(list);
	return name;
}

int verbs_open(struct verbs_rig *rig, const char *device, size_t max_eps)
{
	size_t len = 2 * VERBS_SLICE * max_eps;
	int ret;

	memset(rig, 0, sizeof(*rig));
	rig->max_eps = max_eps;
	if (!device)
		device = verbs_device_name();
	rig->ctx = open_device(device);
	if (!rig->ctx)
		return failed(device);
	if (ibv_query_port(rig->ctx, 1, &rig->port)) {
		ret = failed("ibv_query_port");
		goto err_close;
	}
	rig->pd = ibv_alloc_pd(rig->ctx);
	if (!rig->pd) {
		ret = failed("ibv_alloc_pd");
		goto err_close;
	}
	rig->cq = ibv_create_cq(rig->ctx, 4 * max_eps + 16, NULL, NULL, 0);
	if (!rig->cq) {
		ret = failed("ibv_create_cq");
		goto err_pd;
	}
	rig->buf = mmap(NULL, len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (rig->buf == MAP_FAILED) {
		ret = failed("mmap");
		goto err_cq;
	}
	rig->mr = ibv_reg_mr(rig->pd, rig->buf, len, IBV_ACCESS_LOCAL_WRITE |
			     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			     IBV_ACCESS_REMOTE_ATOMIC);
	if (!rig->mr) {
		ret = failed("ibv_reg_mr");
		goto err_buf;
	}
	return 0;

err_buf:
	munmap(rig->buf, len);
err_cq:
	ibv_destroy_cq(rig->cq);
err_pd:
	ibv_dealloc_pd(rig->pd);
err_close:
	ibv_close_device(rig->ctx);
	memset(rig, 0, sizeof(*rig));
	return ret;
}

void verbs_close(struct verbs_rig *rig)
{
	if (!rig->ctx)
		return;
	if (ibv_dereg_mr(rig->mr))
		failed("ibv_dereg_mr");
	munmap(rig->buf, 2 * VERBS_SLICE * rig->max_eps);
	if (rig->xrcd && ibv_close_xrcd(rig->xrcd))
		failed("ibv_close_xrcd");
	if (ibv_destroy_cq(rig->cq))
		failed("ibv_destroy_cq");
	if (ibv_dealloc_pd(rig->pd))
		failed("ibv_dealloc_pd");
	if (ibv_close_device(rig->ctx))
		failed("ibv_close_device");
	memset(rig, 0, sizeof(*rig));
}

struct ibv_qp *verbs_qp_create(struct ibv_pd *pd, struct ibv_cq *cq,
			       enum ibv_qp_type type)
{
	bool receives = type != IBV_QPT_XRC_SEND;
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = receives ? cq : NULL,
		.qp_type = type,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = receives ? 4 : 0,
			.max_send_sge = 1,
			.max_recv_sge = receives ? 1 : 0,
			.max_inline_data = 32,
		},
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};

	return ibv_create_qp_ex(pd->context, &attr);
}

/* A reliable connection, at either end? */
static bool is_reliable(const struct ibv_qp *qp)
{
	return qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND ||
		qp->qp_type == IBV_QPT_XRC_RECV;
}

/* Does it answer reads and atomics; does it send any? */
static bool is_responder(const struct ibv_qp *qp)
{
	return is_reliable(qp) && qp->qp_type != IBV_QPT_XRC_SEND;
}

static bool is_requester(const struct ibv_qp *qp)
{
	return is_reliable(qp) && qp->qp_type != IBV_QPT_XRC_RECV;
}

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	if (is_reliable(qp))
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC;
	mask |= qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	return ibv_modify_qp(qp, &attr, mask);
}

static int to_rtr(struct ibv_qp *qp, uint32_t peer, uint16_t lid)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.rq_psn = peer & 0xffff,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .dlid = lid, .port_num = 1 },
	};
	int mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (is_responder(qp))
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp, &attr, mask);
}

static int to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = qp->qp_num & 0xffff,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (is_reliable(qp))
		mask |= IBV_QP_TIMEOUT;
	if (is_requester(qp))
		mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(qp, &attr, mask);
}

int verbs_qp_connect(struct ibv_qp *qp, uint32_t peer, uint16_t lid)
{
	int ret;

	ret = to_init(qp);
	if (!ret)
		ret = to_rtr(qp, peer, lid);
	if (!ret)
		ret = to_rts(qp);
	return -ret;
}

static int connect_to_self(struct verbs_ep *ep)
{
	struct ibv_ah_attr ah = { .dlid = ep->rig->port.lid, .port_num = 1 };
	struct ibv_qp *receiver = ep->target ? ep->target : ep->qp;
	int ret;

	ret = verbs_qp_connect(ep->qp, receiver->qp_num, ep->rig->port.lid);
	if (!ret && ep->target)
		ret = verbs_qp_connect(ep->target, ep->qp->qp_num,
				       ep->rig->port.lid);
	if (ret) {
		errno = -ret;
		return failed("ibv_modify_qp");
	}
	if (ep->qp->qp_type == IBV_QPT_UD) {
		ep->ah = ibv_create_ah(ep->rig->pd, &ah);
		if (!ep->ah)
			return failed("ibv_create_ah");
	}
	return 0;
}

int verbs_ep_create_in(struct verbs_rig *rig, struct ibv_pd *pd,
		       struct verbs_ep *ep, enum ibv_qp_type type)
{
	int ret;

	memset(ep, 0, sizeof(*ep));
	if (rig->next >= rig->max_eps)
		return -ENOBUFS;
	ep->rig = rig;
	ep->peer = ep;
	ep->src = rig->buf + 2 * VERBS_SLICE * rig->next;
	ep->dst = ep->src + VERBS_SLICE;
	ep->qp = verbs_qp_create(pd, rig->cq, type);
	if (!ep->qp)
		return errno ? -errno : -EIO;
	ret = type == IBV_QPT_XRC_SEND ? verbs_xrc_create(ep) : 0;
	if (!ret)
		ret = connect_to_self(ep);
	if (ret) {
		verbs_ep_destroy(ep);
		return ret;
	}
	rig->next++;
	return 0;
}

int verbs_ep_create(struct verbs_rig *rig, struct verbs_ep *ep,
		    enum ibv_qp_type type)
{
	return verbs_ep_create_in(rig, rig->pd, ep, type);
}

void verbs_ep_destroy(struct verbs_ep *ep)
{
	if (ep->ah && ibv_destroy_ah(ep->ah))
		failed("ibv_destroy_ah");
	if (ep->qp && ibv_destroy_qp(ep->qp))
		failed("ibv_destroy_qp");
	ep->ah = NULL;
	ep->qp = NULL;
	if (verbs_xrc_destroy(ep))
		failed("destroying what an XRC endpoint receives by");
}

int verbs_uuar(struct ibv_qp *qp, unsigned int *index)
{
	struct mlx5dv_qp dv = { .comp_mask = MLX5DV_QP_MASK_UAR_MMAP_OFFSET };
	struct mlx5dv_obj obj = { .qp = { .in = qp, .out = &dv } };
	unsigned int page, command;
	int ret;

	ret = mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	if (ret)
		return ret > 0 ? -ret : ret;
	if (!(dv.comp_mask & MLX5DV_QP_MASK_UAR_MMAP_OFFSET))
		return -EOPNOTSUPP;
	/* libmlx5: index in bits 0-7 and 16 up, command in bits 8-15 */
	page = dv.uar_mmap_offset / 4096;
	command = page >> 8 & 0xff;
	page = (page & 0xff) | page >> 16 << 8;
	if (command != 0 && command != 2 && command != 3)
		return -ENOENT;
	*index = 2 * page + (((uintptr_t)dv.bf.reg & 0xfff) >= 0xa00);
	return 0;
}
