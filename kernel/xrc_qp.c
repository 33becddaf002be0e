// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The QP behind the registrations: found or made, opened, closed, changed.
 *
 * A struct mlx5_ep_xrc_qp is a place in the tables; it lives while it has a
 * registration or one is being made. The QP of the hardware comes with the
 * first of them that gets @lock and finds none open, and goes with the last
 * that closes. Whoever joins meanwhile waits for @lock, and if the QP went or
 * was never made, makes it: that is all there is to the race for one key.
 *
 * Each registration holds a handle of ib_core on the QP (ib_open_qp()), as
 * each opener upstream does. So ib_core counts, runs the security module's
 * check for each process, and a QP may also be held by an upstream opener, who
 * may be the last.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/mlx5_ep_notifier.h>

#include "compat/compat.h"
#include "compat/create_qp_user.h"
#include "xrc.h"

static unsigned int xrc_qps_per_device = 65536;
module_param(xrc_qps_per_device, uint, 0644);
MODULE_PARM_DESC(xrc_qps_per_device,
	"shared XRC receive QPs that a device may have, more are refused with EDQUOT (default 65536)");

const struct rhashtable_params mlx5_ep_xrc_key_params = {
	.head_offset = offsetof(struct mlx5_ep_xrc_qp, hash),
	.key_offset = offsetof(struct mlx5_ep_xrc_qp, key),
	.key_len = sizeof(struct mlx5_ep_xrc_key),
	.automatic_shrinking = true,
};

/* Events of the QP; under ib_core's qp_open_list_lock, interrupts off. */
static void reg_event(struct ib_event *event, void *context)
{
	struct mlx5_ep_xrc_reg *reg = context;
	unsigned int type;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		type = MLX5_EP_EVENT_XRC_COMM_EST;
		break;
	case IB_EVENT_PATH_MIG:
		type = MLX5_EP_EVENT_XRC_PATH_MIG;
		break;
	case IB_EVENT_PATH_MIG_ERR:
		type = MLX5_EP_EVENT_XRC_PATH_MIG_ERR;
		break;
	case IB_EVENT_QP_FATAL:
		type = MLX5_EP_EVENT_XRC_QP_FATAL;
		WRITE_ONCE(reg->qp->state, IB_QPS_ERR);
		break;
	case IB_EVENT_QP_REQ_ERR:
		type = MLX5_EP_EVENT_XRC_QP_REQ_ERR;
		WRITE_ONCE(reg->qp->state, IB_QPS_ERR);
		break;
	case IB_EVENT_QP_ACCESS_ERR:
		type = MLX5_EP_EVENT_XRC_QP_ACCESS_ERR;
		WRITE_ONCE(reg->qp->state, IB_QPS_ERR);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		type = MLX5_EP_EVENT_XRC_LAST_WQE;
		break;
	default:
		return;
	}
	mlx5_ep_notifier_post(&reg->source, type);
}

/* A new place in the tables, with one reference. */
static struct mlx5_ep_xrc_qp *qp_add(struct mlx5_ep_xrc *xrc,
				     struct mlx5_ep_xrc_domain *domain)
{
	struct mlx5_ep_xrc_qp *qp;

	lockdep_assert_held(&xrc->lock);

	if (xrc->num_qps >= READ_ONCE(xrc_qps_per_device))
		return ERR_PTR(-EDQUOT);
	qp = kzalloc_obj(*qp, GFP_KERNEL_ACCOUNT);
	if (!qp)
		return ERR_PTR(-ENOMEM);

	mutex_init(&qp->lock);
	INIT_LIST_HEAD(&qp->regs);
	qp->domain = domain;
	qp->refs = 1;
	list_add_tail(&qp->entry, &domain->qps);
	domain->num_qps++;
	xrc->num_qps++;
	return qp;
}

static void qp_del(struct mlx5_ep_xrc *xrc, struct mlx5_ep_xrc_qp *qp)
{
	lockdep_assert_held(&xrc->lock);

	if (qp->key.len)
		rhashtable_remove_fast(&xrc->by_key, &qp->hash,
				       mlx5_ep_xrc_key_params);
	xa_cmpxchg(&xrc->by_num, qp->num, qp, NULL, GFP_KERNEL_ACCOUNT);
	list_del(&qp->entry);
	qp->domain->num_qps--;
	xrc->num_qps--;
	mutex_destroy(&qp->lock);
	kfree_rcu(qp, rcu);
}

/**
 * mlx5_ep_xrc_qp_get_new - a place for a QP that has no key
 * @reg: charged registration
 *
 * Return: the place, with a reference; -EDQUOT, -ENOMEM. May sleep.
 */
struct mlx5_ep_xrc_qp *mlx5_ep_xrc_qp_get_new(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct mlx5_ep_xrc_qp *qp;

	mutex_lock(&xrc->lock);
	qp = qp_add(xrc, reg->handle->domain);
	mutex_unlock(&xrc->lock);
	return qp;
}

/**
 * mlx5_ep_xrc_qp_get_num - the place of the QP with a number
 * @reg: charged registration
 * @num: QP number, from the user
 *
 * A number that is not in the table may be that of a QP made by upstream
 * means, so it gets a place; mlx5_ep_xrc_qp_open() finds out. One that another
 * domain holds is wrong, or was destroyed this moment and given out again: a
 * place too, which enters the table only once the QP is open.
 *
 * Return: the place, with a reference; -EDQUOT, -ENOMEM. May sleep.
 */
struct mlx5_ep_xrc_qp *mlx5_ep_xrc_qp_get_num(struct mlx5_ep_xrc_reg *reg,
					      u32 num)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct mlx5_ep_xrc_qp *qp, *old;
	int ret;

	mutex_lock(&xrc->lock);
	old = xa_load(&xrc->by_num, num);
	if (old && old->domain == reg->handle->domain) {
		qp = old;
		qp->refs++;
		goto out_unlock;
	}
	qp = qp_add(xrc, reg->handle->domain);
	if (IS_ERR(qp))
		goto out_unlock;
	qp->num = num;
	if (old)
		goto out_unlock;
	ret = xa_err(xa_store(&xrc->by_num, num, qp, GFP_KERNEL_ACCOUNT));
	if (ret) {
		qp_del(xrc, qp);
		qp = ERR_PTR(ret);
	}

out_unlock:
	mutex_unlock(&xrc->lock);
	return qp;
}

/**
 * mlx5_ep_xrc_qp_get_key - the place of the QP for a key
 * @reg: charged registration
 * @data: the key
 * @len: its size in bytes, 1 to MLX5_EP_XRC_KEY_MAX
 *
 * Return: the place, with a reference; -EDQUOT, -ENOMEM. May sleep.
 */
struct mlx5_ep_xrc_qp *mlx5_ep_xrc_qp_get_key(struct mlx5_ep_xrc_reg *reg,
					      const void *data, u32 len)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct mlx5_ep_xrc_key key;
	struct mlx5_ep_xrc_qp *qp;
	int ret;

	memset(&key, 0, sizeof(key));
	key.domain = reg->handle->domain;
	key.len = len;
	memcpy(key.data, data, len);

	mutex_lock(&xrc->lock);
	qp = rhashtable_lookup_fast(&xrc->by_key, &key, mlx5_ep_xrc_key_params);
	if (qp) {
		qp->refs++;
		goto out_unlock;
	}
	qp = qp_add(xrc, key.domain);
	if (IS_ERR(qp))
		goto out_unlock;
	memcpy(&qp->key, &key, sizeof(key));
	ret = rhashtable_insert_fast(&xrc->by_key, &qp->hash,
				     mlx5_ep_xrc_key_params);
	if (ret) {
		qp->key.len = 0;
		qp_del(xrc, qp);
		qp = ERR_PTR(ret);
	}

out_unlock:
	mutex_unlock(&xrc->lock);
	return qp;
}

/**
 * mlx5_ep_xrc_qp_put - drop a reference to a place
 * @xrc: tables of its device
 * @qp: the place; gone with the last reference
 *
 * May sleep.
 */
void mlx5_ep_xrc_qp_put(struct mlx5_ep_xrc *xrc, struct mlx5_ep_xrc_qp *qp)
{
	mutex_lock(&xrc->lock);
	if (!--qp->refs)
		qp_del(xrc, qp);
	mutex_unlock(&xrc->lock);
}

static struct ib_qp *core_create(struct mlx5_ep_xrc_reg *reg)
{
	struct ib_qp_init_attr attr = {
		.event_handler = reg_event,
		.qp_context = reg,
		.qp_type = IB_QPT_XRC_TGT,
		.xrcd = reg->handle->domain->xrcd,
	};

	return ib_create_qp_user(attr.xrcd->device, NULL, &attr, NULL, NULL,
				 KBUILD_MODNAME);
}

static struct ib_qp *core_open(struct mlx5_ep_xrc_reg *reg, u32 num)
{
	struct ib_qp_open_attr attr = {
		.event_handler = reg_event,
		.qp_context = reg,
		.qp_num = num,
		.qp_type = IB_QPT_XRC_TGT,
	};
	struct ib_qp *ib_qp = ib_open_qp(reg->handle->domain->xrcd, &attr);

	/* What ib_core says of a number that is not in the domain. */
	if (ib_qp == ERR_PTR(-EINVAL))
		return ERR_PTR(-ENOENT);
	return ib_qp;
}

/*
 * The first registration of a QP has it open: enter it in the tables. A place
 * whose QP is being destroyed may still stand under the number of a new one; an
 * old one that is merely joined has a place already if there is any.
 */
static int qp_born(struct mlx5_ep_xrc_reg *reg, bool created)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp, *old;
	struct mlx5_ep_xrc *xrc = reg->xrc;
	int ret = -ENOENT;

	qp->num = reg->ib_qp->qp_num;
	mutex_lock(&xrc->lock);
	old = xa_load(&xrc->by_num, qp->num);
	if (created || !old || old == qp || old->domain != qp->domain)
		ret = xa_err(xa_store(&xrc->by_num, qp->num, qp,
				      GFP_KERNEL_ACCOUNT));
	mutex_unlock(&xrc->lock);
	return ret;
}

static void qp_gone(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;

	mutex_lock(&xrc->lock);
	xa_cmpxchg(&xrc->by_num, reg->qp->num, reg->qp, NULL,
		   GFP_KERNEL_ACCOUNT);
	mutex_unlock(&xrc->lock);
}

/**
 * mlx5_ep_xrc_qp_open - give a registration its handle on the QP
 * @reg: registration with a reference to a place, @reg->qp
 * @num: QP number to join; 0: whichever the place has
 * @create: make the QP where the place has none
 *
 * Issues a firmware command where it creates. May sleep.
 *
 * Return: 1 where the QP was created; 0 where it was joined; -ENOENT where
 * there is none to join; -ENOMEM; what the driver or the security module said.
 */
int mlx5_ep_xrc_qp_open(struct mlx5_ep_xrc_reg *reg, u32 num, bool create)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp;
	int ret = 0;

	mutex_lock(&qp->lock);
	if (qp->num_open && (!num || num == qp->num)) {
		reg->ib_qp = core_open(reg, qp->num);
	} else if (!qp->num_open && create) {
		reg->ib_qp = core_create(reg);
		ret = 1;
	} else if (!qp->num_open && num && num == qp->num) {
		reg->ib_qp = core_open(reg, num);
	} else {
		reg->ib_qp = ERR_PTR(-ENOENT);
	}
	if (IS_ERR(reg->ib_qp)) {
		ret = PTR_ERR(reg->ib_qp);
		goto out_unlock;
	}

	if (!qp->num_open) {
		int err = qp_born(reg, ret);

		if (err) {
			ib_destroy_qp_user(reg->ib_qp, NULL);
			ret = err;
			goto out_unlock;
		}
		WRITE_ONCE(qp->state, IB_QPS_RESET);
	}
	qp->num_open++;

	mutex_lock(&reg->xrc->lock);
	list_add_tail(&reg->entry, &qp->regs);
	mutex_unlock(&reg->xrc->lock);

out_unlock:
	mutex_unlock(&qp->lock);
	return ret;
}

/**
 * mlx5_ep_xrc_qp_close - undo mlx5_ep_xrc_qp_open()
 * @reg: open registration; the place stays referenced
 *
 * The last one destroys the QP, unless an upstream opener holds it too: ib_core
 * counts. No event of the QP reaches @reg any more when this returns. May sleep.
 */
void mlx5_ep_xrc_qp_close(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp;

	mutex_lock(&qp->lock);
	mutex_lock(&reg->xrc->lock);
	list_del(&reg->entry);
	mutex_unlock(&reg->xrc->lock);

	ib_destroy_qp_user(reg->ib_qp, NULL);
	if (!--qp->num_open)
		qp_gone(reg);
	mutex_unlock(&qp->lock);
}

static int qp_refresh_state(struct mlx5_ep_xrc_reg *reg)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr = {};
	int ret;

	ret = ib_query_qp(reg->ib_qp, &attr, IB_QP_STATE, &init);
	if (!ret)
		WRITE_ONCE(reg->qp->state, attr.qp_state);
	return ret;
}

/*
 * Connecting goes RESET, INIT, RTR, RTS. Whoever asks for a step that another
 * registrant has already done, wants what there is.
 */
static bool state_reached(enum ib_qp_state now, enum ib_qp_state asked)
{
	if (now == asked)
		return true;
	return asked >= IB_QPS_INIT && now > asked && now <= IB_QPS_RTS;
}

/**
 * mlx5_ep_xrc_qp_modify - change the QP
 * @reg: open registration
 * @attr: new attributes
 * @mask: enum ib_qp_attr_mask: which of them
 * @answer: the state afterwards, and whether it was there already
 *
 * One at a time for each QP. With IB_QP_STATE and without IB_QP_CUR_STATE, a
 * state that the QP has already reached is answered as such and nothing is
 * changed. Issues firmware commands, may sleep.
 *
 * Return: 0; what the driver said, -EINVAL for a transition that IBA forbids.
 */
int mlx5_ep_xrc_qp_modify(struct mlx5_ep_xrc_reg *reg, struct ib_qp_attr *attr,
			  int mask, struct mlx5_ep_xrc_rcv_qp_modify *answer)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp;
	int ret = 0;

	mutex_lock(&qp->lock);
	if ((mask & IB_QP_STATE) && !(mask & IB_QP_CUR_STATE)) {
		ret = qp_refresh_state(reg);
		if (ret)
			goto out_unlock;
		if (state_reached(qp->state, attr->qp_state)) {
			answer->flags = MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY;
			goto out_unlock;
		}
	}
	ret = ib_modify_qp(reg->ib_qp, attr, mask);
	if (!ret && (mask & IB_QP_STATE))
		WRITE_ONCE(qp->state, attr->qp_state);

out_unlock:
	answer->qp_state = qp->state;
	mutex_unlock(&qp->lock);
	return ret;
}

/**
 * mlx5_ep_xrc_qp_query - ask for the QP's attributes
 * @reg: open registration
 * @attr: as the hardware has them
 * @info: what the module knows
 *
 * Issues a firmware command, may sleep.
 *
 * Return: 0 or what the driver said.
 */
int mlx5_ep_xrc_qp_query(struct mlx5_ep_xrc_reg *reg, struct ib_qp_attr *attr,
			 struct mlx5_ep_xrc_rcv_qp_info *info)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp;
	struct ib_qp_init_attr init;
	int ret;

	mutex_lock(&qp->lock);
	ret = ib_query_qp(reg->ib_qp, attr, IB_QP_STATE | IB_QP_AV, &init);
	if (!ret) {
		WRITE_ONCE(qp->state, attr->qp_state);
		info->qp_num = qp->num;
		info->qp_state = attr->qp_state;
		info->registrants = qp->num_open;
		info->key_len = qp->key.len;
		memcpy(info->key, qp->key.data, qp->key.len);
	}
	mutex_unlock(&qp->lock);
	return ret;
}
