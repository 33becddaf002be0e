// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An XRC endpoint has an initiator QP. In the setup's XRC domain a target QP
 * and an SRQ receive for it. The target QP rings no doorbell.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "verbs.h"
#include "verbs_xrc.h"

static int open_domain(struct verbs_setup *setup)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	if (!setup->xrcd)
		setup->xrcd = ibv_open_xrcd(setup->ctx, &attr);
	return setup->xrcd ? 0 : -errno;
}

static int create_srq(struct verbs_endpoint *endpoint)
{
	struct verbs_setup *setup = endpoint->setup;
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = setup->pd,
		.xrcd = setup->xrcd,
		.cq = setup->cq,
	};

	endpoint->srq = ibv_create_srq_ex(setup->ctx, &attr);
	if (!endpoint->srq)
		return -errno;
	return -ibv_get_srq_num(endpoint->srq, &endpoint->srq_num);
}

static int create_target(struct verbs_endpoint *endpoint)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = endpoint->setup->xrcd,
	};

	endpoint->target = ibv_create_qp_ex(endpoint->setup->ctx, &attr);
	return endpoint->target ? 0 : -errno;
}

int verbs_xrc_create(struct verbs_endpoint *endpoint)
{
	int ret = open_domain(endpoint->setup);

	if (!ret)
		ret = create_srq(endpoint);
	if (!ret)
		ret = create_target(endpoint);
	return ret;
}

int verbs_xrc_destroy(struct verbs_endpoint *endpoint)
{
	int ret = 0;

	if (endpoint->target)
		ret = -ibv_destroy_qp(endpoint->target);
	if (endpoint->srq && !ret)
		ret = -ibv_destroy_srq(endpoint->srq);
	endpoint->target = NULL;
	endpoint->srq = NULL;
	return ret;
}
