// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The operations of the ib_device that mlx5_ep wraps.
 *
 * Each wrapper calls the driver's own operation exactly once. Opening is the one
 * exception, see open.c. Requests are rewritten by open.c and create_qp.c for a context that
 * is to be managed. The request of another one is protected where a limit is set.
 *
 * The wrappers never change calls of kernel users (no udata).
 *
 * The operations of a device that is in use are replaced and given back one pointer at
 * a time, so that each prefix is safe:
 *
 *   - A context has a side of ours only if every later call on it finds our wrappers:
 *     alloc_ucontext is replaced last, a grace period after the others.
 *   - No wrapper runs that does not find the device and the driver's operations. They
 *     are stored a grace period before the first pointer is replaced.
 *   - No wrapper finds a side whose object is gone: what makes sides is given back
 *     first, then what looks for them, then what frees them. Each of the latter looks for
 *     sides of its own kind only, as a context may be where a QP was.
 *   - Nobody is in our text when it goes. See ops_wait().
 *   - Nothing that the driver lacks is wrapped. Giving it back would leave NULL to a
 *     caller that has just seen ours.
 *
 * The wrappers find our side of a context or a QP in the device's table, see side.c. What
 * has none is the driver's alone. Kernel users' QPs have none, and the wrappers do not
 * look for it. XRC target QPs have one for what they share; they can outlive the context that
 * created them, and are on the list of none.
 */

#include <linux/module.h>
#include <linux/sched/task.h>

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

/*
 * Each wrapper begins with ops_enter() and ends with ops_leave(). Nothing sleeps before the
 * one, and nothing of the device is used after the other: ops_wait() needs both.
 */
static struct mlx5_ep_device *ops_enter(const struct ib_device *ibdev,
					enum mlx5_ep_call call)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(ibdev);

	this_cpu_inc(edev->inside->calls[call]);
	return edev;
}

static void ops_leave(struct mlx5_ep_device *edev, enum mlx5_ep_call call)
{
	this_cpu_dec(edev->inside->calls[call]);
}

static int ops_open(struct mlx5_ep_device *edev, struct ib_ucontext *uctx,
		    struct ib_udata *udata)
{
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

/*
 * uverbs frees a context that is refused, and forgets the reference to its process where it
 * was asked by ioctl (UVERBS_METHOD_GET_CONTEXT): some 10 KiB for each process that a
 * limit refuses. Where it puts the entry of restrack, as for write(), it finds none.
 */
static void ops_put_task(struct ib_ucontext *uctx)
{
	struct task_struct *task = uctx->res.task;

	uctx->res.task = NULL;
	if (task)
		put_task_struct(task);
}

static int ops_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	struct mlx5_ep_device *edev = ops_enter(uctx->device, MLX5_EP_CALL_MAKER);
	int ret = ops_open(edev, uctx, udata);

	if (ret)
		ops_put_task(uctx);
	ops_leave(edev, MLX5_EP_CALL_MAKER);
	return ret;
}

static void ops_dealloc_ucontext(struct ib_ucontext *uctx)
{
	struct mlx5_ep_device *edev = ops_enter(uctx->device, MLX5_EP_CALL_OTHER);
	struct mlx5_ep_context *ectx = mlx5_ep_context_of(edev, uctx);

	edev->stock.dealloc_ucontext(uctx);
	if (ectx)
		mlx5_ep_context_close(ectx);
	ops_leave(edev, MLX5_EP_CALL_OTHER);
}

static int ops_query_ucontext(struct ib_ucontext *uctx,
			      struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_device *edev = ops_enter(uctx->device, MLX5_EP_CALL_OTHER);
	struct mlx5_ep_context *ectx = mlx5_ep_context_of(edev, uctx);
	int ret = ectx ? mlx5_ep_open_again(ectx, uctx, attrs) :
			 edev->stock.query_ucontext(uctx, attrs);

	ops_leave(edev, MLX5_EP_CALL_OTHER);
	return ret;
}

static int ops_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct mlx5_ep_device *edev = ops_enter(uctx->device, MLX5_EP_CALL_MAKER);
	struct mlx5_ep_context *ectx = mlx5_ep_context_of(edev, uctx);
	int ret = ectx ? mlx5_ep_uar_map(ectx, uctx, vma) :
			 edev->stock.mmap(uctx, vma);

	ops_leave(edev, MLX5_EP_CALL_MAKER);
	return ret;
}

static void ops_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct ib_ucontext *uctx = entry->ucontext;
	struct mlx5_ep_device *edev = ops_enter(uctx->device, MLX5_EP_CALL_OTHER);
	struct mlx5_ep_context *ectx = mlx5_ep_context_of(edev, uctx);
	bool counted = ectx && mlx5_ep_context_pages_untrack(ectx, entry);

	edev->stock.mmap_free(entry);
	if (counted)
		mlx5_ep_context_pages_uncharge_one(ectx);
	ops_leave(edev, MLX5_EP_CALL_OTHER);
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
	struct mlx5_ep_device *edev = ops_enter(qp->device, MLX5_EP_CALL_MAKER);
	int ret;

	mlx5_ep_restrack_wrap(edev);
	if (attr->qp_type == IB_QPT_XRC_TGT && READ_ONCE(edev->whole))
		ret = ops_create_xrc_tgt(edev, qp, attr, udata);
	else if (udata && qp->uobject)
		ret = mlx5_ep_create_qp(edev, qp, attr, udata);
	else
		ret = edev->stock.create_qp(qp, attr, udata);
	ops_leave(edev, MLX5_EP_CALL_MAKER);
	return ret;
}

/* Upstream calls and those of the module both come here with the QP itself. */
static int ops_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	struct mlx5_ep_device *edev = ops_enter(qp->device, MLX5_EP_CALL_OTHER);
	int ret = edev->stock.modify_qp(qp, attr, mask, udata);
	struct mlx5_ep_qp *eqp;

	if (!ret && qp->qp_type == IB_QPT_XRC_TGT && (mask & IB_QP_STATE)) {
		eqp = mlx5_ep_qp_of(edev, qp);
		if (eqp)
			WRITE_ONCE(eqp->state, attr->qp_state);
	}
	if (!ret && (mask & IB_QP_STATE) && attr->qp_state == IB_QPS_RTR)
		mlx5_ep_create_qp_modified(edev, qp, udata);
	ops_leave(edev, MLX5_EP_CALL_OTHER);
	return ret;
}

static int ops_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	struct mlx5_ep_device *edev = ops_enter(qp->device, MLX5_EP_CALL_OTHER);
	struct mlx5_ep_qp *eqp = NULL;
	int ret;

	if (qp->uobject || qp->qp_type == IB_QPT_XRC_TGT)
		eqp = mlx5_ep_qp_of(edev, qp);
	ret = edev->stock.destroy_qp(qp, udata);
	if (!ret && eqp) {
		if (eqp->ectx)
			mlx5_ep_qp_uuar_release(eqp);
		mlx5_ep_qp_destroy(edev, eqp);
	}
	ops_leave(edev, MLX5_EP_CALL_OTHER);
	return ret;
}

/* A context ends. Only some kernels have this operation, see xrc_domain.c. */
static void ops_ufile_hw_cleanup(struct ib_uverbs_file *ufile)
{
	struct mlx5_ep_device *edev =
		ops_enter(compat_ufile_device(ufile), MLX5_EP_CALL_OTHER);

	/* An object of that id is another's where uverbs has not read our definitions. */
	if (READ_ONCE(edev->whole) && !*edev->lacking[MLX5_EP_PART_XRC])
		mlx5_ep_xrc_domain_ufile_cleanup(ufile);
	edev->stock.ufile_hw_cleanup(ufile);
	ops_leave(edev, MLX5_EP_CALL_OTHER);
}

/*
 * Are the operations that are wrapped those of the driver? Another module may have put its
 * own in their place. When it leaves, pointers to these would lead nowhere.
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
 * mlx5_ep_ops_check() - can the operations of a device be wrapped?
 * @edev: device that is being attached
 *
 * Return: 0; -ENODEV, with the reason noted
 */
int mlx5_ep_ops_check(struct mlx5_ep_device *edev)
{
	struct ib_device *ibdev = edev->ibdev;
	const struct ib_device_ops *ops = &ibdev->ops;

	if (!ops->create_qp || !ops->modify_qp || !ops->destroy_qp ||
	    !ops->alloc_ucontext || !ops->dealloc_ucontext)
		return mlx5_ep_device_refuse(edev, "an operation is missing");
	if (ops->size_ib_ucontext < sizeof(struct ib_ucontext) ||
	    ops->size_ib_qp < sizeof(struct ib_qp))
		return mlx5_ep_device_refuse(edev,
					     "the driver allocates its QPs itself");
	if (!ops_are_stock(ibdev, compat_ufile_hw_cleanup(&ibdev->ops)))
		return mlx5_ep_device_refuse(edev,
					     "another module has changed its operations");
	return 0;
}

static void ops_save(struct mlx5_ep_device *edev)
{
	const struct ib_device_ops *ops = &edev->ibdev->ops;
	struct mlx5_ep_stock *stock = &edev->stock;

	stock->create_qp = ops->create_qp;
	stock->modify_qp = ops->modify_qp;
	stock->destroy_qp = ops->destroy_qp;
	stock->alloc_ucontext = ops->alloc_ucontext;
	stock->dealloc_ucontext = ops->dealloc_ucontext;
	stock->query_ucontext = ops->query_ucontext;
	stock->mmap = ops->mmap;
	stock->mmap_free = ops->mmap_free;
	/* A later kernel may have mmap_prepare in its place. */
	if (!ops->mmap)
		edev->no_policies = "mlx5_ib maps UAR pages by another operation";
}

#define WRAP(_op)                                                              \
	do {                                                                   \
		if (edev->stock._op)                                           \
			WRITE_ONCE(ibdev->ops._op, ops_##_op);                 \
	} while (0)

/**
 * mlx5_ep_ops_wrap() - wrap the operations of a device
 * @edev: device that mlx5_ep_ops_check() has passed; mlx5_ep_device_find() finds it
 *
 * Sleeps.
 */
void mlx5_ep_ops_wrap(struct mlx5_ep_device *edev)
{
	struct ib_device *ibdev = edev->ibdev;
	compat_ufile_hw_cleanup_fn *cleanup =
		compat_ufile_hw_cleanup(&ibdev->ops);

	ops_save(edev);
	if (cleanup && *cleanup)
		edev->stock.ufile_hw_cleanup = *cleanup;
	if (edev->preexisting) {
		/* Those that netlink calls stay the driver's. */
		atomic_set(&edev->restrack_wrapped, 1);
		synchronize_rcu();
	}
	if (edev->stock.ufile_hw_cleanup)
		WRITE_ONCE(*cleanup, ops_ufile_hw_cleanup);
	WRAP(dealloc_ucontext);
	WRAP(destroy_qp);
	WRAP(mmap_free);
	WRAP(query_ucontext);
	WRAP(modify_qp);
	WRAP(mmap);
	WRAP(create_qp);
	if (edev->preexisting)
		synchronize_rcu();
	WRAP(alloc_ucontext);
	WRITE_ONCE(edev->wrapped, true);
}

/*
 * Give an operation back. False: another module has its own in the place of ours. What
 * another module has restored already is left alone, see uverbs_tree.c.
 */
#define RESTORE(_op)                                                           \
	(!edev->stock._op ||                                                   \
	 READ_ONCE(edev->ibdev->ops._op) == edev->stock._op ||                 \
	 cmpxchg(&edev->ibdev->ops._op, ops_##_op, edev->stock._op) ==         \
		 ops_##_op)

static bool ops_restore_makers(struct mlx5_ep_device *edev)
{
	return RESTORE(alloc_ucontext) & RESTORE(create_qp) & RESTORE(mmap);
}

static bool ops_restore_cleanup(struct mlx5_ep_device *edev)
{
	struct ib_device *ibdev = edev->ibdev;
	compat_ufile_hw_cleanup_fn *cleanup =
		compat_ufile_hw_cleanup(&ibdev->ops);

	return !edev->stock.ufile_hw_cleanup ||
	       READ_ONCE(*cleanup) == edev->stock.ufile_hw_cleanup ||
	       cmpxchg(cleanup, ops_ufile_hw_cleanup,
		       edev->stock.ufile_hw_cleanup) == ops_ufile_hw_cleanup;
}

static bool ops_restore_lookers(struct mlx5_ep_device *edev)
{
	return RESTORE(modify_qp) & RESTORE(query_ucontext) &
	       RESTORE(mmap_free) & ops_restore_cleanup(edev);
}

static bool ops_restore_freers(struct mlx5_ep_device *edev)
{
	return RESTORE(destroy_qp) & RESTORE(dealloc_ucontext);
}

/* How many calls are inside. The sum is not less than those if none begins any more. */
static int ops_count_inside(const struct mlx5_ep_device *edev,
			    enum mlx5_ep_call call)
{
	int cpu, inside = 0;

	for_each_possible_cpu(cpu)
		inside += READ_ONCE(per_cpu_ptr(edev->inside, cpu)->calls[call]);
	return inside;
}

/*
 * Wait for all calls of operations that have been given back. A caller that has loaded our
 * pointer does not sleep until it is counted, so the first wait is for those. The number
 * of calls can only fall after that. A call may wait for memory of its program, so nothing
 * that others need is held here.
 */
static void ops_wait(const struct mlx5_ep_device *edev, enum mlx5_ep_call call)
{
	unsigned long told = jiffies + 10 * HZ;
	int inside;

	compat_wait_for_callers();
	while ((inside = ops_count_inside(edev, call))) {
		schedule_timeout_idle(1);
		if (!told || time_before(jiffies, told))
			continue;
		dev_warn(&edev->ibdev->dev,
			 "mlx5_ep: to unload it, %d calls of programs must end\n",
			 inside);
		told = 0;
	}
	/* This CPU sees from here on what those calls have written. */
	synchronize_rcu();
}

/**
 * mlx5_ep_ops_give_back() - restore the operations of a device that is in use
 * @edev: held device without managed contexts, which gets none any more
 *
 * Another module may have wrapped ours since we wrapped the driver's. It calls them until
 * it leaves, and then puts them back. The text of mlx5_ep must stay as long: the caller
 * tries again later, and does not hold the device meanwhile.
 *
 * Sides of contexts and QPs may be left in the tables. Nobody looks for them any more: no
 * table of debugfs is open, because .owner of its operations holds the module until it is
 * closed, and rmmod does not come here before. Sleeps.
 *
 * Return: true: nobody is inside our operations, nor will be; false: another module has
 * its own in their place, and only a part of them was restored
 */
bool mlx5_ep_ops_give_back(struct mlx5_ep_device *edev)
{
	if (!ops_restore_makers(edev))
		return false;
	ops_wait(edev, MLX5_EP_CALL_MAKER);
	if (!ops_restore_lookers(edev))
		return false;
	synchronize_rcu();
	if (!ops_restore_freers(edev))
		return false;
	ops_wait(edev, MLX5_EP_CALL_OTHER);
	WRITE_ONCE(edev->wrapped, false);
	return true;
}

/**
 * mlx5_ep_ops_unwrap() - restore the operations of a device that goes
 * @edev: device that nobody uses any more
 *
 * Nothing happens if they are not wrapped, or have been given back.
 */
void mlx5_ep_ops_unwrap(struct mlx5_ep_device *edev)
{
	if (!edev->wrapped)
		return;
	WRITE_ONCE(edev->wrapped, false);
	mlx5_ep_restrack_unwrap(edev);
	ops_restore_makers(edev);
	ops_restore_lookers(edev);
	ops_restore_freers(edev);
}
