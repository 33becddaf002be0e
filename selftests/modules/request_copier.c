// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A module for tests. It hands the driver other requests than those that mlx5_ep has
 * changed, as a later ib_core or mlx5_ib might. Load this module before mlx5_ep and
 * mlx5_ib. mlx5_ep takes its operations for those of a driver that is built in.
 */

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "compat/compat.h"
#include "ib_class.h"

static char *opens = "read";
module_param(opens, charp, 0444);
MODULE_PARM_DESC(opens,
		 "of an open: copy the request of the caller before mlx5_ep is called (copy), copy it as memory of the kernel (kernel), or answer that there are no static pages (dynamic)");

static bool hold;
module_param(hold, bool, 0644);
MODULE_PARM_DESC(hold, "hold up calls that ask for memory of the kernel");

static int held;
module_param(held, int, 0444);
MODULE_PARM_DESC(held, "calls that were held up");

#define HOLD_MS	10	/* between two looks at @hold */

static bool creates;
module_param(creates, bool, 0444);
MODULE_PARM_DESC(creates, "ignore the UAR page that the request for a QP names");

static bool unmapped;
module_param(unmapped, bool, 0444);
MODULE_PARM_DESC(unmapped, "take the operation mmap away");

/* What a device had; one device is enough for a test. */
static struct ib_device *victim;
static struct module *victim_owner;
static int (*stock_alloc_ucontext)(struct ib_ucontext *uctx,
				   struct ib_udata *udata);
static int (*stock_create_qp)(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			      struct ib_udata *udata);
static int (*stock_mmap)(struct ib_ucontext *uctx, struct vm_area_struct *vma);
/* What the device has since mlx5_ep attached it. */
static int (*wrapped_alloc_ucontext)(struct ib_ucontext *uctx,
				     struct ib_udata *udata);

static bool copier_is_user(const struct ib_udata *udata)
{
	return access_ok(udata->inbuf, udata->inlen);
}

/* mlx5_ep asks for memory of the kernel while it finds out how the driver reads. */
static void copier_hold(void)
{
	WRITE_ONCE(held, held + 1);
	while (READ_ONCE(hold) && !fatal_signal_pending(current))
		msleep(HOLD_MS);
}

/* Of memory of the kernel: is it no request that the driver serves? */
static bool copier_is_zero(const struct ib_udata *udata)
{
	return !memchr_inv((const void __force *)udata->inbuf, 0, udata->inlen);
}

static int copier_alloc_ucontext(struct ib_ucontext *uctx,
				 struct ib_udata *udata)
{
	const struct ib_udata asked = *udata;
	const struct uverbs_attr *attr;
	bool copied;
	int ret;

	if (READ_ONCE(hold) && !copier_is_user(udata))
		copier_hold();
	attr = uverbs_attr_get(rdma_udata_to_uverbs_attr_bundle(udata),
			       UVERBS_ATTR_UHW_IN);
	copied = !strcmp(opens, "copy");
	if (!strcmp(opens, "kernel") && !copier_is_user(udata)) {
		if (copier_is_zero(udata))
			return -EINVAL;
		copied = true;
	}
	if (copied && !IS_ERR(attr)) {
		udata->inbuf = u64_to_user_ptr(attr->ptr_attr.data);
		udata->inlen = attr->ptr_attr.len;
	}
	ret = stock_alloc_ucontext(uctx, udata);
	udata->inbuf = asked.inbuf;
	udata->inlen = asked.inlen;
	if (!strcmp(opens, "dynamic") && !ret &&
	    put_user(0, &((struct mlx5_ib_alloc_ucontext_resp __user *)
			  udata->outbuf)->tot_bfregs))
		return -EFAULT;
	return ret;
}

/* mlx5_ep is called with a copy of the request, as memory of the kernel. */
static int copier_alloc_above(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	const struct ib_udata asked = *udata;
	void *copy = memdup_user(asked.inbuf, asked.inlen);
	int ret;

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	udata->inbuf = (const void __force __user *)copy;
	ret = wrapped_alloc_ucontext(uctx, udata);
	udata->inbuf = asked.inbuf;
	kfree(copy);
	return ret;
}

/* The device is attached, and no context is open. */
static int copier_set_above(const char *val, const struct kernel_param *kp)
{
	if (!victim)
		return -ENODEV;
	wrapped_alloc_ucontext = victim->ops.alloc_ucontext;
	victim->ops.alloc_ucontext = copier_alloc_above;
	return 0;
}

static const struct kernel_param_ops copier_above_ops = {
	.set = copier_set_above,
};
module_param_cb(above, &copier_above_ops, NULL, 0200);
MODULE_PARM_DESC(above,
		 "written after mlx5_ep has attached: give mlx5_ep itself a copy as memory of the kernel");

/* The request is the caller's again for the time of the call. */
static int copier_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			    struct ib_udata *udata)
{
	struct mlx5_ib_create_qp ours, __user *req;
	__u32 flags;
	int ret;

	if (!creates || !udata || qp->qp_type == IB_QPT_XRC_TGT)
		return stock_create_qp(qp, attr, udata);
	req = (void __user *)udata->inbuf;
	if (copy_from_user(&ours, req,
			   offsetofend(struct mlx5_ib_create_qp, flags)))
		return -EFAULT;
	flags = ours.flags & ~MLX5_QP_FLAG_UAR_PAGE_INDEX;
	if (put_user(flags, &req->flags))
		return -EFAULT;
	ret = stock_create_qp(qp, attr, udata);
	return put_user(ours.flags, &req->flags) ? -EFAULT : ret;
}

static int copier_add_dev(CLASS_INTERFACE_ARGS(dev))
{
	struct ib_device *ibdev = ib_class_mlx5(dev);

	if (!ibdev || victim)
		return 0;
	victim = ibdev;
	victim_owner = ibdev->ops.owner;
	stock_alloc_ucontext = ibdev->ops.alloc_ucontext;
	stock_create_qp = ibdev->ops.create_qp;
	ibdev->ops.owner = NULL;
	ibdev->ops.alloc_ucontext = copier_alloc_ucontext;
	ibdev->ops.create_qp = copier_create_qp;
	stock_mmap = ibdev->ops.mmap;
	if (unmapped)
		ibdev->ops.mmap = NULL;
	return 0;
}

static void copier_remove_dev(CLASS_INTERFACE_ARGS(dev))
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);

	if (&ibdev->dev != dev || victim != ibdev)
		return;
	ibdev->ops.owner = victim_owner;
	ibdev->ops.alloc_ucontext = stock_alloc_ucontext;
	ibdev->ops.create_qp = stock_create_qp;
	ibdev->ops.mmap = stock_mmap;
	victim = NULL;
}

static struct class_interface copier_interface = {
	.add_dev = copier_add_dev,
	.remove_dev = copier_remove_dev,
};

static int __init copier_init(void)
{
	return ib_class_register(&copier_interface);
}

static void __exit copier_exit(void)
{
	class_interface_unregister(&copier_interface);
}

module_init(copier_init);
module_exit(copier_exit);

MODULE_DESCRIPTION("Keeps from the driver what mlx5_ep changes, for its tests");
MODULE_LICENSE("Dual BSD/GPL");
