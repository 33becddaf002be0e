// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An XRC endpoint: an initiator QP, and what receives for it in the rig's own
 * XRC domain: a target QP, which rings nothing, and an SRQ.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "verbs.h"
#include "verbs_xrc.h"

static int open_domain(struct verbs_rig *rig)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	if (!rig->xrcd)
		rig->xrcd = ibv_open_xrcd(rig->ctx, &attr);
	return rig->xrcd ? 0 : -errno;
}

static int create_srq(struct verbs_ep *ep)
{
	struct verbs_rig *rig = ep->rig;
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = rig->pd,
		.xrcd = rig->xrcd,
		.cq = rig->cq,
	};

	ep->srq = ibv_create_srq_ex(rig->ctx, &attr);
	if (!ep->srq)
		return -errno;
	return -ibv_get_srq_num(ep->srq, &ep->srq_num);
}

static int create_target(struct verbs_ep *ep)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = ep->rig->xrcd,
	};

	ep->target = ibv_create_qp_ex(ep->rig->ctx, &attr);
	return ep->target ? 0 : -errno;
}

int verbs_xrc_create(struct verbs_ep *ep)
{
	int ret = open_domain(ep->rig);

	if (!ret)
		ret = create_srq(ep);
	if (!ret)
		ret = create_target(ep);
	return ret;
}

int verbs_xrc_destroy(struct verbs_ep *ep)
{
	int ret = 0;

	if (ep->target)
		ret = -ibv_destroy_qp(ep->target);
	if (ep->srq && !ret)
		ret = -ibv_destroy_srq(ep->srq);
	ep->target = NULL;
	ep->srq = NULL;
	return ret;
}
