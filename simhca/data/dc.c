// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester's side of DC: each work request names a target, by address,
 * number and access key. The model connects for each message and disconnects
 * after it. A message with another key than the target's gets no answer.
 *
 * A work request may belong to a stream. If it fails, its stream is in error: the
 * stream's later requests are flushed, and those of other streams are not.
 */
#include <string.h>

#include "data/roce.h"
#include "data/transport.h"
#include "eth/eth.h"
#include "fabric/fabric.h"
#include "fabric/lag.h"
#include "object/dct.h"

static struct hca *target_hca(const struct qp *qp, const struct wqe_av *av)
{
	struct hca *hca;

	if (qp->hca->link == LINK_ETH)
		return roce_find(roce_source(qp->hca, av), av->rgid,
				 roce_dmac(av));
	hca = fabric_by_lid(be16toh(av->rlid));
	if (!hca && be32toh(av->dqpn) & WQE_AV_EXTENDED &&
	    be32toh(av->grh_gid_fl) & WQE_AV_GRH)
		hca = fabric_by_gid(av->rgid);
	return hca;
}

/* RoCE: answers come from the target's own address, on the VLAN of that. */
static bool answer_arrives(const struct qp *qp, const struct wqe_av *av,
			   const struct dct *dct)
{
	const void *from = nic_roce_address(dct->qp.hca, dct->addr_index);
	const void *to = roce_source(qp->hca, av);

	if (qp->hca->link != LINK_ETH)
		return true;
	return roce_find(from, IFC_ADDR_OF(roce_addr_layout, to,
					   source_l3_address),
			 roce_mac(to)) == qp->hca;
}

/* The target of a request; NULL where nobody would answer. */
static struct dct *find_target(const struct qp *qp, const struct wqe_av *av)
{
	struct hca *hca;
	struct dct *dct;
	struct qp *peer;

	if (!qp_sends(qp))
		return NULL;
	hca = target_hca(qp, av);
	if (!hca || !lag_receives(hca))
		return NULL;
	peer = idtable_get(&hca->objs->qps, be32toh(av->dqpn) & 0xffffff);
	if (!peer || peer->kind != QP_KIND_DCT || !qp_can_receive(peer) ||
	    !connected_pkeys_match(qp, peer))
		return NULL;
	dct = container_of(peer, struct dct, qp);
	return answer_arrives(qp, av, dct) ? dct : NULL;
}

static bool key_fits(struct dct *dct, const struct wqe_av *av)
{
	uint64_t key = (uint64_t)be32toh(av->qkey) << 32 |
		       be32toh(av->key_low);

	if (key == dct->key)
		return true;
	dct->violations++;
	if (dct->armed)
		event_post(dct->qp.hca, EVENT_DCT_KEY, dct->qp.obj.id);
	dct->armed = false;
	return false;
}

/**
 * dc_far() - is the target of a request on another adapter?
 */
bool dc_far(const struct qp *qp, const struct send_wqe *w)
{
	return target_hca(qp, &w->av) != qp->hca;
}

/**
 * dc_peer() - the target of a request; NULL if nobody would answer
 */
struct qp *dc_peer(const struct qp *qp, const struct send_wqe *w)
{
	struct dct *dct = find_target(qp, &w->av);

	return dct && key_fits(dct, &w->av) ? &dct->qp : NULL;
}

/**
 * dc_deliver() - a message of a DC initiator arrives
 *
 * Return: the answer
 */
enum reply dc_deliver(struct qp *qp, struct qp *peer, const struct send_wqe *w)
{
	return connected_mtu_fits(qp, peer, w->data->len) ?
		       respond(peer, qp, w) : REPLY_INVAL;
}

/**
 * dc_send() - execute a work request of a DC initiator
 * @qp: the QP, in RTS
 * @w: the work request
 * @syndrome: set where the outcome is SEND_FAILED
 *
 * Return: the outcome
 */
enum outcome dc_send(struct qp *qp, const struct send_wqe *w,
		     uint8_t *syndrome)
{
	struct qp *peer;

	if (!connected_len_ok(qp, w)) {
		*syndrome = SYND_LOCAL_LENGTH;
		return SEND_FAILED;
	}
	peer = dc_peer(qp, w);
	if (!peer)
		return connected_answer(qp, 0, REPLY_LOST, syndrome);
	return connected_answer(qp, connected_rnr_timer(peer),
				dc_deliver(qp, peer, w), syndrome);
}

/* Index of a stream among those in error; their number where it is none. */
static unsigned int find_bad(const struct dci_streams *s, uint16_t stream)
{
	unsigned int i;

	for (i = 0; i < s->nbad; i++)
		if (s->bad[i] == stream)
			break;
	return i;
}

/**
 * dc_stream_is_bad() - is a stream in error?
 */
bool dc_stream_is_bad(const struct qp *qp, uint16_t stream)
{
	return find_bad(&qp->streams, stream) < qp->streams.nbad;
}

/**
 * dc_stream_failed() - a work request of a stream failed
 * @qp: the QP, with streams
 *
 * Return: does the QP go on? Not if so many streams are in error that it must
 * go into error.
 */
bool dc_stream_failed(struct qp *qp, uint16_t stream)
{
	struct dci_streams *s = &qp->streams;

	if (find_bad(s, stream) == s->nbad)
		s->bad[s->nbad++] = stream;
	return s->nbad < s->max_bad;
}

/**
 * dc_stream_reset() - take a stream out of error
 *
 * Return: was it in error?
 */
bool dc_stream_reset(struct qp *qp, uint16_t stream)
{
	struct dci_streams *s = &qp->streams;
	unsigned int i = find_bad(s, stream);

	if (i == s->nbad)
		return false;
	s->bad[i] = s->bad[--s->nbad];
	return true;
}
