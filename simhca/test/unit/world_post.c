// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The test's driver: post work requests; shared receive queues.
 * See world.h.
 */
#include <string.h>

#include "test/unit/world.h"

#define CMD_MAX 8192
#define SRQ_STRIDE 64

/**
 * w_wqe() - begin a send work request
 * @w: set
 * @qp: where it will be posted next
 * @op: WQE_OP_*
 * @flags: of the control segment
 * @imm: immediate data or key
 */
void w_wqe(struct w_wqe *w, const struct w_qp *qp, uint8_t op, uint8_t flags,
	   uint32_t imm)
{
	struct wqe_ctrl ctrl = {
		.opmod_idx_opcode = htobe32((uint32_t)qp->sq_pi << 8 | op),
		.qpn_ds = htobe32(qp->qpn << 8),
		.fm_ce_se = flags,
		.imm = htobe32(imm),
	};

	w->len = 0;
	w_add(w, &ctrl, sizeof(ctrl));
}

/**
 * w_add() - append a segment
 * @len: bytes
 */
void w_add(struct w_wqe *w, const void *seg, size_t len)
{
	memcpy(w->b + w->len, seg, len);
	w->len += len;
}

/**
 * w_raddr() - append a remote address
 */
void w_raddr(struct w_wqe *w, uint64_t addr, uint32_t rkey)
{
	struct wqe_raddr seg = { .addr = htobe64(addr),
				 .rkey = htobe32(rkey) };

	w_add(w, &seg, sizeof(seg));
}

static struct wqe_data data_seg(uint64_t addr, uint32_t len, uint32_t lkey)
{
	return (struct wqe_data){ .byte_count = htobe32(len),
				  .lkey = htobe32(lkey),
				  .addr = htobe64(addr) };
}

/**
 * w_data() - append a data segment
 * @len: bytes
 */
void w_data(struct w_wqe *w, uint64_t addr, uint32_t len, uint32_t lkey)
{
	struct wqe_data seg = data_seg(addr, len, lkey);

	w_add(w, &seg, sizeof(seg));
}

/**
 * w_inline() - append inline data
 * @data: the bytes
 * @len: how many
 */
void w_inline(struct w_wqe *w, const void *data, uint32_t len)
{
	uint32_t head = htobe32(len | WQE_INLINE);

	w_add(w, &head, sizeof(head));
	w_add(w, data, len);
	w->len = (w->len + WQE_DS - 1) / WQE_DS * WQE_DS;
}

/**
 * w_post() - put a request into the send queue, ring nothing
 */
void w_post(struct w_qp *qp, struct w_wqe *w)
{
	uint8_t *sq = w_at(qp->hca, qp->buf + qp->sq_off);
	uint32_t mask = (1u << qp->log_sq) - 1, be;
	size_t done, piece;
	struct wqe_ctrl ctrl;

	memcpy(&ctrl, w->b, sizeof(ctrl));
	ctrl.qpn_ds |= htobe32(w->len / WQE_DS);
	memcpy(w->b, &ctrl, sizeof(ctrl));
	for (done = 0; done < w->len; done += WQE_BB) {
		piece = w->len - done < WQE_BB ? w->len - done : WQE_BB;
		memcpy(sq + (qp->sq_pi & mask) * WQE_BB, w->b + done, piece);
		qp->sq_pi++;
	}
	be = htobe32(qp->sq_pi);
	memcpy((uint8_t *)w_at(qp->hca, qp->dbr) + 4, &be, sizeof(be));
}

/**
 * w_ring() - ring the doorbell
 */
enum ring_result w_ring(struct w_qp *qp)
{
	return qp_ring(&w_hca[qp->hca], W_UAR, qp->qpn, qp->sq_pi, NULL, 0);
}

/**
 * w_recv() - post a receive of one segment
 * @len: bytes
 */
void w_recv(struct w_qp *qp, uint64_t addr, uint32_t len, uint32_t lkey)
{
	struct wqe_data segs[2] = { data_seg(addr, len, lkey),
				    data_seg(0, 0, WQE_TERMINATE_LKEY) };
	uint32_t slot = qp->rq_pi++ & ((1u << qp->log_rq) - 1), be;

	memcpy(w_at(qp->hca, qp->buf + (slot << W_LOG_RQ_STRIDE)), segs,
	       sizeof(segs));
	be = htobe32(qp->rq_pi);
	memcpy(w_at(qp->hca, qp->dbr), &be, sizeof(be));
}

/* Initialise the list like a driver: it is a circle of linked requests. */
static void srq_links(struct w_srq *srq)
{
	uint8_t *buf = w_at(srq->hca, srq->buf);
	uint32_t n = 1u << srq->log_size, i;
	struct wqe_srq_next next = { 0 };

	for (i = 0; i < n; i++) {
		next.next_wqe_index = htobe16((i + 1) & (n - 1));
		memcpy(buf + i * SRQ_STRIDE, &next, sizeof(next));
	}
}

static void srq_memory(struct w_srq *srq, unsigned int hca)
{
	*srq = (struct w_srq){ .hca = hca, .log_size = 3 };
	srq->buf = w_alloc(hca, SRQ_STRIDE << srq->log_size);
	srq->dbr = w_alloc(hca, DB_RECORD);
	srq_links(srq);
}

/**
 * w_xrc_srq() - make an XRC SRQ of 8
 * @srq: set
 * @hca: index of the adapter
 * @pd: protection domain
 * @xrcd: XRC domain
 */
void w_xrc_srq(struct w_srq *srq, unsigned int hca, uint32_t pd, uint32_t xrcd,
	       const struct w_cq *cq)
{
	uint8_t in[CMD_MAX] = { 0 }, out[IFC_SZ(create_xrc_srq_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_xrc_srq_in, in, xrc_srq_context_entry);
	size_t len;

	srq_memory(srq, hca);
	IFC_SET(xrc_srqc, c, log_xrc_srq_size, srq->log_size);
	IFC_SET(xrc_srqc, c, log_rq_stride, 2);
	IFC_SET(xrc_srqc, c, xrcd, xrcd);
	IFC_SET(xrc_srqc, c, cqn, cq->cqn);
	IFC_SET(xrc_srqc, c, user_index, NO_USER_INDEX);
	IFC_SET(xrc_srqc, c, pd, pd);
	IFC_SET(xrc_srqc, c, db_record_addr_l, srq->dbr >> 2);
	len = w_put_pas(IFC_ADDR_OF(create_xrc_srq_in, in, pas), srq->buf,
		      SRQ_STRIDE << srq->log_size);
	w_must(w_cmd(hca, srq_cmds, MLX5_CMD_OP_CREATE_XRC_SRQ, 0, 0, in,
		   IFC_OFF(create_xrc_srq_in, pas) + len, out, sizeof(out)));
	srq->srqn = IFC_GET(create_xrc_srq_out, out, xrc_srqn);
}

/**
 * w_xrq() - prepare the command that makes a queue for tag matching
 * @srq: set, but for its number
 * @hca: index of the adapter
 * @pd: protection domain
 * @cq: of its completions
 * @in: the command, zeroed
 *
 * Return: bytes of the command
 */
size_t w_xrq(struct w_srq *srq, unsigned int hca, uint32_t pd,
	     const struct w_cq *cq, uint8_t *in)
{
	uint8_t *c = IFC_ADDR_OF(create_xrq_in, in, xrq_context);
	uint8_t *wq = IFC_ADDR_OF(xrqc, c, wq);
	uint8_t *pas = IFC_ADDR_OF(wq, wq, pas);

	srq_memory(srq, hca);
	IFC_SET(xrqc, c, topology, MLX5_XRQC_TOPOLOGY_TAG_MATCHING);
	IFC_SET(xrqc, c, offload, MLX5_XRQC_OFFLOAD_RNDV);
	IFC_SET(xrqc, c, tag_matching_topology_context.log_matching_list_sz, 3);
	IFC_SET(xrqc, c, user_index, 0x77);
	IFC_SET(xrqc, c, cqn, cq->cqn);
	IFC_SET(wq, wq, log_wq_sz, srq->log_size);
	IFC_SET(wq, wq, log_wq_stride, 6);
	IFC_SET(wq, wq, pd, pd);
	IFC_SET64(wq, wq, dbr_addr, srq->dbr);
	return pas - in + w_put_pas(pas, srq->buf, SRQ_STRIDE << srq->log_size);
}

/**
 * w_rmp() - make an RMP of 8
 * @srq: set
 * @hca: index of the adapter
 * @pd: protection domain
 */
void w_rmp(struct w_srq *srq, unsigned int hca, uint32_t pd,
	   enum w_rmp_kind kind)
{
	uint8_t in[CMD_MAX] = { 0 }, out[IFC_SZ(create_rmp_out)] = { 0 };
	uint8_t *wq = IFC_ADDR_OF(create_rmp_in, in, ctx.wq);
	uint8_t *pas = IFC_ADDR_OF(wq, wq, pas);
	size_t len;

	srq_memory(srq, hca);
	srq->ring = kind != W_RMP_LIST;
	srq->plain = kind == W_RMP_RING_PLAIN;
	IFC_SET(create_rmp_in, in, ctx.state, 1);
	IFC_SET(create_rmp_in, in, ctx.basic_cyclic_rcv_wqe, srq->plain);
	IFC_SET(wq, wq, wq_type, srq->ring);
	IFC_SET(wq, wq, log_wq_sz, srq->log_size);
	IFC_SET(wq, wq, log_wq_stride, 6);
	IFC_SET(wq, wq, pd, pd);
	IFC_SET64(wq, wq, dbr_addr, srq->dbr);
	len = w_put_pas(pas, srq->buf, SRQ_STRIDE << srq->log_size);
	w_must(w_cmd(hca, srq_cmds, MLX5_CMD_OP_CREATE_RMP, 0, 0, in,
		   pas - in + len, out, sizeof(out)));
	srq->srqn = IFC_GET(create_rmp_out, out, rmpn);
}

/**
 * w_srq_recv() - post a receive of one segment to a shared queue
 * @len: bytes
 */
void w_srq_recv(struct w_srq *srq, uint64_t addr, uint32_t len, uint32_t lkey)
{
	struct wqe_data segs[2] = { data_seg(addr, len, lkey),
				    data_seg(0, 0, WQE_TERMINATE_LKEY) };
	uint8_t *wqe = w_at(srq->hca, srq->buf + srq->head * SRQ_STRIDE);
	struct wqe_srq_next next;
	uint32_t be;

	memcpy(&next, wqe, sizeof(next));
	memcpy(wqe + (srq->plain ? 0 : sizeof(next)), segs, sizeof(segs));
	srq->head = srq->ring ? (srq->head + 1u) & ((1u << srq->log_size) - 1) :
				be16toh(next.next_wqe_index);
	be = htobe32(++srq->posted);
	memcpy(w_at(srq->hca, srq->dbr), &be, sizeof(be));
}
