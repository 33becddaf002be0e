// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues at work. See srq.h for the model.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/srq.h"

/**
 * srq_find() - the shared receive queue that a command refers to
 * @uid: DevX uid of the command
 */
struct srq *srq_find(struct hca *hca, uint32_t srqn, uint16_t uid)
{
	return obj_find(&hca->objs->srqs, srqn, uid);
}

/**
 * srq_free() - free a queue that is in no table any more
 */
void srq_free(struct srq *srq)
{
	qbuf_fini(&srq->buf);
	free(srq);
}

static void srq_fatal(struct srq *srq, const char *why)
{
	if (srq->error)
		return;
	srq->error = true;
	hca_error(srq->hca, SIM_ERR_BAD_WQE, "SRQ 0x%x: %s", srq->obj.id, why);
	event_post(srq->hca, EVENT_SRQ_CATAS, srq->obj.id);
}

/**
 * srq_posted() - how many work requests wait
 * @srq: the queue; goes into error where the counter is absurd
 */
uint16_t srq_posted(struct srq *srq)
{
	uint32_t counter;
	uint16_t n;

	if (srq->error)
		return 0;
	if (db_read(srq->hca, srq->dbr, &counter)) {
		srq_fatal(srq, "doorbell record not mapped");
		return 0;
	}
	n = (uint16_t)counter - srq->taken;
	if (n > 1u << srq->log_size) {
		srq_fatal(srq, "more posted than there is room for");
		return 0;
	}
	return n;
}

/**
 * srq_check_limit() - send the limit event if the queue is below its limit
 */
void srq_check_limit(struct srq *srq)
{
	if (!srq->lwm || srq->error || srq_posted(srq) >= srq->lwm)
		return;
	srq->lwm = 0;
	event_post(srq->hca, EVENT_SRQ_LIMIT, srq->obj.id);
}

/**
 * recv_wqe_trim() - cut the segments at the one that ends the list
 * @rw: the work request, all of whose slots were read
 */
void recv_wqe_trim(struct recv_wqe *rw)
{
	uint16_t i;

	for (i = 0; i < rw->n; i++)
		if (rw->segs[i].lkey == htobe32(WQE_TERMINATE_LKEY))
			rw->n = i;
}

/**
 * srq_take() - take the next work request
 * @rw: set on success
 *
 * Return: 0, -EAGAIN where none is posted, -EFAULT where the queue is in error
 */
int srq_take(struct srq *srq, struct recv_wqe *rw)
{
	size_t stride = (size_t)1 << srq->log_stride, head = 0;
	uint16_t mask = (1u << srq->log_size) - 1;
	uint8_t wqe[RWQE_MAX];
	struct wqe_srq_next next;

	if (!srq_posted(srq))
		return srq->error ? -EFAULT : -EAGAIN;
	if (qbuf_read(srq->hca, &srq->buf, srq->head * stride, wqe, stride)) {
		srq_fatal(srq, "queue not mapped");
		return -EFAULT;
	}
	rw->index = srq->head;
	memcpy(&next, wqe, sizeof(next));
	if (srq->cyclic)
		srq->head = (srq->head + 1) & mask;
	else
		srq->head = be16toh(next.next_wqe_index) & mask;
	if (!srq->plain)
		head = sizeof(next);
	srq->taken++;
	rw->n = (stride - head) / sizeof(rw->segs[0]);
	memcpy(rw->segs, wqe + head, rw->n * sizeof(rw->segs[0]));
	recv_wqe_trim(rw);
	srq_check_limit(srq);
	return 0;
}

/**
 * srq_put_back() - undo srq_take()
 * @index: of the work request that was taken last
 *
 * The limit event may have come by then. It is not taken back.
 */
void srq_put_back(struct srq *srq, uint16_t index)
{
	srq->head = index;
	srq->taken--;
}
