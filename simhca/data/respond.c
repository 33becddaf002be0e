// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder's side of RC, UC, XRC and DC.
 *
 * The whole message is checked before a byte of it is moved. If the check
 * fails, an RC or XRC responder answers with a NAK and goes into error; a UC
 * responder drops the message; a DC target answers with a NAK and serves others.
 */
#include <errno.h>

#include "data/tag_match.h"
#include "eth/eth.h"
#include "fabric/port.h"
#include "object/page_fault.h"

#define ATOMIC_LEN 8u

/**
 * struct request - one message at the responder
 * @from: who sent it
 * @w: the requester's work request
 * @srq: XRC: the queue it names
 * @who: rights of remote access, and of the receive buffers
 */
struct request {
	struct qp *qp;
	struct qp *from;
	const struct send_wqe *w;
	struct srq *srq;
	struct accessor who;
	struct accessor scatter;
};

static enum reply nak(struct request *r, enum reply reply)
{
	if (r->qp->type == QP_UC)
		return REPLY_LOST;
	if (r->qp->type == QP_DCT)
		return reply;
	qp_error(r->qp, reply == REPLY_ACCESS ? EVENT_QP_ACCESS :
		 reply == REPLY_INVAL	      ? EVENT_QP_INVAL_REQ :
						EVENT_QP_CATAS);
	return reply;
}

/* Complete the receive with an error and move the QP to error. */
static enum reply recv_nak(struct request *r, struct recv *recv, uint8_t synd)
{
	recv_fail(recv, synd);
	if (r->qp->type != QP_DCT)
		qp_error(r->qp, 0);
	if (r->qp->type == QP_UC)
		return REPLY_LOST;
	return synd == SYND_LOCAL_LENGTH ? REPLY_INVAL : REPLY_OP;
}

static enum reply take(struct request *r, struct recv *recv)
{
	switch (recv_take(r->qp, r->srq, recv)) {
	case 0:
		return REPLY_ACK;
	case -EAGAIN:
		return r->qp->type == QP_UC ? REPLY_LOST : REPLY_RNR;
	}
	return nak(r, REPLY_OP);
}

/* A DC target has no peer of its own: the message says where it came from. */
static uint16_t source_lid(const struct request *r)
{
	return r->qp->type == QP_DCT ? port_lid(r->from->hca) : r->qp->rlid;
}

/* What the completion says of the message. */
static struct cqe describe(const struct request *r, uint8_t opcode)
{
	return (struct cqe){
		.imm = r->w->imm,
		.byte_cnt = htobe32(r->w->data->len),
		.flags_rqpn = htobe32(r->from->obj.id),
		.slid = htobe16(source_lid(r)),
		.op_own = opcode << 4,
	};
}

static enum reply finish(struct request *r, struct recv *recv, struct cqe *cqe)
{
	if (recv_complete(recv, cqe, r->w->solicited))
		return nak(r, REPLY_OP);
	tm_count(r->qp, cqe);
	return REPLY_ACK;
}

/* Does the receive go to a signature key? */
static bool recv_signed(const struct request *r, const struct recv *recv)
{
	return recv->wqe.n == 1 &&
	       sig_key(r->qp->hca, be32toh(recv->wqe.segs[0].lkey));
}

/* Put what was sent into the memory of a signature key. */
static uint8_t put_signed(struct request *r, const struct recv *recv)
{
	const struct wqe_data *d = &recv->wqe.segs[0];

	if (r->w->data->len > be32toh(d->byte_count))
		return SYND_LOCAL_LENGTH;
	return sig_write(r->qp, SIG_RESPONDER, &r->scatter, be32toh(d->lkey),
			 be64toh(d->addr), ACCESS_LOCAL_WRITE, r->w->data) ?
		       SYND_LOCAL_PROT : SYND_OK;
}

/* The memory of a receive has a page that is not present. */
static enum reply recv_page(struct request *r, struct recv *recv)
{
	if (!fault_recv(r->from, recv, r->w->data->len))
		return recv_nak(r, recv, SYND_LOCAL_PROT);
	recv_put_back(recv);
	return REPLY_PAGE;
}

static uint8_t send_opcode(const struct send_wqe *w)
{
	switch (w->op) {
	case WQE_OP_SEND_INVAL:
		return CQE_RESP_SEND_INV;
	case WQE_OP_SEND_IMM:
		return CQE_RESP_SEND_IMM;
	}
	return CQE_RESP_SEND;
}

/* The message goes to the next receive. @cqe: of its completion */
static enum reply receive(struct request *r, struct cqe *cqe)
{
	struct sglist *to = &r->qp->hca->objs->dst;
	const struct send_wqe *w = r->w;
	struct recv recv;
	enum reply reply = take(r, &recv);
	uint8_t synd;

	if (reply != REPLY_ACK)
		return reply;
	sgl_reset(to);
	synd = recv_signed(r, &recv) ? put_signed(r, &recv) :
		recv_map(&recv, &r->scatter, w->data->len, to);
	if (synd == SYND_PAGE)
		return recv_page(r, &recv);
	if (synd)
		return recv_nak(r, &recv, synd);
	if (w->op == WQE_OP_SEND_INVAL &&
	    mkey_invalidate(r->qp->hca, &r->who, be32toh(w->imm)))
		return recv_nak(r, &recv, SYND_LOCAL_QP_OP);
	sgl_copy(to, w->data);
	return finish(r, &recv, cqe);
}

static enum reply do_send(struct request *r)
{
	struct cqe cqe = describe(r, send_opcode(r->w));
	enum reply reply;

	if (!qp_xrq(r->qp) || r->w->op == WQE_OP_SEND_INVAL ||
	    !tm_match(r->qp, r->w, &cqe, &reply))
		return receive(r, &cqe);
	return reply == REPLY_ACK ? reply : nak(r, reply);
}

/* Translate the remote end of a write, read or atomic. */
static enum reply map_remote(struct request *r, uint64_t len,
			     unsigned int access, enum odp_op op)
{
	struct sglist *l = &r->qp->hca->objs->dst;
	uint64_t va = be64toh(r->w->raddr.addr);
	uint32_t rkey = be32toh(r->w->raddr.rkey);
	int ret;

	sgl_reset(l);
	ret = mkey_map(r->qp->hca, &r->who, rkey, va, len, access, l);
	if (ret == -EAGAIN && fault_rdma(r->from, r->qp, rkey, va, len, op))
		return REPLY_PAGE;
	return ret ? nak(r, REPLY_ACCESS) : REPLY_ACK;
}

static enum reply do_write(struct request *r)
{
	const struct send_wqe *w = r->w;
	bool is_signed = sig_key(r->qp->hca, be32toh(w->raddr.rkey));
	enum reply reply;
	struct recv recv;
	struct cqe cqe;

	if (!r->qp->rwe)
		return nak(r, REPLY_ACCESS);
	if (!is_signed) {
		reply = map_remote(r, w->data->len, ACCESS_REMOTE_WRITE,
				   ODP_WRITE);
		if (reply != REPLY_ACK)
			return reply;
	}
	if (w->op == WQE_OP_RDMA_WRITE_IMM) {
		reply = take(r, &recv);
		if (reply != REPLY_ACK)
			return reply;
	}
	if (!is_signed)
		sgl_copy(&r->qp->hca->objs->dst, w->data);
	else if (sig_write(r->qp, SIG_RESPONDER, &r->who, be32toh(w->raddr.rkey),
			   be64toh(w->raddr.addr), ACCESS_REMOTE_WRITE, w->data)) {
		if (w->op == WQE_OP_RDMA_WRITE_IMM)
			recv_put_back(&recv);
		return nak(r, REPLY_ACCESS);
	}
	if (w->op != WQE_OP_RDMA_WRITE_IMM)
		return REPLY_ACK;
	cqe = describe(r, CQE_RESP_WRITE_IMM);
	return finish(r, &recv, &cqe);
}

/* What a read reads, of a signature key too. */
static enum reply find_remote(struct request *r)
{
	struct sglist *l = &r->qp->hca->objs->dst;
	const struct wqe_raddr *a = &r->w->raddr;

	if (!sig_key(r->qp->hca, be32toh(a->rkey)))
		return map_remote(r, r->w->data->len, ACCESS_REMOTE_READ,
				  ODP_READ);
	sgl_reset(l);
	return sig_read(r->qp, SIG_RESPONDER, &r->who, be32toh(a->rkey),
			be64toh(a->addr), r->w->data->len, ACCESS_REMOTE_READ,
			l) ? nak(r, REPLY_ACCESS) : REPLY_ACK;
}

static enum reply do_read(struct request *r)
{
	enum reply reply;

	if (!r->qp->rre)
		return nak(r, REPLY_ACCESS);
	reply = find_remote(r);
	if (reply == REPLY_ACK)
		sgl_copy(r->w->data, &r->qp->hca->objs->dst);
	return reply;
}

/* Memory and the answer to the requester are in the byte order of the host. */
static uint64_t atomic_execute(void *p, const struct send_wqe *w)
{
	uint64_t arg = be64toh(w->atomic.swap_add);
	uint64_t expected = be64toh(w->atomic.compare);

	if (w->op == WQE_OP_ATOMIC_FA)
		return __atomic_fetch_add((uint64_t *)p, arg,
					  __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n((uint64_t *)p, &expected, arg, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return expected;
}

static enum reply do_atomic(struct request *r)
{
	struct sglist *l = &r->qp->hca->objs->dst;
	const struct send_wqe *w = r->w;
	enum reply reply;
	uint64_t old;

	if (be64toh(w->raddr.addr) % ATOMIC_LEN)
		return nak(r, REPLY_INVAL);
	if (!r->qp->rae)
		return nak(r, REPLY_ACCESS);
	reply = map_remote(r, ATOMIC_LEN, ACCESS_ATOMIC, ODP_ATOMIC);
	if (reply != REPLY_ACK)
		return reply;
	if (l->n != 1 || (uintptr_t)l->v[0].iov_base % ATOMIC_LEN)
		return nak(r, REPLY_INVAL);
	old = atomic_execute(l->v[0].iov_base, w);
	sgl_write(w->data, &old, sizeof(old));
	return REPLY_ACK;
}

/* XRC: the queue that the message names, in the responder's domain. */
static bool find_srq(struct request *r)
{
	struct srq *srq = idtable_get(&r->qp->hca->objs->srqs, r->w->srqn);

	if (!srq || srq->kind != SRQ_KIND_XRC || srq->xrcd != r->qp->xrcd)
		return false;
	r->srq = srq;
	r->who.pd = srq->pd->obj.id;
	r->scatter.pd = r->who.pd;
	return true;
}

/* What the first message does to the responder. */
static void established(struct qp *qp)
{
	if (!qp->comm_est && qp->state == QP_RTR)
		event_post(qp->hca, EVENT_COMM_EST, qp->obj.id);
	qp->comm_est = true;
}

static enum reply execute(struct request *r)
{
	switch (r->w->op) {
	case WQE_OP_SEND:
	case WQE_OP_SEND_IMM:
	case WQE_OP_SEND_INVAL:
		return do_send(r);
	case WQE_OP_RDMA_WRITE:
	case WQE_OP_RDMA_WRITE_IMM:
		return do_write(r);
	case WQE_OP_RDMA_READ:
		return do_read(r);
	case WQE_OP_ATOMIC_CS:
	case WQE_OP_ATOMIC_FA:
		return do_atomic(r);
	}
	return nak(r, REPLY_INVAL);
}

/* Count a message that was executed for the counter set of the responder. */
static void count(const struct request *r)
{
	uint32_t set = IFC_GET(qpc, r->qp->qpc, counter_set_id);

	if (r->qp->type == QP_DCT)
		nic_count(r->qp->hca, set, NIC_DCT_CONNECTS);
	switch (r->w->op) {
	case WQE_OP_RDMA_WRITE:
	case WQE_OP_RDMA_WRITE_IMM:
		nic_count(r->qp->hca, set, NIC_WRITES);
		break;
	case WQE_OP_RDMA_READ:
		nic_count(r->qp->hca, set, NIC_READS);
		break;
	case WQE_OP_ATOMIC_CS:
	case WQE_OP_ATOMIC_FA:
		nic_count(r->qp->hca, set, NIC_ATOMICS);
		break;
	}
}

/**
 * respond() - execute a message at the responder
 * @qp: the responder, whose state lets it receive
 * @w: its work request
 *
 * Return: the reply; with REPLY_ACK the data has moved
 */
enum reply respond(struct qp *qp, struct qp *from, const struct send_wqe *w)
{
	struct request r = { .qp = qp, .from = from, .w = w,
			     .who = qp_accessor(qp) };
	enum reply reply;

	r.scatter = r.who;
	if (qp->srq)
		r.scatter.pd = qp->srq->pd->obj.id;
	if (qp->type != QP_DCT)
		established(qp);
	if (qp->type == QP_XRC && !find_srq(&r))
		return nak(&r, REPLY_INVAL);
	reply = execute(&r);
	if (reply == REPLY_ACK)
		count(&r);
	return reply;
}
