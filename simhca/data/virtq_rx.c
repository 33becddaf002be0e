// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Frames that a TIR leads to a virtqueue. See object/virtq.h for the model.
 */
#include <linux/virtio_net.h>

#include "object/virtq.h"

_Static_assert(sizeof(struct virtio_net_hdr_v1) == VIRTQ_HEADER,
	       "the header of virtio 1.0");

/**
 * virtq_receive() - put a frame into the next buffer of an RX queue
 * @frame: the frame, with its VLAN tag if it has one
 * @len: bytes of it
 *
 * A frame that finds no buffer is dropped, and so is one that is longer than the
 * buffer: buffers are not joined (VIRTIO_NET_F_MRG_RXBUF is not announced).
 */
void virtq_receive(struct virtq *vq, const uint8_t *frame, size_t len)
{
	struct virtio_net_hdr_v1 head = { .num_buffers = htole16(1) };
	struct virtq_chain chain = { .data = &vq->hca->objs->dst };
	struct iovec v[2] = {
		{ .iov_base = &head, .iov_len = sizeof(head) },
		{ .iov_base = (void *)(uintptr_t)frame, .iov_len = len },
	};
	struct sglist from = { .v = v, .n = 2, .len = sizeof(head) + len };

	if (vq->state != VIRTQ_RDY || virtq_is_tx(vq))
		return;
	if (virtq_take(vq, &chain) || chain.data->len < from.len) {
		vq->dropped++;
		return;
	}
	sgl_copy(chain.data, &from);
	if (!virtq_put(vq, &chain, from.len))
		return;
	vq->frames++;
	virtq_event(vq);
}
