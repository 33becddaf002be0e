// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A TIR receives a frame: choose the queue, take a work request, scatter the
 * frame, complete. See rx.h for the model.
 */
#include <errno.h>
#include <string.h>

#include "eth/hash.h"
#include "eth/rx.h"
#include "object/mkey.h"
#include "object/srq.h"

/* hds_ip_ext and l4_l3_hdr_type of the CQE: linux/mlx5/device.h */
enum { L2_OK = 1 << 0, L3_OK = 1 << 1, L4_OK = 1 << 2 };
enum { VLAN_STRIPPED = 1 << 0, L3_IPV6 = 1 << 2, L3_IPV4 = 2 << 2 };
enum { L4_TCP = 1 << 4, L4_UDP = 2 << 4 };
enum { SELF_LB_UNICAST = 1 << 0, SELF_LB_MULTICAST = 1 << 1 };
#define SUM_CORRECT 0xffff
#define TYPE_CVLAN 0x8100
#define TAG_AT (2 * ETH_ADDR)

/* Take the work request at the head. Return: 0, -EAGAIN, -EFAULT */
static int rq_take(struct rq *rq, struct recv_wqe *rw)
{
	size_t stride = (size_t)1 << rq->log_stride;
	uint16_t mask = (1u << rq->log_size) - 1, posted;
	uint32_t counter;

	if (db_read(rq->hca, rq->dbr, &counter))
		return -EFAULT;
	posted = (uint16_t)counter - rq->head;
	if (!posted)
		return -EAGAIN;
	if (posted > 1u << rq->log_size ||
	    qbuf_read(rq->hca, &rq->buf, (rq->head & mask) * stride, rw->segs,
		      stride))
		return -EFAULT;
	rw->index = rq->head++;
	rw->n = stride / sizeof(rw->segs[0]);
	recv_wqe_trim(rw);
	return 0;
}

/* Where the first @len bytes go. */
static uint8_t rq_map(struct rq *rq, const struct recv_wqe *rw, size_t len,
		      struct sglist *to)
{
	struct accessor who = { .pd = rq->pd ? rq->pd->obj.id : 0,
				.qpn = rq->obj.id };
	size_t piece;
	uint16_t i;

	sgl_reset(to);
	for (i = 0; i < rw->n && len; i++) {
		piece = be32toh(rw->segs[i].byte_count) & ~WQE_INLINE;
		if (piece > len)
			piece = len;
		if (mkey_map(rq->hca, &who, be32toh(rw->segs[i].lkey),
			     be64toh(rw->segs[i].addr), piece,
			     ACCESS_LOCAL_WRITE, to))
			return SYND_LOCAL_PROT;
		len -= piece;
	}
	return len ? SYND_LOCAL_LENGTH : SYND_OK;
}

/* What the adapter found out about the headers. */
static void fill_headers(const struct frame *f, struct cqe *cqe)
{
	cqe->hds_ip_ext = L2_OK;
	if (!f->l3 || f->beyond)
		return;
	cqe->check_sum = sum_fold(sum_bytes(f->data + f->l3,
					    f->l3_end - f->l3, 0));
	cqe->l4_l3_hdr_type |= f->ipv6 ? L3_IPV6 : L3_IPV4;
	if (f->ipv6 || frame_l3_sum(f) == SUM_CORRECT)
		cqe->hds_ip_ext |= L3_OK;
	if (!f->l4)
		return;
	cqe->l4_l3_hdr_type |= f->proto == IP_TCP ? L4_TCP : L4_UDP;
	if (frame_l4_sum(f) == SUM_CORRECT)
		cqe->hds_ip_ext |= L4_OK;
}

static void rq_fail(struct rq *rq, const struct recv_wqe *rw, uint8_t synd)
{
	struct cqe cqe = {
		.syndrome = synd,
		.srqn_uidx = htobe32(rq->user_index),
		.opcode_qpn = htobe32(rq->obj.id),
		.wqe_counter = htobe16(rw->index),
		.op_own = CQE_RESP_ERR << 4,
	};

	rq->state = RQ_ERR;
	cq_post(rq->cq, &cqe, true);
}

/* A C-VLAN tag is taken out of the frame, unless the queue wants it there. */
static bool strips(const struct rq *rq, const struct frame *f)
{
	return f->vlan == TYPE_CVLAN && !rq->keep_tag;
}

static void rq_scatter(struct rq *rq, const struct frame *f, struct cqe *cqe)
{
	bool strip = strips(rq, f);
	size_t rest = TAG_AT + (strip ? ETH_TAG : 0);
	struct iovec v[2] = {
		{ .iov_base = (void *)(uintptr_t)f->data, .iov_len = TAG_AT },
		{ .iov_base = (void *)(uintptr_t)(f->data + rest),
		  .iov_len = f->len - rest },
	};
	struct sglist from = { .v = v, .n = 2 };

	if (strip) {
		cqe->l4_l3_hdr_type |= VLAN_STRIPPED;
		cqe->vlan_info = htobe16(f->tci);
	}
	sgl_copy(&rq->hca->objs->dst, &from);
}

static void rq_receive(struct rq *rq, const struct frame *f, struct hash rss,
		       uint32_t flow_tag)
{
	size_t len = f->len - (strips(rq, f) ? ETH_TAG : 0);
	struct cqe cqe = {
		.rss_hash_result = htobe32(rss.value),
		.rss_hash_type = rss.type,
		.byte_cnt = htobe32(len),
		.srqn_uidx = htobe32(rq->user_index),
		.opcode_qpn = htobe32(flow_tag),
		.op_own = CQE_RESP_SEND << 4,
	};
	struct recv_wqe rw;
	uint8_t synd;
	int ret;

	if (rq->state != RQ_RDY)
		return;
	ret = rq_take(rq, &rw);
	if (ret) {
		nic_count(rq->hca, rq->counter_set, NIC_NO_BUFFER);
		if (ret == -EFAULT)
			rq->state = RQ_ERR;
		return;
	}
	synd = rq_map(rq, &rw, len, &rq->hca->objs->dst);
	if (synd) {
		rq_fail(rq, &rw, synd);
		return;
	}
	cqe.wqe_counter = htobe16(rw.index);
	fill_headers(f, &cqe);
	rq_scatter(rq, f, &cqe);
	if (cq_post(rq->cq, &cqe, true))
		rq->state = RQ_ERR;
}

/*
 * Frames of the own transport domain are received where the TIR allows it: bit 0 of
 * self_lb_block for unicast, bit 1 for multicast.
 */
static bool tir_takes(const struct tir *tir, const struct frame *f, uint32_t td)
{
	uint32_t allowed = IFC_GET(tirc, tir->ctx, self_lb_block);

	if (!td || !tir->td || tir->td->obj.id != td)
		return true;
	return allowed & (f->data[0] & 1 ? SELF_LB_MULTICAST : SELF_LB_UNICAST);
}

/**
 * tir_receive() - a flow ends at a TIR
 * @flow_tag: of the entry, for the completion
 * @td: transport domain of the queue that sent the frame; 0: it is from the cable
 */
void tir_receive(struct tir *tir, const struct frame *f, uint32_t flow_tag,
		 uint32_t td)
{
	struct hash hash = frame_hash(tir->ctx, f);
	struct rq *rq;

	if (!tir_takes(tir, f, td))
		return;
	rq = tir->rq ? tir->rq : tir->rqt->rqs[hash.value % tir->rqt->n];
	rq_receive(rq, f, hash, flow_tag);
}
