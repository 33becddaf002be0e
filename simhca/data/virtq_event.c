// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events of virtqueues. The driver gives each queue a pair of QPs that are connected to
 * each other. One is the adapter's, which sends an empty message on it for an event. So
 * the driver finds an event as the completion of a receive request of the other QP.
 */
#include "data/transport.h"
#include "object/virtq.h"

#define AGAIN NSEC_PER_MSEC	/* the driver posts requests soon */

/* The driver's QP of the pair; NULL while the two are not connected. */
static struct qp *other_end(const struct virtq *vq)
{
	const struct qp *qp = vq->event_qp;
	struct qp *peer = idtable_get(&vq->hca->objs->qps, qp->remote_qpn);

	if (qp->state != QP_RTS || !peer || peer->kind != QP_KIND_QP ||
	    peer->type != QP_RC || peer->remote_qpn != qp->obj.id ||
	    !qp_can_receive(peer))
		return NULL;
	return peer;
}

/**
 * virtq_event() - tell the driver that there are used entries, if it wants that
 */
void virtq_event(struct virtq *vq)
{
	struct sglist nothing = { 0 };
	struct send_wqe w = { .op = WQE_OP_RDMA_WRITE_IMM, .data = &nothing };
	struct qp *peer;

	vq->event_due = false;
	if (!vq->event_qp || vq->state == VIRTQ_ERR || !virtq_wants_event(vq))
		return;
	peer = other_end(vq);
	if (!peer)
		return;
	/* The driver knows that the two are connected. */
	peer->comm_est = true;
	switch (respond(peer, vq->event_qp, &w)) {
	case REPLY_ACK:
		vq->events++;
		break;
	case REPLY_RNR:
		vq->event_due = true;
		timer_arm(&vq->timer, AGAIN);
		break;
	default:
		hca_error(vq->hca, SIM_ERR_BAD_WQE,
			  "virtqueue %u: QP 0x%x takes no event", vq->index,
			  peer->obj.id);
	}
}
