// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The QP behind the registrations: found or made, opened, closed, changed.
 *
 * A struct mlx5_ep_xrc_qp is the place where registrations with one QP meet; it
 * lives while it has one or one is being made. Each registration holds a handle
 * of ib_core on the QP (ib_open_qp()), as each opener upstream does. So ib_core
 * counts, runs the security module's check for each process, and a QP may also
 * be held by an upstream opener, who may be the last.
 *
 * GET finds the place by key, and then the QP: it comes with the first that gets
 * @lock and finds none open, and goes with the last that closes. Whoever joins
 * meanwhile waits for @lock, and if the QP went or was never made, makes it:
 * that is all there is to the race for one key.
 *
 * REG goes the other way: ib_core finds the QP by its number, and once a handle
 * on it is held it cannot go; the place stands in our side of the QP. A QP that
 * has none, or whose last other registrant is just closing, gets a new one,
 * without a key.
 */
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/mlx5_ep_notifier.h>

#include "compat/compat.h"
#include "compat/create_qp_user.h"
#include "device.h"
#include "uuar/qp_uuar.h"
#include "xrc.h"

static unsigned int xrc_qps_per_device = 65536;
module_param(xrc_qps_per_device, uint, 0644);
MODULE_PARM_DESC(xrc_qps_per_device,
	"shared XRC receive QPs that a device may have, more are refused with EDQUOT (default 65536)");

static u32 key_hash(const void *data, u32 len, u32 seed)
{
	const struct mlx5_ep_xrc_key *key = data;
	size_t words = offsetof(struct mlx5_ep_xrc_key, data) + key->len + 3;

	return jhash2(data, words / sizeof(u32), seed);
}

static int key_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct mlx5_ep_xrc_key *a = arg->key;
	const struct mlx5_ep_xrc_key *b =
		&((const struct mlx5_ep_xrc_qp *)obj)->key;

	return a->domain != b->domain || a->len != b->len ||
	       memcmp(a->data, b->data, a->len);
}

const struct rhashtable_params mlx5_ep_xrc_key_params = {
	.head_offset = offsetof(struct mlx5_ep_xrc_qp, hash),
	.key_offset = offsetof(struct mlx5_ep_xrc_qp, key),
	.key_len = sizeof(struct mlx5_ep_xrc_key),
	.hashfn = key_hash,
	.obj_cmpfn = key_cmp,
	.automatic_shrinking = true,
};

/* A registration that is being made may not know its place yet. */
static void reg_failed(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc_qp *qp = READ_ONCE(reg->qp);

	if (qp)
		WRITE_ONCE(qp->state, IB_QPS_ERR);
}

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
		reg_failed(reg);
		break;
	case IB_EVENT_QP_REQ_ERR:
		type = MLX5_EP_EVENT_XRC_QP_REQ_ERR;
		reg_failed(reg);
		break;
	case IB_EVENT_QP_ACCESS_ERR:
		type = MLX5_EP_EVENT_XRC_QP_ACCESS_ERR;
		reg_failed(reg);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		type = MLX5_EP_EVENT_XRC_LAST_WQE;
		break;
	default:
		return;
	}
	mlx5_ep_notifier_post(&reg->source, type);
}

/* A new place in the tables; it is for the caller to put a registration in. */
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
	list_del(&qp->entry);
	qp->domain->num_qps--;
	xrc->num_qps--;
	mutex_destroy(&qp->lock);
	kfree_rcu(qp, rcu);
}

static void qp_enter(struct mlx5_ep_xrc_reg *reg, struct mlx5_ep_xrc_qp *qp)
{
	list_add_tail(&reg->entry, &qp->regs);
	WRITE_ONCE(reg->qp, qp);
}

/**
 * mlx5_ep_xrc_qp_join_new - enter a registration at a place of its own
 * @reg: charged registration, @reg->xrc's lock held; sets @reg->qp
 *
 * Return: 0; -EDQUOT, -ENOMEM. May sleep.
 */
int mlx5_ep_xrc_qp_join_new(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc_qp *qp = qp_add(reg->xrc, reg->handle->domain);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	qp_enter(reg, qp);
	return 0;
}

/**
 * mlx5_ep_xrc_qp_join_key - enter a registration at the place of a key
 * @reg: charged registration, @reg->xrc's lock held; sets @reg->qp
 * @key: the key; its domain is set here
 * @create: make the place where there is none
 *
 * Return: 0; -ENOENT, -EDQUOT, -ENOMEM. May sleep.
 */
int mlx5_ep_xrc_qp_join_key(struct mlx5_ep_xrc_reg *reg,
			    struct mlx5_ep_xrc_key *key, bool create)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct mlx5_ep_xrc_qp *qp;
	int ret;

	key->domain = reg->handle->domain;
	qp = rhashtable_lookup_fast(&xrc->by_key, key, mlx5_ep_xrc_key_params);
	if (qp) {
		qp_enter(reg, qp);
		return 0;
	}
	if (!create)
		return -ENOENT;
	qp = qp_add(xrc, key->domain);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	qp->key = *key;
	ret = rhashtable_insert_fast(&xrc->by_key, &qp->hash,
				     mlx5_ep_xrc_key_params);
	if (ret) {
		qp->key.len = 0;
		qp_del(xrc, qp);
		return ret;
	}
	qp_enter(reg, qp);
	return 0;
}

/**
 * mlx5_ep_xrc_qp_leave - take a registration from its place
 * @reg: registration that is not open, @reg->xrc's lock held
 *
 * The place goes with the last one. May sleep.
 */
void mlx5_ep_xrc_qp_leave(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp;

	list_del(&reg->entry);
	if (list_empty(&qp->regs))
		qp_del(reg->xrc, qp);
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

/**
 * mlx5_ep_xrc_qp_find - open a handle on the QP of a number
 * @reg: registration that is being made; hears the QP's events
 * @xrcd: domain that the QP must be in
 * @num: its number
 *
 * May sleep.
 *
 * Return: the handle, to be given to mlx5_ep_xrc_qp_join() or destroyed;
 * -ENOENT where the domain has no such QP; -ENOMEM; what the security module
 * said.
 */
struct ib_qp *mlx5_ep_xrc_qp_find(struct mlx5_ep_xrc_reg *reg,
				  struct ib_xrcd *xrcd, u32 num)
{
	struct ib_qp_open_attr attr = {
		.event_handler = reg_event,
		.qp_context = reg,
		.qp_num = num,
		.qp_type = IB_QPT_XRC_TGT,
	};
	struct ib_qp *ib_qp = ib_open_qp(xrcd, &attr);

	/* What ib_core says of a number that is not in the domain. */
	if (ib_qp == ERR_PTR(-EINVAL))
		return ERR_PTR(-ENOENT);
	return ib_qp;
}

/* The place has the QP of a handle. */
static void qp_born(struct mlx5_ep_xrc *xrc, struct mlx5_ep_xrc_qp *qp,
		    struct ib_qp *ib_qp)
{
	lockdep_assert_held(&xrc->lock);

	qp->num = ib_qp->qp_num;
	WRITE_ONCE(qp->state, IB_QPS_RESET);
	qp->eqp = mlx5_ep_qp_of(xrc->edev, ib_qp->real_qp);
	qp->eqp->shared = qp;
	atomic_set_release(&qp->num_open, 1);
}

/* It has none; a handle on it is still held. */
static void qp_gone(struct mlx5_ep_xrc *xrc, struct mlx5_ep_xrc_qp *qp)
{
	mutex_lock(&xrc->lock);
	if (qp->eqp->shared == qp)
		qp->eqp->shared = NULL;
	qp->eqp = NULL;
	mutex_unlock(&xrc->lock);
}

/**
 * mlx5_ep_xrc_qp_join - enter a registration at the place of an open QP
 * @reg: charged registration, @reg->xrc's lock held; sets @reg->qp and
 *	@reg->ib_qp
 * @ib_qp: handle from mlx5_ep_xrc_qp_find()
 *
 * Return: 0; -EDQUOT, -ENOMEM: @ib_qp is the caller's still. May sleep.
 */
int mlx5_ep_xrc_qp_join(struct mlx5_ep_xrc_reg *reg, struct ib_qp *ib_qp)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct mlx5_ep_xrc_qp *qp =
		mlx5_ep_qp_of(xrc->edev, ib_qp->real_qp)->shared;

	if (!qp || !atomic_inc_not_zero(&qp->num_open)) {
		qp = qp_add(xrc, reg->handle->domain);
		if (IS_ERR(qp))
			return PTR_ERR(qp);
		qp_born(xrc, qp, ib_qp);
	}
	WRITE_ONCE(reg->ib_qp, ib_qp);
	qp_enter(reg, qp);
	return 0;
}

/**
 * mlx5_ep_xrc_qp_open - give a registration its handle on the QP
 * @reg: registration at a place, @reg->qp
 * @create: make the QP where the place has none
 *
 * Issues a firmware command where it creates. May sleep.
 *
 * Return: 1 where the QP was created; 0 where it was joined; -ENOENT where
 * there is none to join; -ENOMEM; what the driver or the security module said.
 */
int mlx5_ep_xrc_qp_open(struct mlx5_ep_xrc_reg *reg, bool create)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp;
	struct ib_qp *ib_qp;
	int ret = 0;

	mutex_lock(&qp->lock);
	/* Not 0: somebody's handle stays open until we let go of the lock. */
	if (atomic_read(&qp->num_open)) {
		ib_qp = mlx5_ep_xrc_qp_find(reg, qp->domain->xrcd, qp->num);
		if (!IS_ERR(ib_qp))
			atomic_inc(&qp->num_open);
	} else if (create) {
		ret = 1;
		ib_qp = core_create(reg);
		if (!IS_ERR(ib_qp)) {
			mutex_lock(&reg->xrc->lock);
			qp_born(reg->xrc, qp, ib_qp);
			mutex_unlock(&reg->xrc->lock);
		}
	} else {
		ib_qp = ERR_PTR(-ENOENT);
	}
	if (IS_ERR(ib_qp))
		ret = PTR_ERR(ib_qp);
	else
		WRITE_ONCE(reg->ib_qp, ib_qp);
	mutex_unlock(&qp->lock);
	return ret;
}

/**
 * mlx5_ep_xrc_qp_close - give back a registration's handle on the QP
 * @reg: open registration; it stays at its place
 *
 * The last one destroys the QP, unless an upstream opener holds it too: ib_core
 * counts. No event of the QP reaches @reg any more when this returns. May sleep.
 */
void mlx5_ep_xrc_qp_close(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp;
	struct ib_qp *ib_qp = reg->ib_qp;

	mutex_lock(&qp->lock);
	WRITE_ONCE(reg->ib_qp, NULL);
	if (atomic_dec_and_test(&qp->num_open))
		qp_gone(reg->xrc, qp);
	ib_destroy_qp_user(ib_qp, NULL);
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

/*
 * As ib_uverbs does with a QP of the user's own: attributes that only a sender
 * has are passed over, and a path is on the port of the QP. That there is a
 * @udata tells ib_core to find the MAC address of the other side, which on RoCE
 * no kernel caller may leave open.
 */
static int qp_change(struct ib_qp *ib_qp, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata)
{
	u32 port = rdma_ah_get_port_num(&attr->ah_attr);

	mask &= ~(IB_QP_MAX_QP_RD_ATOMIC | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY);
	if ((mask & IB_QP_AV) && (mask & IB_QP_STATE) &&
	    attr->qp_state == IB_QPS_RTR) {
		if (port != ib_qp->real_qp->port)
			return -EINVAL;
	} else if (mask & IB_QP_AV) {
		if ((mask & IB_QP_PORT) && attr->port_num != port)
			return -EINVAL;
		attr->port_num = port;
		mask |= IB_QP_PORT;
	}
	return ib_modify_qp_with_udata(ib_qp, attr, mask, udata);
}

/**
 * mlx5_ep_xrc_qp_modify - change the QP
 * @reg: open registration
 * @attr: new attributes
 * @mask: enum ib_qp_attr_mask: which of them
 * @udata: of the call
 * @answer: the state afterwards, and whether it was there already
 *
 * One at a time for each QP. With IB_QP_STATE and without IB_QP_CUR_STATE, a
 * state that the QP has already reached is answered as such and nothing is
 * changed. Issues firmware commands, may sleep.
 *
 * Return: 0; what the driver said, -EINVAL for a transition that IBA forbids.
 */
int mlx5_ep_xrc_qp_modify(struct mlx5_ep_xrc_reg *reg, struct ib_qp_attr *attr,
			  int mask, struct ib_udata *udata,
			  struct mlx5_ep_xrc_rcv_qp_modify *answer)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp;
	int ret = 0;

	mutex_lock(&qp->lock);
	if ((mask & IB_QP_STATE) && !(mask & IB_QP_CUR_STATE)) {
		ret = qp_refresh_state(reg);
		if (ret)
			goto out_unlock;
		if (state_reached(READ_ONCE(qp->state), attr->qp_state)) {
			answer->flags = MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY;
			goto out_unlock;
		}
	}
	ret = qp_change(reg->ib_qp, attr, mask, udata);
	if (!ret && (mask & IB_QP_STATE))
		WRITE_ONCE(qp->state, attr->qp_state);

out_unlock:
	answer->qp_state = READ_ONCE(qp->state);
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
		info->registrants = atomic_read(&qp->num_open);
		info->key_len = qp->key.len;
		memcpy(info->key, qp->key.data, qp->key.len);
	}
	mutex_unlock(&qp->lock);
	return ret;
}
