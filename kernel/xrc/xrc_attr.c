// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The attributes of MODIFY and QUERY, from the layout of ib_uverbs to that of ib_core and
 * back. What ib_uverbs exports for this is not called: mlx5_ep would hold ib_uverbs, which
 * is to be reloaded alone where the kernel can do that (uverbs_tree.c).
 */
#include <linux/string.h>
#include <rdma/ib_user_verbs.h>

#include "xrc.h"

static void attr_ah_from_user(struct ib_device *ibdev, struct rdma_ah_attr *ah,
			      struct ib_uverbs_ah_attr *user)
{
	ah->type = rdma_ah_find_type(ibdev, user->port_num);
	if (user->is_global) {
		rdma_ah_set_grh(ah, NULL, user->grh.flow_label,
				user->grh.sgid_index, user->grh.hop_limit,
				user->grh.traffic_class);
		rdma_ah_set_dgid_raw(ah, user->grh.dgid);
	}
	rdma_ah_set_dlid(ah, user->dlid);
	rdma_ah_set_sl(ah, user->sl);
	rdma_ah_set_path_bits(ah, user->src_path_bits);
	rdma_ah_set_static_rate(ah, user->static_rate);
	rdma_ah_set_port_num(ah, user->port_num);
}

/* ib_uverbs checks the same attributes before a driver sees them. */
static bool attr_is_sane(struct ib_device *ibdev,
			 const struct ib_uverbs_qp_attr *user)
{
	u32 mask = user->qp_attr_mask;

	if (memchr_inv(user->reserved, 0, sizeof(user->reserved)) ||
	    user->ah_attr.reserved || user->ah_attr.grh.reserved ||
	    user->alt_ah_attr.reserved || user->alt_ah_attr.grh.reserved)
		return false;
	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return false;
	if ((mask & IB_QP_STATE) && user->qp_state > IB_QPS_ERR)
		return false;
	if ((mask & IB_QP_CUR_STATE) && user->cur_qp_state > IB_QPS_ERR)
		return false;
	/* ib_core's security code takes the port as an index, and does not look. */
	if ((mask & IB_QP_PORT) && !rdma_is_port_valid(ibdev, user->port_num))
		return false;
	if ((mask & IB_QP_AV) &&
	    !rdma_is_port_valid(ibdev, user->ah_attr.port_num))
		return false;
	if (mask & IB_QP_ALT_PATH)
		return rdma_is_port_valid(ibdev, user->alt_port_num) &&
		       user->alt_port_num == user->alt_ah_attr.port_num;
	return true;
}

/**
 * mlx5_ep_xrc_attr_from_user() - check and convert the attributes of MODIFY
 * @ibdev: device of the QP, for the ports and the kind of link that it has
 * @attr: zeroed; filled in
 * @user: a copy of what the process passed, unchecked
 *
 * What only a sender has is not converted: mlx5_ep_xrc_qp_modify() leaves it out.
 *
 * Return: 0; -EINVAL
 */
int mlx5_ep_xrc_attr_from_user(struct ib_device *ibdev, struct ib_qp_attr *attr,
			       struct ib_uverbs_qp_attr *user)
{
	u32 mask = user->qp_attr_mask;

	if (!attr_is_sane(ibdev, user))
		return -EINVAL;
	attr->qp_state = user->qp_state;
	attr->cur_qp_state = user->cur_qp_state;
	attr->path_mtu = user->path_mtu;
	attr->path_mig_state = user->path_mig_state;
	attr->rq_psn = user->rq_psn;
	attr->sq_psn = user->sq_psn;
	attr->dest_qp_num = user->dest_qp_num;
	attr->qp_access_flags = user->qp_access_flags;
	attr->pkey_index = user->pkey_index;
	attr->alt_pkey_index = user->alt_pkey_index;
	attr->max_dest_rd_atomic = user->max_dest_rd_atomic;
	attr->min_rnr_timer = user->min_rnr_timer;
	attr->port_num = user->port_num;
	attr->timeout = user->timeout;
	attr->alt_port_num = user->alt_port_num;
	attr->alt_timeout = user->alt_timeout;
	if (mask & IB_QP_AV)
		attr_ah_from_user(ibdev, &attr->ah_attr, &user->ah_attr);
	if (mask & IB_QP_ALT_PATH)
		attr_ah_from_user(ibdev, &attr->alt_ah_attr,
				  &user->alt_ah_attr);
	return 0;
}

static void attr_ah_to_user(struct ib_uverbs_ah_attr *user,
			    const struct rdma_ah_attr *ah)
{
	user->dlid = rdma_ah_get_dlid(ah);
	user->sl = rdma_ah_get_sl(ah);
	user->src_path_bits = rdma_ah_get_path_bits(ah);
	user->static_rate = rdma_ah_get_static_rate(ah);
	user->port_num = rdma_ah_get_port_num(ah);
	user->is_global = !!(rdma_ah_get_ah_flags(ah) & IB_AH_GRH);
	if (!user->is_global)
		return;
	memcpy(user->grh.dgid, ah->grh.dgid.raw, sizeof(user->grh.dgid));
	user->grh.flow_label = ah->grh.flow_label;
	user->grh.sgid_index = ah->grh.sgid_index;
	user->grh.hop_limit = ah->grh.hop_limit;
	user->grh.traffic_class = ah->grh.traffic_class;
}

/**
 * mlx5_ep_xrc_attr_to_user() - convert the attributes that QUERY answers
 * @user: zeroed; filled in
 * @attr: what the driver has answered
 *
 * All members that both layouts have are converted. It does not sleep.
 */
void mlx5_ep_xrc_attr_to_user(struct ib_uverbs_qp_attr *user,
			      const struct ib_qp_attr *attr)
{
	user->qp_state = attr->qp_state;
	user->cur_qp_state = attr->cur_qp_state;
	user->path_mtu = attr->path_mtu;
	user->path_mig_state = attr->path_mig_state;
	user->qkey = attr->qkey;
	user->rq_psn = attr->rq_psn;
	user->sq_psn = attr->sq_psn;
	user->dest_qp_num = attr->dest_qp_num;
	user->qp_access_flags = attr->qp_access_flags;
	attr_ah_to_user(&user->ah_attr, &attr->ah_attr);
	attr_ah_to_user(&user->alt_ah_attr, &attr->alt_ah_attr);
	user->max_send_wr = attr->cap.max_send_wr;
	user->max_recv_wr = attr->cap.max_recv_wr;
	user->max_send_sge = attr->cap.max_send_sge;
	user->max_recv_sge = attr->cap.max_recv_sge;
	user->max_inline_data = attr->cap.max_inline_data;
	user->pkey_index = attr->pkey_index;
	user->alt_pkey_index = attr->alt_pkey_index;
	user->en_sqd_async_notify = attr->en_sqd_async_notify;
	user->sq_draining = attr->sq_draining;
	user->max_rd_atomic = attr->max_rd_atomic;
	user->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	user->min_rnr_timer = attr->min_rnr_timer;
	user->port_num = attr->port_num;
	user->timeout = attr->timeout;
	user->retry_cnt = attr->retry_cnt;
	user->rnr_retry = attr->rnr_retry;
	user->alt_port_num = attr->alt_port_num;
	user->alt_timeout = attr->alt_timeout;
}
