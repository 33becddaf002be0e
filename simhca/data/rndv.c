// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rendezvous by the adapter: it reads the data of a request that a tag took, from the
 * memory of the requester, and then tells the requester that it is done. The QP has no
 * send queue of its driver, so its timer and what waits for an answer are used for that.
 */
#include "data/tag_match.h"
#include "object/page_fault.h"

static enum outcome fetch(struct qp *qp, const struct rndv *r, uint8_t *synd)
{
	struct send_wqe w = {
		.op = WQE_OP_RDMA_READ,
		.raddr = { .addr = r->rvh.va, .rkey = r->rvh.rkey },
		.data = &qp->hca->objs->src,
	};
	struct accessor who = qp_accessor(qp);
	uint32_t len = be32toh(r->rvh.len);

	who.pd = qp->srq->pd->obj.id;
	sgl_reset(w.data);
	if (!len)
		return SEND_DONE;
	if (mkey_map(qp->hca, &who, be32toh(r->to.lkey), be64toh(r->to.addr),
		     len, ACCESS_LOCAL_WRITE, w.data))
		return SEND_FAILED;
	return connected_send(qp, &w, synd);
}

static enum outcome tell(struct qp *qp, struct rndv *r, uint8_t *synd)
{
	struct send_wqe w = { .op = WQE_OP_SEND,
			      .data = &qp->hca->objs->src };

	sgl_reset(w.data);
	if (sgl_add(w.data, &r->fin, sizeof(r->fin)))
		return SEND_FAILED;
	return connected_send(qp, &w, synd);
}

/**
 * rndv_run() - go on with the rendezvous of a QP, as far as it goes
 * @qp: the QP, which may have none
 *
 * In RTR they wait until the QP comes to RTS.
 */
void rndv_run(struct qp *qp)
{
	uint64_t bytes = 0, steps;
	uint8_t synd;
	bool told;

	while (qp->rndv && qp->state == QP_RTS && !qp->waiting &&
	       !qp_pause(qp, bytes)) {
		steps = mkey_steps();
		bytes += SEND_COST +
			 (qp->rndv->fetched ? 0 : be32toh(qp->rndv->rvh.len));
		told = qp->rndv->fetched;
		switch (told ? tell(qp, qp->rndv, &synd) :
			       fetch(qp, qp->rndv, &synd)) {
		case SEND_WAIT:
		case SEND_AWAY:
			qp->waiting = true;
			return;
		case SEND_FAILED:
			qp_error(qp, EVENT_QP_CATAS);
			return;
		case SEND_DONE:
			break;
		}
		bytes += SEND_STEP * (mkey_steps() - steps);
		fault_done(qp);
		if (!qp->rndv)	/* the QP went to error meanwhile */
			return;
		if (told)
			rndv_pop(qp);
		else if (rndv_fetched(qp))
			qp_error(qp, EVENT_QP_CATAS);
	}
}
