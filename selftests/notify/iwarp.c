// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pairs of QPs on an iWARP device, which only a connection manager can connect: there is no
 * ibv_modify_qp() to RTR. The device needs an interface with an IPv4 address.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>

#include "patience.h"
#include "watch/watched.h"

#define IWARP_EVENT_MS 10000

struct iwarp_link {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *active, *passive;
};

static int iwarp_error(int ret)
{
	return ret ? -errno : 0;
}

/* Bring a QP to INIT. A connection brings it to RTS. */
static int iwarp_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ,
	};

	return -ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS);
}

static void iwarp_id_destroy(struct rdma_cm_id **id)
{
	if (*id)
		rdma_destroy_id(*id);
	*id = NULL;
}

/* Listen at an address of the device, any port. */
static int iwarp_listen(struct iwarp_link *link, const char *device)
{
	struct ifaddrs *all, *at;
	int ret = -EADDRNOTAVAIL;

	if (getifaddrs(&all))
		return -errno;
	for (at = all; at && ret == -EADDRNOTAVAIL; at = at->ifa_next) {
		if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET ||
		    at->ifa_flags & IFF_LOOPBACK)
			continue;
		ret = iwarp_error(rdma_create_id(link->channel, &link->listener,
						 NULL, RDMA_PS_TCP));
		if (ret)
			break;
		if (!rdma_bind_addr(link->listener, at->ifa_addr) &&
		    link->listener->verbs &&
		    !strcmp(ibv_get_device_name(link->listener->verbs->device),
			    device)) {
			ret = iwarp_error(rdma_listen(link->listener, 1));
			break;
		}
		iwarp_id_destroy(&link->listener);
		ret = -EADDRNOTAVAIL;
	}
	freeifaddrs(all);
	return ret;
}

/* Wait for an event of @type. A request to connect sets link->passive. */
static int iwarp_event(struct iwarp_link *link, enum rdma_cm_event_type type)
{
	struct pollfd fd = { .fd = link->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int ret;

	ret = poll(&fd, 1, IWARP_EVENT_MS * patience_factor());
	if (ret <= 0)
		return ret ? -errno : -ETIMEDOUT;
	if (rdma_get_cm_event(link->channel, &event))
		return -errno;
	ret = event->event == type ? 0 : -EPROTO;
	if (!ret && type == RDMA_CM_EVENT_CONNECT_REQUEST)
		link->passive = event->id;
	rdma_ack_cm_event(event);
	return ret;
}

static int iwarp_resolve(struct iwarp_link *link)
{
	struct sockaddr *to = rdma_get_local_addr(link->listener);
	int ret;

	ret = iwarp_error(rdma_create_id(link->channel, &link->active, NULL,
					 RDMA_PS_TCP));
	if (!ret)
		ret = iwarp_error(rdma_resolve_addr(link->active, NULL, to,
						    IWARP_EVENT_MS));
	if (!ret)
		ret = iwarp_event(link, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (!ret)
		ret = iwarp_error(rdma_resolve_route(link->active, IWARP_EVENT_MS));
	return ret ?: iwarp_event(link, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int iwarp_connect(struct iwarp_link *link, const struct ibv_qp *from,
			 const struct ibv_qp *to)
{
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.qp_num = from->qp_num,
	};
	int ret, i;

	ret = iwarp_error(rdma_connect(link->active, &param));
	if (!ret)
		ret = iwarp_event(link, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (ret)
		return ret;
	param.qp_num = to->qp_num;
	ret = iwarp_error(rdma_accept(link->passive, &param));
	/* Each end is told. */
	for (i = 0; i < 2 && !ret; i++)
		ret = iwarp_event(link, RDMA_CM_EVENT_ESTABLISHED);
	return ret;
}

static int iwarp_qp(struct verbs_setup *setup, struct ibv_qp **qp)
{
	*qp = verbs_qp_create(setup->pd, setup->cq, IBV_QPT_RC);
	if (!*qp)
		return errno ? -errno : -EIO;
	return iwarp_init(*qp);
}

static void iwarp_close(struct watched_setup *setup)
{
	struct iwarp_link *link = setup->pair;

	verbs_endpoint_destroy(&setup->endpoint);
	iwarp_id_destroy(&link->active);
	iwarp_id_destroy(&link->passive);
	iwarp_id_destroy(&link->listener);
	if (link->channel)
		rdma_destroy_event_channel(link->channel);
	free(link);
	setup->pair = NULL;
}

/* The QP of the endpoint posts, and @target is the other end, in the same process. */
static int iwarp_open(struct watched_setup *setup)
{
	struct verbs_endpoint *endpoint = &setup->endpoint;
	struct verbs_setup *verbs = &setup->verbs;
	struct iwarp_link *link;
	int ret;

	link = setup->pair = calloc(1, sizeof(*link));
	if (!link)
		return -ENOMEM;
	endpoint->setup = verbs;
	endpoint->peer = endpoint;
	endpoint->src = verbs->buf;
	endpoint->dst = endpoint->src + VERBS_SLICE;
	link->channel = rdma_create_event_channel();
	ret = link->channel ? 0 : -errno;
	if (!ret)
		ret = iwarp_qp(verbs, &endpoint->qp);
	if (!ret)
		ret = iwarp_qp(verbs, &endpoint->target);
	if (!ret)
		ret = iwarp_listen(link, ibv_get_device_name(verbs->ctx->device));
	if (!ret)
		ret = iwarp_resolve(link);
	if (!ret)
		ret = iwarp_connect(link, endpoint->qp, endpoint->target);
	if (ret)
		iwarp_close(setup);
	return ret;
}

/*
 * A write is complete as soon as its bytes are on their way. A read behind it is complete
 * when they have arrived.
 */
static int iwarp_placed(struct watched_setup *setup, unsigned int seconds)
{
	const struct verbs_endpoint *endpoint = &setup->endpoint;
	const struct ibv_mr *mr = setup->verbs.mr;
	struct ibv_sge sge = {
		.addr = (uintptr_t)endpoint->src,
		.length = 1,
		.lkey = mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {
			.remote_addr = (uintptr_t)endpoint->dst,
			.rkey = mr->rkey,
		},
	};
	time_t limit = patience_now() + seconds;
	struct ibv_wc wc;
	int ret;

	ret = ibv_post_send(endpoint->qp, &wr, &bad);
	if (ret)
		return -ret;
	while (!(ret = ibv_poll_cq(setup->verbs.cq, 1, &wc))) {
		if (patience_now() > limit)
			return -ETIMEDOUT;
		sched_yield();
	}
	return ret < 0 || wc.status ? -EIO : 0;
}

const struct watched_pairs iwarp_pairs = {
	.open = iwarp_open,
	.close = iwarp_close,
	.placed = iwarp_placed,
};
