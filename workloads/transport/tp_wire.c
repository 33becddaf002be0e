// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The processes connect, in three rounds:
 *   1. each tells its address, its SRQ and its send queue to each node;
 *   2. on each node all processes get the receive QP of each process that sends
 *	to the node, by its rank as the key: one creates it, all are registered,
 *	each may bring it to RTS. They tell its number;
 *   3. each connects its send queues to those numbers, and tells how many QPs it
 *	created.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tp.h"

#define READS 4			/* RDMA reads at the same time, of a QP */
#define ACK_TIMEOUT 16		/* 0.27 s, tried 7 times */

struct hello {
	struct address address;
	uint32_t srq_num;
	uint32_t qp_num[TP_NODES];
};

struct shared_nums {
	uint32_t num[TP_PROCESSES];	/* of the receive QP of each rank */
};

/* The attributes that a step needs; each kind of QP takes its part of them. */
static int step(struct ibv_qp_attr *attr, enum ibv_qp_state state, bool sends,
		uint32_t peer, const struct address *to)
{
	*attr = (struct ibv_qp_attr){
		.qp_state = state,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.max_dest_rd_atomic = READS,
		.max_rd_atomic = READS,
		.min_rnr_timer = 12,
		.timeout = ACK_TIMEOUT,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	switch (state) {
	case IBV_QPS_INIT:
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       IBV_QP_ACCESS_FLAGS;
	case IBV_QPS_RTR:
		attr->ah_attr = address_path(to);
		return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       (sends ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER);
	default:
		return IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN |
		       (sends ? IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_MAX_QP_RD_ATOMIC : 0);
	}
}

static bool sends_here(const struct transport *tp, unsigned int rank)
{
	return rank / tp->attr.ppn != tp->node || tp->attr.ppn > 1;
}

/* Register with the receive QP of @rank, and bring it to RTS. */
static int get_rcv_qp(struct transport *tp, unsigned int rank,
		      const struct hello *from, uint32_t *num)
{
	enum ibv_qp_state state;
	struct ibv_qp_attr attr;
	char key[32];
	int mask, ret;

	snprintf(key, sizeof(key), "process %u", rank);
	ret = mlx5ep_xrc_rcv_qp_get(tp->xrcd, key, strlen(key), 0, NULL,
				    &tp->rcv_qps[rank]);
	if (ret < 0)
		return ret;
	tp->qps += ret;
	*num = mlx5ep_xrc_rcv_qp_num(tp->rcv_qps[rank]);
	for (ret = 0, state = IBV_QPS_INIT; !ret && state <= IBV_QPS_RTS;
	     state++) {
		mask = step(&attr, state, false, from->qp_num[tp->node],
			    &from->address);
		ret = mlx5ep_xrc_rcv_qp_modify(tp->rcv_qps[rank], &attr, mask,
					       NULL);
	}
	return ret;
}

static int connect_link(struct tp_link *link, uint32_t peer,
			const struct address *to)
{
	enum ibv_qp_state state;
	struct ibv_qp_attr attr;
	int mask, ret = 0;

	for (state = IBV_QPS_INIT; !ret && state <= IBV_QPS_RTS; state++) {
		mask = step(&attr, state, true, peer, to);
		ret = -ibv_modify_qp(link->qp, &attr, mask);
	}
	return ret;
}

static int greet(struct transport *tp, struct hello *all)
{
	struct hello mine = { .address = tp->address };
	unsigned int i;
	int ret;

	ret = -ibv_get_srq_num(tp->srq, &mine.srq_num);
	if (ret)
		return ret;
	for (i = 0; i < tp->attr.nodes; i++)
		if (tp->links[i].qp)
			mine.qp_num[i] = tp->links[i].qp->qp_num;
	return meet_exchange(tp->meet, &mine, sizeof(mine), all, TP_SECONDS);
}

static int share_rcv_qps(struct transport *tp, const struct hello *hello,
			 struct shared_nums *all)
{
	struct shared_nums mine = {};
	unsigned int rank;
	int ret = 0;

	for (rank = 0; !ret && rank < tp->processes; rank++)
		if (sends_here(tp, rank))
			ret = get_rcv_qp(tp, rank, &hello[rank],
					 &mine.num[rank]);
	if (ret)
		return ret;
	tp_reach(tp, TP_STEP_CONNECT);
	return meet_exchange(tp->meet, &mine, sizeof(mine), all, TP_SECONDS);
}

/* All processes of a node must have told the same number. */
static int connect_node(struct transport *tp, unsigned int node,
			const struct hello *hello,
			const struct shared_nums *shared)
{
	unsigned int first = node * tp->attr.ppn, i;
	uint32_t num = shared[first].num[tp->attr.rank];

	for (i = first; i < first + tp->attr.ppn; i++) {
		if (shared[i].num[tp->attr.rank] != num)
			return -EPROTO;
		tp->peers[i].link = &tp->links[node];
		tp->peers[i].srq_num = hello[i].srq_num;
		tp->peers[i].credits = tp->attr.credits;
	}
	return connect_link(&tp->links[node], num, &hello[first].address);
}

/* The third round. Are there as many QPs as there should be? */
static int count_qps(struct transport *tp)
{
	uint32_t mine = tp->qps, all[TP_PROCESSES];
	unsigned int i;
	int ret;

	ret = meet_exchange(tp->meet, &mine, sizeof(mine), all, TP_SECONDS);
	for (i = 0; !ret && i < tp->attr.ppn; i++)
		tp->qps_node += all[tp->node * tp->attr.ppn + i];
	if (!ret && tp->qps_node != tp->info.qps_expected)
		ret = -EPROTO;
	return ret;
}

int tp_wire_up(struct transport *tp)
{
	struct shared_nums *shared = calloc(tp->processes, sizeof(*shared));
	struct hello *hello = calloc(tp->processes, sizeof(*hello));
	unsigned int node;
	int ret = -ENOMEM;

	tp->rcv_qps = calloc(tp->processes, sizeof(*tp->rcv_qps));
	if (shared && hello && tp->rcv_qps)
		ret = greet(tp, hello);
	if (!ret)
		ret = share_rcv_qps(tp, hello, shared);
	for (node = 0; !ret && node < tp->attr.nodes; node++)
		if (tp->links[node].qp)
			ret = connect_node(tp, node, hello, shared);
	if (!ret)
		ret = count_qps(tp);
	free(shared);
	free(hello);
	return ret;
}
