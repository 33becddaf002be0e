// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unreliable datagrams, including those of QP0 and QP1: one packet to one QP or
 * to a multicast group. If the receiver drops the packet, the sender's request
 * completes successfully nevertheless.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/roce.h"
#include "data/transport.h"
#include "eth/eth.h"
#include "fabric/fabric.h"
#include "fabric/lag.h"
#include "fabric/line.h"
#include "fabric/mad.h"
#include "object/mcg.h"

#define UD_MAX 4096u
#define MCAST_LID 0xc000u
#define MCAST_QPN 0xffffffu
#define QKEY_OF_QP 0x80000000u	/* "use the Q_Key of the QP" */
#define PKEY_FULL 0x8000u
#define LOG_MTU_BASE 7
#define GRH_VERSION (6u << 28)
#define GRH_NEXT_IBA 0x1b
#define TCLASS_SHIFT 20
#define FLOW_LABEL_MASK 0xfffffu
#define SL_MASK 0xf
#define PRIORITY_MASK 0xe	/* the priority is in the upper bits of the SL */

struct grh {
	uint32_t version_tclass_flow;
	uint16_t paylen;
	uint8_t next_hdr;
	uint8_t hop_limit;
	uint8_t sgid[GID_LEN];
	uint8_t dgid[GID_LEN];
};

_Static_assert(sizeof(struct grh) == GRH_LEN, "wire format");

/* To whom a packet goes now: those who get it at once, those at the end of the cable */
enum reach { REACH_ALL, REACH_NEAR, REACH_FAR };

/*
 * A packet and the P_Key it carries. On RoCE also the sender's entry in its table
 * of addresses, which is NULL on InfiniBand, and the destination's MAC address.
 */
struct datagram {
	const struct ud_packet *pkt;
	uint16_t pkey;
	const void *roce;
	uint64_t dmac;
	struct hca *from;
	bool multicast;
	bool solicited;
	enum reach reach;
	uint64_t sent_at;	/* REACH_FAR */
};

/* A datagram on a cable that takes time */
struct ud_parcel {
	struct parcel parcel;
	struct ud_packet pkt;
	struct datagram d;
	uint8_t data[];
};

static void fill_grh(const struct ud_packet *pkt, struct grh *grh)
{
	memset(grh, 0, sizeof(*grh));
	if (!pkt->grh)
		return;
	grh->version_tclass_flow = htobe32(GRH_VERSION |
					   (uint32_t)pkt->tclass << TCLASS_SHIFT |
					   pkt->flow_label);
	grh->paylen = htobe16(pkt->len);
	grh->next_hdr = GRH_NEXT_IBA;
	grh->hop_limit = pkt->hop_limit;
	memcpy(grh->sgid, pkt->sgid, GID_LEN);
	memcpy(grh->dgid, pkt->dgid, GID_LEN);
}

static bool wants(const struct qp *qp, const struct datagram *d)
{
	bool any_pkey = qp->type == QP_QP0 || qp->type == QP_QP1;

	if (!qp_is_ud(qp) || !qp_can_receive(qp))
		return false;
	if (qp->type != QP_QP0 && d->pkt->qkey != qp->qkey) {
		log_debug("hca%u: QP 0x%x drops Q_Key 0x%x", qp->hca->index,
			  qp->obj.id, d->pkt->qkey);
		return false;
	}
	if (any_pkey)
		return true;
	return !((d->pkey ^ qp->pkey) & ~PKEY_FULL & 0xffff) &&
	       (d->pkey | qp->pkey) & PKEY_FULL;
}

static void finish(struct recv *r, const struct datagram *d)
{
	const struct ud_packet *pkt = d->pkt;
	struct cqe cqe = {
		.slid = htobe16(pkt->slid),
		.byte_cnt = htobe32(GRH_LEN + pkt->len),
		.flags_rqpn = htobe32((pkt->grh ? CQE_GRH_IN_BUFFER : 0) |
				      (uint32_t)pkt->sl << 24 | pkt->src_qpn),
		.imm = htobe32(pkt->imm),
		.op_own = (pkt->has_imm ? CQE_RESP_SEND_IMM : CQE_RESP_SEND)
			  << 4,
	};

	if (d->roce)
		roce_cqe(d->roce, pkt, &cqe);
	if (r->qp->type == QP_QP1 && !pkt->has_imm)
		cqe.imm = htobe32(d->pkey);
	if (recv_complete(r, &cqe, d->solicited))
		qp_error(r->qp, EVENT_QP_CATAS);
}

static void deliver(struct qp *qp, void *arg)
{
	struct sglist *to = &qp->hca->objs->dst;
	struct accessor who = qp_accessor(qp);
	const struct datagram *d = arg;
	struct grh grh;
	struct recv r;
	struct iovec v[2] = {
		{ .iov_base = &grh, .iov_len = sizeof(grh) },
		{ .iov_base = (void *)(uintptr_t)d->pkt->data,
		  .iov_len = d->pkt->len },
	};
	struct sglist from = { .v = v, .n = d->pkt->len ? 2 : 1 };
	uint8_t synd;

	if (qp->hca->fatal || !wants(qp, d))
		return;
	if (d->multicast && qp->hca == d->from &&
	    IFC_GET(qpc, qp->qpc, block_lb_mc))
		return;
	switch (recv_take(qp, NULL, &r)) {
	case 0:
		break;
	case -EAGAIN:
		log_debug("hca%u: QP 0x%x: nothing posted, dropped",
			  qp->hca->index, qp->obj.id);
		return;
	default:
		qp_error(qp, EVENT_QP_CATAS);
		return;
	}
	if (r.srq)
		who.pd = r.srq->pd->obj.id;
	sgl_reset(to);
	synd = recv_map(&r, &who, GRH_LEN + d->pkt->len, to);
	if (synd) {
		/* A datagram waits for no page. */
		recv_fail(&r, synd == SYND_PAGE ? SYND_LOCAL_PROT : synd);
		qp_error(qp, 0);
		return;
	}
	if (d->roce)
		roce_header(d->roce, d->pkt, (uint8_t *)&grh);
	else
		fill_grh(d->pkt, &grh);
	sgl_copy(to, &from);
	finish(&r, d);
}

static struct qp *ud_target(struct hca *to, uint32_t qpn)
{
	struct qp *qp;

	if (qpn < 2)
		return to->objs->special[qpn];
	qp = idtable_get(&to->objs->qps, qpn);
	return qp && qp->kind == QP_KIND_QP ? qp : NULL;
}

static void deliver_to(struct hca *to, struct datagram *d)
{
	struct qp *qp;

	if (!lag_receives(to))
		return;
	if (d->reach == REACH_NEAR && to != d->from)
		return;
	if (d->reach == REACH_FAR &&
	    (to == d->from || line_lost(to->line, d->sent_at)))
		return;
	if (d->multicast) {
		mcg_deliver(to, d->pkt->dgid, deliver, d);
		return;
	}
	qp = ud_target(to, d->pkt->dst_qpn);
	if (qp)
		deliver(qp, d);
}

/*
 * Packets to QP0 and QP1, which an agent of the model may take. On RoCE there are no
 * agents of a subnet: QP1 is a QP like others.
 */
static bool take_mad(struct qp *qp, const struct ud_packet *pkt)
{
	struct ud_packet answer;
	struct datagram d = { .pkt = &answer };
	enum mad_verdict verdict;
	uint8_t mad[MAD_BYTES];
	unsigned int segment = 0;

	do {
		verdict = mad_receive(qp->hca, pkt, ++segment, &answer, mad);
		if (verdict != MAD_ANSWERED && verdict != MAD_CONTINUED)
			break;
		port_pkey(qp->hca, answer.pkey_index, &d.pkey);
		deliver_to(qp->hca, &d);
	} while (verdict == MAD_CONTINUED);
	return verdict != MAD_FORWARD;
}

/* The adapter that a packet is for, which is no multicast */
static struct hca *unicast_hca(const struct datagram *d)
{
	const struct ud_packet *pkt = d->pkt;
	struct hca *to;

	if (d->roce)
		return roce_find(d->roce, pkt->dgid, d->dmac);
	to = fabric_by_lid(pkt->dlid);
	return !to && pkt->grh ? fabric_by_gid(pkt->dgid) : to;
}

/* The packet goes to all whom it is for, as far as @reach says. */
static void spread(struct datagram *d)
{
	struct hca *to;
	unsigned int i;

	if (!d->multicast) {
		to = unicast_hca(d);
		if (to)
			deliver_to(to, d);
		return;
	}
	for (i = 0; i < fabric_hcas(); i++)
		if (!d->roce || roce_hears(fabric_hca(i), d->roce))
			deliver_to(fabric_hca(i), d);
}

static void arrive(struct parcel *parcel)
{
	struct ud_parcel *p = container_of(parcel, struct ud_parcel, parcel);

	spread(&p->d);
}

/* Send a copy to those at the end of the cable. It is lost if there is no memory. */
static void send_far(struct qp *qp, const struct datagram *d)
{
	size_t bytes = sizeof(struct ud_parcel) + d->pkt->len;
	struct ud_parcel *p = malloc(bytes);

	if (!p)
		return;
	p->parcel.arrive = arrive;
	p->parcel.bytes = bytes;
	p->pkt = *d->pkt;
	p->pkt.data = p->data;
	memcpy(p->data, d->pkt->data, d->pkt->len);
	p->d = *d;
	p->d.pkt = &p->pkt;
	p->d.reach = REACH_FAR;
	p->d.sent_at = loop_now();
	line_send(qp_line(qp), &p->parcel, d->pkt->len);
}

static void transmit(struct qp *qp, struct datagram *d)
{
	const struct ud_packet *pkt = d->pkt;

	if (qp->hca->link == LINK_ETH) {
		if (!d->roce)
			return;
	} else if (!d->multicast) {
		/* Packets to QP0 use VL15, and only QP0 sends on VL15. */
		if (!pkt->dst_qpn && qp->type != QP_QP0)
			return;
		if (pkt->dst_qpn < 2 && take_mad(qp, pkt))
			return;
	}
	if (!qp_sends(qp))
		return;
	if (line_timed()) {
		if (d->multicast || unicast_hca(d) != qp->hca)
			send_far(qp, d);
		d->reach = REACH_NEAR;
	}
	spread(d);
}

static uint32_t source_qpn(const struct qp *qp)
{
	if (qp->type == QP_QP0)
		return 0;
	if (qp->type == QP_QP1 || IFC_GET(qpc, qp->qpc, deth_sqpn) == 1)
		return 1;
	return qp->obj.id;
}

static void fill_packet(const struct qp *qp, const struct send_wqe *w,
			struct ud_packet *pkt)
{
	const struct wqe_av *av = &w->av;
	uint32_t dqpn = be32toh(av->dqpn);

	pkt->slid = port_lid(qp->hca);
	pkt->dlid = be16toh(av->rlid);
	pkt->src_qpn = source_qpn(qp);
	pkt->dst_qpn = dqpn & 0xffffff;
	pkt->qkey = be32toh(av->qkey);
	if (pkt->qkey & QKEY_OF_QP)
		pkt->qkey = qp->qkey;
	pkt->pkey_index = IFC_GET(qpc, qp->qpc,
				  primary_address_path.pkey_index);
	pkt->sl = av->stat_rate_sl & SL_MASK;
	pkt->grh = dqpn & WQE_AV_EXTENDED &&
		   be32toh(av->grh_gid_fl) & WQE_AV_GRH;
	pkt->tclass = av->tclass;
	pkt->hop_limit = av->hop_limit;
	pkt->flow_label = be32toh(av->grh_gid_fl) & FLOW_LABEL_MASK;
	memcpy(pkt->sgid, port_gid(qp->hca), GID_LEN);
	memcpy(pkt->dgid, av->rgid, GID_LEN);
	pkt->has_imm = w->op == WQE_OP_SEND_IMM;
	pkt->imm = pkt->has_imm ? be32toh(w->imm) : 0;
}

/* With RoCE the address vector names an entry of the sender's table. */
static void fill_roce(const struct qp *qp, const struct wqe_av *av,
		      struct ud_packet *pkt, struct datagram *d)
{
	d->roce = roce_source(qp->hca, av);
	d->dmac = roce_dmac(av);
	d->multicast = pkt->dst_qpn == MCAST_QPN;
	pkt->sl = (av->stat_rate_sl & PRIORITY_MASK) >> 1;
}

/**
 * ud_send() - execute a work request of a UD, QP0 or QP1 queue pair
 * @qp: the QP, in RTS
 * @w: the work request
 * @syndrome: set where the outcome is SEND_FAILED
 *
 * Return: SEND_DONE or SEND_FAILED
 */
enum outcome ud_send(struct qp *qp, const struct send_wqe *w,
		     uint8_t *syndrome)
{
	uint8_t data[UD_MAX];
	struct ud_packet pkt = { .data = data, .len = w->data->len };
	struct datagram d = { .pkt = &pkt, .pkey = qp->pkey,
			      .from = qp->hca,
			      .solicited = w->solicited };

	if (w->data->len > 1u << (LOG_MTU_BASE + port_mtu(qp->hca)) ||
	    w->data->len > UD_MAX) {
		*syndrome = SYND_LOCAL_LENGTH;
		return SEND_FAILED;
	}
	sgl_read(w->data, data, pkt.len);
	fill_packet(qp, w, &pkt);
	if (qp->hca->link == LINK_ETH) {
		fill_roce(qp, &w->av, &pkt, &d);
	} else {
		d.multicast = pkt.dlid >= MCAST_LID &&
			      pkt.dst_qpn == MCAST_QPN && pkt.grh;
	}
	transmit(qp, &d);
	return SEND_DONE;
}
