// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Long messages, which move without a copy when the receiver wants them.
 *
 * read: the offer has the address of the bytes; the receiver reads them, and says
 * when it is done. write: the receiver answers the offer with an address, and the
 * sender writes there with immediate data, the receiver's number of the exchange.
 */
#include <errno.h>

#include "tp.h"

static int say(struct transport *tp, unsigned int to, enum tp_kind kind,
	       struct tp_header head)
{
	struct tp_out out = { .op = IBV_WR_SEND, .head = head };

	out.head.kind = kind;
	out.head.from = tp->attr.rank;
	return tp_out(tp, to, &out);
}

/* Offer req->buf with its length and tag. */
int tp_long_offer(struct transport *tp, unsigned int to, struct tp_req *req)
{
	struct tp_exchange *x = tp_exchange_new(tp, req, to);
	struct tp_header head = { .tag = req->tag, .len = req->len };
	int ret;

	if (!x)
		return -ENOMEM;
	head.peer_id = x->id;
	if (tp->attr.long_by == TP_READ) {
		ret = tp_reg_get(tp, req->buf, req->len, &x->reg);
		if (ret)
			goto err_end;
		head.addr = (uintptr_t)req->buf;
		head.rkey = x->reg.mr->rkey;
	}
	ret = say(tp, to, TP_MSG_OFFER, head);
	if (ret)
		goto err_end;
	return 0;
err_end:
	tp_exchange_end(x, ret);
	return ret;
}

/* The sender's buffer is free again, whether the message was taken or not. */
static void say_done(struct transport *tp, unsigned int to, int id)
{
	struct tp_header head = { .id = id };
	int ret = say(tp, to, TP_MSG_DONE, head);

	if (ret)
		tp_fail(tp, ret);
}

static void read_done(struct transport *tp, void *arg, int status,
		      const void *buf)
{
	struct tp_exchange *x = arg;

	if (!status)
		say_done(tp, x->peer, x->peer_id);
	tp_exchange_end(x, status);
}

static int move(struct transport *tp, struct tp_exchange *x,
		const struct tp_header *head)
{
	struct tp_out out = {
		.op = IBV_WR_RDMA_READ,
		.local = x->req->buf,
		.len = head->len,
		.lkey = x->reg.mr->lkey,
		.remote = head->addr,
		.rkey = head->rkey,
		.done = read_done,
		.arg = x,
	};

	if (head->addr)
		return tp_out(tp, head->from, &out);
	return say(tp, head->from, TP_MSG_ANSWER, (struct tp_header){
			.id = head->peer_id,
			.peer_id = x->id,
			.addr = (uintptr_t)x->req->buf,
			.rkey = x->reg.mr->rkey,
		});
}

/* The offer is what @req waits for. */
void tp_long_accept(struct transport *tp, const struct tp_header *head,
		    struct tp_req *req)
{
	int ret = head->len > req->len ? -EMSGSIZE : 0;
	struct tp_exchange *x;

	if (ret) {
		req->status = ret;
		say_done(tp, head->from, head->peer_id);
		return;
	}
	req->len = head->len;
	req->from = head->from;
	x = tp_exchange_new(tp, req, head->from);
	if (!x) {
		req->status = -ENOMEM;
		say_done(tp, head->from, head->peer_id);
		return;
	}
	x->peer_id = head->peer_id;
	ret = tp_reg_get(tp, req->buf, head->len, &x->reg);
	if (!ret)
		ret = move(tp, x, head);
	if (ret) {
		tp_exchange_end(x, ret);
		say_done(tp, head->from, head->peer_id);
	}
}

static void write_done(struct transport *tp, void *arg, int status,
		       const void *buf)
{
	tp_exchange_end(arg, status);
}

static void write_it(struct transport *tp, struct tp_exchange *x,
		     const struct tp_header *head)
{
	struct tp_out out = {
		.op = IBV_WR_RDMA_WRITE_WITH_IMM,
		.local = x->req->buf,
		.len = x->req->len,
		.remote = head->addr,
		.rkey = head->rkey,
		.imm = head->peer_id,
		.done = write_done,
		.arg = x,
	};
	int ret = tp_reg_get(tp, x->req->buf, x->req->len, &x->reg);

	if (!ret) {
		out.lkey = x->reg.mr->lkey;
		ret = tp_out(tp, x->peer, &out);
	}
	/* The receiver waits, and can only be told by the end of it all. */
	if (ret)
		tp_fail(tp, ret);
}

/* An answer to an offer, or the end of one. */
void tp_long_message(struct transport *tp, const struct tp_header *head)
{
	struct tp_exchange *x = tp_exchange_of(tp, head->id);

	if (!x || x->peer != head->from)
		tp_fail(tp, -EBADMSG);
	else if (head->kind == TP_MSG_ANSWER)
		write_it(tp, x, head);
	else
		tp_exchange_end(x, 0);
}

/* What was written arrived. Return: the rank of the sender, or -EBADMSG. */
int tp_long_written(struct transport *tp, int id)
{
	struct tp_exchange *x = tp_exchange_of(tp, id);
	int peer;

	if (!x)
		return -EBADMSG;
	peer = x->peer;
	tp_exchange_end(x, 0);
	return peer;
}
