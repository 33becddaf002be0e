// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* XRC for the tests: domains with SRQs, initiators, messages. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "patience.h"
#include "sysfs.h"
#include "verbs.h"
#include "xrc.h"

#define SEND_MS 10000

static int failed(const char *what)
{
	int ret = errno ? -errno : -EIO;

	fprintf(stderr, "# %s: %s\n", what, strerror(-ret));
	return ret;
}

const char *xrc_device(unsigned int index)
{
	static char name[2][16];

	snprintf(name[index % 2], sizeof(name[0]), "mlx5_%u", index);
	return name[index % 2];
}

struct ibv_context *xrc_context(const char *device)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	if (!device)
		device = verbs_device_name();
	errno = ENODEV;
	for (i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), device))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	if (!ctx)
		failed(device);
	return ctx;
}

static int port_address(struct ibv_context *ctx, struct address *address)
{
	errno = -address_query(ctx, address);
	return errno ? failed("the address of the port") : 0;
}

static int srq_post(struct xrc_node *node, struct xrc_srq *srq,
		    unsigned int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(srq->buf + slot * XRC_MSG),
		.length = XRC_MSG,
		.lkey = node->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = (srq - node->srqs) * XRC_DEPTH + slot,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_recv_wr *bad;
	int ret = ibv_post_srq_recv(srq->srq, &wr, &bad);

	if (ret)
		errno = ret;
	return ret ? failed("ibv_post_srq_recv") : 0;
}

static int srq_open(struct xrc_node *node, unsigned int index)
{
	struct xrc_srq *srq = &node->srqs[index];
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = XRC_DEPTH, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = node->pd,
		.xrcd = mlx5ep_xrcd_ibv(node->xrcd),
		.cq = node->cq,
	};
	unsigned int i;
	int ret = 0;

	srq->buf = node->buf + index * XRC_DEPTH * XRC_MSG;
	srq->srq = ibv_create_srq_ex(node->ctx, &attr);
	if (!srq->srq)
		return failed("ibv_create_srq_ex");
	if (ibv_get_srq_num(srq->srq, &srq->num))
		return failed("ibv_get_srq_num");
	for (i = 0; i < XRC_DEPTH && !ret; i++)
		ret = srq_post(node, srq, i);
	return ret;
}

static int domain_open(struct xrc_node *node, const char *path)
{
	int fd = -1, ret;

	if (path) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			return failed(path);
	}
	ret = mlx5ep_xrcd_open(node->ctx, fd, O_CREAT, &node->xrcd);
	if (ret) {
		errno = -ret;
		failed("mlx5ep_xrcd_open");
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

static int node_setup(struct xrc_node *node, const char *path,
		      unsigned int n_srqs)
{
	size_t len = (size_t)(n_srqs ? n_srqs : 1) * XRC_DEPTH * XRC_MSG;
	unsigned int i;
	int ret;

	ret = port_address(node->ctx, &node->address);
	if (ret)
		return ret;
	node->pd = ibv_alloc_pd(node->ctx);
	if (!node->pd)
		return failed("ibv_alloc_pd");
	node->cq = ibv_create_cq(node->ctx, n_srqs * XRC_DEPTH + 1, NULL, NULL,
				 0);
	if (!node->cq)
		return failed("ibv_create_cq");
	if (posix_memalign((void **)&node->buf, 4096, len))
		return -ENOMEM;
	memset(node->buf, 0, len);
	node->mr = ibv_reg_mr(node->pd, node->buf, len, IBV_ACCESS_LOCAL_WRITE);
	if (!node->mr)
		return failed("ibv_reg_mr");
	ret = domain_open(node, path);
	if (ret)
		return ret;
	node->srqs = calloc(n_srqs + 1, sizeof(*node->srqs));
	if (!node->srqs)
		return -ENOMEM;
	for (i = 0; i < n_srqs; i++) {
		node->n_srqs = i + 1;
		ret = srq_open(node, i);
		if (ret)
			return ret;
	}
	return 0;
}

int xrc_node_open(struct xrc_node *node, const char *device, const char *path,
		  unsigned int n_srqs)
{
	int ret;

	memset(node, 0, sizeof(*node));
	node->ctx = xrc_context(device);
	if (!node->ctx)
		return -ENODEV;
	ret = node_setup(node, path, n_srqs);
	if (ret)
		xrc_node_close(node);
	return ret;
}

struct ibv_qp *xrc_upstream_create(struct xrc_node *node)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = mlx5ep_xrcd_ibv(node->xrcd),
	};

	return ibv_create_qp_ex(node->ctx, &attr);
}

int xrc_node_close(struct xrc_node *node)
{
	unsigned int i;
	int ret;

	for (i = 0; i < node->n_srqs; i++)
		if (node->srqs[i].srq && ibv_destroy_srq(node->srqs[i].srq))
			failed("ibv_destroy_srq");
	node->n_srqs = 0;
	if (node->xrcd) {
		ret = mlx5ep_xrcd_close(node->xrcd);
		if (ret)
			return ret;
	}
	if (node->mr && ibv_dereg_mr(node->mr))
		failed("ibv_dereg_mr");
	if (node->cq && ibv_destroy_cq(node->cq))
		failed("ibv_destroy_cq");
	if (node->pd && ibv_dealloc_pd(node->pd))
		failed("ibv_dealloc_pd");
	if (node->ctx && ibv_close_device(node->ctx))
		failed("ibv_close_device");
	free(node->buf);
	free(node->srqs);
	memset(node, 0, sizeof(*node));
	return 0;
}

/* Poll a CQ for @ms, with patience; 0 or -errno. */
static int poll_for(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms)
{
	struct timespec now, end;
	int ret;

	ms *= PATIENCE;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	end.tv_nsec += ms % 1000 * 1000000;
	for (;;) {
		ret = ibv_poll_cq(cq, 1, wc);
		if (ret < 0)
			return -EIO;
		if (ret)
			break;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((now.tv_sec - end.tv_sec) * 1000000000ll + now.tv_nsec -
		    end.tv_nsec > 0)
			return -ETIMEDOUT;
		usleep(200);
	}
	if (wc->status != IBV_WC_SUCCESS) {
		fprintf(stderr, "# completion: %s\n",
			ibv_wc_status_str(wc->status));
		return -EIO;
	}
	return 0;
}

int xrc_node_recv(struct xrc_node *node, unsigned int *srq, void *msg,
		  unsigned int ms)
{
	struct ibv_wc wc;
	unsigned int slot;
	int ret;

	ret = poll_for(node->cq, &wc, ms);
	if (ret)
		return ret;
	*srq = wc.wr_id / XRC_DEPTH;
	slot = wc.wr_id % XRC_DEPTH;
	memcpy(msg, node->srqs[*srq].buf + slot * XRC_MSG, XRC_MSG);
	return srq_post(node, &node->srqs[*srq], slot);
}

static int sender_setup(struct xrc_sender *sender)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_SEND,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = XRC_DEPTH, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	int ret;

	ret = port_address(sender->ctx, &sender->address);
	if (ret)
		return ret;
	sender->pd = ibv_alloc_pd(sender->ctx);
	if (!sender->pd)
		return failed("ibv_alloc_pd");
	sender->cq = ibv_create_cq(sender->ctx, XRC_DEPTH, NULL, NULL, 0);
	if (!sender->cq)
		return failed("ibv_create_cq");
	if (posix_memalign((void **)&sender->buf, 4096, XRC_DEPTH * XRC_MSG))
		return -ENOMEM;
	sender->mr = ibv_reg_mr(sender->pd, sender->buf, XRC_DEPTH * XRC_MSG,
				0);
	if (!sender->mr)
		return failed("ibv_reg_mr");
	attr.send_cq = sender->cq;
	attr.pd = sender->pd;
	sender->qp = ibv_create_qp_ex(sender->ctx, &attr);
	return sender->qp ? 0 : failed("ibv_create_qp_ex");
}

int xrc_sender_open(struct xrc_sender *sender, const char *device)
{
	int ret;

	memset(sender, 0, sizeof(*sender));
	sender->ctx = xrc_context(device);
	if (!sender->ctx)
		return -ENODEV;
	ret = sender_setup(sender);
	if (ret)
		xrc_sender_close(sender);
	return ret;
}

void xrc_sender_close(struct xrc_sender *sender)
{
	if (sender->qp && ibv_destroy_qp(sender->qp))
		failed("ibv_destroy_qp");
	if (sender->mr && ibv_dereg_mr(sender->mr))
		failed("ibv_dereg_mr");
	if (sender->cq && ibv_destroy_cq(sender->cq))
		failed("ibv_destroy_cq");
	if (sender->pd && ibv_dealloc_pd(sender->pd))
		failed("ibv_dealloc_pd");
	if (sender->ctx && ibv_close_device(sender->ctx))
		failed("ibv_close_device");
	free(sender->buf);
	memset(sender, 0, sizeof(*sender));
}

/*
 * The attributes of one step. Each of the two kinds of QP takes its part of
 * them.
 */
static int step_attr(struct ibv_qp_attr *attr, enum ibv_qp_state state,
		     bool sends, uint32_t peer, const struct address *to)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = state;
	switch (state) {
	case IBV_QPS_INIT:
		attr->port_num = 1;
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       IBV_QP_ACCESS_FLAGS;
	case IBV_QPS_RTR:
		attr->path_mtu = IBV_MTU_1024;
		attr->dest_qp_num = peer;
		attr->ah_attr = address_path(to);
		attr->max_dest_rd_atomic = 1;
		attr->min_rnr_timer = 12;
		return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       (sends ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_MIN_RNR_TIMER);
	default:
		/*
		 * 4 s, because the other end may start long after the first
		 * send
		 */
		attr->timeout = 20;
		attr->retry_cnt = 7;
		attr->rnr_retry = 7;
		attr->max_rd_atomic = 1;
		return IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN |
		       (sends ? IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC : 0);
	}
}

int xrc_sender_connect(struct xrc_sender *sender, uint32_t peer,
		       const struct address *to)
{
	enum ibv_qp_state state;
	struct ibv_qp_attr attr;
	int mask, ret;

	for (state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		mask = step_attr(&attr, state, true, peer, to);
		ret = ibv_modify_qp(sender->qp, &attr, mask);
		if (ret) {
			errno = ret;
			return failed("ibv_modify_qp of the sender");
		}
	}
	return 0;
}

int xrc_sender_post(struct xrc_sender *sender, uint32_t srq_num,
		    const void *msg)
{
	uint8_t *slot = sender->buf + sender->next * XRC_MSG;
	struct ibv_sge sge = {
		.addr = (uintptr_t)slot,
		.length = XRC_MSG,
		.lkey = sender->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.qp_type.xrc.remote_srqn = srq_num,
	};
	struct ibv_send_wr *bad;
	int ret;

	memcpy(slot, msg, XRC_MSG);
	sender->next = (sender->next + 1) % XRC_DEPTH;
	ret = ibv_post_send(sender->qp, &wr, &bad);
	if (ret) {
		errno = ret;
		return failed("ibv_post_send");
	}
	return 0;
}

int xrc_sender_wait(struct xrc_sender *sender, unsigned int ms)
{
	struct ibv_wc wc;

	return poll_for(sender->cq, &wc, ms);
}

int xrc_sender_send(struct xrc_sender *sender, uint32_t srq_num,
		    const void *msg)
{
	int ret = xrc_sender_post(sender, srq_num, msg);

	return ret ? ret : xrc_sender_wait(sender, SEND_MS);
}

int xrc_qp_step(struct mlx5ep_xrc_rcv_qp *qp, enum ibv_qp_state state,
		uint32_t peer, const struct address *to)
{
	struct mlx5_ep_xrc_rcv_qp_modify answer;
	struct ibv_qp_attr attr;
	int mask = step_attr(&attr, state, false, peer, to);
	int ret = mlx5ep_xrc_rcv_qp_modify(qp, &attr, mask, &answer);

	if (ret)
		return ret;
	return answer.flags & MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY ? 1 : 0;
}

int xrc_qp_connect(struct mlx5ep_xrc_rcv_qp *qp, uint32_t peer,
		   const struct address *to)
{
	enum ibv_qp_state state;
	int ret;

	for (state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		ret = xrc_qp_step(qp, state, peer, to);
		if (ret < 0) {
			errno = -ret;
			return failed("mlx5ep_xrc_rcv_qp_modify");
		}
	}
	return 0;
}

bool xrc_shown_in(const char *state)
{
	FILE *table = debugfs_open("xrc");
	char line[512], words[32];
	bool found = false;

	snprintf(words, sizeof(words), " state=%s ", state);
	while (table && !found && fgets(line, sizeof(line), table))
		found = strstr(line, words);
	if (table)
		fclose(table);
	return found;
}

void xrc_msg_fill(void *msg, uint32_t from, uint32_t to, uint32_t seq)
{
	uint32_t x = from * 2654435761u ^ to * 40503u ^ seq * 69069u ^ 1;
	uint8_t *bytes = msg;
	unsigned int i;

	memcpy(bytes, &from, 4);
	memcpy(bytes + 4, &to, 4);
	memcpy(bytes + 8, &seq, 4);
	for (i = 12; i < XRC_MSG; i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = x >> 24;
	}
}

bool xrc_msg_is(const void *msg, uint32_t from, uint32_t to, uint32_t seq)
{
	uint8_t want[XRC_MSG];

	xrc_msg_fill(want, from, to, seq);
	return !memcmp(want, msg, XRC_MSG);
}
