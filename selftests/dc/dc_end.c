// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* See dc_end.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dc_end.h"
#include "patience.h"
#include "verbs.h"

#define PAGE 4096u
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define SEND_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | \
		  IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ | \
		  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | \
		  IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
#define TIMEOUT 8	/* 1 ms: a lost message costs a few of them */
#define RETRIES 2

static int bad(const char *what)
{
	int error = errno ? errno : EIO;

	fprintf(stderr, "# %s: %s\n", what, strerror(error));
	return -error;
}

static int to_init(struct ibv_qp *qp, bool target)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
				    .qp_access_flags = ACCESS };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	errno = ibv_modify_qp(qp, &attr,
			      mask | (target ? IBV_QP_ACCESS_FLAGS : 0));
	return errno ? bad(target ? "DCT to INIT" : "DCI to INIT") : 0;
}

/* A target exists in the adapter from RTR on; its path is how it answers. */
static int target_up(struct dc_end *end)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .min_rnr_timer = 1,
				    .ah_attr = address_path(&end->address) };
	int ret = to_init(end->dct, true);

	if (ret)
		return ret;
	errno = ibv_modify_qp(end->dct, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU |
			      IBV_QP_MIN_RNR_TIMER | IBV_QP_AV);
	return errno ? bad("DCT to RTR") : 0;
}

static int initiator_up(struct ibv_qp *dci)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024 };
	int ret = to_init(dci, false);

	if (ret)
		return ret;
	errno = ibv_modify_qp(dci, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU);
	if (errno)
		return bad("DCI to RTR");
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
				     .timeout = TIMEOUT, .retry_cnt = RETRIES,
				     .rnr_retry = 7, .max_rd_atomic = 1 };
	errno = ibv_modify_qp(dci, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	return errno ? bad("DCI to RTS") : 0;
}

static int make_target(struct dc_end *end)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = end->rcq, .recv_cq = end->rcq, .srq = end->srq,
		.qp_type = IBV_QPT_DRIVER, .pd = end->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCT,
				  .dct_access_key = DC_KEY },
	};

	end->dct = mlx5dv_create_qp(end->ctx, &attr, &dv);
	return end->dct ? target_up(end) : bad("create the DCT");
}

static int make_initiator(struct dc_end *end, uint8_t log_streams)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = end->cq, .recv_cq = end->cq, .pd = end->pd,
		.cap = { .max_send_wr = 8, .max_send_sge = 1 },
		.qp_type = IBV_QPT_DRIVER, .sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = SEND_OPS,
	};
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCI,
	};

	if (log_streams) {
		dv.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
		dv.dc_init_attr.dci_streams.log_num_concurent = log_streams;
		dv.dc_init_attr.dci_streams.log_num_errored = log_streams - 1;
	}
	end->dci = mlx5dv_create_qp(end->ctx, &attr, &dv);
	return end->dci ? initiator_up(end->dci) : bad("create the DCI");
}

int dc_end_renew(struct dc_end *end, uint8_t log_streams)
{
	if (ibv_destroy_qp(end->dci))
		return bad("destroy the DCI");
	return make_initiator(end, log_streams);
}

static int make_queues(struct dc_end *end)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = DC_RECVS,
						   .max_sge = 1 } };
	size_t size = 2 * PAGE + DC_RECVS * DC_LEN;

	end->pd = ibv_alloc_pd(end->ctx);
	end->cq = ibv_create_cq(end->ctx, 32, NULL, NULL, 0);
	end->rcq = ibv_create_cq(end->ctx, 32, NULL, NULL, 0);
	end->from = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
	if (!end->pd || !end->cq || !end->rcq || !end->from)
		return bad("PD, CQs, memory");
	memset(end->from, 0, size);
	end->to = end->from + PAGE;
	end->received = end->to + PAGE;
	end->srq = ibv_create_srq(end->pd, &srq);
	end->mr = ibv_reg_mr(end->pd, end->from, size, ACCESS);
	return end->srq && end->mr ? 0 : bad("SRQ, memory region");
}

int dc_end_open(struct dc_end *end, const char *device,
		const struct address *own, uint8_t log_streams)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *dev;
	int ret;

	memset(end, 0, sizeof(*end));
	dev = list ? verbs_find_device(list, device) : NULL;
	end->ctx = dev ? ibv_open_device(dev) : NULL;
	ibv_free_device_list(list);
	if (!end->ctx)
		return bad(device);
	ret = own ? 0 : address_query(end->ctx, &end->address);
	if (own)
		end->address = *own;
	if (!ret)
		ret = make_queues(end);
	if (!ret)
		ret = make_target(end);
	return ret ? ret : make_initiator(end, log_streams);
}

void dc_end_close(struct dc_end *end)
{
	if (end->dci)
		ibv_destroy_qp(end->dci);
	if (end->dct)
		ibv_destroy_qp(end->dct);
	if (end->mr)
		ibv_dereg_mr(end->mr);
	if (end->srq)
		ibv_destroy_srq(end->srq);
	if (end->rcq)
		ibv_destroy_cq(end->rcq);
	if (end->cq)
		ibv_destroy_cq(end->cq);
	if (end->pd)
		ibv_dealloc_pd(end->pd);
	if (end->ctx)
		ibv_close_device(end->ctx);
	free(end->from);
	memset(end, 0, sizeof(*end));
}

struct dc_to dc_to(struct dc_end *end, const struct dc_end *peer)
{
	struct address address = peer->address;
	struct ibv_ah_attr path;

	address.gid_index = end->address.gid_index;
	path = address_path(&address);
	return (struct dc_to){
		.ah = ibv_create_ah(end->pd, &path),
		.dctn = peer->dct->qp_num,
		.key = DC_KEY,
		.addr = (uintptr_t)peer->to,
		.rkey = peer->mr->rkey,
	};
}

void dc_fill(struct dc_end *end, uint8_t seed)
{
	unsigned int i;

	for (i = 0; i < DC_LEN; i++)
		end->from[i] = i * 3 + seed;
}

static int end_post(struct dc_end *end, const struct dc_to *to,
		    enum ibv_wr_opcode op)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(end->dci);
	struct mlx5dv_qp_ex *dv = mlx5dv_qp_ex_from_ibv_qp_ex(ex);
	uint32_t len = DC_LEN;

	ibv_wr_start(ex);
	if (op == IBV_WR_SEND) {
		ibv_wr_send(ex);
	} else if (op == IBV_WR_SEND_WITH_IMM) {
		ibv_wr_send_imm(ex, htobe32(DC_IMM));
	} else if (op == IBV_WR_RDMA_WRITE) {
		ibv_wr_rdma_write(ex, to->rkey, to->addr);
	} else if (op == IBV_WR_RDMA_READ) {
		ibv_wr_rdma_read(ex, to->rkey, to->addr);
	} else if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		ibv_wr_atomic_fetch_add(ex, to->rkey, to->addr, 2);
		len = sizeof(uint64_t);
	} else {
		ibv_wr_atomic_cmp_swp(ex, to->rkey, to->addr, 42, 7);
		len = sizeof(uint64_t);
	}
	if (to->stream)
		mlx5dv_wr_set_dc_addr_stream(dv, to->ah, to->dctn, to->key,
					     to->stream);
	else
		mlx5dv_wr_set_dc_addr(dv, to->ah, to->dctn, to->key);
	ibv_wr_set_sge(ex, end->mr->lkey, (uintptr_t)end->from, len);
	errno = ibv_wr_complete(ex);
	return errno ? bad("post") : 0;
}

static int end_wait_for(struct ibv_cq *cq, struct ibv_wc *wc)
{
	int tries, n;

	for (tries = 0; tries < EVENT_MS; tries++) {
		n = ibv_poll_cq(cq, 1, wc);
		if (n)
			return n < 0 ? -EIO : 0;
		usleep(1000);
	}
	return -ETIMEDOUT;
}

int dc_run(struct dc_end *end, const struct dc_to *to, enum ibv_wr_opcode op)
{
	struct ibv_wc wc;
	int ret = end_post(end, to, op);

	if (!ret)
		ret = end_wait_for(end->cq, &wc);
	return ret ? ret : (int)wc.status;
}

int dc_recv_post(struct dc_end *end, unsigned int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->received + slot * DC_LEN,
		.length = DC_LEN, .lkey = end->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *wrong;

	errno = ibv_post_srq_recv(end->srq, &wr, &wrong);
	return errno ? bad("post a receive") : 0;
}

int dc_recv(struct dc_end *end, struct ibv_wc *wc)
{
	int ret = end_wait_for(end->rcq, wc);

	if (ret || wc->status)
		return ret ? ret : -EIO;
	return wc->byte_len;
}
