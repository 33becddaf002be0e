// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send queues: execute, complete.
 */
#include <errno.h>
#include <string.h>

#include "data/flight.h"
#include "data/tag_match.h"
#include "object/memic.h"
#include "object/page_fault.h"
#include "qos/sched.h"

/* Complete a request; false where the CQ cannot take it. */
static bool complete(struct qp *qp, uint16_t at, const struct send_wqe *w,
		     uint8_t synd)
{
	uint32_t bytes = w->op == WQE_OP_RDMA_READ ? w->data->len : 0;
	struct cqe cqe;

	sq_cqe(qp, at, w->op, synd, bytes, &cqe);
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

	if (!sq_fetch(qp, qp->sq_head, wqe, &len))
		memcpy(&ctrl, wqe, sizeof(ctrl));
	else
		len = WQE_BB;
	sq_cqe(qp, qp->sq_head, be32toh(ctrl.opmod_idx_opcode) & 0xff, syndrome, 0,
	       &cqe);
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

/*
 * What an answer brought goes to the memory that its request names.
 *
 * Return: SYND_*; SYND_PAGE: a page is missing now
 */
static uint8_t land(struct qp *qp, const struct flight *f)
{
	struct send_wqe w = { .data = &qp->hca->objs->src };
	uint8_t wqe[WQE_MAX], synd;
	size_t len;

	if (!send_reads(&f->w))
		return SYND_OK;
	if (sq_fetch(qp, f->index, wqe, &len))
		return SYND_LOCAL_QP_OP;
	synd = send_parse(qp, f->index, wqe, len, &w);
	if (synd)
		return synd;
	if (w.data->len != f->list.len)	/* the program has changed it */
		return SYND_LOCAL_QP_OP;
	sgl_copy(w.data, &f->list);
	return put_read(qp, &w);
}

/*
 * The first flight and those behind it are over, and its request is the next one again.
 * If the cable was cut it may go at once, as long as there is no timer.
 */
static void send_back(struct qp *qp, enum outcome how, uint8_t synd,
		      bool again)
{
	flights_end(qp);
	if (how == SEND_WAIT) {
		qp->waiting = timer_armed(&qp->timer) || !again;
		sched_stop(qp->group);
		return;
	}
	fault_done(qp);
	send_fail(qp, synd);
}

static bool send_done(struct qp *qp, const struct flight *f)
{
	bool ok = f->w.ce < WQE_CE_ALWAYS ||
		  complete(qp, f->index, &f->w, SYND_OK);

	flight_pop(qp);
	if (!qp->halted)
		fault_done(qp);
	if (!ok)
		qp_error(qp, EVENT_QP_CATAS);
	return ok && (qp->flights || !drained(qp));
}

/* A page is missing where an answer goes: it is brought, and the request sent again. */
static void send_page(struct qp *qp)
{
	flights_end(qp);
	if (fault_local(qp, true))
		send_back(qp, SEND_WAIT, 0, !qp->fault);
	else
		send_back(qp, SEND_FAILED, SYND_LOCAL_PROT, false);
}

/* The answer of the first flight has come. Return: may there be more? */
static bool send_answer(struct qp *qp, struct flight *f)
{
	bool again = f->reply == REPLY_PAGE ? !qp->fault :
					      flight_cut(f) && qp_sends(qp);
	enum outcome outcome;
	uint8_t synd = 0;

	outcome = connected_answer(qp, f->rnr, f->reply, &synd);
	if (outcome == SEND_DONE) {
		synd = land(qp, f);
		if (!synd)
			return send_done(qp, f);
		if (synd == SYND_PAGE) {
			send_page(qp);
			return false;
		}
		outcome = SEND_FAILED;
	}
	send_back(qp, outcome, synd, again);
	return false;
}

static void send_answered(struct qp *qp)
{
	if (qp->hca->fatal)
		return;
	while (qp->flights && qp->flights->done)
		if (!send_answer(qp, qp->flights))
			break;
	if (!qp->waiting && qp->state == QP_RTS)
		send_run(qp);
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
	if (travel_far(qp, w))
		return travel_start(qp, w, send_answered, synd);
	if (qp->type == QP_DCI)
		return dc_send(qp, w, synd);
	return connected_send(qp, w, synd);
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

/* The bytes of a request on the wire; without data, the list is that of an older one. */
static uint64_t bytes_of(const struct send_wqe *w)
{
	return w->op == WQE_OP_NOP || send_has_tail(w->op) ? 0 : w->data->len;
}

/* Go on to the next request. */
static void send_on(struct qp *qp, const struct send_wqe *w)
{
	qp->sq_head += w->blocks;
	pace_charge(qp->hca, pace_index(qp), bytes_of(w));
	sched_charge(qp->group, w->op == WQE_OP_RDMA_READ ? 0 : bytes_of(w));
}

/* Execute the request at the head, and add its bytes to @bytes. False: stop here. */
static bool send_one(struct qp *qp, uint64_t *bytes)
{
	struct send_wqe w = { .data = &qp->hca->objs->src };
	uint64_t steps = mkey_steps();
	uint8_t wqe[WQE_MAX], synd;
	size_t len;

	if (sq_fetch(qp, qp->sq_head, wqe, &len)) {
		qp_error(qp, EVENT_QP_CATAS);
		return false;
	}
	synd = send_parse(qp, qp->sq_head, wqe, len, &w);
	if (travel_waits(qp, &w, synd))
		return false;
	if (synd == SYND_LOCAL_QP_OP)
		hca_error(qp->hca, SIM_ERR_BAD_WQE,
			  "%s QP 0x%x: request %u, opcode 0x%x, %zu bytes",
			  qp_type_name(qp), qp->obj.id, qp->sq_head, w.op, len);
	if ((!synd || synd == SYND_PAGE) && dc_stream_is_bad(qp, w.stream))
		synd = SYND_FLUSH;
	if (synd == SYND_PAGE) {
		if (fault_local(qp, send_reads(&w))) {
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
		case SEND_AWAY:
			send_on(qp, &w);
			return true;
		}
	}
	*bytes += bytes_of(&w) + SEND_COST + SEND_STEP * (mkey_steps() - steps);
	fault_done(qp);
	if (qp->state != QP_RTS)	/* the responder was this QP */
		return false;
	if (synd)
		return send_fail(qp, synd);
	if (w.ce >= WQE_CE_ALWAYS && !complete(qp, qp->sq_head, &w, SYND_OK)) {
		qp_error(qp, EVENT_QP_CATAS);
		return false;
	}
	send_on(qp, &w);
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
	uint64_t bytes = 0;
	uint16_t head;
	int left;

	if (travels(qp)) {
		turn_join(travel_line(qp), &qp->turn);
		return;
	}
	left = sq_posted(qp);
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

/* A QP has its turn on the line. Return: has it sent something? */
static bool send_turn(struct turn *turn)
{
	struct qp *qp = container_of(turn, struct qp, turn);
	uint64_t bytes = 0;
	int left;

	if (qp->hca->fatal || qp->state != QP_RTS || qp->waiting || qp->halted)
		return false;
	left = sq_posted(qp);
	if (left < 0)
		qp_error(qp, EVENT_QP_CATAS);
	return left > 0 && is_rung(qp) && send_one(qp, &bytes);
}

/**
 * send_init() - prepare a queue for a cable that takes time
 */
void send_init(struct qp *qp)
{
	qp->turn.go = send_turn;
	qp->turn.gone = travel_gone;
}
