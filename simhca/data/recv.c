// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive queues: take a work request, map its buffers, complete it.
 */
#include <errno.h>
#include <string.h>

#include "object/qp.h"

/* Posted receives of the QP's own queue; -1 if there are more than fit. */
static int rq_posted(struct qp *qp)
{
	uint32_t counter;
	uint16_t n;

	if (db_read(qp->hca, qp->dbr, &counter))
		return -1;
	n = (uint16_t)counter - qp->rq_head;
	return n > 1u << qp->log_rq ? -1 : n;
}

static int rq_take(struct qp *qp, struct recv_wqe *rw)
{
	size_t stride = (size_t)1 << qp->log_rq_stride;
	uint16_t mask = (1u << qp->log_rq) - 1;
	int n;

	if (!qp->has_rq)
		return -EAGAIN;
	n = rq_posted(qp);
	if (n <= 0)
		return n ? -EFAULT : -EAGAIN;
	rw->index = qp->rq_head;
	rw->n = stride / sizeof(rw->segs[0]);
	if (qbuf_read(qp->hca, &qp->buf, (qp->rq_head & mask) * stride,
		      rw->segs, stride))
		return -EFAULT;
	qp->rq_head++;
	recv_wqe_trim(rw);
	return 0;
}

/**
 * recv_take() - take the next receive work request
 * @qp: the QP that a message came for
 * @srq: the shared queue it asks for, NULL: the QP's own or its SRQ
 * @r: set on success
 *
 * Return: 0, -EAGAIN where none is posted, -EFAULT where the queue is in error
 */
int recv_take(struct qp *qp, struct srq *srq, struct recv *r)
{
	r->qp = qp;
	r->srq = srq ? srq : qp->srq;
	return r->srq ? srq_take(r->srq, &r->wqe) : rq_take(qp, &r->wqe);
}

/**
 * recv_put_back() - make a work request the next one of its queue again
 * @r: the last one that was taken from it
 */
void recv_put_back(struct recv *r)
{
	if (r->srq)
		srq_put_back(r->srq, r->wqe.index);
	else
		r->qp->rq_head--;
}

/**
 * recv_map() - where the first bytes of a message go
 * @r: the work request
 * @who: on whose behalf
 * @len: bytes of the message
 * @out: gets the pieces
 *
 * Return: SYND_OK; SYND_LOCAL_LENGTH where the message is longer than the
 * request; SYND_LOCAL_PROT where memory may not be written; SYND_PAGE where a
 * page of it is not present
 */
uint8_t recv_map(const struct recv *r, const struct accessor *who,
		 uint64_t len, struct sglist *out)
{
	const struct wqe_data *d;
	uint64_t piece;
	uint16_t i;
	int ret;

	for (i = 0; i < r->wqe.n && len; i++) {
		d = &r->wqe.segs[i];
		piece = be32toh(d->byte_count) & ~WQE_INLINE;
		if (!piece)
			piece = DATA_SEG_MAX;
		if (piece > len)
			piece = len;
		ret = mkey_map(r->qp->hca, who, be32toh(d->lkey),
			       be64toh(d->addr), piece, ACCESS_LOCAL_WRITE,
			       out);
		if (ret)
			return ret == -EAGAIN ? SYND_PAGE : SYND_LOCAL_PROT;
		len -= piece;
	}
	return len ? SYND_LOCAL_LENGTH : SYND_OK;
}

static struct cq *recv_cq(const struct recv *r)
{
	return r->srq && r->srq->cq ? r->srq->cq : r->qp->rcq;
}

/* With an XRC SRQ or an XRQ the completion is the SRQ's, else the QP's. */
static uint32_t recv_index(const struct recv *r)
{
	bool own = r->srq && (r->srq->kind == SRQ_KIND_XRC ||
			      r->srq->kind == SRQ_KIND_XRQ);
	uint32_t index = own ? r->srq->user_index : r->qp->user_index;

	if (index != NO_USER_INDEX)
		return index;
	return r->srq ? r->srq->obj.id : 0;
}

/**
 * recv_complete() - complete a receive work request
 * @r: the work request
 * @cqe: opcode, length and all that the message brought; the rest is filled in
 * @solicited: did the sender ask for a solicited completion?
 *
 * Return: 0, -EIO where the CQ is in error and the QP must be too
 */
int recv_complete(struct recv *r, struct cqe *cqe, bool solicited)
{
	cqe->srqn_uidx = htobe32(recv_index(r));
	cqe->opcode_qpn = htobe32(r->qp->obj.id);
	cqe->wqe_counter = htobe16(r->wqe.index);
	return cq_post(recv_cq(r), cqe, solicited);
}

/**
 * recv_fail() - complete a receive work request with an error
 * @r: the work request
 *
 * The QP is for the caller to move to error.
 */
void recv_fail(struct recv *r, uint8_t syndrome)
{
	struct cqe cqe = { .syndrome = syndrome,
			   .op_own = CQE_RESP_ERR << 4 };

	recv_complete(r, &cqe, true);
}

/**
 * recv_flush() - complete all receives that are posted with a flush error
 * @qp: the QP, in error; a shared queue keeps what it has
 *
 * Return: was there one?
 */
bool recv_flush(struct qp *qp)
{
	struct recv r;
	bool found = false;

	if (!qp->has_rq || !qp->rcq)
		return false;
	while (!qp->rcq->error && !recv_take(qp, NULL, &r)) {
		recv_fail(&r, SYND_FLUSH);
		found = true;
	}
	return found;
}
