// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * TX virtqueues: a store to the doorbell page lets the adapter send what the driver has
 * made available. See object/virtq.h for the model.
 */
#include <errno.h>
#include <linux/virtio_net.h>

#include "data/transport.h"
#include "object/virtq.h"

#define BURST 256u	/* frames, before others have their turn */

/*
 * Send the frame behind the header. No offload of sending is announced, so a header that
 * asks for one is the driver's mistake, and the frame is lost.
 */
static void send_one(struct virtq *vq, const struct virtq_chain *chain)
{
	struct virtio_net_hdr_v1 head;

	if (chain->data->len >= sizeof(head)) {
		sgl_read(chain->data, &head, sizeof(head));
		if (!(head.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) &&
		    head.gso_type == VIRTIO_NET_HDR_GSO_NONE &&
		    !eth_send_bytes(vq->hca, vq->tis->id, vq->td, chain->data,
				    sizeof(head))) {
			vq->frames++;
			return;
		}
	}
	vq->dropped++;
}

/**
 * virtq_run() - send what is available
 * @vq: a queue in any state; an RX queue has nothing to do here
 */
void virtq_run(struct virtq *vq)
{
	struct virtq_chain chain = { .data = &vq->hca->objs->src };
	unsigned int n;

	if (!virtq_is_tx(vq) || vq->state != VIRTQ_RDY)
		return;
	for (n = 0; n < BURST; n++) {
		if (virtq_take(vq, &chain))
			break;
		send_one(vq, &chain);
		if (!virtq_put(vq, &chain, 0))
			break;
	}
	if (n)
		virtq_event(vq);
	if (n == BURST)
		timer_arm(&vq->timer, 0);
}

/**
 * virtq_timer() - go on with what is left to send, or with an event
 */
void virtq_timer(struct sim_timer *timer)
{
	struct virtq *vq = container_of(timer, struct virtq, timer);

	if (vq->hca->fatal)
		return;
	if (vq->event_due)
		virtq_event(vq);
	virtq_run(vq);
}

/**
 * virtq_kick() - a driver stored the number of a queue into the doorbell page
 * @index: what was stored; no queue need have it
 *
 * Buffers of an RX queue are looked for when a frame arrives, not now.
 */
void virtq_kick(struct hca *hca, uint16_t index)
{
	struct virtq *vq;
	uint32_t id;

	if (hca->fatal)
		return;
	idtable_for_each(&hca->objs->virtqs, id, vq) {
		if (vq->index != index)
			continue;
		vq->kicks++;
		virtq_run(vq);
	}
}
