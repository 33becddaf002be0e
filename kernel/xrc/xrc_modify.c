// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MODIFY and QUERY of a shared QP. The record's lock serialises both, so each
 * caller is told of the state that its own call left.
 */
#include <linux/string.h>

#include "device.h"
#include "uuar/context.h"
#include "uuar/qp_uuar.h"
#include "xrc.h"

/* Asks the device; @attr is filled in. */
static int modify_refresh(struct mlx5_ep_xrc_reg *reg, struct ib_qp_attr *attr,
			  int mask)
{
	struct ib_qp_init_attr init;
	int ret;

	ret = ib_query_qp(reg->ib_qp, attr, mask | IB_QP_STATE, &init);
	if (!ret)
		WRITE_ONCE(reg->qp->eqp->state, attr->qp_state);
	return ret;
}

/* Nodes number their QPs alike, so the number alone does not name a QP. */
static bool modify_same_port(const struct rdma_ah_attr *a,
			     const struct rdma_ah_attr *b)
{
	if (rdma_ah_get_ah_flags(a) & rdma_ah_get_ah_flags(b) & IB_AH_GRH)
		return !memcmp(&rdma_ah_read_grh(a)->dgid,
			       &rdma_ah_read_grh(b)->dgid,
			       sizeof(union ib_gid));
	return rdma_ah_get_dlid(a) == rdma_ah_get_dlid(b);
}

/* Is the QP connected to the QP that @asked names, as far as @mask goes? */
static bool modify_same_remote(const struct ib_qp_attr *now,
			       const struct ib_qp_attr *asked, int mask)
{
	return !((mask & IB_QP_DEST_QPN) &&
		 now->dest_qp_num != asked->dest_qp_num) &&
	       !((mask & IB_QP_AV) &&
		 !modify_same_port(&now->ah_attr, &asked->ah_attr));
}

/*
 * Connecting goes RESET, INIT, RTR, RTS. A step that another registrant has
 * already done counts as reached.
 */
static bool modify_state_reached(enum ib_qp_state now, enum ib_qp_state asked)
{
	if (asked < IB_QPS_INIT || now > IB_QPS_RTS)
		return now == asked;
	return now >= asked;
}

/* Returns 1 if the QP has reached the state, 0 if it has not, or an errno. */
static int modify_reached(struct mlx5_ep_xrc_reg *reg,
			  const struct ib_qp_attr *asked, int mask)
{
	struct ib_qp_attr now = {};
	int ret;

	ret = modify_refresh(reg, &now, IB_QP_DEST_QPN | IB_QP_AV);
	if (ret)
		return ret;
	if (!modify_state_reached(now.qp_state, asked->qp_state))
		return 0;
	if (asked->qp_state == IB_QPS_RTR &&
	    !modify_same_remote(&now, asked, mask))
		return -EISCONN;
	return 1;
}

/*
 * Does what ib_uverbs does for a QP of the user's own, but for the state SQD, to which
 * no QP of mlx5 gets: only there could a path change its port. Attributes that only a
 * sender has are left out, and the path must be on the port of the QP. Passing
 * @udata makes ib_core resolve the MAC address of the other side, which every
 * user of RoCE needs.
 */
static int modify_change(struct ib_qp *ib_qp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	mask &= ~(IB_QP_MAX_QP_RD_ATOMIC | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY);
	if ((mask & IB_QP_AV) &&
	    rdma_ah_get_port_num(&attr->ah_attr) != ib_qp->real_qp->port)
		return -EINVAL;
	return ib_modify_qp_with_udata(ib_qp, attr, mask, udata);
}

/**
 * mlx5_ep_xrc_qp_modify() - change the QP
 * @reg: has an open handle on the QP
 * @attr: new attributes
 * @mask: enum ib_qp_attr_mask: which of them
 * @udata: of the call
 * @answer: the state afterwards, and whether the QP had reached it before
 *
 * With IB_QP_STATE and without IB_QP_CUR_STATE, a state that the QP has already
 * reached is answered as such, and nothing is changed. Without IB_QP_STATE, the answer is
 * the state that the device has. Sleeps; issues firmware commands.
 *
 * Return: 0; -EISCONN: the QP is connected to another QP than @attr names;
 * -EINVAL: IBA forbids the transition; what the driver returned
 */
int mlx5_ep_xrc_qp_modify(struct mlx5_ep_xrc_reg *reg, struct ib_qp_attr *attr,
			  int mask, struct ib_udata *udata,
			  struct mlx5_ep_xrc_rcv_qp_modify *answer)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp;
	struct ib_qp_attr now = {};
	int ret = 0;

	mutex_lock(&qp->lock);
	if (!(mask & IB_QP_STATE))
		ret = modify_refresh(reg, &now, 0);
	else if (!(mask & IB_QP_CUR_STATE))
		ret = modify_reached(reg, attr, mask);
	if (ret > 0) {
		answer->flags = MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY;
		ret = 0;
	} else if (!ret) {
		ret = modify_change(reg->ib_qp, attr, mask, udata);
	}
	answer->qp_state = READ_ONCE(qp->eqp->state);
	mutex_unlock(&qp->lock);
	return ret;
}

/**
 * mlx5_ep_xrc_qp_query() - ask for the QP's attributes
 * @reg: has an open handle on the QP
 * @attr: zeroed; filled in, as the device has them
 * @info: filled in, what the module knows
 *
 * Sleeps; issues a firmware command.
 *
 * Return: 0; what the driver returned
 */
int mlx5_ep_xrc_qp_query(struct mlx5_ep_xrc_reg *reg, struct ib_qp_attr *attr,
			 struct mlx5_ep_xrc_rcv_qp_info *info)
{
	struct mlx5_ep_xrc *xrc = reg->ectx->edev->xrc;
	struct mlx5_ep_xrc_qp *qp = reg->qp;
	int ret;

	mutex_lock(&qp->lock);
	ret = modify_refresh(reg, attr, IB_QP_AV);
	mutex_unlock(&qp->lock);
	info->qp_num = qp->num;
	info->qp_state = attr->qp_state;
	mutex_lock(&xrc->lock);
	info->registrants = qp->num_regs;
	info->key_len = qp->key.len;
	memcpy(info->key, qp->key.data, qp->key.len);
	mutex_unlock(&xrc->lock);
	return ret;
}
