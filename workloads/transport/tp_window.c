// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Windows: memory that all processes may read and write. Short puts and gets go
 * through the buffer of their request, longer ones register their memory.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "tp.h"

struct share {
	uint64_t addr;
	uint32_t rkey, reserved;
};

static int register_window(struct transport *tp, size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return -errno;
	tp->window = at;
	tp->window_len = len;
	tp->window_mr = ibv_reg_mr(tp->pd, at, len, IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_WRITE);
	return tp->window_mr ? 0 : -errno;
}

int tp_window(struct transport *tp, size_t len, void **base)
{
	struct share mine = {}, all[TP_PROCESSES];
	unsigned int i;
	int ret;

	if (tp->window || !len)
		return -EINVAL;
	ret = register_window(tp, len);
	if (ret)
		return ret;
	mine.addr = (uintptr_t)tp->window;
	mine.rkey = tp->window_mr->rkey;
	ret = tp_share(tp, &mine, sizeof(mine), all);
	for (i = 0; !ret && i < tp->processes; i++) {
		tp->peers[i].window = all[i].addr;
		tp->peers[i].window_key = all[i].rkey;
	}
	*base = tp->window;
	return ret;
}

static void move_done(struct transport *tp, void *arg, int status,
		      const void *buf)
{
	struct tp_exchange *x = arg;

	/* A short get is in the buffer of the request. */
	if (x->peer_id >= 0 && !status)
		memcpy(x->req->buf, buf, x->req->len);
	tp_exchange_end(x, status);
}

static int move(struct transport *tp, struct tp_exchange *x,
		enum ibv_wr_opcode op, size_t offset)
{
	struct tp_peer *peer = &tp->peers[x->peer];
	struct tp_req *req = x->req;
	struct tp_out out = {
		.op = op,
		.len = req->len,
		.remote = peer->window + offset,
		.rkey = peer->window_key,
		.done = move_done,
		.arg = x,
	};
	int ret;

	if (req->len <= tp->attr.eager) {
		if (op == IBV_WR_RDMA_WRITE)
			out.body = req->buf;
		else
			x->peer_id = 0;
		return tp_out(tp, x->peer, &out);
	}
	ret = tp_reg_get(tp, req->buf, req->len, &x->reg);
	if (ret)
		return ret;
	out.local = req->buf;
	out.lkey = x->reg.mr->lkey;
	return tp_out(tp, x->peer, &out);
}

/* In the own window there is nothing to send. */
static void copy(struct transport *tp, size_t offset, struct tp_req *req,
		 enum ibv_wr_opcode op)
{
	void *at = tp->window + offset;

	if (op == IBV_WR_RDMA_READ)
		memmove(req->buf, at, req->len);
	else
		memmove(at, req->buf, req->len);
	req->status = 0;
}

static int start(struct transport *tp, unsigned int rank, size_t offset,
		 void *buf, size_t len, struct tp_req *req,
		 enum ibv_wr_opcode op)
{
	struct tp_exchange *x;
	int ret = -ENOMEM;

	if (rank >= tp->processes || !tp->window || !len || len > TP_LONGEST ||
	    offset > tp->window_len || len > tp->window_len - offset)
		return -EINVAL;
	*req = (struct tp_req){ .status = -EINPROGRESS, .buf = buf, .len = len,
				.from = rank };
	if (rank == tp->attr.rank) {
		copy(tp, offset, req, op);
		return 0;
	}
	pthread_mutex_lock(&tp->lock);
	x = tp->failed ? NULL : tp_exchange_new(tp, req, rank);
	if (x) {
		ret = move(tp, x, op, offset);
		if (ret)
			tp_exchange_end(x, ret);
	}
	ret = tp->failed ? tp->failed : ret;
	pthread_mutex_unlock(&tp->lock);
	return ret;
}

int tp_put(struct transport *tp, unsigned int to, size_t offset,
	   const void *buf, size_t len, struct tp_req *req)
{
	return start(tp, to, offset, (void *)buf, len, req, IBV_WR_RDMA_WRITE);
}

int tp_get(struct transport *tp, unsigned int from, size_t offset, void *buf,
	   size_t len, struct tp_req *req)
{
	return start(tp, from, offset, buf, len, req, IBV_WR_RDMA_READ);
}
