// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Raising page faults, and PAGE_FAULT_RESUME. See page_fault.h for the model.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fw/cmd.h"
#include "fw/eq.h"
#include "object/page_fault.h"

#define EQ_FULL_RETRY NSEC_PER_MSEC
#define LIST_TRIES 20u
#define LIST_PAUSE (10 * NSEC_PER_MSEC)
#define PREFETCH_PAGES 8u	/* behind the ones that the access needs */

/* What the event of the transport scheme says; two of them tell a WQE's queue. */
enum {
	FAULT_TYPE_SRQ = 0,
	FAULT_TYPE_REQUESTER = 1 << 0,
	FAULT_TYPE_WRITE = 1 << 1,	/* into the memory */
	FAULT_TYPE_RDMA = 1 << 2,
};

static bool serves(const struct hca *hca, const struct qp *qp, enum odp_op op)
{
	if (qp->kind == QP_KIND_SQ)
		return false;
	switch (qp->type) {
	case QP_RC:
		return odp_serves(hca, ODP_RC, op);
	case QP_UD:
		return odp_serves(hca, ODP_UD, op);
	case QP_XRC:
		return odp_serves(hca, ODP_XRC, op);
	case QP_DCI:
	case QP_DCT:
		return odp_serves(hca, ODP_DC, op);
	default:
		return false;
	}
}

static uint64_t page_of(uint64_t va)
{
	return va & ~(uint64_t)(SIM_PAGE - 1);
}

/* The memory scheme tells of a key and pages, and not of who needs them. */
static void fill_memory(struct page_fault *f, struct event_fault *ev)
{
	const struct miss *m = &f->hca->objs->miss;
	uint64_t from = page_of(m->va);
	uint64_t to = page_of(m->va + m->len + SIM_PAGE - 1);
	uint64_t after = (page_of(m->end) - to) / SIM_PAGE;

	if (m->end < to)
		after = 0;
	f->listed = m->listed;
	memset(ev, 0, sizeof(*ev));	/* what it says in the other scheme */
	ev->memory.flags = FAULT_LAST;
	ev->memory.pages_after = htobe16(after < PREFETCH_PAGES ?
					 after : PREFETCH_PAGES);
	ev->memory.token_low = htobe32(f->obj.id);
	ev->memory.bytes = htobe32((uint32_t)(to - from));
	ev->memory.key = htobe32(m->key);
	ev->memory.va = htobe64(from);
}

/*
 * Ask for the page, and let the requester wait. If the event queue is full, it tries
 * again by itself.
 *
 * Return: false if there is nobody to ask, or too many wait
 */
static bool raise_fault(struct qp *waiter, struct page_fault *from,
			struct event_fault *ev)
{
	struct objects *objs = from->hca->objs;
	struct page_fault *f;
	uint32_t eqn;

	if (waiter->fault_failed == from->side ||
	    !eq_for_event(from->hca, EVENT_PAGE_FAULT, &eqn))
		return false;
	if (!eq_has_room(from->hca, eqn)) {
		timer_arm(&waiter->timer, EQ_FULL_RETRY);
		return true;
	}
	f = malloc(sizeof(*f));
	if (!f)
		return false;
	*f = *from;
	if (obj_add(&objs->faults, &f->obj, 0)) {
		free(f);
		return false;
	}
	f->waiter = waiter;
	waiter->fault = f;
	if (f->kind == FAULT_MEMORY) {
		fill_memory(f, ev);
	} else if (f->kind == FAULT_RDMA) {
		f->wq = f->obj.id;
		ev->rdma.type_token = htobe32((uint32_t)f->type << 24 |
					      f->obj.id);
	} else {
		ev->wqe.token = htobe32(f->obj.id);
		ev->wqe.type_wq = htobe32((uint32_t)f->type << 24 | f->wq);
	}
	objs->fault_counts.raised[f->kind]++;
	eq_post_async(f->hca, EVENT_PAGE_FAULT, f->kind, ev);
	return true;
}

static enum fault_kind kind_of(const struct hca *hca, enum fault_kind transport)
{
	return odp_memory_scheme(hca) ? FAULT_MEMORY : transport;
}

static uint16_t packet(const struct qp *qp, uint64_t len)
{
	uint64_t mtu = 128ull << qp->mtu;

	return len < mtu ? len : mtu;
}

/**
 * fault_local() - the request at the head of a send queue met a missing page
 * @qp: the requester; the page is one of its own adapter
 * @reads: is it an RDMA read or an atomic, whose answer is written?
 *
 * Return: does it wait now? Otherwise the request fails.
 */
bool fault_local(struct qp *qp, bool reads)
{
	struct event_fault ev = { 0 };
	struct page_fault f = {
		.hca = qp->hca,
		.side = FAULT_LOCAL,
		.kind = kind_of(qp->hca, FAULT_WQE),
		.type = FAULT_TYPE_REQUESTER | (reads ? FAULT_TYPE_WRITE : 0),
		.wq = qp->obj.id,
	};

	if (!serves(qp->hca, qp, ODP_SEND))
		return false;
	ev.wqe.index = htobe16(qp->sq_head);
	return raise_fault(qp, &f, &ev);
}

/**
 * fault_recv() - a receive work request met a missing page
 * @waiter: the requester of the message
 * @r: the work request, which is the next one again
 * @len: bytes of the message
 *
 * Return: does the requester wait now? Otherwise the receive fails.
 */
bool fault_recv(struct qp *waiter, const struct recv *r, uint64_t len)
{
	struct event_fault ev = { 0 };
	struct page_fault f = {
		.hca = r->qp->hca,
		.side = FAULT_REMOTE,
		.kind = kind_of(r->qp->hca, FAULT_WQE),
		.type = r->srq ? FAULT_TYPE_SRQ : FAULT_TYPE_WRITE,
		.wq = r->srq ? r->srq->obj.id : r->qp->obj.id,
	};

	if (!serves(f.hca, r->qp, r->srq ? ODP_SRQ_RECEIVE : ODP_RECEIVE))
		return false;
	ev.wqe.index = htobe16(r->wqe.index);
	ev.wqe.packet = htobe16(packet(r->qp, len));
	return raise_fault(waiter, &f, &ev);
}

/**
 * fault_rdma() - a write, read or atomic met a missing page at the responder
 * @rkey: that it named
 * @va: that it named
 * @len: bytes of the operation
 *
 * Return: does the requester wait now? Otherwise the operation fails.
 */
bool fault_rdma(struct qp *waiter, const struct qp *responder, uint32_t rkey,
		uint64_t va, uint64_t len, enum odp_op op)
{
	struct event_fault ev = { 0 };
	struct page_fault f = {
		.hca = responder->hca,
		.side = FAULT_REMOTE,
		.kind = kind_of(responder->hca, FAULT_RDMA),
		.type = FAULT_TYPE_RDMA |
			(op == ODP_READ ? 0 : FAULT_TYPE_WRITE),
	};

	if (!serves(f.hca, responder, op))
		return false;
	ev.rdma.rkey = htobe32(rkey);
	ev.rdma.packet = htobe16(packet(responder, len));
	ev.rdma.op_len = htobe32((uint32_t)len);
	ev.rdma.va = htobe64(va);
	return raise_fault(waiter, &f, &ev);
}

/**
 * fault_done() - a requester waits no more, and the next request may fault again
 * @qp: the QP: its request is complete, or it is in error, reset or freed
 */
void fault_done(struct qp *qp)
{
	if (qp->fault)
		qp->fault->waiter = NULL;
	qp->fault = NULL;
	qp->fault_failed = FAULT_NOWHERE;
	qp->fault_tries = 0;
}

/* The end of a fault. Whoever waited sends again, but not inside this call. */
static void fault_end(struct page_fault *f, bool failed)
{
	bool again = failed && f->listed;
	struct qp *qp = f->waiter;

	idtable_remove(&f->hca->objs->faults, f->obj.id);
	if (qp) {
		again = again && qp->fault_tries++ < LIST_TRIES;
		qp->fault = NULL;
		qp->fault_failed = failed && !again ? f->side : FAULT_NOWHERE;
		timer_arm(&qp->timer, again ? LIST_PAUSE : 0);
	}
	free(f);
}

/**
 * fault_queue_gone() - a queue that events may have named is destroyed
 * @srq: is it a shared receive queue, and no QP?
 */
void fault_queue_gone(struct hca *hca, bool srq, uint32_t number)
{
	struct page_fault *f;
	uint32_t id;

	idtable_for_each(&hca->objs->faults, id, f)
		if (f->kind == FAULT_WQE && f->wq == number &&
		    (f->type == FAULT_TYPE_SRQ) == srq)
			fault_end(f, false);
}

/**
 * faults_reset() - forget all faults of an adapter, whose QPs are gone
 */
void faults_reset(struct hca *hca)
{
	struct page_fault *f;
	uint32_t id;

	idtable_for_each(&hca->objs->faults, id, f)
		fault_end(f, false);
	idtable_fini(&hca->objs->faults);
}

/**
 * faults_dump() - tell the control socket how many faults there were
 * @o: gets "page_faults"
 */
void faults_dump(const struct hca *hca, struct json_object *o)
{
	static const char *const kinds[] = { "wqe", "rdma", "memory" };
	const struct fault_counts *n = &hca->objs->fault_counts;
	struct json_object *counts = json_object_new_object();
	unsigned int i;

	for (i = 0; i < FAULT_KINDS; i++)
		json_add_number(counts, kinds[i], n->raised[i]);
	json_add_number(counts, "resumed", n->resumed);
	json_add_number(counts, "failed", n->failed);
	json_object_object_add(o, "page_faults", counts);
}

/* The fault that a command names, as its event named it; NULL if there is none. */
static struct page_fault *named_fault(const struct cmd *cmd)
{
	const uint8_t *info = IFC_ADDR_OF(page_fault_resume_in, cmd->in,
					  page_fault_info);
	const struct idtable *faults = &cmd->hca->objs->faults;
	struct page_fault *f;

	if (odp_memory_scheme(cmd->hca)) {
		if (IFC_GET(mem_page_fault_info, info, fault_token_47_32))
			return NULL;
		f = idtable_get(faults, IFC_GET(mem_page_fault_info, info,
						fault_token_31_0));
		return f && f->kind == FAULT_MEMORY ? f : NULL;
	}
	f = idtable_get(faults, IFC_GET(trans_page_fault_info, info,
					fault_token));
	if (!f || f->kind == FAULT_MEMORY ||
	    f->type != IFC_GET(trans_page_fault_info, info, page_fault_type) ||
	    f->wq != IFC_GET(trans_page_fault_info, info, wq_number))
		return NULL;
	return f;
}

static uint8_t page_fault_resume(struct cmd *cmd)
{
	const uint8_t *info = IFC_ADDR_OF(page_fault_resume_in, cmd->in,
					  page_fault_info);
	bool failed = IFC_GET(trans_page_fault_info, info, error);
	struct fault_counts *n = &cmd->hca->objs->fault_counts;
	struct page_fault *f;

	if (!uid_privileged(cmd->uid) || cmd->op_mod)
		return CMD_BAD_PARAM;
	f = named_fault(cmd);
	if (!f)
		return CMD_BAD_RES;
	cmd_note(cmd, "kind", f->kind);
	cmd_note(cmd, "error", failed);
	n->resumed++;
	n->failed += failed;
	fault_end(f, failed);
	return CMD_OK;
}

const struct cmd_def fault_cmds[] = {
	{ MLX5_CMD_OP_PAGE_FAULT_RESUME, "PAGE_FAULT_RESUME",
	  IFC_SZ(page_fault_resume_in), IFC_SZ(page_fault_resume_out),
	  page_fault_resume },
	{ 0 },
};
