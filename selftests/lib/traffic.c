// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Traffic with checked data.
 *
 * An endpoint sends a pattern made of its QP number and the round. So data of
 * another QP or of another round is never accepted. The target is overwritten
 * before each round. The completion of a UC or UD send does not say that the
 * data has arrived, so the test waits for the data.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "verbs.h"

#define DEADLINE_S	60
#define INLINE_LEN	32u
#define PLAIN_LEN	1000u	/* below every MTU */
#define GRH_LEN		40u

static const char * const op_names[] = {
	[VERBS_WRITE] = "write",
	[VERBS_WRITE_INLINE] = "inline write",
	[VERBS_SEND] = "send",
	[VERBS_SEND_INLINE] = "inline send",
	[VERBS_READ] = "read",
	[VERBS_ATOMIC] = "atomic",
};

static bool is_send(enum verbs_op op)
{
	return op == VERBS_SEND || op == VERBS_SEND_INLINE;
}

static bool is_inline(enum verbs_op op)
{
	return op == VERBS_WRITE_INLINE || op == VERBS_SEND_INLINE;
}

static size_t op_len(enum verbs_op op)
{
	if (op == VERBS_ATOMIC)
		return sizeof(uint64_t);
	return is_inline(op) ? INLINE_LEN : PLAIN_LEN;
}

bool verbs_op_fits(enum ibv_qp_type type, enum verbs_op op)
{
	switch (op) {
	case VERBS_READ:
	case VERBS_ATOMIC:
		return type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
	case VERBS_WRITE:
	case VERBS_WRITE_INLINE:
		return type != IBV_QPT_UD;
	default:
		return true;
	}
}

static double traffic_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

int verbs_write(struct ibv_qp *qp, struct ibv_cq *cq, const void *from,
		uint32_t lkey, void *to, uint32_t rkey, uint32_t len,
		unsigned int seconds)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)from,
		.length = len,
		.lkey = lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)to, .rkey = rkey },
	};
	double limit = traffic_now() + seconds;
	struct ibv_wc wc;
	int ret;

	ret = ibv_post_send(qp, &wr, &bad);
	if (ret)
		return -ret;
	while (!(ret = ibv_poll_cq(cq, 1, &wc))) {
		if (traffic_now() > limit)
			return -ETIMEDOUT;
		sched_yield();
	}
	return ret < 0 || wc.status ? -EIO : 0;
}

static void traffic_fill(const struct verbs_endpoint *endpoint, uint8_t *p,
			 size_t len)
{
	uint32_t x =
		endpoint->qp->qp_num * 2654435761u ^ endpoint->seq * 40503u;
	size_t i;

	for (i = 0; i < len; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = x >> 24;
	}
}

static uint64_t atomic_start(const struct verbs_endpoint *endpoint)
{
	return (uint64_t)endpoint->qp->qp_num << 32 | endpoint->seq;
}

/*
 * Write the data of the round where the operation reads it, and overwrite the
 * target.
 */
static void prepare(struct verbs_endpoint *endpoint, enum verbs_op op)
{
	size_t len = op_len(op);
	uint64_t start;

	endpoint->seq++;
	memset(endpoint->src, 0xee, len);
	memset(endpoint->dst, 0xdd, len + GRH_LEN);
	if (op == VERBS_READ) {
		traffic_fill(endpoint, endpoint->dst, len);
	} else if (op == VERBS_ATOMIC) {
		start = atomic_start(endpoint);
		memcpy(endpoint->dst, &start, sizeof(start));
	} else {
		traffic_fill(endpoint, endpoint->src, len);
	}
}

static int post_recv(struct verbs_endpoint *endpoint)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)endpoint->dst,
		.length = VERBS_SLICE,
		.lkey = endpoint->setup->mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (endpoint->srq)
		return -ibv_post_srq_recv(endpoint->srq, &wr, &bad);
	return -ibv_post_recv(endpoint->qp, &wr, &bad);
}

static int traffic_post(struct verbs_endpoint *endpoint, enum verbs_op op)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)endpoint->src,
		.length = op_len(op),
		.lkey = endpoint->setup->mr->lkey,
	};
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (is_inline(op))
		wr.send_flags = IBV_SEND_INLINE;
	if (endpoint->srq)
		wr.qp_type.xrc.remote_srqn = endpoint->srq_num;
	if (is_send(op)) {
		wr.opcode = IBV_WR_SEND;
		if (endpoint->ah) {
			wr.wr.ud.ah = endpoint->ah;
			wr.wr.ud.remote_qpn = endpoint->qp->qp_num;
			wr.wr.ud.remote_qkey = 0x11111111u;
		}
	} else if (op == VERBS_ATOMIC) {
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.remote_addr = (uintptr_t)endpoint->dst;
		wr.wr.atomic.rkey = endpoint->setup->mr->rkey;
		wr.wr.atomic.compare_add = 7;
	} else {
		wr.opcode = op == VERBS_READ ? IBV_WR_RDMA_READ :
			IBV_WR_RDMA_WRITE;
		wr.wr.rdma.remote_addr = (uintptr_t)endpoint->dst;
		wr.wr.rdma.rkey = endpoint->setup->mr->rkey;
	}
	return -ibv_post_send(endpoint->qp, &wr, &bad);
}

static int poll_all(struct ibv_cq *cq, size_t wanted)
{
	double end = traffic_now() + DEADLINE_S;
	struct ibv_wc wc[16];
	int n, i;

	while (wanted) {
		n = ibv_poll_cq(cq, 16, wc);
		if (n < 0)
			return -EIO;
		for (i = 0; i < n; i++)
			if (wc[i].status != IBV_WC_SUCCESS) {
				fprintf(stderr, "# QP 0x%x: %s\n",
					wc[i].qp_num,
					ibv_wc_status_str(wc[i].status));
				return -EIO;
			}
		wanted -= n;
		if (!n && traffic_now() > end) {
			fprintf(stderr, "# %zu completions missing\n", wanted);
			return -ETIMEDOUT;
		}
	}
	return 0;
}

static bool arrived(const struct verbs_endpoint *endpoint, enum verbs_op op)
{
	uint64_t start = atomic_start(endpoint), sum = start + 7;
	uint8_t want[PLAIN_LEN];
	const uint8_t *got = endpoint->dst;
	size_t len = op_len(op);

	if (op == VERBS_ATOMIC)
		return !memcmp(endpoint->src, &start, sizeof(start)) &&
			!memcmp(endpoint->dst, &sum, sizeof(sum));
	if (op == VERBS_READ)
		got = endpoint->src;
	else if (endpoint->qp->qp_type == IBV_QPT_UD)
		got += GRH_LEN;
	traffic_fill(endpoint, want, len);
	return !memcmp(got, want, len);
}

static int traffic_check(const struct verbs_endpoint *endpoint,
			 enum verbs_op op)
{
	double end = traffic_now() + DEADLINE_S;

	while (!arrived(endpoint, op)) {
		if (endpoint->qp->qp_type == IBV_QPT_UC && traffic_now() < end)
			continue;
		fprintf(stderr, "# QP 0x%x: wrong data after %s, round %u\n",
			endpoint->qp->qp_num, op_names[op], endpoint->seq);
		return -EBADMSG;
	}
	return 0;
}

int verbs_traffic(struct verbs_endpoint *endpoints, size_t n, enum verbs_op op,
		  unsigned int rounds)
{
	size_t i;
	int ret = 0;

	while (n && rounds--) {
		for (i = 0; i < n && !ret; i++) {
			prepare(&endpoints[i], op);
			if (is_send(op))
				ret = post_recv(&endpoints[i]);
		}
		for (i = 0; i < n && !ret; i++)
			ret = traffic_post(&endpoints[i], op);
		if (ret) {
			fprintf(stderr, "# posting %s: %s\n", op_names[op],
				strerror(-ret));
			return ret;
		}
		ret = poll_all(endpoints[0].setup->cq, is_send(op) ? 2 * n : n);
		for (i = 0; i < n && !ret; i++)
			ret = traffic_check(&endpoints[i], op);
		if (ret)
			return ret;
	}
	return 0;
}

int verbs_traffic_all(struct verbs_endpoint *endpoints, size_t n,
		      unsigned int rounds)
{
	enum verbs_op op;
	int ret;

	for (op = VERBS_WRITE; op <= VERBS_ATOMIC; op++) {
		if (!verbs_op_fits(endpoints[0].qp->qp_type, op))
			continue;
		ret = verbs_traffic(endpoints, n, op, rounds);
		if (ret)
			return ret;
	}
	return 0;
}
