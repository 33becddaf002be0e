// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send queues: parse, execute, complete.
 */
#include <errno.h>
#include <string.h>

#include "data/tag_match.h"
#include "object/memic.h"
#include "object/page_fault.h"
#include "qos/sched.h"

/* Cursor over the segments of a work request. */
struct segs {
	const uint8_t *p;
	size_t left;
};

static bool take_seg(struct segs *s, void *to, size_t len)
{
	if (s->left < len)
		return false;
	memcpy(to, s->p, len);
	s->p += len;
	s->left -= len;
	return true;
}

static bool op_known(const struct qp *qp, uint8_t op)
{
	if (op == WQE_OP_NOP)
		return true;
	if (qp->kind == QP_KIND_SQ)
		return (op == WQE_OP_SEND || op == WQE_OP_LSO) &&
		       qp->hca->link == LINK_ETH;
	if (qp->type == QP_REG_UMR)
		return op == WQE_OP_UMR;
	switch (op) {
	case WQE_OP_SEND:
	case WQE_OP_SEND_IMM:
		return true;
	case WQE_OP_RDMA_WRITE:
	case WQE_OP_RDMA_WRITE_IMM:
	case WQE_OP_SEND_INVAL:
	case WQE_OP_UMR:
		return !qp_is_ud(qp);
	case WQE_OP_SET_PSV:
		return qp->pd && !qp_is_ud(qp);
	case WQE_OP_MMO:
		return qp->mmo;
	case WQE_OP_TAG_MATCHING:
		return qp_xrq(qp);
	case WQE_OP_RDMA_READ:
	case WQE_OP_ATOMIC_CS:
	case WQE_OP_ATOMIC_FA:
		return qp->type == QP_RC || qp->type == QP_XRC ||
		       qp->type == QP_DCI;
	}
	return false;
}

/* Requests that have segments of their own, and no data that is sent */
static bool op_has_tail(uint8_t op)
{
	return op == WQE_OP_UMR || op == WQE_OP_MMO || op == WQE_OP_SET_PSV ||
	       op == WQE_OP_TAG_MATCHING;
}

static bool parse_av(struct segs *s, struct wqe_av *av)
{
	size_t base = offsetof(struct wqe_av, rsvd1);

	memset(av, 0, sizeof(*av));
	if (!take_seg(s, av, base))
		return false;
	if (!(be32toh(av->dqpn) & WQE_AV_EXTENDED))
		return true;
	return take_seg(s, av->rsvd1, sizeof(*av) - base);
}

/* The inline part follows in the request, in whole units of 16 bytes. */
static bool parse_eth(struct segs *s, struct eth_wqe *eth)
{
	size_t len, rest = 0;
	struct wqe_eth seg;

	if (s->left < sizeof(seg))
		return false;
	memcpy(&seg, s->p, sizeof(seg));
	len = be16toh(seg.inline_len);
	if (len > WQE_ETH_START)
		rest = (len - WQE_ETH_START + WQE_DS - 1) / WQE_DS * WQE_DS;
	/* swp_*: another place for the sums, which the adapter does not claim */
	if (s->left < sizeof(seg) + rest || seg.swp_flags)
		return false;
	eth->flags = seg.cs_flags;
	eth->mss = be16toh(seg.mss);
	eth->inlined = s->p + offsetof(struct wqe_eth, start);
	eth->inline_len = len;
	s->p += sizeof(seg) + rest;
	s->left -= sizeof(seg) + rest;
	return true;
}

/* The segments before the data: what the type and the opcode ask for. */
static bool parse_head(const struct qp *qp, struct segs *s, struct send_wqe *w)
{
	struct wqe_xrc xrc;

	if (w->op == WQE_OP_NOP || op_has_tail(w->op))
		return true;
	if (qp->kind == QP_KIND_SQ)
		return parse_eth(s, &w->eth);
	if (qp->type == QP_XRC) {
		if (!take_seg(s, &xrc, sizeof(xrc)))
			return false;
		w->srqn = be32toh(xrc.srqn) & 0xffffff;
	}
	if (qp->type == QP_DCI && !parse_av(s, &w->av))
		return false;
	switch (w->op) {
	case WQE_OP_ATOMIC_CS:
	case WQE_OP_ATOMIC_FA:
		return take_seg(s, &w->raddr, sizeof(w->raddr)) &&
		       take_seg(s, &w->atomic, sizeof(w->atomic));
	case WQE_OP_RDMA_WRITE:
	case WQE_OP_RDMA_WRITE_IMM:
	case WQE_OP_RDMA_READ:
		return take_seg(s, &w->raddr, sizeof(w->raddr));
	}
	return !qp_is_ud(qp) || parse_av(s, &w->av);
}

static uint8_t parse_inline(struct segs *s, uint32_t count, struct sglist *l)
{
	size_t len = count & WQE_INLINE_LEN, pad = sizeof(count) + len;

	if (pad > s->left)
		return SYND_LOCAL_QP_OP;
	if (sgl_add(l, (void *)(uintptr_t)(s->p + sizeof(count)), len))
		return SYND_LOCAL_QP_OP;
	pad = (pad + WQE_DS - 1) / WQE_DS * WQE_DS;
	if (pad > s->left)
		pad = s->left;
	s->p += pad;
	s->left -= pad;
	return SYND_OK;
}

/* Is local memory where the request writes? */
static bool is_target(const struct send_wqe *w)
{
	return w->op == WQE_OP_RDMA_READ || w->op == WQE_OP_ATOMIC_CS ||
	       w->op == WQE_OP_ATOMIC_FA;
}

static int map_segment(struct qp *qp, const struct wqe_data *d, uint32_t count,
		       struct send_wqe *w)
{
	struct accessor who = qp_accessor(qp);
	uint32_t key = be32toh(d->lkey);
	uint64_t va = be64toh(d->addr);

	if (w->sink.byte_count)		/* such a segment is the only one */
		return -EACCES;
	if (!sig_key(qp->hca, key))
		return mkey_map(qp->hca, &who, key, va, count, is_target(w) ?
				ACCESS_LOCAL_WRITE : ACCESS_LOCAL_READ, w->data);
	if (!is_target(w))
		return sig_read(qp, SIG_REQUESTER, &who, key, va, count,
				ACCESS_LOCAL_READ, w->data);
	if (w->op != WQE_OP_RDMA_READ)
		return -EACCES;
	w->sink = *d;
	return sig_sink(qp, count, w->data);
}

static uint8_t parse_data(struct qp *qp, struct segs *s, struct send_wqe *w)
{
	struct wqe_data d;
	uint32_t count;
	uint8_t synd;
	int ret;

	sgl_reset(w->data);
	while (s->left >= sizeof(d)) {
		memcpy(&d, s->p, sizeof(d));
		count = be32toh(d.byte_count);
		if (count & WQE_INLINE) {
			synd = is_target(w) ? SYND_LOCAL_QP_OP :
					parse_inline(s, count, w->data);
			if (synd)
				return synd;
			continue;
		}
		take_seg(s, &d, sizeof(d));
		if (!count)
			count = DATA_SEG_MAX;
		if (w->data->len + count > 1ull << LOG_MAX_MSG)
			return SYND_LOCAL_LENGTH;
		ret = map_segment(qp, &d, count, w);
		if (ret)
			return ret == -EAGAIN ? SYND_PAGE : SYND_LOCAL_PROT;
	}
	return s->left ? SYND_LOCAL_QP_OP : SYND_OK;
}

static uint8_t parse(struct qp *qp, const uint8_t *wqe, size_t len,
		     struct send_wqe *w)
{
	struct segs s = { .p = wqe, .left = len };
	struct wqe_ctrl ctrl;
	uint32_t word;

	if (!take_seg(&s, &ctrl, sizeof(ctrl)))
		return SYND_LOCAL_QP_OP;
	word = be32toh(ctrl.opmod_idx_opcode);
	w->op = word & 0xff;
	w->mod = word >> 24;
	w->blocks = (len + WQE_BB - 1) / WQE_BB;
	w->ce = ctrl.fm_ce_se >> WQE_CE_SHIFT & WQE_CE_MASK;
	w->solicited = ctrl.fm_ce_se & WQE_SOLICITED;
	w->imm = ctrl.imm;
	w->stream = ctrl.stream[0] << 8 | ctrl.stream[1];
	if ((word >> 8 & 0xffff) != qp->sq_head ||
	    be32toh(ctrl.qpn_ds) >> 8 != qp->obj.id ||
	    (w->mod && w->op != WQE_OP_MMO))
		return SYND_LOCAL_QP_OP;
	if (!op_known(qp, w->op) || !parse_head(qp, &s, w))
		return SYND_LOCAL_QP_OP;
	if (w->op == WQE_OP_NOP)
		return SYND_OK;
	if (op_has_tail(w->op)) {
		w->tail = s.p;
		w->tail_len = s.left;
		return SYND_OK;
	}
	return parse_data(qp, &s, w);
}

static enum outcome execute(struct qp *qp, const struct send_wqe *w,
			    uint8_t *synd)
{
	struct accessor who = qp_accessor(qp);

	if (w->op == WQE_OP_NOP)
		return SEND_DONE;
	if (qp->kind == QP_KIND_SQ) {
		*synd = eth_send(qp, w);
		return *synd ? SEND_FAILED : SEND_DONE;
	}
	if (w->op == WQE_OP_UMR) {
		*synd = umr_execute(qp->hca, &who, be32toh(w->imm), w->tail,
				    w->tail_len);
		return *synd ? SEND_FAILED : SEND_DONE;
	}
	if (w->op == WQE_OP_SET_PSV) {
		*synd = psv_set(qp->hca, qp->pd, w->tail, w->tail_len);
		return *synd ? SEND_FAILED : SEND_DONE;
	}
	if (w->op == WQE_OP_MMO) {
		*synd = mmo_execute(qp, w->mod, w->tail, w->tail_len);
		return *synd ? SEND_FAILED : SEND_DONE;
	}
	if (w->op == WQE_OP_TAG_MATCHING) {
		*synd = tm_execute(qp, w->tail, w->tail_len);
		return *synd ? SEND_FAILED : SEND_DONE;
	}
	if (qp_is_ud(qp))
		return ud_send(qp, w, synd);
	if (qp->type == QP_DCI)
		return dc_send(qp, w, synd);
	return connected_send(qp, w, synd);
}

/* Complete the request at the head; false where the CQ cannot take it. */
static bool complete(struct qp *qp, const struct send_wqe *w, uint8_t synd)
{
	uint32_t bytes = w->op == WQE_OP_RDMA_READ ? w->data->len : 0;
	struct cqe cqe;

	sq_cqe(qp, w->op, synd, bytes, &cqe);
	return !cq_post(qp->scq, &cqe, synd || w->ce == WQE_CE_ALWAYS_EQE);
}

/* Is the failure one that ends a stream of the QP, and leaves the others alone? */
static bool ends_stream(struct qp *qp, uint8_t syndrome, uint16_t stream)
{
	return qp->streams.on && syndrome != SYND_LOCAL_QP_OP &&
	       dc_stream_failed(qp, stream);
}

/*
 * The request at the head failed: complete it so, flush the rest. The reliable
 * types move to error, the others to SQ error. A QP with streams may go on with
 * its other streams.
 *
 * Return: does the QP go on?
 */
static bool send_fail(struct qp *qp, uint8_t syndrome)
{
	struct cqe cqe;
	uint8_t wqe[WQE_MAX];
	struct wqe_ctrl ctrl = { 0 };
	size_t len;
	bool ok;

	if (!sq_fetch(qp, wqe, &len))
		memcpy(&ctrl, wqe, sizeof(ctrl));
	else
		len = WQE_BB;
	sq_cqe(qp, be32toh(ctrl.opmod_idx_opcode) & 0xff, syndrome, 0, &cqe);
	ok = !cq_post(qp->scq, &cqe, true);
	qp->sq_head += len > WQE_BB ? (len + WQE_BB - 1) / WQE_BB : 1;
	if (ok && ends_stream(qp, syndrome,
			      ctrl.stream[0] << 8 | ctrl.stream[1]))
		return true;
	if (ok && (qp_is_ud(qp) || qp->type == QP_UC)) {
		qp->state = QP_SQER;
		sq_flush(qp);
		return false;
	}
	qp_error(qp, ok ? 0 : EVENT_QP_CATAS);
	return false;
}

/* What was read to a signature key goes to its memory. */
static uint8_t put_read(struct qp *qp, const struct send_wqe *w)
{
	struct accessor who = qp_accessor(qp);

	if (!w->sink.byte_count)
		return SYND_OK;
	return sig_write(qp, SIG_REQUESTER, &who, be32toh(w->sink.lkey),
			 be64toh(w->sink.addr), ACCESS_LOCAL_WRITE, w->data) ?
		       SYND_LOCAL_PROT : SYND_OK;
}

static uint32_t pace_index(const struct qp *qp)
{
	return qp->kind == QP_KIND_QP ?
		       IFC_GET(qpc, qp->qpc, packet_pacing_rate_limit_index) : 0;
}

/* Do the rate of the QP and its group allow the next request? Else its timer tries again. */
static bool its_turn(struct qp *qp)
{
	uint64_t ns = pace_wait(qp->hca, pace_index(qp));

	if (!ns)
		ns = sched_wait(qp->hca, qp->group);
	if (!ns)
		return true;
	qp->waiting = true;
	timer_arm(&qp->timer, ns);
	return false;
}

/* Does the queue stop here, because of a bad signature? Then it is drained. */
static bool drained(struct qp *qp)
{
	if (!qp->drain)
		return false;
	qp->drain = false;
	qp->state = QP_SQD;
	event_post(qp->hca, EVENT_SQ_DRAINED, qp->obj.id);
	return true;
}

/* The bytes of a request on the wire; without data, the list is that of an older one. */
static uint64_t bytes_of(const struct send_wqe *w)
{
	return w->op == WQE_OP_NOP || op_has_tail(w->op) ? 0 : w->data->len;
}

/* Execute the request at the head, and add its bytes to @bytes. False: stop here. */
static bool send_one(struct qp *qp, uint64_t *bytes)
{
	struct send_wqe w = { .data = &qp->hca->objs->src };
	uint64_t steps = mkey_steps();
	uint8_t wqe[WQE_MAX], synd;
	size_t len;

	if (sq_fetch(qp, wqe, &len)) {
		qp_error(qp, EVENT_QP_CATAS);
		return false;
	}
	synd = parse(qp, wqe, len, &w);
	if (synd == SYND_LOCAL_QP_OP)
		hca_error(qp->hca, SIM_ERR_BAD_WQE,
			  "%s QP 0x%x: request %u, opcode 0x%x, %zu bytes",
			  qp_type_name(qp), qp->obj.id, qp->sq_head, w.op, len);
	if ((!synd || synd == SYND_PAGE) && dc_stream_is_bad(qp, w.stream))
		synd = SYND_FLUSH;
	if (synd == SYND_PAGE) {
		if (fault_local(qp, is_target(&w))) {
			qp->waiting = true;
			return false;
		}
		synd = SYND_LOCAL_PROT;
	}
	if (!synd && !its_turn(qp))
		return false;
	if (!synd) {
		switch (execute(qp, &w, &synd)) {
		case SEND_WAIT:
			qp->waiting = true;
			sched_stop(qp->group);
			return false;
		case SEND_DONE:
			synd = put_read(qp, &w);
			break;
		case SEND_FAILED:
			break;
		}
	}
	*bytes += bytes_of(&w) + SEND_COST + SEND_STEP * (mkey_steps() - steps);
	fault_done(qp);
	if (qp->state != QP_RTS)	/* the responder was this QP */
		return false;
	if (synd)
		return send_fail(qp, synd);
	if (w.ce >= WQE_CE_ALWAYS && !complete(qp, &w, SYND_OK)) {
		qp_error(qp, EVENT_QP_CATAS);
		return false;
	}
	qp->sq_head += w.blocks;
	pace_charge(qp->hca, pace_index(qp), bytes_of(&w));
	sched_charge(qp->group, w.op == WQE_OP_RDMA_READ ? 0 : bytes_of(&w));
	return !drained(qp);
}

/*
 * May the request at the head be executed? Its doorbell record can be seen before what the
 * program stored into device memory, since those stores are on their way over the bus
 * as its doorbell is. On a PCI bus they would arrive before the answer to a read of the
 * record. Here they arrive before the doorbell, so where there is such memory each
 * request waits for its own.
 */
static bool is_rung(const struct qp *qp)
{
	return qp->no_record || !memic_pieces(qp->hca) ||
	       (int16_t)(qp->rung - qp->sq_head) >= 0;
}

/**
 * send_run() - execute what is posted, as far as it goes
 * @qp: the QP, in RTS
 */
void send_run(struct qp *qp)
{
	int left = sq_posted(qp);
	uint64_t bytes = 0;
	uint16_t head;

	if (left < 0) {
		qp_error(qp, EVENT_QP_CATAS);
		return;
	}
	while (left > 0 && !qp->waiting && is_rung(qp) &&
	       !qp_pause(qp, bytes)) {
		head = qp->sq_head;
		if (!send_one(qp, &bytes))
			return;
		left -= (uint16_t)(qp->sq_head - head);
	}
}
