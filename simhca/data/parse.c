// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send queues: what a work request says.
 */
#include <errno.h>
#include <string.h>

#include "data/tag_match.h"
#include "object/memic.h"

/* Cursor over the segments of a work request. */
struct segs {
	const uint8_t *p;
	size_t left;
};

static bool take_seg(struct segs *s, void *to, size_t len)
{
	if (s->left < len)
		return false;
	memcpy(to, s->p, len);
	s->p += len;
	s->left -= len;
	return true;
}

static bool op_known(const struct qp *qp, uint8_t op)
{
	if (op == WQE_OP_NOP)
		return true;
	if (qp->kind == QP_KIND_SQ)
		return (op == WQE_OP_SEND || op == WQE_OP_LSO) &&
		       qp->hca->link == LINK_ETH;
	if (qp->type == QP_REG_UMR)
		return op == WQE_OP_UMR;
	switch (op) {
	case WQE_OP_SEND:
	case WQE_OP_SEND_IMM:
		return true;
	case WQE_OP_RDMA_WRITE:
	case WQE_OP_RDMA_WRITE_IMM:
	case WQE_OP_SEND_INVAL:
	case WQE_OP_UMR:
		return !qp_is_ud(qp);
	case WQE_OP_SET_PSV:
		return qp->pd && !qp_is_ud(qp);
	case WQE_OP_MMO:
		return qp->mmo;
	case WQE_OP_TAG_MATCHING:
		return qp_xrq(qp);
	case WQE_OP_RDMA_READ:
	case WQE_OP_ATOMIC_CS:
	case WQE_OP_ATOMIC_FA:
		return qp->type == QP_RC || qp->type == QP_XRC ||
		       qp->type == QP_DCI;
	}
	return false;
}

/**
 * send_has_tail() - does a request have segments of its own, and no data that is sent?
 */
bool send_has_tail(uint8_t op)
{
	return op == WQE_OP_UMR || op == WQE_OP_MMO || op == WQE_OP_SET_PSV ||
	       op == WQE_OP_TAG_MATCHING;
}

static bool parse_av(struct segs *s, struct wqe_av *av)
{
	size_t base = offsetof(struct wqe_av, rsvd1);

	memset(av, 0, sizeof(*av));
	if (!take_seg(s, av, base))
		return false;
	if (!(be32toh(av->dqpn) & WQE_AV_EXTENDED))
		return true;
	return take_seg(s, av->rsvd1, sizeof(*av) - base);
}

/* The inline part follows in the request, in whole units of 16 bytes. */
static bool parse_eth(struct segs *s, struct eth_wqe *eth)
{
	size_t len, rest = 0;
	struct wqe_eth seg;

	if (s->left < sizeof(seg))
		return false;
	memcpy(&seg, s->p, sizeof(seg));
	len = be16toh(seg.inline_len);
	if (len > WQE_ETH_START)
		rest = (len - WQE_ETH_START + WQE_DS - 1) / WQE_DS * WQE_DS;
	/* swp_*: another place for the sums, which the adapter does not claim */
	if (s->left < sizeof(seg) + rest || seg.swp_flags)
		return false;
	eth->flags = seg.cs_flags;
	eth->mss = be16toh(seg.mss);
	eth->inlined = s->p + offsetof(struct wqe_eth, start);
	eth->inline_len = len;
	s->p += sizeof(seg) + rest;
	s->left -= sizeof(seg) + rest;
	return true;
}

/* The segments before the data: what the type and the opcode ask for. */
static bool parse_head(const struct qp *qp, struct segs *s, struct send_wqe *w)
{
	struct wqe_xrc xrc;

	if (w->op == WQE_OP_NOP || send_has_tail(w->op))
		return true;
	if (qp->kind == QP_KIND_SQ)
		return parse_eth(s, &w->eth);
	if (qp->type == QP_XRC) {
		if (!take_seg(s, &xrc, sizeof(xrc)))
			return false;
		w->srqn = be32toh(xrc.srqn) & 0xffffff;
	}
	if (qp->type == QP_DCI && !parse_av(s, &w->av))
		return false;
	switch (w->op) {
	case WQE_OP_ATOMIC_CS:
	case WQE_OP_ATOMIC_FA:
		return take_seg(s, &w->raddr, sizeof(w->raddr)) &&
		       take_seg(s, &w->atomic, sizeof(w->atomic));
	case WQE_OP_RDMA_WRITE:
	case WQE_OP_RDMA_WRITE_IMM:
	case WQE_OP_RDMA_READ:
		return take_seg(s, &w->raddr, sizeof(w->raddr));
	}
	return !qp_is_ud(qp) || parse_av(s, &w->av);
}

static uint8_t parse_inline(struct segs *s, uint32_t count, struct sglist *l)
{
	size_t len = count & WQE_INLINE_LEN, pad = sizeof(count) + len;

	if (pad > s->left)
		return SYND_LOCAL_QP_OP;
	if (sgl_add(l, (void *)(uintptr_t)(s->p + sizeof(count)), len))
		return SYND_LOCAL_QP_OP;
	pad = (pad + WQE_DS - 1) / WQE_DS * WQE_DS;
	if (pad > s->left)
		pad = s->left;
	s->p += pad;
	s->left -= pad;
	return SYND_OK;
}

static int map_segment(struct qp *qp, const struct wqe_data *d, uint32_t count,
		       struct send_wqe *w)
{
	struct accessor who = qp_accessor(qp);
	uint32_t key = be32toh(d->lkey);
	uint64_t va = be64toh(d->addr);

	if (w->sink.byte_count)		/* such a segment is the only one */
		return -EACCES;
	if (!sig_key(qp->hca, key))
		return mkey_map(qp->hca, &who, key, va, count, send_reads(w) ?
				ACCESS_LOCAL_WRITE : ACCESS_LOCAL_READ, w->data);
	if (!send_reads(w))
		return sig_read(qp, SIG_REQUESTER, &who, key, va, count,
				ACCESS_LOCAL_READ, w->data);
	if (w->op != WQE_OP_RDMA_READ)
		return -EACCES;
	w->sink = *d;
	return sig_sink(qp, count, w->data);
}

static uint8_t parse_data(struct qp *qp, struct segs *s, struct send_wqe *w)
{
	struct wqe_data d;
	uint32_t count;
	uint8_t synd;
	int ret;

	sgl_reset(w->data);
	while (s->left >= sizeof(d)) {
		memcpy(&d, s->p, sizeof(d));
		count = be32toh(d.byte_count);
		if (count & WQE_INLINE) {
			synd = send_reads(w) ? SYND_LOCAL_QP_OP :
					parse_inline(s, count, w->data);
			if (synd)
				return synd;
			continue;
		}
		take_seg(s, &d, sizeof(d));
		if (!count)
			count = DATA_SEG_MAX;
		if (w->data->len + count > 1ull << LOG_MAX_MSG)
			return SYND_LOCAL_LENGTH;
		ret = map_segment(qp, &d, count, w);
		if (ret)
			return ret == -EAGAIN ? SYND_PAGE : SYND_LOCAL_PROT;
	}
	return s->left ? SYND_LOCAL_QP_OP : SYND_OK;
}

/**
 * send_parse() - read a work request
 * @wqe: a copy of it
 * @len: bytes of @wqe
 * @w: set, but for @data, which gets the pieces of local memory
 *
 * Return: SYND_*; SYND_LOCAL_QP_OP: there can be no such request
 */
uint8_t send_parse(struct qp *qp, uint16_t at, const uint8_t *wqe, size_t len,
		   struct send_wqe *w)
{
	struct segs s = { .p = wqe, .left = len };
	struct wqe_ctrl ctrl;
	uint32_t word;

	if (!take_seg(&s, &ctrl, sizeof(ctrl)))
		return SYND_LOCAL_QP_OP;
	word = be32toh(ctrl.opmod_idx_opcode);
	w->op = word & 0xff;
	w->mod = word >> 24;
	w->blocks = (len + WQE_BB - 1) / WQE_BB;
	w->fence = ctrl.fm_ce_se >> WQE_FENCE_SHIFT;
	w->ce = ctrl.fm_ce_se >> WQE_CE_SHIFT & WQE_CE_MASK;
	w->solicited = ctrl.fm_ce_se & WQE_SOLICITED;
	w->imm = ctrl.imm;
	w->stream = ctrl.stream[0] << 8 | ctrl.stream[1];
	if ((word >> 8 & 0xffff) != at ||
	    be32toh(ctrl.qpn_ds) >> 8 != qp->obj.id ||
	    (w->mod && w->op != WQE_OP_MMO))
		return SYND_LOCAL_QP_OP;
	if (!op_known(qp, w->op) || !parse_head(qp, &s, w))
		return SYND_LOCAL_QP_OP;
	if (w->op == WQE_OP_NOP)
		return SYND_OK;
	if (send_has_tail(w->op)) {
		w->tail = s.p;
		w->tail_len = s.left;
		return SYND_OK;
	}
	return parse_data(qp, &s, w);
}
