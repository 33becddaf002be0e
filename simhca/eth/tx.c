// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send queues of Ethernet: a work request becomes a frame, or with LSO several;
 * checksums; the cable.
 *
 * A frame passes the flow tables of the sending side. The cable is a hub: the frame
 * goes to all other adapters, and each one drops what it did not ask for. A frame
 * longer than the sender's MTU is not sent. Where the driver allows it, the flow
 * tables of the sender's own receiving side get the frame too, whatever its address.
 * Where the e-switch has tables, frames pass these between the adapter and the cable.
 */
#include <stdlib.h>
#include <string.h>

#include "data/transport.h"
#include "eth/pass.h"
#include "eth/switch.h"
#include "fabric/fabric.h"
#include "fabric/lag.h"
#include "fabric/line.h"
#include "object/tis.h"

#define WIRE_MAX 10240u
#define PACKET_MAX (1u << 17)	/* max_lso_cap, and headers */
#define TCP_SEQ 4u
#define TCP_FLAGS 13u
#define TCP_FIN_PSH 0x09
#define TCP_CWR 0x80
#define IP_LEN 2u
#define IPV4_ID 4u
#define IPV6_LEN 4u
#define IPV6_HEAD 40u
#define UDP_LEN 4u

/* Scratch memory of one call; the model has one thread. */
static uint8_t packet[PACKET_MAX];
static uint8_t wire[WIRE_MAX];

/*
 * A frame arrives from the cable. The e-switch with tables takes all addresses: the
 * driver lists none in that mode.
 */
static void arrive(struct hca *hca, const uint8_t *data, size_t len)
{
	struct packet p;

	if (hca->link != LINK_ETH || !port_active(hca) ||
	    len + ETH_FCS > hca->port->mtu_bytes ||
	    (!switch_on(hca) && !nic_admits(hca, data)))
		return;
	port_count(hca, PORT_RX, data, len);
	packet_init(&p, data, len, 0);
	packet_source(&p, VPORT_UPLINK, 0);
	switch_receive(hca, &p);
}

/* A frame on a cable that takes time */
struct frame_parcel {
	struct parcel parcel;
	const struct hca *from;
	const struct hca *by;
	size_t len;
	uint8_t data[];
};

static void spread(const struct hca *from, const struct hca *by,
		   const uint8_t *data, size_t len, uint64_t sent_at)
{
	struct hca *to;
	unsigned int i;

	for (i = 0; i < fabric_hcas(); i++) {
		to = fabric_hca(i);
		if (to != from && to != by && !line_lost(to->line, sent_at))
			arrive(to, data, len);
	}
}

static void parcel_arrive(struct parcel *parcel)
{
	struct frame_parcel *p = container_of(parcel, struct frame_parcel,
					      parcel);

	spread(p->from, p->by, p->data, p->len, parcel->sent_at);
}

/* It is lost if there is no memory. */
static void send_parcel(struct hca *hca, struct hca *by, const uint8_t *data,
			size_t len)
{
	struct frame_parcel *p = malloc(sizeof(*p) + len);

	if (!p)
		return;
	p->parcel.arrive = parcel_arrive;
	p->parcel.bytes = sizeof(*p) + len;
	p->from = hca;
	p->by = by;
	p->len = len;
	memcpy(p->data, data, len);
	line_send(by->line, &p->parcel, len);
}

/* Return: false where the frame is too long */
static bool to_cable(struct hca *hca, const struct packet *sent)
{
	const uint8_t *data = sent->f.data;
	size_t len = sent->f.len;
	struct hca *by = lag_port(hca, sent->affinity);

	if (len + ETH_FCS > by->port->mtu_bytes)
		return false;
	port_count(by, PORT_TX, data, len);
	if (line_timed())
		send_parcel(hca, by, data, len);
	else
		spread(hca, by, data, len, UINT64_MAX);
	return true;
}

static void switched(struct hca *hca, const struct packet *p, uint16_t vport)
{
	if (switch_out(hca, p, vport))
		to_cable(hca, p);
}

/*
 * A frame leaves the flow tables of the sending side. The entries of the e-switch say
 * whether the adapter receives it itself; without them addresses do.
 */
static void leave(struct hca *hca, const struct packet *sent)
{
	struct packet looped;

	if (switch_on(hca)) {
		pass_switch(hca, sent, switched);
		return;
	}
	if (!to_cable(hca, sent) || !nic_loops(hca, sent->f.data))
		return;
	packet_init(&looped, sent->f.data, sent->f.len, sent->td);
	pass_receive(hca, &looped);
}

/**
 * struct sender - the queue that a frame comes from
 * @sqn: its number; 0: it is no send queue
 * @tis: number of its TIS; 0: none
 * @td: transport domain of the TIS; 0: none
 */
struct sender {
	struct hca *hca;
	uint32_t sqn;
	uint32_t tis;
	uint32_t td;
};

/* Send what is in wire[]. */
static void send_wire(const struct sender *s, size_t len, bool l3, bool l4)
{
	uint32_t affinity = tis_affinity(s->hca, s->tis);
	struct packet p;
	struct frame f;

	if (!port_active(lag_port(s->hca, affinity)))
		return;
	frame_parse(&f, wire, len);
	frame_put_sums(&f, wire, l3, l4);
	if (len < ETH_MIN) {
		memset(wire + len, 0, ETH_MIN - len);
		len = ETH_MIN;
	}
	packet_init(&p, wire, len, s->td);
	packet_source(&p, VPORT_MANAGER, s->sqn);
	p.affinity = affinity;
	pass_send(s->hca, &p, leave);
}

static void send_frame(struct qp *sq, size_t len, bool l3, bool l4)
{
	struct sender s = {
		.hca = sq->hca, .sqn = sq->obj.id, .td = sq->td,
		.tis = sq->tis ? sq->tis->id : 0,
	};

	send_wire(&s, len, l3, l4);
}

/**
 * struct segment - one piece of a packet that LSO cuts
 * @at: offset of its payload
 * @len: bytes of payload
 * @n: number of the piece
 * @last: no piece follows
 */
struct segment {
	size_t at;
	size_t len;
	unsigned int n;
	bool last;
};

/* Lengths, numbers and flags of the headers in wire[], for one piece. */
static void fix_headers(const struct frame *head, size_t head_len,
			const struct segment *s)
{
	uint8_t *ip = wire + head->l3, *l4 = wire + head->l4;
	uint16_t ip_len = (uint16_t)(head_len - head->l3 + s->len);
	uint32_t seq;

	if (head->ipv6) {
		be16_put(ip + IPV6_LEN, ip_len - IPV6_HEAD);
	} else {
		be16_put(ip + IP_LEN, ip_len);
		be16_put(ip + IPV4_ID, be16_at(ip + IPV4_ID) + s->n);
	}
	if (head->proto == IP_UDP) {
		be16_put(l4 + UDP_LEN,
			 (uint16_t)(head_len - head->l4 + s->len));
		return;
	}
	memcpy(&seq, l4 + TCP_SEQ, sizeof(seq));
	seq = htobe32(be32toh(seq) + (uint32_t)s->at);
	memcpy(l4 + TCP_SEQ, &seq, sizeof(seq));
	if (!s->last)
		l4[TCP_FLAGS] &= ~TCP_FIN_PSH;
	if (s->n)
		l4[TCP_FLAGS] &= ~TCP_CWR;
}

/*
 * LSO: the headers are the inline part of the request, @mss is the payload of
 * each frame. The lengths in the headers are those of the whole packet, which
 * may be more than they can tell.
 */
static uint8_t send_lso(struct qp *sq, const struct send_wqe *w, size_t len)
{
	size_t head_len = w->eth.inline_len, payload = len - head_len;
	struct segment s = { 0 };
	struct frame head;

	if (!w->eth.mss || head_len + w->eth.mss > WIRE_MAX ||
	    head_len < ETH_HEAD)
		return SYND_LOCAL_QP_OP;
	frame_parse_head(&head, packet, head_len);
	if (!head.l4)
		return SYND_LOCAL_QP_OP;
	for (; s.at < payload; s.at += s.len, s.n++) {
		s.len = payload - s.at;
		if (s.len > w->eth.mss)
			s.len = w->eth.mss;
		s.last = s.at + s.len == payload;
		memcpy(wire, packet, head_len);
		memcpy(wire + head_len, packet + head_len + s.at, s.len);
		fix_headers(&head, head_len, &s);
		send_frame(sq, head_len + s.len, true, true);
	}
	return SYND_OK;
}

/**
 * eth_send() - execute a work request of a bare send queue
 * @sq: the queue, in RTS
 * @w: the work request: what is inline in the Ethernet segment, then @data
 *
 * Return: SYND_*
 */
uint8_t eth_send(struct qp *sq, const struct send_wqe *w)
{
	size_t len = w->eth.inline_len + w->data->len;

	if (len > PACKET_MAX)
		return SYND_LOCAL_LENGTH;
	memcpy(packet, w->eth.inlined, w->eth.inline_len);
	sgl_read(w->data, packet + w->eth.inline_len, w->data->len);
	if (w->op == WQE_OP_LSO)
		return send_lso(sq, w, len);
	if (len < ETH_HEAD || len > WIRE_MAX)
		return SYND_LOCAL_LENGTH;
	memcpy(wire, packet, len);
	send_frame(sq, len, w->eth.flags & WQE_ETH_L3_SUM,
		   w->eth.flags & WQE_ETH_L4_SUM);
	return SYND_OK;
}
