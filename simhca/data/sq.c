// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send queues: what is posted, and flushing it.
 *
 * A work request is copied from guest memory before it is parsed. The guest
 * therefore cannot change it between check and execution. A request may wrap
 * around the end of the queue; its copy is contiguous.
 */
#include <string.h>

#include "object/qp.h"

#define DS_MASK 0x3fu

/*
 * The BlueFlame copy of the request at the head, against the request itself.
 * Hardware may execute either. A NOP is executed from the copy: by that the
 * driver's test of write combining learns that copies arrive whole, unless they are not
 * to do so.
 */
static void check_bf(struct qp *qp, uint8_t *wqe, size_t len)
{
	struct wqe_ctrl ctrl;

	memcpy(&ctrl, wqe, sizeof(ctrl));
	if (len > qp->bf_len) {
		qp->torn = true;
	} else if ((be32toh(ctrl.opmod_idx_opcode) & 0xff) == WQE_OP_NOP) {
		if (!qp->hca->no_wc)
			memcpy(wqe, qp->bf, len);
	} else if (memcmp(wqe, qp->bf, len)) {
		qp->torn = true;
	}
	qp->bf = NULL;
}

/**
 * sq_fetch() - copy a work request out of the queue
 * @to: WQE_MAX bytes
 * @len: set to the bytes of the request
 *
 * Return: 0, -1 where it cannot be read
 */
int sq_fetch(struct qp *qp, uint16_t at, uint8_t *to, size_t *len)
{
	uint16_t mask = (1u << qp->log_sq) - 1, i;
	struct wqe_ctrl ctrl;
	size_t done;

	*len = WQE_BB;
	for (done = 0, i = at; done < *len; done += WQE_BB, i++) {
		if (qbuf_read(qp->hca, &qp->buf, qp->sq_off +
			      (uint64_t)(i & mask) * WQE_BB, to + done,
			      WQE_BB))
			return -1;
		if (!done) {
			memcpy(&ctrl, to, sizeof(ctrl));
			*len = (be32toh(ctrl.qpn_ds) & DS_MASK) * WQE_DS;
		}
	}
	if (qp->bf && at == qp->sq_head)
		check_bf(qp, to, *len);
	return 0;
}

/**
 * sq_cqe() - the completion of a work request
 * @op: WQE_OP_*
 * @synd: SYND_*
 * @bytes: that were read from the peer
 * @cqe: set
 */
void sq_cqe(const struct qp *qp, uint16_t at, uint8_t op, uint8_t synd,
	    uint32_t bytes, struct cqe *cqe)
{
	memset(cqe, 0, sizeof(*cqe));
	cqe->srqn_uidx = htobe32(qp->user_index == NO_USER_INDEX ?
				 0 : qp->user_index);
	cqe->opcode_qpn = htobe32((uint32_t)op << 24 | qp->obj.id);
	cqe->wqe_counter = htobe16(at);
	cqe->byte_cnt = htobe32(bytes);
	cqe->op_own = (synd ? CQE_REQ_ERR : CQE_REQ) << 4;
	if (synd) {
		cqe->syndrome = synd;
		cqe->byte_cnt = 0;
	}
}

/**
 * sq_posted() - how many blocks are posted, by the doorbell record or the doorbells
 *
 * Return: their number; -1 where the record cannot be read or cannot be true
 */
int sq_posted(struct qp *qp)
{
	uint32_t counter;
	uint16_t n;

	if (qp->no_record)
		counter = qp->sq_end;
	else if (db_read(qp->hca, qp->dbr + sizeof(counter), &counter))
		return -1;
	n = (uint16_t)counter - qp->sq_head;
	if (n > 1u << qp->log_sq) {
		hca_error(qp->hca, SIM_ERR_BAD_DOORBELL,
			  "QP 0x%x: %u blocks posted, room for %u", qp->obj.id,
			  n, 1u << qp->log_sq);
		return -1;
	}
	return n;
}

/**
 * sq_flush() - complete all that is posted with a flush error
 * @qp: the QP, in error or SQ error
 */
void sq_flush(struct qp *qp)
{
	uint8_t wqe[WQE_MAX];
	struct wqe_ctrl ctrl;
	struct cqe cqe;
	size_t len;
	int left;

	if (!qp->has_sq)
		return;
	left = sq_posted(qp);
	while (left > 0) {
		if (sq_fetch(qp, qp->sq_head, wqe, &len))
			return;
		memcpy(&ctrl, wqe, sizeof(ctrl));
		sq_cqe(qp, qp->sq_head, be32toh(ctrl.opmod_idx_opcode) & 0xff,
		       SYND_FLUSH, 0, &cqe);
		if (cq_post(qp->scq, &cqe, true))
			return;
		len = len > WQE_BB ? (len + WQE_BB - 1) / WQE_BB : 1;
		qp->sq_head += len;
		left -= len;
	}
}
