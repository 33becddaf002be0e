/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queues of an emulated virtio-net device (vDPA). The adapter itself walks the split
 * ring of a virtqueue in guest memory: it sends the frames of a TX queue, and fills the
 * buffers of an RX queue with frames that a TIR leads to it.
 *
 * Invariants
 * - A guest may change a ring at any time. Each index, length and flag is read once,
 *   checked, and then used.
 * - All memory of a ring is reached through the memory key and the PD of the queue.
 * - A queue whose ring breaks a rule goes into the error state, and touches memory no
 *   more.
 * - A queue holds its PD, its TIS, its UMEMs and its event QP.
 */
#ifndef SIMHCA_VIRTQ_H
#define SIMHCA_VIRTQ_H

#include "object/objects.h"
#include "object/qp.h"

#define LOG_MAX_VIRTQ_SZ 15u
#define VIRTQ_MAX 16u		/* max_num_virtio_queues */
#define VIRTQ_UMEMS 3u
#define VIRTQ_HEADER 12u	/* struct virtio_net_hdr_v1 */

/* Bytes of each UMEM of a queue: for each entry of the ring, and for the queue. */
#define VIRTQ_UMEM_A 16u
#define VIRTQ_UMEM_B 4096u

/* Modes of events, as virtio_q has them */
enum virtq_event_mode { VIRTQ_NO_EVENT, VIRTQ_EVENT_QP };

enum virtq_state { VIRTQ_INIT, VIRTQ_RDY, VIRTQ_SUSPEND, VIRTQ_ERR };

/**
 * struct virtq - a virtqueue
 * @index: number of the queue in its device: RX queues are even, TX queues odd
 * @size: entries of the ring, a power of two
 * @desc: address of the descriptors under @mkey; so are @avail and @used
 * @avail_next: index of the next available entry that the adapter takes
 * @used_next: index of the next used entry that the adapter writes
 * @version_1: the driver speaks virtio 1.0; the model speaks nothing else
 * @event_qp: the adapter's end of the QP pair that brings events; NULL: no events
 * @event_due: an event found no receive request yet
 * @tis: of a TX queue, else NULL
 * @ctx: the context as a query answers it
 * @kicks: stores to the doorbell page for this queue
 * @frames: that were sent, or received
 * @dropped: frames that found no buffer, or that are none
 * @events: that were delivered
 */
struct virtq {
	struct obj obj;
	struct hca *hca;
	enum virtq_state state;
	uint16_t index;
	uint32_t size;
	uint64_t desc;
	uint64_t avail;
	uint64_t used;
	uint32_t mkey;
	uint16_t avail_next;
	uint16_t used_next;
	bool version_1;
	bool event_due;
	struct domain *pd;
	struct qp *event_qp;
	struct obj *tis;
	uint32_t td;
	struct obj *umems[VIRTQ_UMEMS];
	struct sim_timer timer;
	uint8_t ctx[IFC_SZ(virtio_net_q_object)];
	uint64_t kicks;
	uint64_t frames;
	uint64_t dropped;
	uint64_t events;
};

static inline bool virtq_is_tx(const struct virtq *vq)
{
	return vq->index & 1;
}

/**
 * struct virtq_chain - a chain of descriptors that was taken from a ring
 * @head: number of the first descriptor
 * @data: the memory of all of them
 */
struct virtq_chain {
	uint16_t head;
	struct sglist *data;
};

/* ---- virtq.c */
uint8_t virtq_create(struct cmd *cmd);
uint8_t virtq_modify(struct cmd *cmd);
uint8_t virtq_query(struct cmd *cmd);
uint8_t virtq_destroy(struct cmd *cmd);
void virtq_free(struct virtq *vq);
void virtqs_dump(struct hca *hca, struct json_object *o,
		 struct json_object *alive);
void virtqs_clear_counters(struct hca *hca);

/* ---- data/virtq_ring.c */
int virtq_take(struct virtq *vq, struct virtq_chain *chain);
bool virtq_put(struct virtq *vq, const struct virtq_chain *chain, uint32_t len);
bool virtq_wants_event(struct virtq *vq);

/* ---- data/virtq_event.c */
void virtq_event(struct virtq *vq);

/* ---- data/virtq_rx.c */
void virtq_receive(struct virtq *vq, const uint8_t *frame, size_t len);

/* ---- data/virtq_tx.c */
void virtq_run(struct virtq *vq);
void virtq_timer(struct sim_timer *timer);
void virtq_kick(struct hca *hca, uint16_t index);

#endif
