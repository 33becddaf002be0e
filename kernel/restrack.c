// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What `rdma -dd resource show` says of QPs and SRQs beside the driver's own.
 *
 * ib_core asks the driver for attributes of its own when it answers a request of
 * netlink for QPs or SRQs (fill_res_qp_entry, fill_res_srq_entry). It does without
 * where the driver has no such operation. So does the driver where it has nothing to
 * add. The attributes of the kernel's QPs and SRQs, and the dumps of the firmware
 * (fill_res_qp_entry_raw) stay as they are.
 *
 * The caller holds a reference of restrack to the QP or SRQ and no lock, so that it
 * may sleep here. Our side of the QP is freed before the core waits for that reference. So it is
 * looked up under RCU, and the lock of the device keeps its context. If the device
 * fails to destroy a QP, the QP outlives its context; mlx5_ep_context_close() tells it so
 * under that lock.
 *
 * mlx5_ib sets these operations last of all, after it has registered the device, and
 * ib_core lets it set only those that are empty then. So they cannot be wrapped when
 * the device is attached. They are wrapped when the first QP is created after mlx5_ib
 * has set them.
 */

#include <linux/module.h>
#include <net/netlink.h>
#include <rdma/restrack.h>

#include "compat/compat.h"
#include "device.h"
#include "restrack.h"
#include "uuar/context.h"
#include "uuar/qp_uuar.h"
#include "xrc/xrc.h"

/* The names are those of `mlx5ep -j show qps`. */
static int restrack_put_uuar(struct sk_buff *msg,
			     const struct mlx5_ep_qp_uuar *uuar,
			     enum mlx5_ep_uuar_policy policy)
{
	const struct {
		const char *name;
		u32 value, unknown;
	} numbers[] = {
		{ "uar", uuar->uar, MLX5_EP_UAR_UNKNOWN },
		{ "page", uuar->page, MLX5_EP_UAR_UNKNOWN },
		{ "slot", uuar->slot, MLX5_EP_SLOT_UNKNOWN },
		{ "level", uuar->level, 0 },
		{ "uuar_qps", uuar->uuar_qps, 0 },
		{ "page_qps", uuar->page_qps, 0 },
	};
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].value == numbers[i].unknown)
			continue;
		ret = rdma_nl_put_driver_u32(msg, numbers[i].name,
					     numbers[i].value);
		if (ret)
			return ret;
	}
	return rdma_nl_put_driver_string(
		       msg, "placer",
		       mlx5_ep_qp_uuar_placer_names[uuar->placer]) ?:
	       rdma_nl_put_driver_string(msg, "policy",
					 mlx5_ep_uuar_policy_names[policy]);
}

/*
 * Where a user's QP is, and under which policy. Returns false if the QP is on the list
 * of no context: it is being destroyed, or rings no uUAR.
 */
static bool restrack_find_uuar(struct mlx5_ep_device *edev,
			       const struct ib_qp *qp,
			       struct mlx5_ep_qp_uuar *uuar,
			       enum mlx5_ep_uuar_policy *policy)
{
	struct mlx5_ep_context *ectx = NULL;
	struct mlx5_ep_qp *eqp;
	bool there = false;

	mutex_lock(&edev->lock);
	rcu_read_lock();
	eqp = mlx5_ep_qp_of(edev, qp);
	if (eqp)
		ectx = READ_ONCE(eqp->ectx);
	if (ectx) {
		spin_lock(&ectx->lock);
		there = eqp->ectx;
		if (there) {
			mlx5_ep_qp_uuar_get(eqp, uuar);
			*policy = ectx->settings.policy;
		}
		spin_unlock(&ectx->lock);
	}
	rcu_read_unlock();
	mutex_unlock(&edev->lock);
	return there;
}

static int restrack_put_shared_qp(struct sk_buff *msg,
				  struct mlx5_ep_device *edev, struct ib_qp *qp)
{
	u32 domain, registrants;

	if (!mlx5_ep_xrc_qp_info_get(edev->xrc, qp, &domain, &registrants))
		return 0;
	return rdma_nl_put_driver_u32(msg, "xrc_domain", domain) ?:
	       rdma_nl_put_driver_u32(msg, "registrants", registrants);
}

static int restrack_put_qp(struct sk_buff *msg, struct mlx5_ep_device *edev,
			   struct ib_qp *qp)
{
	enum mlx5_ep_uuar_policy policy;
	struct mlx5_ep_qp_uuar uuar;

	if (qp->qp_type == IB_QPT_XRC_TGT)
		return restrack_put_shared_qp(msg, edev, qp);
	if (!qp->uobject || !restrack_find_uuar(edev, qp, &uuar, &policy))
		return 0;
	return restrack_put_uuar(msg, &uuar, policy);
}

static int restrack_put_srq(struct sk_buff *msg, struct mlx5_ep_device *edev,
			    struct ib_srq *srq)
{
	u32 domain, qps;

	if (srq->srq_type != IB_SRQT_XRC ||
	    !mlx5_ep_xrc_domain_info_get(edev->xrc, srq->ext.xrc.xrcd,
					 &domain, &qps))
		return 0;
	return rdma_nl_put_driver_u32(msg, "xrc_domain", domain) ?:
	       rdma_nl_put_driver_u32(msg, "xrc_qps", qps);
}

/* Did the driver add a table of its own? A reader would see only the last one. */
static bool restrack_has_table(const struct sk_buff *msg, unsigned int from)
{
	return nla_find((const struct nlattr *)(msg->data + from),
			msg->len - from, RDMA_NLDEV_ATTR_DRIVER);
}

/* A table without entries is not added. */
static int restrack_end_table(struct sk_buff *msg, struct nlattr *table,
			      int ret)
{
	if (ret || skb_tail_pointer(msg) == nla_data(table))
		nla_nest_cancel(msg, table);
	else
		nla_nest_end(msg, table);
	return ret;
}

static int restrack_fill_qp_entry(struct sk_buff *msg, struct ib_qp *qp)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(qp->device);
	unsigned int from = msg->len;
	struct nlattr *table;
	int ret = 0;

	if (edev->stock.fill_res_qp_entry)
		ret = edev->stock.fill_res_qp_entry(msg, qp);
	if (ret || restrack_has_table(msg, from))
		return ret;
	table = nla_nest_start_noflag(msg, RDMA_NLDEV_ATTR_DRIVER);
	return restrack_end_table(msg, table, table ?
				  restrack_put_qp(msg, edev, qp) : -EMSGSIZE);
}

static int restrack_fill_srq_entry(struct sk_buff *msg, struct ib_srq *srq)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(srq->device);
	unsigned int from = msg->len;
	struct nlattr *table;
	int ret = 0;

	if (edev->stock.fill_res_srq_entry)
		ret = edev->stock.fill_res_srq_entry(msg, srq);
	if (ret || restrack_has_table(msg, from))
		return ret;
	table = nla_nest_start_noflag(msg, RDMA_NLDEV_ATTR_DRIVER);
	return restrack_end_table(msg, table, table ?
				  restrack_put_srq(msg, edev, srq) : -EMSGSIZE);
}

/* Has another module put its own in the place of the driver's operation? */
static bool restrack_is_foreign(const struct ib_device *ibdev, const void *op)
{
	return op && ibdev->ops.owner &&
	       !within_module((unsigned long)op, ibdev->ops.owner);
}

static void restrack_wrap_ops(struct mlx5_ep_device *edev)
{
	struct ib_device *ibdev = edev->ibdev;
	compat_fill_res_srq_fn *fill_srq = compat_fill_res_srq(&ibdev->ops);

	if (!restrack_is_foreign(ibdev, ibdev->ops.fill_res_qp_entry)) {
		edev->stock.fill_res_qp_entry = ibdev->ops.fill_res_qp_entry;
		/* Whoever calls our operation finds the driver's. */
		smp_store_release(&ibdev->ops.fill_res_qp_entry,
				  restrack_fill_qp_entry);
	}
	if (fill_srq && !restrack_is_foreign(ibdev, *fill_srq)) {
		edev->stock.fill_res_srq_entry = *fill_srq;
		/* As above. */
		smp_store_release(fill_srq, restrack_fill_srq_entry);
	}
}

/**
 * mlx5_ep_restrack_wrap() - wrap the operations, as soon as the driver has set them
 * @edev: attached device; no lock is needed
 *
 * Called before each QP is created. It does nothing before the driver has set the
 * operations, and after they were wrapped.
 */
void mlx5_ep_restrack_wrap(struct mlx5_ep_device *edev)
{
	if (atomic_read(&edev->restrack_wrapped))
		return;
	/* The driver sets this one after those that are wrapped. */
	if (!smp_load_acquire(&edev->ibdev->ops.fill_res_qp_entry_raw))
		return;
	if (!atomic_xchg(&edev->restrack_wrapped, 1))
		restrack_wrap_ops(edev);
}

/**
 * mlx5_ep_restrack_unwrap() - restore the operations
 * @edev: device that nobody uses any more
 */
void mlx5_ep_restrack_unwrap(struct mlx5_ep_device *edev)
{
	struct ib_device *ibdev = edev->ibdev;
	compat_fill_res_srq_fn *fill_srq = compat_fill_res_srq(&ibdev->ops);

	if (ibdev->ops.fill_res_qp_entry == restrack_fill_qp_entry)
		ibdev->ops.fill_res_qp_entry = edev->stock.fill_res_qp_entry;
	if (fill_srq && *fill_srq == restrack_fill_srq_entry)
		*fill_srq = edev->stock.fill_res_srq_entry;
}
