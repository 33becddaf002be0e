// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages under way: a QP's list of them. See flight.h for the model.
 */
#include <stdlib.h>

#include "base/trace.h"
#include "data/flight.h"

/* Room for the data of a flight. Return: false if there is no memory */
static bool flight_room(struct flight *f)
{
	uint64_t len = f->w.data->len;
	void *room;

	sgl_reset(&f->list);
	f->w.data = &f->list;
	if (!len)
		return true;
	room = malloc(len);
	if (room && !sgl_add(&f->list, room, len))
		return true;
	free(room);
	return false;
}

static const char *op_name(uint8_t op)
{
	switch (op) {
	case WQE_OP_SEND:
	case WQE_OP_SEND_IMM:
	case WQE_OP_SEND_INVAL:
		return "SEND";
	case WQE_OP_RDMA_WRITE:
	case WQE_OP_RDMA_WRITE_IMM:
		return "RDMA_WRITE";
	case WQE_OP_RDMA_READ:
		return "RDMA_READ";
	default:
		return "ATOMIC";
	}
}

static void flight_trace(const struct flight *f)
{
	struct trace_event e = {
		.kind = TRACE_MESSAGE,
		.op = op_name(f->w.op),
		.hca = f->qp->hca->index,
		.to = f->to,
		.qpn = f->qp->obj.id,
		.request = f->index,
		.bytes = f->list.len,
		.begun = f->sent_at,
		.left = f->left_at,
		.arrived = f->arrived_at,
		.done = f->back_at,
		.failed = f->reply != REPLY_ACK || !f->arrived_at,
	};

	trace_add(&e);
}

static void flight_free(struct flight *f)
{
	if (trace_on())
		flight_trace(f);
	timer_cancel(&f->timer);
	turn_leave(&f->turn);
	line_release(f->line, f->held);
	f->qp->reading -= send_reads(&f->w);
	if (f->list.n)
		free(f->list.v[0].iov_base);
	sgl_free(&f->list);
	free(f);
}

/**
 * flight_new() - the request at the head of a send queue leaves
 * @w: the request; @data is what it sends, or where its answer goes
 *
 * Return: the flight, which is the QP's last one; NULL if there is no memory
 */
struct flight *flight_new(struct qp *qp, const struct send_wqe *w)
{
	struct flight *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->qp = qp;
	f->w = *w;
	if (!flight_room(f)) {
		free(f);
		return NULL;
	}
	if (!send_reads(w))
		sgl_copy(&f->list, w->data);
	f->index = qp->sq_head;
	f->psn = qp->send_psn;
	f->sent_at = loop_now();
	f->to = -1;
	f->held = sizeof(*f) + f->list.len;
	f->line = qp->turn.line;
	line_hold(f->line, f->held);
	qp->reading += send_reads(w);
	if (qp->flights)
		qp->flights_last->next = f;
	else
		qp->flights = f;
	qp->flights_last = f;
	return f;
}

/**
 * flight_pop() - the first flight of a QP is over
 */
void flight_pop(struct qp *qp)
{
	struct flight *f = qp->flights;

	qp->flights = f->next;
	flight_free(f);
}

/**
 * flights_drop_behind() - those that left after a flight are lost
 */
void flights_drop_behind(struct flight *f)
{
	struct flight *next;

	f->qp->flights_last = f;
	if (f->next) {
		turn_leave(&f->qp->turn);	/* the last one may be leaving */
		f->qp->sq_head = f->next->index;
		f->qp->send_psn = f->next->psn;
	}
	while ((next = f->next)) {
		f->next = next->next;
		flight_free(next);
	}
}

/**
 * flights_end() - none of a QP's messages arrives, and no answer either
 *
 * The request of the first one is the next one to be executed.
 */
void flights_end(struct qp *qp)
{
	turn_leave(&qp->turn);
	qp->halted = false;
	if (!qp->flights)
		return;
	qp->sq_head = qp->flights->index;
	qp->send_psn = qp->flights->psn;
	while (qp->flights)
		flight_pop(qp);
}
