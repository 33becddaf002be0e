// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The record of a shared QP: joined and left.
 *
 * All registrations with one QP meet in one struct mlx5_ep_xrc_qp, its record.
 * Each registration holds a handle of ib_core on the QP (ib_open_qp()), as
 * every upstream opener does. So ib_core counts the handles and runs the
 * security module's check for each process. An upstream opener may hold the QP
 * too, and may be the last to close it.
 *
 * The module creates no QP. Its callers bring one that upstream's call has created.
 *
 * A registration opens its handle first and enters the record then; it leaves the
 * record first and closes its handle then. So a record in the tables has a QP, and the
 * QP of a record cannot go. Both ways the handle is the caller's alone, and
 * xrc->lock is all that is needed:
 *   - mlx5_ep_qp.shared of the QP that was opened points to the record. If it is
 *     NULL, the registration makes the record, without a key.
 *   - GET finds the number of the QP by the key, and opens a handle. It looks the key
 *     up again with the lock held. If the record of that handle has it no more, GET
 *     begins anew. If nobody has the key, the record of the QP that the
 *     caller offers gets it. So of racing calls for one key one gives it to its QP, and
 *     all others join that QP.
 *   - A GET that finds no QP announces that it creates one. The others of that key wait
 *     for it, at most ANNOUNCED_MS, so that few create a QP in vain. An announcement has no
 *     owner and binds nobody: if its caller dies, it expires.
 *   - The last registration that leaves takes the record and its key with it. Who opens
 *     the QP by its number before that registration closes its handle makes a new record.
 */
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <rdma/mlx5_ep_notifier.h>

#include "compat/compat.h"
#include "device.h"
#include "uuar/context.h"
#include "uuar/qp_uuar.h"
#include "xrc.h"

/* The device creates a QP in less. */
#define ANNOUNCED_MS 20

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

	return a->xrcd != b->xrcd || a->len != b->len ||
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
	struct mlx5_ep_qp *eqp = mlx5_ep_qp_of(reg->ectx->edev,
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

/* Entries that a registration may need, allocated before the lock is taken. */
struct qp_spare {
	struct mlx5_ep_xrc_qp *qp;
	struct mlx5_ep_xrc_domain *domain;
};

/*
 * Allocates at once what the tables lack now. The memory is charged to the memory cgroup
 * of the caller.
 */
static int qp_spare_fill(struct mlx5_ep_xrc *xrc, const struct mlx5_ep_qp *eqp,
			 struct ib_xrcd *xrcd, struct qp_spare *spare)
{
	/* The QP is older than the attachment, or there was no memory for our side. */
	if (!eqp)
		return -ENOMEM;
	if (READ_ONCE(eqp->shared))
		return 0;
	if (!spare->qp)
		spare->qp = kzalloc_obj(*spare->qp, GFP_KERNEL_ACCOUNT);
	if (!spare->domain &&
	    !rhashtable_lookup_fast(&xrc->by_xrcd, &xrcd,
				    mlx5_ep_xrc_domain_params)) {
		spare->domain = kzalloc_obj(*spare->domain,
					    GFP_KERNEL_ACCOUNT);
		if (!spare->domain)
			return -ENOMEM;
	}
	return spare->qp ? 0 : -ENOMEM;
}

/* The QP gets a record, which the caller enters a registration into. */
static struct mlx5_ep_xrc_qp *qp_add(struct mlx5_ep_xrc_reg *reg,
				     struct mlx5_ep_qp *eqp,
				     struct qp_spare *spare)
{
	struct mlx5_ep_xrc *xrc = reg->ectx->edev->xrc;
	struct ib_qp *real_qp = reg->ib_qp->real_qp;
	struct mlx5_ep_xrc_qp *qp = spare->qp;
	struct mlx5_ep_xrc_domain *domain;
	int ret;

	lockdep_assert_held(&xrc->lock);

	if (!qp)
		return ERR_PTR(-EAGAIN);
	domain = mlx5_ep_xrc_domain_get(xrc, real_qp->xrcd, &spare->domain);
	if (IS_ERR(domain))
		return ERR_CAST(domain);
	ret = mlx5_ep_xrc_limits_charge_qp(xrc, reg->ectx->user);
	if (ret) {
		mlx5_ep_xrc_domain_free_unused(xrc, domain);
		return ERR_PTR(ret);
	}

	spare->qp = NULL;
	mutex_init(&qp->lock);
	INIT_LIST_HEAD(&qp->regs);
	qp->user = reg->ectx->user;
	qp->num = real_qp->qp_num;
	qp->eqp = eqp;
	WRITE_ONCE(eqp->shared, qp);
	qp->domain = domain;
	list_add_tail(&qp->entry, &domain->qps);
	domain->num_qps++;
	return qp;
}

static void qp_del(struct mlx5_ep_xrc *xrc, struct mlx5_ep_xrc_qp *qp)
{
	lockdep_assert_held(&xrc->lock);

	WRITE_ONCE(qp->eqp->shared, NULL);
	if (qp->key.len)
		rhashtable_remove_fast(&xrc->by_key, &qp->hash,
				       mlx5_ep_xrc_key_params);
	list_del(&qp->entry);
	qp->domain->num_qps--;
	mlx5_ep_xrc_domain_free_unused(xrc, qp->domain);
	mlx5_ep_xrc_limits_uncharge_qp(xrc, qp->user);
	mutex_destroy(&qp->lock);
	kfree_rcu(qp, rcu);
}

/* Keys share the places, so a GET may wait for a QP of another key of its domain. */
static struct mlx5_ep_xrc_announced *
qp_announced(struct mlx5_ep_xrc *xrc, const struct mlx5_ep_xrc_key *key)
{
	return &xrc->announced[qp_key_hash(key, sizeof(*key), 0) %
			       ARRAY_SIZE(xrc->announced)];
}

/* The key has a QP: of the caller that offers one, or of another. */
static void qp_announced_end(unsigned long *until)
{
	if (!READ_ONCE(*until))
		return;
	WRITE_ONCE(*until, 0);
	/* Orders the key and *@until before the look for a waiter. */
	smp_mb();
	wake_up_var(until);
}

/* Gives a record the key, which nobody has. */
static int qp_give_key(struct mlx5_ep_xrc *xrc, struct mlx5_ep_xrc_qp *qp,
		       const struct mlx5_ep_xrc_key *key)
{
	if (qp->key.len)
		return -EEXIST;
	qp->key = *key;
	if (rhashtable_insert_fast(&xrc->by_key, &qp->hash,
				   mlx5_ep_xrc_key_params)) {
		qp->key.len = 0;
		return -ENOMEM;
	}
	return 0;
}

/*
 * Enters a registration, whose handle is open, into the record of the QP. The record
 * must have the key of @request. If nobody has it and the QP is the one that the caller
 * offers, the record gets it. Returns 1 then.
 */
static int qp_enter(struct mlx5_ep_xrc_reg *reg, struct mlx5_ep_qp *eqp,
		    const struct mlx5_ep_xrc_request *request,
		    struct qp_spare *spare)
{
	struct mlx5_ep_xrc *xrc = reg->ectx->edev->xrc;
	struct mlx5_ep_xrc_qp *qp = eqp->shared, *keyed = NULL;
	int given = 0;

	lockdep_assert_held(&xrc->lock);

	if (request->key.len) {
		keyed = rhashtable_lookup_fast(&xrc->by_key, &request->key,
					       mlx5_ep_xrc_key_params);
		given = !keyed;
		if (keyed ? keyed != qp : reg->ib_qp->qp_num != request->num)
			return -EAGAIN;
	}
	if (!qp)
		qp = qp_add(reg, eqp, spare);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	if (given) {
		given = qp_give_key(xrc, qp, &request->key) ?: 1;
		if (given < 0) {
			if (!qp->num_regs)
				qp_del(xrc, qp);
			return given;
		}
	}
	if (request->key.len && request->num)
		qp_announced_end(&qp_announced(xrc, &request->key)->until);
	reg->qp = qp;
	list_add_tail(&reg->entry, &qp->regs);
	WRITE_ONCE(qp->num_regs, qp->num_regs + 1);
	WRITE_ONCE(xrc->num_regs, xrc->num_regs + 1);
	return given;
}

/* The number of the QP that has a key; 0: there is none. */
static u32 qp_num_of_key(struct mlx5_ep_xrc *xrc,
			 const struct mlx5_ep_xrc_key *key)
{
	const struct mlx5_ep_xrc_qp *qp;
	u32 num;

	rcu_read_lock();
	qp = rhashtable_lookup(&xrc->by_key, key, mlx5_ep_xrc_key_params);
	num = qp ? qp->num : 0;
	rcu_read_unlock();
	return num;
}

/* Waits until the announcement ends or expires. Returns -EINTR if the process is killed. */
static int qp_announced_wait(unsigned long *until, long jiffies_left)
{
	long ret = ___wait_var_event(until,
				     ___wait_cond_timeout(!READ_ONCE(*until)),
				     TASK_KILLABLE, 0, jiffies_left,
				     __ret = schedule_timeout(__ret));

	return ret < 0 ? -EINTR : 0;
}

/*
 * Nobody has the key. Announces that the caller creates a QP, or waits for another that
 * has announced it. Returns -EAGAIN if the key has a QP now; -EINTR; else -ENOENT.
 */
static int qp_announce(struct mlx5_ep_xrc *xrc,
		       const struct mlx5_ep_xrc_key *key)
{
	struct mlx5_ep_xrc_announced *place = qp_announced(xrc, key);
	unsigned long was = READ_ONCE(place->until), now = jiffies;
	unsigned long wait = msecs_to_jiffies(ANNOUNCED_MS) + 1;

	if ((!was || time_after(now, was)) &&
	    cmpxchg(&place->until, was, (now + wait) ?: 1) == was) {
		WRITE_ONCE(place->xrcd, key->xrcd);
		return -ENOENT;
	}
	/* Whoever has no part in the domain does not hold its users up. */
	if (READ_ONCE(place->xrcd) != key->xrcd)
		return -ENOENT;
	if (qp_announced_wait(&place->until, wait))
		return -EINTR;
	return qp_num_of_key(xrc, key) ? -EAGAIN : -ENOENT;
}

static int qp_join_once(struct mlx5_ep_xrc_reg *reg, struct ib_xrcd *xrcd,
			const struct mlx5_ep_xrc_request *request,
			struct qp_spare *spare)
{
	struct mlx5_ep_xrc *xrc = reg->ectx->edev->xrc;
	struct ib_qp_open_attr attr = {
		.event_handler = qp_reg_event,
		.qp_context = reg,
		.qp_type = IB_QPT_XRC_TGT,
	};
	struct mlx5_ep_qp *eqp;
	int ret;

	if (request->key.len)
		attr.qp_num = qp_num_of_key(xrc, &request->key);
	if (!attr.qp_num)
		attr.qp_num = request->num;
	if (!attr.qp_num)
		return -ENOENT;
	reg->ib_qp = ib_open_qp(xrcd, &attr);
	/* ib_core's errno for a number that is not in the domain. */
	if (reg->ib_qp == ERR_PTR(-EINVAL))
		return attr.qp_num == request->num ? -ENOENT : -EAGAIN;
	if (IS_ERR(reg->ib_qp))
		return PTR_ERR(reg->ib_qp);
	eqp = mlx5_ep_qp_of(xrc->edev, reg->ib_qp->real_qp);
	ret = qp_spare_fill(xrc, eqp, xrcd, spare);
	if (!ret) {
		mutex_lock(&xrc->lock);
		ret = qp_enter(reg, eqp, request, spare);
		mutex_unlock(&xrc->lock);
	}
	if (ret < 0)
		ib_destroy_qp_user(reg->ib_qp, NULL);
	return ret;
}

/**
 * mlx5_ep_xrc_qp_join() - register with a QP
 * @reg: charged, with @reg->ectx set; @reg->qp and @reg->ib_qp are set here
 * @xrcd: domain that the QP must be in, of which the caller has a handle
 * @request: which QP; a QP that is offered must have a handle of the caller
 *
 * Begins anew where a QP of the key ended or began meanwhile. Sleeps.
 *
 * Return: 1: the QP that was offered has the key now; 0: joined a QP; -ENOENT: the
 * domain has no QP of that number, or none of that key and none is offered; -EEXIST: the
 * QP that is offered has another key; -EDQUOT; -ENOMEM; -EINTR: the process is being
 * killed; what the security module returned
 */
int mlx5_ep_xrc_qp_join(struct mlx5_ep_xrc_reg *reg, struct ib_xrcd *xrcd,
			struct mlx5_ep_xrc_request *request)
{
	struct qp_spare spare = {};
	int ret;

	request->key.xrcd = xrcd;
	do {
		ret = qp_join_once(reg, xrcd, request, &spare);
		if (ret == -ENOENT && request->announce) {
			request->announce = false;
			ret = qp_announce(reg->ectx->edev->xrc, &request->key);
		}
		if (ret == -EAGAIN && fatal_signal_pending(current))
			ret = -EINTR;
	} while (ret == -EAGAIN);
	kfree(spare.qp);
	kfree(spare.domain);
	return ret;
}

/**
 * mlx5_ep_xrc_qp_leave() - end a registration with a QP
 * @reg: from mlx5_ep_xrc_qp_join()
 *
 * Closing the last handle destroys the QP; ib_core counts upstream openers too.
 * When this returns, no further event of the QP reaches @reg. Sleeps.
 */
void mlx5_ep_xrc_qp_leave(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc *xrc = reg->ectx->edev->xrc;
	struct mlx5_ep_xrc_qp *qp = reg->qp;

	mutex_lock(&xrc->lock);
	list_del(&reg->entry);
	WRITE_ONCE(xrc->num_regs, xrc->num_regs - 1);
	WRITE_ONCE(qp->num_regs, qp->num_regs - 1);
	if (!qp->num_regs)
		qp_del(xrc, qp);
	mutex_unlock(&xrc->lock);
	ib_destroy_qp_user(reg->ib_qp, NULL);
}
