// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester's side of RC, UC and XRC: finding the peer, packet sequence
 * numbers, retries.
 *
 * The cable loses no message. A message is lost only if a real network would
 * not answer it either: the QP does not exist or cannot receive, the port is
 * down, or the peer does not expect the sequence number. The requester then
 * times out, retries, and gives up, as on a real network.
 */
#include <string.h>

#include "data/roce.h"
#include "data/transport.h"
#include "eth/eth.h"
#include "fabric/fabric.h"
#include "fabric/lag.h"
#include "qos/sched.h"

#define PKEY_FULL 0x8000u
#define RNR_INFINITE 7
#define ACK_TIMEOUT_UNIT 4096ull	/* ns */
#define LOG_MTU_BASE 7			/* enum ib_mtu 1 is 256 bytes */

/* IBTA: how long the requester waits for each value of the RNR NAK timer. */
static const uint32_t rnr_usec[32] = {
	655360, 10,    20,    30,    40,    60,	   80,	  120,
	160,	240,   320,   480,   640,   960,   1280,  1920,
	2560,	3840,  5120,  7680,  10240, 15360, 20480, 30720,
	40960,	61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

static uint32_t path_get_timeout(const struct qp *qp)
{
	return IFC_GET(qpc, qp->qpc, primary_address_path.ack_timeout);
}

/**
 * connected_pkeys_match() - may the two QPs talk to each other?
 */
bool connected_pkeys_match(const struct qp *a, const struct qp *b)
{
	return (a->pkey & ~PKEY_FULL) == (b->pkey & ~PKEY_FULL) &&
	       ((a->pkey | b->pkey) & PKEY_FULL);
}

/**
 * connected_rearm() - fill up the retry counters
 * @qp: the QP: a message went through, or it has just come to RTS
 */
void connected_rearm(struct qp *qp)
{
	qp->retry_left = IFC_GET(qpc, qp->qpc, retry_count);
	qp->rnr_left = IFC_GET(qpc, qp->qpc, rnr_retry);
}

/* RoCE: GID, MAC, VLAN and version must all be the peer's. */
static struct hca *roce_hca(const struct qp *qp, const uint8_t *path)
{
	uint64_t mac = (uint64_t)IFC_GET(ads, path, rmac_47_32) << 32 |
		       IFC_GET(ads, path, rmac_31_0);
	const uint8_t *gid = IFC_ADDR_OF(ads, path, rgid_rip);
	const void *from = nic_roce_address(qp->hca, IFC_GET(ads, path,
							     src_addr_index));

	return roce_find(from, gid, mac);
}

static struct hca *path_hca(const struct qp *qp)
{
	const uint8_t *path = IFC_ADDR_OF(qpc, qp->qpc, primary_address_path);
	struct hca *peer;

	if (qp->hca->link == LINK_ETH)
		return roce_hca(qp, path);
	peer = fabric_by_lid(qp->rlid);
	if (!peer && IFC_GET(ads, path, grh))
		peer = fabric_by_gid(IFC_ADDR_OF(ads, path, rgid_rip));
	return peer;
}

/**
 * connected_far() - is the peer of a QP on another adapter?
 */
bool connected_far(const struct qp *qp)
{
	return path_hca(qp) != qp->hca;
}

/**
 * connected_peer() - the responder; NULL if no QP would answer
 */
struct qp *connected_peer(const struct qp *qp)
{
	struct hca *hca;
	struct qp *peer;

	if (!qp_sends(qp))
		return NULL;
	hca = path_hca(qp);
	if (!hca || !lag_receives(hca))
		return NULL;
	peer = idtable_get(&hca->objs->qps, qp->remote_qpn);
	if (!peer || peer->kind != QP_KIND_QP || peer->type != qp->type ||
	    !qp_can_receive(peer))
		return NULL;
	if (peer->type == QP_XRC && peer->has_sq)
		return NULL;
	/* Answers go where the responder's context says. */
	if (peer->remote_qpn != qp->obj.id ||
	    (path_hca(peer) != qp->hca && qp->type != QP_UC))
		return NULL;
	return connected_pkeys_match(qp, peer) ? peer : NULL;
}

static uint32_t connected_packets(const struct qp *qp, uint64_t len)
{
	unsigned int log_mtu = LOG_MTU_BASE + qp->mtu;

	if (!len)
		return 1;
	return (len + (1ull << log_mtu) - 1) >> log_mtu;
}

/**
 * connected_advance() - the sequence number of the next message
 * @w: the one before it
 */
void connected_advance(struct qp *qp, const struct send_wqe *w)
{
	qp->send_psn = (qp->send_psn + connected_packets(qp, w->data->len)) &
		       PSN_MASK;
}

/* No answer came: wait for the retry, or fail after the last retry. */
static enum outcome lost(struct qp *qp, uint8_t *syndrome)
{
	uint32_t t = path_get_timeout(qp);

	if (qp->type == QP_UC)
		return SEND_DONE;
	if (!t)
		return SEND_WAIT;	/* timeout 0 means infinite */
	if (!qp->retry_left) {
		*syndrome = SYND_RETRY_EXC;
		return SEND_FAILED;
	}
	qp->retry_left--;
	timer_arm(&qp->timer, ACK_TIMEOUT_UNIT << t);
	return SEND_WAIT;
}

static enum outcome rnr(struct qp *qp, uint8_t t, uint8_t *syndrome)
{
	if (qp->rnr_left != RNR_INFINITE) {
		if (!qp->rnr_left) {
			*syndrome = SYND_RNR_RETRY_EXC;
			return SEND_FAILED;
		}
		qp->rnr_left--;
	}
	timer_arm(&qp->timer, rnr_usec[t] * NSEC_PER_USEC);
	return SEND_WAIT;
}

/**
 * connected_mtu_fits() - is a message cut as the responder expects?
 * @len: bytes of the message; one packet has any length up to the MTU
 */
bool connected_mtu_fits(const struct qp *qp, const struct qp *peer,
			uint64_t len)
{
	return qp->mtu == peer->mtu ||
	       (connected_packets(qp, len) == 1 &&
		connected_packets(peer, len) == 1);
}

/**
 * connected_rnr_timer() - how long a requester shall wait if nothing is posted, as a code
 */
uint8_t connected_rnr_timer(const struct qp *peer)
{
	return IFC_GET(qpc, peer->qpc, min_rnr_nak);
}

/**
 * connected_answer() - what the requester does about an answer
 * @rnr_timer: with REPLY_RNR: that of the responder
 * @syndrome: set where the outcome is SEND_FAILED
 *
 * Return: the outcome
 */
enum outcome connected_answer(struct qp *qp, uint8_t rnr_timer,
			      enum reply reply, uint8_t *syndrome)
{
	switch (reply) {
	case REPLY_ACK:
		if (qp->type != QP_UC)
			connected_rearm(qp);
		return SEND_DONE;
	case REPLY_LOST:
		return lost(qp, syndrome);
	case REPLY_RNR:
		return rnr(qp, rnr_timer, syndrome);
	case REPLY_INVAL:
		*syndrome = SYND_REMOTE_INVAL_REQ;
		return SEND_FAILED;
	case REPLY_ACCESS:
		*syndrome = SYND_REMOTE_ACCESS;
		return SEND_FAILED;
	case REPLY_PAGE:
		return SEND_WAIT;
	case REPLY_OP:
		*syndrome = SYND_REMOTE_OP;
		return SEND_FAILED;
	}
	return SEND_FAILED;
}

/**
 * connected_deliver() - a message arrives
 * @peer: that it is for
 * @psn: of its first packet
 *
 * Return: the answer
 */
enum reply connected_deliver(struct qp *qp, struct qp *peer,
			     const struct send_wqe *w, uint32_t psn)
{
	enum reply reply;

	/* UC takes any sequence number that starts a message. */
	if (qp->type == QP_UC)
		peer->recv_psn = psn;
	else if (psn != peer->recv_psn)
		return REPLY_LOST;
	if (!connected_mtu_fits(qp, peer, w->data->len)) {
		if (qp->type == QP_UC)
			return REPLY_LOST;
		qp_error(peer, EVENT_QP_INVAL_REQ);
		return REPLY_INVAL;
	}
	reply = respond(peer, qp, w);
	if (reply != REPLY_ACK)
		return reply;
	if (w->op == WQE_OP_RDMA_READ)
		sched_charge(peer->read_group, w->data->len);
	peer->recv_psn = (psn + connected_packets(qp, w->data->len)) & PSN_MASK;
	return REPLY_ACK;
}

/**
 * connected_wait() - how long an answer waits for its turn at the responder
 *
 * Return: nanoseconds
 */
uint64_t connected_wait(const struct qp *peer, const struct send_wqe *w)
{
	return w->op == WQE_OP_RDMA_READ ?
		       sched_wait(peer->hca, peer->read_group) : 0;
}

/**
 * connected_len_ok() - may a work request have so many bytes?
 */
bool connected_len_ok(const struct qp *qp, const struct send_wqe *w)
{
	bool atomic = w->op == WQE_OP_ATOMIC_CS || w->op == WQE_OP_ATOMIC_FA;

	return w->data->len <= 1ull << IFC_GET(qpc, qp->qpc, log_msg_max) &&
	       (!atomic || w->data->len == sizeof(uint64_t));
}

/**
 * connected_send() - execute a work request of an RC, UC or XRC QP
 * @qp: the QP, in RTS
 * @w: the work request
 * @syndrome: set where the outcome is SEND_FAILED
 *
 * Return: the outcome
 */
enum outcome connected_send(struct qp *qp, const struct send_wqe *w,
			    uint8_t *syndrome)
{
	enum reply reply;
	struct qp *peer;
	uint64_t ns;

	if (!connected_len_ok(qp, w)) {
		*syndrome = SYND_LOCAL_LENGTH;
		return SEND_FAILED;
	}
	peer = connected_peer(qp);
	if (!peer)
		return lost(qp, syndrome);
	ns = connected_wait(peer, w);
	if (ns) {		/* the peer answers when its group lets it */
		timer_arm(&qp->timer, ns);
		return SEND_WAIT;
	}
	reply = connected_deliver(qp, peer, w, qp->send_psn);
	if (reply == REPLY_ACK || qp->type == QP_UC)
		connected_advance(qp, w);
	return connected_answer(qp, connected_rnr_timer(peer), reply, syndrome);
}
