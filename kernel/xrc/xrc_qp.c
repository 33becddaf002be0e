// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The record of a shared QP: found or made, opened and closed.
 *
 * All registrations with one QP meet in one struct mlx5_ep_xrc_qp, its record.
 * The record lives while it has a registration, or while one is being made.
 * Each registration holds a handle of ib_core on the QP (ib_open_qp()), as
 * every upstream opener does. So ib_core counts the handles and runs the
 * security module's check for each process. An upstream opener may hold the QP
 * too, and may be the last to close it.
 *
 * GET finds the record by its key. The QP itself is created by the first
 * registration that takes the record's @lock and finds none open, and it is
 * destroyed by the last one that closes its handle. A registration that joins
 * meanwhile waits for @lock. If it then finds no QP, because the QP is gone or
 * its creation failed, it creates one. So racing calls for one key need nothing
 * but @lock.
 *
 * REG starts from the number: ib_core finds the QP, and while the handle on it
 * is held the QP cannot go. mlx5_ep_qp.shared of that QP points to the record.
 * If there is no record, or if its last registration is just closing, REG makes
 * a new one, without a key. A QP that was just created can be found before its
 * record has it, by whoever guesses the number: so REG waits for calls that are
 * creating QPs before it takes a QP for one without a record.
 */
#include <linux/jhash.h>
#include <linux/slab.h>
#include <rdma/mlx5_ep_notifier.h>

#include "compat/compat.h"
#include "compat/create_qp_user.h"
#include "device.h"
#include "uuar/qp_uuar.h"
#include "xrc.h"

static u32 qp_key_hash(const void *data, u32 len, u32 seed)
{
	const struct mlx5_ep_xrc_key *key = data;
	size_t words = offsetof(struct mlx5_ep_xrc_key, data) + key->len + 3;

	return jhash2(data, words / sizeof(u32), seed);
}

static int qp_key_cmp(struct rhashtable_compare_arg *arg, const void *obj)
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
	.hashfn = qp_key_hash,
	.obj_cmpfn = qp_key_cmp,
	.automatic_shrinking = true,
};

/* ib_core tells of the registration's handle on the QP. */
static void qp_reg_failed(const struct mlx5_ep_xrc_reg *reg,
			  const struct ib_event *event)
{
	struct mlx5_ep_qp *eqp = mlx5_ep_qp_of(reg->xrc->edev,
					       event->element.qp->real_qp);

	if (eqp)
		WRITE_ONCE(eqp->state, IB_QPS_ERR);
}

/* Called under ib_core's qp_open_list_lock, with interrupts off. */
static void qp_reg_event(struct ib_event *event, void *context)
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
		qp_reg_failed(reg, event);
		break;
	case IB_EVENT_QP_REQ_ERR:
		type = MLX5_EP_EVENT_XRC_QP_REQ_ERR;
		qp_reg_failed(reg, event);
		break;
	case IB_EVENT_QP_ACCESS_ERR:
		type = MLX5_EP_EVENT_XRC_QP_ACCESS_ERR;
		qp_reg_failed(reg, event);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		type = MLX5_EP_EVENT_XRC_LAST_WQE;
		break;
	default:
		return;
	}
	mlx5_ep_notifier_post(&reg->source, type);
}

/* Returns a new record; the caller enters a registration into it. */
static struct mlx5_ep_xrc_qp *qp_add(struct mlx5_ep_xrc_reg *reg,
				     struct mlx5_ep_xrc_spare *spare)
{
	struct mlx5_ep_xrc_domain *domain = reg->handle->domain;
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct mlx5_ep_xrc_qp *qp;
	int ret;

	lockdep_assert_held(&xrc->lock);

	ret = mlx5_ep_xrc_limits_charge_qp(xrc, reg->user);
	if (ret)
		return ERR_PTR(ret);
	qp = mlx5_ep_xrc_spare_take(spare, XRC_SPARE_QP);
	if (!qp) {
		mlx5_ep_xrc_limits_uncharge_qp(xrc, reg->user);
		return ERR_PTR(-EAGAIN);
	}

	mutex_init(&qp->lock);
	INIT_LIST_HEAD(&qp->regs);
	qp->user = reg->user;
	qp->domain = domain;
	list_add_tail(&qp->entry, &domain->qps);
	domain->num_qps++;
	return qp;
}

static void qp_del(struct mlx5_ep_xrc *xrc, struct mlx5_ep_xrc_qp *qp)
{
	lockdep_assert_held(&xrc->lock);

	/* Without a key, or after a failed insertion, it is not there: nothing happens. */
	rhashtable_remove_fast(&xrc->by_key, &qp->hash, mlx5_ep_xrc_key_params);
	list_del(&qp->entry);
	qp->domain->num_qps--;
	mlx5_ep_xrc_limits_uncharge_qp(xrc, qp->user);
	mutex_destroy(&qp->lock);
	kfree_rcu(qp, rcu);
}

static void qp_enter(struct mlx5_ep_xrc_reg *reg, struct mlx5_ep_xrc_qp *qp)
{
	list_add_tail(&reg->entry, &qp->regs);
	WRITE_ONCE(reg->qp, qp);
}

/**
 * mlx5_ep_xrc_qp_join_new() - enter a registration into a record of its own
 * @reg: charged, with a handle, @reg->xrc's lock held; @reg->qp is set here
 * @spare: the caller's; memory that is used is taken out of it, and what is
 *	missing is noted there
 *
 * Return: 0; -EDQUOT; -EAGAIN: @spare lacks memory
 */
int mlx5_ep_xrc_qp_join_new(struct mlx5_ep_xrc_reg *reg,
			    struct mlx5_ep_xrc_spare *spare)
{
	struct mlx5_ep_xrc_qp *qp = qp_add(reg, spare);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	qp_enter(reg, qp);
	return 0;
}

/**
 * mlx5_ep_xrc_qp_join_key() - enter a registration into the record of a key
 * @reg: charged, with a handle, @reg->xrc's lock held; @reg->qp is set here
 * @key: its domain is set here
 * @create: make the record if there is none
 * @spare: the caller's; memory that is used is taken out of it, and what is
 *	missing is noted there
 *
 * Return: 0; -ENOENT; -EDQUOT; -EAGAIN: @spare lacks memory; -ENOMEM
 */
int mlx5_ep_xrc_qp_join_key(struct mlx5_ep_xrc_reg *reg,
			    struct mlx5_ep_xrc_key *key, bool create,
			    struct mlx5_ep_xrc_spare *spare)
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
	qp = qp_add(reg, spare);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	qp->key = *key;
	ret = rhashtable_insert_fast(&xrc->by_key, &qp->hash,
				     mlx5_ep_xrc_key_params);
	if (ret) {
		qp_del(xrc, qp);
		return ret;
	}
	qp_enter(reg, qp);
	return 0;
}

/**
 * mlx5_ep_xrc_qp_leave() - remove a registration from its record
 * @reg: not open, @reg->xrc's lock held
 *
 * Frees the record if this was its last registration.
 */
void mlx5_ep_xrc_qp_leave(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp;

	list_del(&reg->entry);
	if (list_empty(&qp->regs))
		qp_del(reg->xrc, qp);
}

static struct ib_qp *qp_core_create(struct mlx5_ep_xrc_reg *reg)
{
	struct ib_qp_init_attr attr = {
		.event_handler = qp_reg_event,
		.qp_context = reg,
		.qp_type = IB_QPT_XRC_TGT,
		.xrcd = reg->handle->domain->xrcd,
	};

	return ib_create_qp_user(attr.xrcd->device, NULL, &attr, NULL, NULL,
				 KBUILD_MODNAME);
}

/**
 * mlx5_ep_xrc_qp_find() - open a handle on the QP of a number
 * @reg: is being made; receives the QP's events from now on
 * @xrcd: domain that the QP must be in
 * @num: the QP's number
 *
 * Sleeps.
 *
 * Return: the handle, for mlx5_ep_xrc_qp_join() or to be destroyed; -ENOENT:
 * the domain has no such QP; -ENOMEM; what the security module returned
 */
struct ib_qp *mlx5_ep_xrc_qp_find(struct mlx5_ep_xrc_reg *reg,
				  struct ib_xrcd *xrcd, u32 num)
{
	struct ib_qp_open_attr attr = {
		.event_handler = qp_reg_event,
		.qp_context = reg,
		.qp_num = num,
		.qp_type = IB_QPT_XRC_TGT,
	};
	struct ib_qp *ib_qp = ib_open_qp(xrcd, &attr);

	/* ib_core's errno for a number that is not in the domain. */
	if (ib_qp == ERR_PTR(-EINVAL))
		return ERR_PTR(-ENOENT);
	return ib_qp;
}

/* The record gets its QP, on which a handle is open. */
static void qp_born(struct mlx5_ep_xrc *xrc, struct mlx5_ep_xrc_qp *qp,
		    struct ib_qp *ib_qp)
{
	lockdep_assert_held(&xrc->lock);

	qp->num = ib_qp->qp_num;
	qp->eqp = mlx5_ep_qp_of(xrc->edev, ib_qp->real_qp);
	WRITE_ONCE(qp->eqp->shared, qp);
	atomic_set(&qp->num_open, 1);
}

/* The record loses its QP; a handle on the QP is still held. */
static void qp_gone(struct mlx5_ep_xrc *xrc, struct mlx5_ep_xrc_qp *qp)
{
	mutex_lock(&xrc->lock);
	if (qp->eqp->shared == qp)
		WRITE_ONCE(qp->eqp->shared, NULL);
	qp->eqp = NULL;
	mutex_unlock(&xrc->lock);
}

/**
 * mlx5_ep_xrc_qp_wait_record() - wait until a QP has the record that it is to have
 * @xrc: tables of the device; neither they nor a record is locked
 * @xrcd: domain of the QP, which the caller keeps alive
 * @ib_qp: from mlx5_ep_xrc_qp_find()
 *
 * If the QP has no record, wait for each call that is creating a QP in the domain
 * now. One of them may be about to give it one. Sleeps, until those calls have the
 * answer of the firmware.
 */
void mlx5_ep_xrc_qp_wait_record(struct mlx5_ep_xrc *xrc, struct ib_xrcd *xrcd,
				struct ib_qp *ib_qp)
{
	struct mlx5_ep_qp *eqp = mlx5_ep_qp_of(xrc->edev, ib_qp->real_qp);

	if (eqp && !READ_ONCE(eqp->shared))
		mlx5_ep_xrc_domain_wait_births(xrc, xrcd);
}

/**
 * mlx5_ep_xrc_qp_join() - enter a registration into the record of an open QP
 * @reg: charged, with a handle, @reg->xrc's lock held; @reg->qp and @reg->ib_qp
 *	are set here
 * @ib_qp: from mlx5_ep_xrc_qp_find()
 * @spare: the caller's; memory that is used is taken out of it, and what is
 *	missing is noted there
 *
 * Return: 0. On failure @ib_qp stays the caller's: -EDQUOT; -EAGAIN: @spare
 * lacks memory; -ENOMEM: there was none for our side when the QP was created
 */
int mlx5_ep_xrc_qp_join(struct mlx5_ep_xrc_reg *reg, struct ib_qp *ib_qp,
			struct mlx5_ep_xrc_spare *spare)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct mlx5_ep_qp *eqp = mlx5_ep_qp_of(xrc->edev, ib_qp->real_qp);
	struct mlx5_ep_xrc_qp *qp;

	if (!eqp)
		return -ENOMEM;
	qp = eqp->shared;
	if (!qp || !atomic_inc_not_zero(&qp->num_open)) {
		qp = qp_add(reg, spare);
		if (IS_ERR(qp))
			return PTR_ERR(qp);
		qp_born(xrc, qp, ib_qp);
	}
	WRITE_ONCE(reg->ib_qp, ib_qp);
	qp_enter(reg, qp);
	return 0;
}

/* Create the QP of a record that has none. */
static struct ib_qp *qp_create(struct mlx5_ep_xrc_reg *reg,
			       struct mlx5_ep_xrc_qp *qp)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;
	struct ib_qp *ib_qp;

	down_read(&qp->domain->births);
	ib_qp = qp_core_create(reg);
	if (!IS_ERR(ib_qp)) {
		mutex_lock(&xrc->lock);
		qp_born(xrc, qp, ib_qp);
		mutex_unlock(&xrc->lock);
	}
	up_read(&qp->domain->births);
	return ib_qp;
}

/**
 * mlx5_ep_xrc_qp_open() - give a registration its handle on the QP
 * @reg: has a record, @reg->qp
 * @create: create the QP if the record has none
 *
 * Sleeps; issues a firmware command to create.
 *
 * Return: 1: created the QP; 0: joined it; -ENOENT: there is none to join;
 * -ENOMEM; what the driver or the security module returned
 */
int mlx5_ep_xrc_qp_open(struct mlx5_ep_xrc_reg *reg, bool create)
{
	struct mlx5_ep_xrc_qp *qp = reg->qp;
	struct ib_qp *ib_qp;
	int ret = 0;

	mutex_lock(&qp->lock);
	/* If not 0, a handle stays open until the lock is let go. */
	if (atomic_read(&qp->num_open)) {
		ib_qp = mlx5_ep_xrc_qp_find(reg, qp->domain->xrcd, qp->num);
		if (!IS_ERR(ib_qp))
			atomic_inc(&qp->num_open);
	} else if (create) {
		ret = 1;
		ib_qp = qp_create(reg, qp);
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
 * mlx5_ep_xrc_qp_close() - give back a registration's handle on the QP
 * @reg: open; it keeps its record
 *
 * Closing the last handle destroys the QP; ib_core counts upstream openers too.
 * When this returns, no further event of the QP reaches @reg. Sleeps.
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
