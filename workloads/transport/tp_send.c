// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests for the send queues, in order for each process.
 *
 * A message needs a credit: a receive that its receiver has posted for it. A
 * receiver returns credits in the header of what it sends, or in a message of
 * its own once it owes half of them. Such a message needs no credit. There are
 * never more than TP_SPARE of them unread, because each returns half of the
 * credits, and the sender cannot use those before it has read the message.
 *
 * Never: a send that meets a queue without a receive; a wait in this file.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tp.h"

static bool needs_credit(const struct tp_out *out)
{
	return (out->op == IBV_WR_SEND && out->head.kind != TP_MSG_CREDIT) ||
		out->op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool has_place(const struct transport *tp, const struct tp_peer *peer)
{
	return peer->link->busy < tp->attr.depth && tp->free_slots;
}

static bool can_post(const struct transport *tp, const struct tp_peer *peer,
		     const struct tp_out *out)
{
	return has_place(tp, peer) && (peer->credits || !needs_credit(out));
}

/* The bytes that a request copies. Return: their length. */
static size_t fill(struct tp_peer *peer, struct tp_slot *slot,
		   const struct tp_out *out)
{
	struct tp_header *head = slot->buf;

	if (out->op != IBV_WR_SEND) {
		if (out->body)
			memcpy(slot->buf, out->body, out->len);
		return out->len;
	}
	*head = out->head;
	head->credits = peer->owed;
	peer->owed = 0;
	if (out->len)
		memcpy(head + 1, out->body, out->len);
	return sizeof(*head) + out->len;
}

static int post(struct transport *tp, struct tp_peer *peer,
		const struct tp_out *out)
{
	struct tp_slot *slot = tp->free_slots;
	size_t len = out->local ? out->len : fill(peer, slot, out);
	struct ibv_sge sge = {
		.addr = (uintptr_t)(out->local ? out->local : slot->buf),
		.length = len,
		.lkey = out->local ? out->lkey : tp->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = (uintptr_t)slot,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = out->op,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
		.imm_data = htonl(out->imm),
		.wr.rdma = {
			.remote_addr = out->remote,
			.rkey = out->rkey,
		},
		.qp_type.xrc.remote_srqn = peer->srq_num,
	};
	int ret;

	if (out->op != IBV_WR_RDMA_READ && len <= TP_INLINE)
		wr.send_flags |= IBV_SEND_INLINE;
	tp->awaited += !!out->done;
	/* Who is asleep must be told of the end of this request. */
	ret = tp_arm_more(tp);
	if (!ret)
		ret = -ibv_post_send(peer->link->qp, &wr, &bad);
	if (ret) {
		tp->awaited -= !!out->done;
		return ret;
	}
	tp->free_slots = slot->next;
	slot->link = peer->link;
	slot->done = out->done;
	slot->arg = out->arg;
	peer->link->busy++;
	if (needs_credit(out)) {
		peer->credits--;
		tp->info.messages++;
	}
	return 0;
}

/* There may be a credit, and there is no place. */
static int starve(struct transport *tp, const struct tp_peer *peer)
{
	if (has_place(tp, peer))
		return 0;
	tp->starved = true;
	return tp_arm_more(tp);
}

static int queue(struct transport *tp, struct tp_peer *peer,
		 const struct tp_out *out)
{
	size_t len = out->body ? out->len : 0;
	struct tp_out *copy = malloc(sizeof(*copy) + len);

	if (!copy)
		return -ENOMEM;
	*copy = *out;
	copy->next = NULL;
	if (out->body)
		copy->body = memcpy(copy + 1, out->body, len);
	*peer->last = copy;
	peer->last = &copy->next;
	tp->info.waited++;
	return starve(tp, peer);
}

/* Post a request now, or as soon as there is a credit and a place for it. */
int tp_out(struct transport *tp, unsigned int to, const struct tp_out *out)
{
	struct tp_peer *peer = &tp->peers[to];

	if (tp->failed)
		return tp->failed;
	if (peer->first || !can_post(tp, peer, out))
		return queue(tp, peer, out);
	return post(tp, peer, out);
}

static void return_credits(struct transport *tp, struct tp_peer *peer)
{
	struct tp_out out = {
		.op = IBV_WR_SEND,
		.head = { .kind = TP_MSG_CREDIT, .from = tp->attr.rank },
	};

	if (!tp->open || peer->owed < (tp->attr.credits + 1) / 2)
		return;
	if (!can_post(tp, peer, &out)) {
		if (starve(tp, peer))
			tp_fail(tp, -EIO);
		return;
	}
	if (post(tp, peer, &out))
		tp_fail(tp, -EIO);
	tp->info.credit_messages++;
}

/*
 * Post what can be posted now, beginning with another process each time: those of a
 * node share a send queue, whose only place the first one could always take.
 */
void tp_flush(struct transport *tp)
{
	struct tp_peer *peer;
	struct tp_out *out;
	unsigned int i;

	tp->starved = false;
	tp->first++;
	for (i = 0; i < tp->processes && !tp->failed; i++) {
		peer = &tp->peers[(tp->first + i) % tp->processes];
		while ((out = peer->first) && can_post(tp, peer, out)) {
			if (post(tp, peer, out)) {
				tp_fail(tp, -EIO);
				return;
			}
			peer->first = out->next;
			if (!peer->first)
				peer->last = &peer->first;
			free(out);
		}
		if (out && starve(tp, peer))
			tp_fail(tp, -EIO);
		if (peer->link)
			return_credits(tp, peer);
	}
}

/*
 * Does anybody wait for the end of a send? That of a message whose bytes were copied
 * only gives its place back.
 */
bool tp_awaits_sends(const struct transport *tp)
{
	return tp->awaited || tp->starved || tp->leaving;
}

/* A message of another process was taken, and its receive posted again. */
void tp_consumed(struct transport *tp, unsigned int from)
{
	tp->peers[from].owed++;
}

/* A request is complete. */
void tp_sent(struct transport *tp, struct tp_slot *slot, int status)
{
	slot->link->busy--;
	tp->awaited -= !!slot->done;
	if (slot->done)
		slot->done(tp, slot->arg, status, slot->buf);
	slot->next = tp->free_slots;
	tp->free_slots = slot;
}

/* Is everything sent? */
bool tp_idle(const struct transport *tp)
{
	unsigned int i;

	for (i = 0; i < tp->processes; i++)
		if (tp->peers[i].first)
			return false;
	for (i = 0; i < tp->attr.nodes; i++)
		if (tp->links[i].busy)
			return false;
	return true;
}

void tp_send_free(struct transport *tp)
{
	struct tp_out *out;
	unsigned int i;

	for (i = 0; tp->peers && i < tp->processes; i++)
		while ((out = tp->peers[i].first)) {
			tp->peers[i].first = out->next;
			free(out);
		}
}
