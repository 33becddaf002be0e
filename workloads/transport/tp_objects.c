// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The verbs objects of a process: send queues, one CQ for all, an XRC SRQ in the
 * XRC domain of its node, and the memory of messages.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tp.h"
#include "xrc.h"

static int no_wait(int fd)
{
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static int open_device(struct transport *tp)
{
	struct ibv_device **list;
	int n = 0;

	list = ibv_get_device_list(&n);
	if (list)
		ibv_free_device_list(list);
	if (!n)
		return -ENODEV;
	tp->ctx = xrc_context(xrc_device(tp->node % n));
	if (!tp->ctx)
		return -ENODEV;
	tp->channel = ibv_create_comp_channel(tp->ctx);
	if (!tp->channel)
		return -errno;
	tp->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (tp->wake < 0 || no_wait(tp->ctx->async_fd) ||
	    (tp->attr.mode != TP_THREAD && no_wait(tp->channel->fd)))
		return -errno;
	tp->cq = ibv_create_cq(tp->ctx,
			       tp->receives + tp->n_links * tp->attr.depth,
			       NULL, tp->channel, 0);
	return tp->cq ? address_query(tp->ctx, &tp->address) : -errno;
}

/* A send queue to each other node; to the own node if it has other processes. */
static int create_endpoints(struct transport *tp)
{
	struct ibv_qp_init_attr_ex qp_attr = {
		.qp_type = IBV_QPT_XRC_SEND,
		.send_cq = tp->cq,
		.recv_cq = tp->cq,
		.cap = {
			.max_send_wr = tp->attr.depth,
			.max_send_sge = 1,
			.max_inline_data = TP_INLINE,
		},
	};
	struct mlx5ep_endpoint_attr each[TP_NODES];
	struct mlx5ep_endpoints_attr attr = {
		.category = tp->attr.category,
		.each = each,
	};
	struct mlx5ep_endpoint endpoint;
	unsigned int node, i = 0;
	int ret;

	for (i = 0; i < tp->n_links; i++)
		each[i] = (struct mlx5ep_endpoint_attr){ .qp_attr = &qp_attr };
	ret = mlx5ep_endpoints_create(tp->ctx, &attr, tp->n_links, &tp->set);
	for (node = 0, i = 0; !ret && node < tp->attr.nodes; node++) {
		if (node == tp->node && tp->attr.ppn == 1)
			continue;
		ret = mlx5ep_endpoints_get(tp->set, i++, &endpoint);
		tp->links[node].qp = endpoint.qp;
		tp->pd = endpoint.pd;
		tp->qps++;
	}
	return ret;
}

static int open_domain(struct transport *tp)
{
	int fd, ret;

	snprintf(tp->domain_path, sizeof(tp->domain_path), "%s.%u",
		 tp->attr.domain, tp->node);
	fd = open(tp->domain_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = mlx5ep_xrcd_open(tp->ctx, fd, O_CREAT, &tp->xrcd);
	close(fd);
	return ret;
}

/* Post the receive @index. Its number in completions is odd. */
int tp_receive(struct transport *tp, unsigned int index)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)tp->slab + index * tp->buf_len,
		.length = tp->buf_len,
		.lkey = tp->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = (uint64_t)index << 1 | 1,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return -ibv_post_srq_recv(tp->srq, &wr, &bad);
}

static int create_srq(struct transport *tp)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = tp->receives, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = tp->pd,
		.xrcd = mlx5ep_xrcd_ibv(tp->xrcd),
		.cq = tp->cq,
	};
	unsigned int i;
	int ret = 0;

	tp->srq = ibv_create_srq_ex(tp->ctx, &attr);
	if (!tp->srq)
		return -errno;
	for (i = 0; i < tp->receives && !ret; i++)
		ret = tp_receive(tp, i);
	return ret;
}

static int create_memory(struct transport *tp)
{
	unsigned int n = tp->n_links * tp->attr.depth, i;
	void *at;

	tp->slab_len = (size_t)(tp->receives + n) * tp->buf_len;
	at = mmap(NULL, tp->slab_len, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return -errno;
	tp->slab = at;
	tp->mr = ibv_reg_mr(tp->pd, at, tp->slab_len, IBV_ACCESS_LOCAL_WRITE);
	if (!tp->mr)
		return -errno;
	tp->slots = calloc(n, sizeof(*tp->slots));
	if (!tp->slots)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		tp->slots[i].buf = tp->slab +
			(tp->receives + i) * tp->buf_len;
		tp->slots[i].next = tp->free_slots;
		tp->free_slots = &tp->slots[i];
	}
	return 0;
}

int tp_objects_open(struct transport *tp)
{
	struct mlx5ep_mr_cache_attr attr = {};
	int ret;

	tp->n_links = tp->attr.nodes - (tp->attr.ppn == 1);
	tp->receives = (tp->processes - 1) * (tp->attr.credits + TP_SPARE);
	tp->buf_len = (sizeof(struct tp_header) + tp->attr.eager + 63) & ~63ul;
	ret = open_device(tp);
	if (!ret)
		ret = create_endpoints(tp);
	if (!ret)
		ret = create_memory(tp);
	if (!ret)
		ret = open_domain(tp);
	if (!ret)
		ret = create_srq(tp);
	if (!ret)
		ret = mlx5ep_mr_cache_create(tp->pd, &attr, &tp->cache);
	return ret;
}

/* Ends the registrations with the receive QPs, then the domain. */
static int close_domain(struct transport *tp)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; tp->rcv_qps && i < tp->processes; i++)
		if (tp->rcv_qps[i] && !ret)
			ret = mlx5ep_xrc_rcv_qp_unreg(tp->rcv_qps[i]);
	if (tp->srq && !ret)
		ret = -ibv_destroy_srq(tp->srq);
	if (tp->xrcd && !ret)
		ret = mlx5ep_xrcd_close(tp->xrcd);
	unlink(tp->domain_path);
	return ret;
}

static int close_memory(struct transport *tp)
{
	int ret = mlx5ep_mr_cache_destroy(tp->cache);

	if (tp->window_mr && !ret)
		ret = -ibv_dereg_mr(tp->window_mr);
	if (tp->mr && !ret)
		ret = -ibv_dereg_mr(tp->mr);
	if (ret)
		return ret;
	if (tp->window)
		munmap(tp->window, tp->window_len);
	if (tp->slab)
		munmap(tp->slab, tp->slab_len);
	return 0;
}

/* What depends on others goes first. Stops at the first failure. */
int tp_objects_close(struct transport *tp)
{
	int ret = close_domain(tp);

	if (!ret)
		ret = close_memory(tp);
	if (!ret)
		ret = mlx5ep_endpoints_destroy(tp->set);
	if (tp->cq && !ret) {
		ibv_ack_cq_events(tp->cq, tp->armed_events);
		ret = -ibv_destroy_cq(tp->cq);
	}
	if (tp->channel && !ret)
		ret = -ibv_destroy_comp_channel(tp->channel);
	if (tp->ctx && !ret)
		ret = -ibv_close_device(tp->ctx);
	if (tp->wake >= 0)
		close(tp->wake);
	free(tp->slots);
	free(tp->rcv_qps);
	return ret;
}
