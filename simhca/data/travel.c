// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What happens to messages of connected QPs while the cable takes time: they leave, arrive
 * and are executed, and their answers come back. See flight.h for the model.
 *
 * A message within an adapter does not use the cable. Acknowledgements need the latency
 * and no room on the line; what a read or an atomic returns has its turn at the port of
 * the responder. A requester waits for an answer as long as its timer says, and the time
 * of the cable there and back: only messages that are lost are sent again.
 */
#include <string.h>

#include "data/flight.h"
#include "object/tis.h"
#include "qos/sched.h"

/* When memory may be there again */
#define NO_MEMORY_RETRY NSEC_PER_MSEC

/**
 * travel_line() - the line of the port by which a queue sends
 */
struct line *travel_line(const struct qp *qp)
{
	if (qp->kind != QP_KIND_SQ)
		return qp_line(qp);
	return lag_port(qp->hca, qp->tis ? tis_affinity(qp->hca, qp->tis->id) :
					   0)->line;
}

/**
 * travels() - does a queue take turns at its port?
 *
 * While the cable takes time all do whose messages may use it.
 */
bool travels(struct qp *qp)
{
	if (!line_timed() && !qp->turn.line && !qp->flights)
		return false;
	if (qp->kind == QP_KIND_SQ)
		return qp->hca->link == LINK_ETH;
	switch (qp->type) {
	case QP_RC:
	case QP_UC:
	case QP_XRC:
		return qp->flights || connected_far(qp);
	case QP_REG_UMR:
		return false;
	default:
		return true;
	}
}

static bool is_carried(uint8_t op)
{
	return op != WQE_OP_NOP && !send_has_tail(op);
}

/* An initiator has one target at a time. */
static bool same_target(const struct qp *qp, const struct wqe_av *av)
{
	return qp->type != QP_DCI ||
	       !memcmp(av, &qp->flights->w.av, sizeof(*av));
}

static bool fence_holds(const struct qp *qp, uint8_t fence)
{
	if (fence == WQE_FENCE_READS || fence == WQE_FENCE_UMR_READS)
		return qp->reading;
	return fence == WQE_FENCE_ALL;
}

/**
 * travel_waits() - must the next request wait for answers to those before it?
 * @syndrome: what is wrong with it; its completion is behind theirs
 */
bool travel_waits(struct qp *qp, const struct send_wqe *w, uint8_t syndrome)
{
	if (!qp->flights)
		return false;
	return syndrome || qp->drain || !is_carried(w->op) ||
	       fence_holds(qp, w->fence) || !same_target(qp, &w->av) ||
	       (send_reads(w) &&
		qp->reading >= 1u << IFC_GET(qpc, qp->qpc, log_sra_max));
}

/**
 * travel_far() - does a request of a connected QP use a cable that takes time?
 */
bool travel_far(struct qp *qp, const struct send_wqe *w)
{
	if (!qp->turn.line)
		return false;
	return qp->flights || (qp->type == QP_DCI ? dc_far(qp, w) :
						    connected_far(qp));
}

/* The answer to a message has come, or is known not to come. */
static void flight_back(struct sim_timer *timer)
{
	struct flight *f = container_of(timer, struct flight, timer);

	f->done = true;
	f->back_at = timer->deadline;
	if (f == f->qp->flights)
		f->answered(f->qp);
}

static void flight_return(struct flight *f, uint64_t left_at)
{
	f->timer.fire = flight_back;
	timer_arm_at(&f->timer, left_at + cable_time.latency);
}

static bool answer_gone(struct turn *turn, uint64_t at)
{
	flight_return(container_of(turn, struct flight, turn), at);
	return false;
}

static void answer_join(struct sim_timer *timer)
{
	struct flight *f = container_of(timer, struct flight, timer);

	f->turn.gone = answer_gone;
	f->turn.left = f->list.len;
	turn_join(f->back, &f->turn);
}

/* Return: the answer; of a message that is lost, none comes */
static enum reply flight_execute(struct flight *f)
{
	struct qp *qp = f->qp;
	struct qp *peer = qp->type == QP_DCI ? dc_peer(qp, &f->w) :
					       connected_peer(qp);

	if (!peer || flight_cut(f) || line_lost(peer->hca->line, f->sent_at))
		return REPLY_LOST;
	f->to = (int)peer->hca->index;
	f->rnr = connected_rnr_timer(peer);
	f->back = peer->hca->line;
	return qp->type == QP_DCI ? dc_deliver(qp, peer, &f->w) :
				    connected_deliver(qp, peer, &f->w, f->psn);
}

static void flight_arrive(struct sim_timer *timer)
{
	struct flight *f = container_of(timer, struct flight, timer);
	struct qp *qp = f->qp, *peer = NULL;
	uint64_t ns;

	f->arrived_at = timer->deadline;
	f->reply = flight_execute(f);
	if (qp->type == QP_UC) {	/* nobody answers */
		flight_back(timer);
		return;
	}
	if (f->reply != REPLY_ACK) {
		flights_drop_behind(f);
		qp->halted = true;
	}
	if (f->reply != REPLY_ACK || !send_reads(&f->w) || !f->list.len) {
		flight_return(f, timer->deadline);
		return;
	}
	peer = qp->type == QP_DCI ? NULL : connected_peer(qp);
	ns = peer ? connected_wait(peer, &f->w) : 0;
	timer->fire = answer_join;
	if (ns)
		timer_arm(timer, ns);
	else
		answer_join(timer);
}

/**
 * travel_gone() - the last byte of a QP's newest message leaves
 *
 * Return: true, as the QP may have more
 */
bool travel_gone(struct turn *turn, uint64_t at)
{
	struct qp *qp = container_of(turn, struct qp, turn);
	struct flight *f = qp->flights_last;

	f->left_at = at;
	f->timer.fire = flight_arrive;
	timer_arm_at(&f->timer, at + cable_time.latency);
	return true;
}

/**
 * travel_start() - the request at the head of a send queue leaves
 * @answered: called when the first flights of the QP have their answers
 * @syndrome: set where the outcome is SEND_FAILED
 *
 * Return: SEND_AWAY, SEND_WAIT or SEND_FAILED
 */
enum outcome travel_start(struct qp *qp, const struct send_wqe *w,
			  void (*answered)(struct qp *qp), uint8_t *syndrome)
{
	struct flight *f;

	if (!connected_len_ok(qp, w)) {
		*syndrome = SYND_LOCAL_LENGTH;
		return SEND_FAILED;
	}
	f = flight_new(qp, w);
	if (!f) {
		timer_arm(&qp->timer, NO_MEMORY_RETRY);
		return SEND_WAIT;
	}
	f->answered = answered;
	f->lost = !qp_sends(qp);
	connected_advance(qp, w);
	if (send_reads(w) || !w->data->len)
		travel_gone(&qp->turn, line_put(f->line, 0));
	else
		qp->turn.left = w->data->len;
	return SEND_AWAY;
}
