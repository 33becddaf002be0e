// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The operations of the ib_device that mlx5_ep wraps.
 *
 * Each wrapper calls the driver's own operation exactly once. Opening is the one
 * exception, see open.c. Requests are rewritten by open.c and create_qp.c, and only
 * for a context that is to be managed.
 *
 * The wrappers never change calls of kernel users (no udata).
 *
 * The wrappers find our side of a context or a QP in the device's table, see side.c. What
 * has none is the driver's alone. Kernel users' QPs have none, and the wrappers do not
 * look for it. XRC target QPs have one for what they share; they can outlive the context that
 * created them, and are on the list of none.
 */

#include <linux/module.h>

#include "compat/compat.h"
#include "create_qp.h"
#include "device.h"
#include "open.h"
#include "ops.h"
#include "restrack.h"
#include "uuar/context.h"
#include "uuar/context_pages.h"
#include "uuar/qp_uuar.h"
#include "uuar/uar_map.h"
#include "xrc/xrc.h"

static int ops_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uctx->device);
	struct mlx5_ep_context *ectx = mlx5_ep_context_create(edev, uctx);
	int opened;

	if (!ectx)
		return -ENOMEM;
	opened = mlx5_ep_open(ectx, uctx, udata);
	if (opened < 0)
		return opened;
	mlx5_ep_context_open(ectx, opened);
	return 0;
}

static void ops_dealloc_ucontext(struct ib_ucontext *uctx)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uctx->device);
	struct mlx5_ep_context *ectx = mlx5_ep_context_of(edev, uctx);

	edev->stock.dealloc_ucontext(uctx);
	mlx5_ep_context_close(ectx);
}

static int ops_query_ucontext(struct ib_ucontext *uctx,
			      struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uctx->device);

	return mlx5_ep_open_again(mlx5_ep_context_of(edev, uctx), uctx, attrs);
}

static int ops_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uctx->device);

	return mlx5_ep_uar_map(mlx5_ep_context_of(edev, uctx), uctx, vma);
}

static void ops_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct ib_ucontext *uctx = entry->ucontext;
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uctx->device);
	struct mlx5_ep_context *ectx = mlx5_ep_context_of(edev, uctx);
	bool counted = mlx5_ep_context_pages_untrack(ectx, entry);

	edev->stock.mmap_free(entry);
	if (counted)
		mlx5_ep_context_pages_uncharge_one(ectx);
}

/* Create an XRC target QP. Without memory for our side it is not shared. */
static int ops_create_xrc_tgt(struct mlx5_ep_device *edev, struct ib_qp *qp,
			      struct ib_qp_init_attr *attr,
			      struct ib_udata *udata)
{
	struct mlx5_ep_qp *eqp = mlx5_ep_qp_create(edev, qp);
	int ret = edev->stock.create_qp(qp, attr, udata);

	if (ret)
		mlx5_ep_qp_destroy(edev, eqp);
	return ret;
}

static int ops_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			 struct ib_udata *udata)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(qp->device);

	mlx5_ep_restrack_wrap(edev);
	if (attr->qp_type == IB_QPT_XRC_TGT)
		return ops_create_xrc_tgt(edev, qp, attr, udata);
	if (!udata || !qp->uobject)
		return edev->stock.create_qp(qp, attr, udata);
	return mlx5_ep_create_qp(edev, qp, attr, udata);
}

/* Upstream calls and those of the module both come here with the QP itself. */
static int ops_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(qp->device);
	int ret = edev->stock.modify_qp(qp, attr, mask, udata);
	struct mlx5_ep_qp *eqp;

	if (!ret && qp->qp_type == IB_QPT_XRC_TGT && (mask & IB_QP_STATE)) {
		eqp = mlx5_ep_qp_of(edev, qp);
		if (eqp)
			WRITE_ONCE(eqp->state, attr->qp_state);
	}
	if (!ret && (mask & IB_QP_STATE) && attr->qp_state == IB_QPS_RTR)
		mlx5_ep_create_qp_modified(edev, qp, udata);
	return ret;
}

static int ops_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(qp->device);
	struct mlx5_ep_qp *eqp = NULL;
	int ret;

	if (qp->uobject || qp->qp_type == IB_QPT_XRC_TGT)
		eqp = mlx5_ep_qp_of(edev, qp);
	ret = edev->stock.destroy_qp(qp, udata);
	if (ret || !eqp)
		return ret;
	if (eqp->ectx)
		mlx5_ep_qp_uuar_release(eqp);
	mlx5_ep_qp_destroy(edev, eqp);
	return 0;
}

/* A context ends. Only some kernels have this operation, see xrc_domain.c. */
static void ops_ufile_hw_cleanup(struct ib_uverbs_file *ufile)
{
	struct mlx5_ep_device *edev =
		mlx5_ep_device_find(compat_ufile_device(ufile));

	mlx5_ep_xrc_domain_ufile_cleanup(ufile);
	edev->stock.ufile_hw_cleanup(ufile);
}

/*
 * Are the operations that will be wrapped those of the driver? Another module may have
 * put its own in their place. When it leaves, pointers to these would lead nowhere.
 */
static bool ops_are_stock(const struct ib_device *ibdev,
			  const compat_ufile_hw_cleanup_fn *cleanup)
{
	const struct ib_device_ops *ops = &ibdev->ops;
	const void *const wrapped[] = {
		ops->create_qp, ops->modify_qp, ops->destroy_qp,
		ops->alloc_ucontext, ops->dealloc_ucontext,
		ops->query_ucontext, ops->mmap, ops->mmap_free,
		cleanup ? *cleanup : NULL,
	};
	size_t i;

	/* A driver that is built in has no module, and what it has is not known. */
	for (i = 0; ops->owner && i < ARRAY_SIZE(wrapped); i++)
		if (wrapped[i] &&
		    !within_module((unsigned long)wrapped[i], ops->owner))
			return false;
	return true;
}

/**
 * mlx5_ep_ops_wrap() - wrap the operations of a device
 * @edev: device that nobody uses yet
 *
 * Return: 0; -ENODEV, with the reason noted and nothing changed
 */
int mlx5_ep_ops_wrap(struct mlx5_ep_device *edev)
{
	struct ib_device *ibdev = edev->ibdev;
	compat_ufile_hw_cleanup_fn *cleanup =
		compat_ufile_hw_cleanup(&ibdev->ops);
	struct mlx5_ep_stock *stock = &edev->stock;

	if (!ibdev->ops.create_qp || !ibdev->ops.modify_qp ||
	    !ibdev->ops.destroy_qp || !ibdev->ops.alloc_ucontext ||
	    !ibdev->ops.dealloc_ucontext)
		return mlx5_ep_device_refuse(edev,
					     "an operation is missing");
	if (ibdev->ops.size_ib_ucontext < sizeof(struct ib_ucontext) ||
	    ibdev->ops.size_ib_qp < sizeof(struct ib_qp))
		return mlx5_ep_device_refuse(edev,
					     "the driver allocates its QPs itself");
	if (!ops_are_stock(ibdev, cleanup))
		return mlx5_ep_device_refuse(edev,
					     "another module has changed its operations");

	stock->create_qp = ibdev->ops.create_qp;
	stock->modify_qp = ibdev->ops.modify_qp;
	stock->destroy_qp = ibdev->ops.destroy_qp;
	stock->alloc_ucontext = ibdev->ops.alloc_ucontext;
	stock->dealloc_ucontext = ibdev->ops.dealloc_ucontext;
	stock->query_ucontext = ibdev->ops.query_ucontext;
	stock->mmap = ibdev->ops.mmap;
	stock->mmap_free = ibdev->ops.mmap_free;

	if (cleanup && *cleanup) {
		stock->ufile_hw_cleanup = *cleanup;
		*cleanup = ops_ufile_hw_cleanup;
	}
	ibdev->ops.create_qp = ops_create_qp;
	ibdev->ops.modify_qp = ops_modify_qp;
	ibdev->ops.destroy_qp = ops_destroy_qp;
	ibdev->ops.alloc_ucontext = ops_alloc_ucontext;
	ibdev->ops.dealloc_ucontext = ops_dealloc_ucontext;
	if (ibdev->ops.query_ucontext)
		ibdev->ops.query_ucontext = ops_query_ucontext;
	/* A later kernel may have mmap_prepare in its place. */
	if (ibdev->ops.mmap)
		ibdev->ops.mmap = ops_mmap;
	else
		edev->no_policies = "mlx5_ib maps UAR pages by another operation";
	if (ibdev->ops.mmap_free)
		ibdev->ops.mmap_free = ops_mmap_free;
	return 0;
}

/* What another module has restored already is left alone, see uverbs_tree.c. */
#define RESTORE(_op)                                                           \
	do {                                                                   \
		if (ibdev->ops._op == ops_##_op)                               \
			ibdev->ops._op = edev->stock._op;                      \
	} while (0)

/**
 * mlx5_ep_ops_unwrap() - restore the operations of a device
 * @edev: device that nobody uses any more
 */
void mlx5_ep_ops_unwrap(struct mlx5_ep_device *edev)
{
	struct ib_device *ibdev = edev->ibdev;
	compat_ufile_hw_cleanup_fn *cleanup =
		compat_ufile_hw_cleanup(&ibdev->ops);

	mlx5_ep_restrack_unwrap(edev);
	if (cleanup && *cleanup == ops_ufile_hw_cleanup)
		*cleanup = edev->stock.ufile_hw_cleanup;
	RESTORE(create_qp);
	RESTORE(modify_qp);
	RESTORE(destroy_qp);
	RESTORE(alloc_ucontext);
	RESTORE(dealloc_ucontext);
	RESTORE(query_ucontext);
	RESTORE(mmap);
	RESTORE(mmap_free);
}
