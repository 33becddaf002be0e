// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tag matching: changes of a queue's list of tags by work requests, and the tag that
 * takes a message. See object/xrq.h for the model.
 */
#include <string.h>

#include "data/tag_match.h"

#define APP_TM 1

/* opcode of the segment: its high nibble */
enum { TM_OP_NOP, TM_OP_APPEND, TM_OP_REMOVE };
/* flags of the segment */
enum { TM_SW_CNT = 1 << 6, TM_CQE_REQ = 1 << 7 };

struct wqe_tm {
	uint8_t opcode;
	uint8_t flags;
	uint16_t index;
	uint8_t rsvd0[2];
	uint16_t sw_cnt;
	uint8_t rsvd1[8];
	uint64_t tag;
	uint64_t mask;
};

_Static_assert(sizeof(struct wqe_tm) == 32, "wire format");

/* The begin of the completion of a work request */
struct tm_cqe {
	uint32_t success;
	uint16_t hw_phase_cnt;
};

#define TM_SUCCESS 0x80000000u

/* Post a completion; @cqe has all but what each one for the queue has. */
static int post(const struct xrq *xrq, struct cqe *cqe, uint8_t app_op,
		uint16_t index, bool solicited)
{
	const struct srq *srq = &xrq->srq;

	cqe->app = APP_TM;
	cqe->app_op = app_op;
	cqe->app_info = htobe16(index);
	cqe->srqn_uidx = htobe32(srq->user_index == NO_USER_INDEX ?
				 srq->obj.id : srq->user_index);
	return cq_post(srq->cq, cqe, solicited);
}

/* Take the entry at @at of the list out of it. */
static struct tag *take(struct xrq *xrq, uint16_t at)
{
	struct tag *tag = &xrq->tags[xrq->order[at]];

	xrq->ntags--;
	memmove(&xrq->order[at], &xrq->order[at + 1],
		(xrq->ntags - at) * sizeof(xrq->order[0]));
	tag->posted = false;
	return tag;
}

/* The driver has seen so many messages that no tag took. */
static void seen(struct xrq *xrq, uint16_t count)
{
	uint16_t i;

	xrq->seen = count;
	if (xrq->seen != xrq->unexpected)
		return;
	for (i = 0; i < xrq->ntags; i++)
		xrq->tags[xrq->order[i]].waits = false;
}

/* The tag gets the index that the request before it named. */
static uint8_t append(struct xrq *xrq, const struct wqe_tm *w,
		      const uint8_t *rest, size_t len)
{
	struct tag *tag = &xrq->tags[xrq->next];
	struct wqe_data buf;

	if (len != sizeof(buf) || tag->posted)
		return SYND_LOCAL_QP_OP;
	memcpy(&buf, rest, sizeof(buf));
	if (be32toh(buf.byte_count) & WQE_INLINE)
		return SYND_LOCAL_QP_OP;
	*tag = (struct tag){
		.posted = true,
		.waits = xrq->seen != xrq->unexpected,
		.tag = be64toh(w->tag),
		.mask = be64toh(w->mask),
		.buf = buf,
	};
	xrq->order[xrq->ntags++] = xrq->next;
	xrq->next = be16toh(w->index);
	return SYND_OK;
}

static bool remove_tag(struct xrq *xrq, uint16_t index)
{
	uint16_t i;

	for (i = 0; i < xrq->ntags; i++) {
		if (xrq->order[i] != index)
			continue;
		take(xrq, i);
		return true;
	}
	return false;
}

/* Complete a work request that asks for it. */
static uint8_t op_done(const struct qp *qp, const struct xrq *xrq,
		       const struct wqe_tm *w, uint8_t app_op, bool success)
{
	struct tm_cqe tm = { .hw_phase_cnt = htobe16(xrq->unexpected) };
	struct cqe cqe = { .op_own = CQE_NO_PACKET << 4 };

	if (!(w->flags & TM_CQE_REQ))
		return SYND_OK;
	if (success)
		tm.success = htobe32(TM_SUCCESS);
	memcpy(&cqe, &tm, sizeof(tm));
	cqe.opcode_qpn = htobe32(qp->obj.id);
	cqe.wqe_counter = htobe16(qp->sq_head);
	return post(xrq, &cqe, app_op, be16toh(w->index), false) ?
		       SYND_LOCAL_QP_OP : SYND_OK;
}

/**
 * tm_execute() - execute a work request that changes the list of tags
 * @qp: where it was posted; it has a queue for tag matching
 * @tail: what is behind the control segment
 * @len: bytes of it
 *
 * Return: SYND_OK; SYND_LOCAL_QP_OP: not such a request, an index that the list does not
 * have, or one that is in use
 */
uint8_t tm_execute(struct qp *qp, const uint8_t *tail, size_t len)
{
	struct xrq *xrq = qp_xrq(qp);
	struct wqe_tm w;
	uint8_t synd;
	bool removed;

	if (!xrq || len < sizeof(w))
		return SYND_LOCAL_QP_OP;
	memcpy(&w, tail, sizeof(w));
	if (be16toh(w.index) >> xrq->log_list || w.opcode & 0xf ||
	    w.opcode >> 4 > TM_OP_REMOVE)
		return SYND_LOCAL_QP_OP;
	len -= sizeof(w);
	if (w.opcode >> 4 != TM_OP_APPEND && len)
		return SYND_LOCAL_QP_OP;
	if (w.flags & TM_SW_CNT)
		seen(xrq, be16toh(w.sw_cnt));
	switch (w.opcode >> 4) {
	case TM_OP_NOP:
		return op_done(qp, xrq, &w, TM_NOOP, true);
	case TM_OP_APPEND:
		synd = append(xrq, &w, tail + sizeof(w), len);
		return synd ? synd : op_done(qp, xrq, &w, TM_APPEND, true);
	}
	removed = remove_tag(xrq, be16toh(w.index));
	return op_done(qp, xrq, &w, TM_REMOVE, removed);
}

/* The first entry of the list that a message matches; -1: none does. */
static int find(const struct xrq *xrq, uint64_t tag)
{
	const struct tag *t;
	uint16_t i;

	for (i = 0; i < xrq->ntags; i++) {
		t = &xrq->tags[xrq->order[i]];
		if (!t->waits && !((t->tag ^ tag) & t->mask))
			return i;
	}
	return -1;
}

static uint32_t room(const struct tag *tag)
{
	if (tag->buf.lkey == htobe32(WQE_TERMINATE_LKEY))
		return 0;
	return be32toh(tag->buf.byte_count) ? be32toh(tag->buf.byte_count) :
					      DATA_SEG_MAX;
}

/* Put what is behind the header where the tag says. */
static enum reply put(struct qp *qp, const struct tag *tag,
		      const struct sglist *data)
{
	struct sglist *to = &qp->hca->objs->dst;
	struct accessor who = qp_accessor(qp);
	uint64_t len = data->len - sizeof(struct tmh);

	who.pd = qp->srq->pd->obj.id;
	sgl_reset(to);
	if (len > room(tag))
		return REPLY_INVAL;
	if (len && mkey_map(qp->hca, &who, be32toh(tag->buf.lkey),
			    be64toh(tag->buf.addr), len, ACCESS_LOCAL_WRITE, to))
		return REPLY_OP;
	sgl_copy_tail(to, data, sizeof(struct tmh));
	return REPLY_ACK;
}

/* May the adapter fetch the data of a rendezvous request? */
static bool can_fetch(const struct qp *qp, const struct tag *tag,
		      const struct sglist *data, struct rvh *rvh)
{
	struct {
		struct tmh tmh;
		struct rvh rvh;
	} head;

	if (!IFC_GET(qpc, qp->qpc_new, offload_type) || data->len < sizeof(head))
		return false;
	sgl_read(data, &head, sizeof(head));
	*rvh = head.rvh;
	return be32toh(rvh->len) <= room(tag);
}

/*
 * The QP does this one behind those that it has. A driver uses the index of a tag again
 * when its data has come, so that there are no more of them than tags.
 */
static bool queue_rndv(struct qp *qp, const struct tag *tag, uint16_t index,
		       const struct tmh *tmh, const struct rvh *rvh)
{
	unsigned int room = 1u << qp_xrq(qp)->log_list;
	struct rndv *r, **at = &qp->rndv;

	for (; *at && room; at = &(*at)->next)
		room--;
	r = room ? calloc(1, sizeof(*r)) : NULL;
	if (!r)
		return false;
	r->index = index;
	r->to = tag->buf;
	r->rvh = *rvh;
	r->fin = *tmh;
	r->fin.op = TMH_FIN;
	*at = r;
	/* The requester has its completion before that. */
	if (!qp->waiting && !timer_armed(&qp->timer))
		timer_arm(&qp->timer, 1);
	return true;
}

/* A tag takes the message: complete the tag. */
static enum reply consume(struct qp *qp, struct xrq *xrq, uint16_t index,
			  const struct tmh *tmh, const struct send_wqe *w,
			  struct cqe *cqe)
{
	const struct tag *tag = &xrq->tags[index];
	uint8_t app_op = TM_CONSUMED_MSG;
	enum reply reply;
	struct rvh rvh;

	if (tmh->op == TMH_RNDV && can_fetch(qp, tag, w->data, &rvh)) {
		reply = queue_rndv(qp, tag, index, tmh, &rvh) ? REPLY_ACK :
								REPLY_OP;
		app_op = TM_CONSUMED;
		cqe->op_own = CQE_NO_PACKET << 4;
	} else {
		if (tmh->op == TMH_RNDV)
			app_op = TM_CONSUMED_MSG_SW_RNDV;
		reply = put(qp, tag, w->data);
		cqe->byte_cnt = htobe32(w->data->len - sizeof(*tmh));
	}
	if (reply != REPLY_ACK) {
		app_op = TM_CANCELED;
		cqe->op_own = CQE_NO_PACKET << 4;
		cqe->byte_cnt = 0;
	}
	memcpy(cqe, tmh, sizeof(*tmh));
	cqe->opcode_qpn = htobe32(qp->obj.id);
	if (post(xrq, cqe, app_op, index, w->solicited))
		return REPLY_OP;
	return reply;
}

/**
 * tm_match() - look for a tag that takes a message
 * @qp: where it arrived; it has a queue for tag matching
 * @cqe: of a send, as a queue without tags would have it. If no tag takes the message,
 *	it gets what distinguishes the completion of the receive.
 * @reply: set if a tag took it; the requester's answer
 *
 * Return: did a tag take it?
 */
bool tm_match(struct qp *qp, const struct send_wqe *w, struct cqe *cqe,
	      enum reply *reply)
{
	struct xrq *xrq = qp_xrq(qp);
	struct tmh tmh = { 0 };
	uint16_t index;
	int at;

	cqe->app = APP_TM;
	cqe->app_op = TM_NO_TAG;
	if (w->data->len < sizeof(tmh))
		return false;
	sgl_read(w->data, &tmh, sizeof(tmh));
	if (tmh.op != TMH_EAGER && tmh.op != TMH_RNDV)
		return false;
	at = find(xrq, be64toh(tmh.tag));
	if (at < 0) {
		cqe->app_op = TM_UNEXPECTED;
		return false;
	}
	index = xrq->order[at];
	take(xrq, at);
	*reply = consume(qp, xrq, index, &tmh, w, cqe);
	return true;
}

/**
 * tm_count() - count a message that no tag took
 * @cqe: of its receive, which was posted
 */
void tm_count(struct qp *qp, const struct cqe *cqe)
{
	if (cqe->app == APP_TM && cqe->app_op == TM_UNEXPECTED)
		qp_xrq(qp)->unexpected++;
}

/**
 * rndv_fetched() - the data of a QP's first rendezvous has come: complete the tag
 *
 * Return: 0, -EIO if the CQ is in error
 */
int rndv_fetched(struct qp *qp)
{
	struct cqe cqe = {
		.byte_cnt = qp->rndv->rvh.len,
		.flags_rqpn = htobe32(qp->remote_qpn),
		.opcode_qpn = htobe32(qp->obj.id),
		.op_own = CQE_RESP_SEND << 4,
	};

	qp->rndv->fetched = true;
	return post(qp_xrq(qp), &cqe, TM_EXPECTED, qp->rndv->index, false);
}

/**
 * rndv_cancel() - the QP is in error: tell so for each tag whose data did not come
 */
void rndv_cancel(struct qp *qp)
{
	struct cqe cqe;

	for (; qp->rndv; rndv_pop(qp)) {
		if (qp->rndv->fetched)
			continue;
		cqe = (struct cqe){ .opcode_qpn = htobe32(qp->obj.id),
				    .op_own = CQE_NO_PACKET << 4 };
		post(qp_xrq(qp), &cqe, TM_CANCELED, qp->rndv->index, true);
	}
}
