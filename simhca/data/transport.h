/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The transport between queue pairs: a parsed send work request, its outcome at
 * the requester, and the reply of the responder.
 */
#ifndef SIMHCA_TRANSPORT_H
#define SIMHCA_TRANSPORT_H

#include "fabric/lag.h"
#include "object/qp.h"

/**
 * struct eth_wqe - the Ethernet segment of a send work request
 * @flags: WQE_ETH_*
 * @mss: LSO: payload of each frame
 * @inlined: first bytes of the frame; with LSO all headers
 * @inline_len: bytes of @inlined
 */
struct eth_wqe {
	uint8_t flags;
	uint16_t mss;
	const uint8_t *inlined;
	size_t inline_len;
};

/**
 * struct send_wqe - a send work request, parsed
 * @op: WQE_OP_*
 * @mod: MMO: operation modifier
 * @blocks: length in blocks of 64 bytes
 * @ce: WQE_CE_*
 * @fence: WQE_FENCE_*
 * @solicited: the receiver's completion is a solicited one
 * @imm: immediate data or key, big endian as in the WQE
 * @srqn: XRC: number of the target's shared receive queue
 * @stream: DC: the stream that the request belongs to
 * @av: UD, DC: address vector
 * @eth: bare send queue: what the Ethernet segment says
 * @raddr: RDMA and atomic: remote address and key
 * @tail: UMR, MMO: the segments after the control segment
 * @tail_len: bytes of @tail
 * @sink: RDMA read to a signature key: that segment, or a byte count of 0
 * @data: local memory: source of a send or write, target of a read
 */
struct send_wqe {
	uint8_t op;
	uint8_t mod;
	uint16_t blocks;
	uint8_t ce;
	uint8_t fence;
	bool solicited;
	uint32_t imm;
	uint32_t srqn;
	uint16_t stream;
	struct wqe_av av;
	struct eth_wqe eth;
	struct wqe_raddr raddr;
	struct wqe_atomic atomic;
	const uint8_t *tail;
	size_t tail_len;
	struct wqe_data sink;
	struct sglist *data;
};

/**
 * send_reads() - does the answer to a request bring data, to local memory?
 */
static inline bool send_reads(const struct send_wqe *w)
{
	return w->op == WQE_OP_RDMA_READ || w->op == WQE_OP_ATOMIC_CS ||
	       w->op == WQE_OP_ATOMIC_FA;
}

/**
 * enum outcome - result of executing a send work request
 * @SEND_DONE: complete the request
 * @SEND_WAIT: execute it again when the QP's timer fires. With an infinite
 *	timeout the timer is not armed, and the request waits.
 * @SEND_FAILED: complete the request with an error
 * @SEND_AWAY: it is on its way, and is completed when its answer comes
 */
enum outcome { SEND_DONE, SEND_WAIT, SEND_FAILED, SEND_AWAY };

/**
 * enum reply - answer of a responder
 * @REPLY_ACK: the message was executed
 * @REPLY_LOST: no answer: there is no responder, or it dropped the message
 * @REPLY_RNR: RNR NAK: no receive work request is posted
 * @REPLY_INVAL: NAK, invalid request
 * @REPLY_ACCESS: NAK, remote access error
 * @REPLY_OP: NAK, remote operational error
 * @REPLY_PAGE: the requester waits for a page of the responder
 */
enum reply {
	REPLY_ACK,
	REPLY_LOST,
	REPLY_RNR,
	REPLY_INVAL,
	REPLY_ACCESS,
	REPLY_OP,
	REPLY_PAGE,
};

/*
 * How much a QP sends before others have their turn, where a request counts too, and
 * so does each entry of memory keys that is looked at for it
 */
#define SEND_BURST (64u << 20)	/* bytes */
#define SEND_COST (64u << 10)
#define SEND_STEP 64u

/**
 * qp_pause() - has a QP sent so much that it must wait for its turn?
 * @bytes: that it has sent since it had its turn
 */
static inline bool qp_pause(struct qp *qp, uint64_t bytes)
{
	if (bytes <= SEND_BURST)
		return false;
	qp->waiting = true;
	timer_arm(&qp->timer, 0);
	return true;
}

/**
 * qp_sends() - is the port up by which the QP sends?
 */
static inline bool qp_sends(const struct qp *qp)
{
	return lag_sends(qp->hca, IFC_GET(qpc, qp->qpc, lag_tx_port_affinity));
}

/**
 * qp_line() - the line of the port by which the QP sends
 */
static inline struct line *qp_line(const struct qp *qp)
{
	uint32_t affinity = IFC_GET(qpc, qp->qpc, lag_tx_port_affinity);

	return lag_port(qp->hca, affinity ? affinity : 1)->line;
}

/* transport.c: RC, UC and XRC, the requester's side */
enum outcome connected_send(struct qp *qp, const struct send_wqe *w,
			    uint8_t *syndrome);
void connected_rearm(struct qp *qp);
bool connected_len_ok(const struct qp *qp, const struct send_wqe *w);
bool connected_mtu_fits(const struct qp *qp, const struct qp *peer,
			uint64_t len);
bool connected_pkeys_match(const struct qp *a, const struct qp *b);
enum outcome connected_answer(struct qp *qp, uint8_t rnr_timer,
			      enum reply reply, uint8_t *syndrome);
uint8_t connected_rnr_timer(const struct qp *peer);
bool connected_far(const struct qp *qp);
struct qp *connected_peer(const struct qp *qp);
uint64_t connected_wait(const struct qp *peer, const struct send_wqe *w);
void connected_advance(struct qp *qp, const struct send_wqe *w);
enum reply connected_deliver(struct qp *qp, struct qp *peer,
			     const struct send_wqe *w, uint32_t psn);

/* parse.c */
uint8_t send_parse(struct qp *qp, uint16_t at, const uint8_t *wqe, size_t len,
		   struct send_wqe *w);
bool send_has_tail(uint8_t op);

/* dc.c: the requester's side of DC */
bool dc_far(const struct qp *qp, const struct send_wqe *w);
struct qp *dc_peer(const struct qp *qp, const struct send_wqe *w);
enum reply dc_deliver(struct qp *qp, struct qp *peer, const struct send_wqe *w);
enum outcome dc_send(struct qp *qp, const struct send_wqe *w,
		     uint8_t *syndrome);
bool dc_stream_is_bad(const struct qp *qp, uint16_t stream);
bool dc_stream_failed(struct qp *qp, uint16_t stream);
bool dc_stream_reset(struct qp *qp, uint16_t stream);

/* sig.c */
enum sig_end { SIG_REQUESTER, SIG_RESPONDER };

bool sig_key(struct hca *hca, uint32_t key);
int sig_read(struct qp *qp, enum sig_end end, const struct accessor *who,
	     uint32_t key, uint64_t va, uint64_t len, unsigned int access,
	     struct sglist *out);
int sig_sink(struct qp *qp, uint64_t len, struct sglist *out);
int sig_write(struct qp *qp, enum sig_end end, const struct accessor *who,
	      uint32_t key, uint64_t va, unsigned int access,
	      const struct sglist *from);

/* mmo.c */
uint8_t mmo_execute(struct qp *qp, uint8_t mod, const uint8_t *tail,
		    size_t len);

/* respond.c: the responder's side */
enum reply respond(struct qp *qp, struct qp *from, const struct send_wqe *w);

/* eth/tx.c */
uint8_t eth_send(struct qp *sq, const struct send_wqe *w);

/* ud.c */
enum outcome ud_send(struct qp *qp, const struct send_wqe *w,
		     uint8_t *syndrome);

#endif
