// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A module for tests. It takes a driver id of uverbs on every mlx5 device
 * before mlx5_ep does, as a newer mlx5_ib might, or wraps an operation of the device,
 * as another companion of mlx5_ib might. mlx5_ep must then attach without what it lacks, or
 * not at all. With a kind of definition that no kernel has, uverbs would make no file of
 * the device: that kind is taken away again after mlx5_ep has seen it.
 * It can also change where mlx5_ep finds the driver's DevX and UAR objects, if at all. This
 * module is loaded before mlx5_ep and mlx5_ib, unless it is to wrap what mlx5_ep has wrapped.
 */

#define UVERBS_MODULE_NAME id_taker
#include <linux/module.h>
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "compat/compat.h"
#include "ib_class.h"

static int object = -1;
module_param(object, int, 0444);
MODULE_PARM_DESC(object, "driver object id to take, 0 to 11; -1: none");

static int method = -1;
module_param(method, int, 0444);
MODULE_PARM_DESC(method,
		 "driver method id of UVERBS_OBJECT_DEVICE to take, 0 to 7; -1: none");

static char *wrap;
module_param(wrap, charp, 0444);
MODULE_PARM_DESC(wrap,
		 "wrap this operation, and leave the definitions alone: dealloc_ucontext, create_qp, modify_qp, ufile_hw_cleanup");

static bool before;
module_param(before, bool, 0444);
MODULE_PARM_DESC(before,
		 "put trees of DevX and UAR objects without their methods before the driver's");

static bool alone;
module_param(alone, bool, 0444);
MODULE_PARM_DESC(alone, "take the definitions of the driver away");

#define UNKNOWN_KIND 99
static bool unknown;
module_param(unknown, bool, 0444);
MODULE_PARM_DESC(unknown, "add a definition of an unknown kind");

static int taken_method_handler(struct uverbs_attr_bundle *attrs)
{
	return -EOPNOTSUPP;
}

static int taken_object_cleanup(struct ib_uobject *uobject,
				enum rdma_remove_reason why,
				struct uverbs_attr_bundle *attrs)
{
	return 0;
}

/* The module parameters set the ids, so nothing here is const. */
static const struct uverbs_attr_def *const no_attrs[] = {};

static struct uverbs_method_def taken_method = {
	.handler = taken_method_handler,
	.attrs = &no_attrs,
};

/* The core takes lists with gaps. */
static const struct uverbs_method_def *const taken_methods[] = {
	NULL,
	&taken_method,
};

static struct uverbs_object_def taken_device = {
	.id = UVERBS_OBJECT_DEVICE,
	.num_methods = ARRAY_SIZE(taken_methods),
	.methods = &taken_methods,
};

static const struct uverbs_obj_idr_type taken_type = {
	.type = {
		.type_class = &uverbs_idr_class,
		.obj_size = sizeof(struct ib_uobject),
	},
	.destroy_object = taken_object_cleanup,
};

static struct uverbs_object_def taken_object = {
	.type_attrs = &taken_type.type,
};

static const struct uverbs_method_def early_method = {
	.id = UVERBS_API_NS_FLAG | 7,
	.handler = taken_method_handler,
	.attrs = &no_attrs,
};

static const struct uverbs_method_def *const early_methods[] = {
	NULL,
	&early_method,
};

static const struct uverbs_object_def early_devx = {
	.id = MLX5_IB_OBJECT_DEVX_OBJ,
	.num_methods = ARRAY_SIZE(early_methods),
	.methods = &early_methods,
};

static const struct uverbs_object_def empty_devx = {
	.id = MLX5_IB_OBJECT_DEVX_OBJ,
};

static const struct uverbs_object_def empty_uar = {
	.id = MLX5_IB_OBJECT_UAR,
};

/* What one device had before this module changed it. */
struct victim {
	struct list_head node;
	struct ib_device *ibdev;
	const struct uapi_definition *driver_def;
	struct uapi_definition defs[9];
	struct ib_device_ops ops;
};

static LIST_HEAD(victims);

static struct ib_device_ops *id_taker_found(const struct ib_device *ibdev)
{
	struct victim *victim;

	list_for_each_entry(victim, &victims, node)
		if (victim->ibdev == ibdev)
			return &victim->ops;
	return NULL;
}

static void id_taker_dealloc_ucontext(struct ib_ucontext *uctx)
{
	id_taker_found(uctx->device)->dealloc_ucontext(uctx);
}

static int id_taker_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			      struct ib_udata *udata)
{
	return id_taker_found(qp->device)->create_qp(qp, attr, udata);
}

static int id_taker_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr,
			      int mask, struct ib_udata *udata)
{
	return id_taker_found(qp->device)->modify_qp(qp, attr, mask, udata);
}

static void id_taker_ufile_hw_cleanup(struct ib_uverbs_file *ufile)
{
	(*compat_ufile_hw_cleanup(id_taker_found(compat_ufile_device(ufile))))(
		ufile);
}

/* Wraps the operation, or restores it from @ops. */
static void id_taker_wrap(struct ib_device_ops *to, struct ib_device_ops *ops)
{
	compat_ufile_hw_cleanup_fn *cleanup = compat_ufile_hw_cleanup(to);

	if (!strcmp(wrap, "create_qp"))
		to->create_qp = ops ? ops->create_qp : id_taker_create_qp;
	else if (!strcmp(wrap, "modify_qp"))
		to->modify_qp = ops ? ops->modify_qp : id_taker_modify_qp;
	else if (!strcmp(wrap, "dealloc_ucontext"))
		to->dealloc_ucontext = ops ? ops->dealloc_ucontext :
					     id_taker_dealloc_ucontext;
	else if (cleanup)
		*cleanup = ops ? *compat_ufile_hw_cleanup(ops) :
				 id_taker_ufile_hw_cleanup;
}

static int id_taker_add_dev(CLASS_INTERFACE_ARGS(dev))
{
	struct ib_device *ibdev = ib_class_mlx5(dev);
	struct uapi_definition *def;
	struct victim *victim;

	if (!ibdev)
		return 0;
	victim = kzalloc(sizeof(*victim), GFP_KERNEL);
	if (!victim)
		return -ENOMEM;
	victim->ibdev = ibdev;
	victim->driver_def = ibdev->driver_def;
	def = victim->defs;
	if (before) {
		*def++ = (struct uapi_definition)UAPI_DEF_CHAIN(NULL);
		*def++ = (struct uapi_definition)UAPI_DEF_CHAIN_OBJ_TREE(
			MLX5_IB_OBJECT_DEVX_OBJ, &early_devx);
		*def++ = (struct uapi_definition)UAPI_DEF_CHAIN_OBJ_TREE(
			MLX5_IB_OBJECT_DEVX_OBJ, &empty_devx);
		*def++ = (struct uapi_definition)UAPI_DEF_CHAIN_OBJ_TREE(
			MLX5_IB_OBJECT_UAR, &empty_uar);
	}
	if (!alone)
		*def++ = (struct uapi_definition)UAPI_DEF_CHAIN(
			victim->driver_def);
	if (object >= 0)
		*def++ = (struct uapi_definition)UAPI_DEF_CHAIN_OBJ_TREE(
			taken_object.id, &taken_object);
	if (method >= 0)
		*def++ = (struct uapi_definition)UAPI_DEF_CHAIN_OBJ_TREE(
			UVERBS_OBJECT_DEVICE, &taken_device);
	if (unknown)
		*def++ = (struct uapi_definition){ .kind = UNKNOWN_KIND };
	victim->ops = ibdev->ops;
	list_add(&victim->node, &victims);
	if (wrap)
		id_taker_wrap(&ibdev->ops, NULL);
	else
		ibdev->driver_def = victim->defs;
	return 0;
}

static void id_taker_remove_dev(CLASS_INTERFACE_ARGS(dev))
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);
	struct victim *victim, *next;

	list_for_each_entry_safe(victim, next, &victims, node) {
		if (&victim->ibdev->dev != dev)
			continue;
		if (wrap)
			id_taker_wrap(&ibdev->ops, &victim->ops);
		else
			ibdev->driver_def = victim->driver_def;
		list_del(&victim->node);
		kfree(victim);
	}
}

static struct class_interface id_taker_interface = {
	.add_dev = id_taker_add_dev,
	.remove_dev = id_taker_remove_dev,
};

/* Those of unknown kind are in definitions of this module or copies of them. */
static void id_taker_mend_defs(const struct uapi_definition *def)
{
	for (; def && def->kind != UAPI_DEF_END; def++) {
		if (def->kind == UAPI_DEF_CHAIN)
			id_taker_mend_defs(def->chain);
		else if (def->kind == UNKNOWN_KIND)
			*(struct uapi_definition *)def =
				(struct uapi_definition)UAPI_DEF_CHAIN(NULL);
	}
}

static int id_taker_mend_dev(CLASS_INTERFACE_ARGS(dev))
{
	struct ib_device *ibdev = ib_class_mlx5(dev);

	if (ibdev)
		id_taker_mend_defs(ibdev->driver_def);
	return 0;
}

static struct class_interface id_taker_mender = {
	.add_dev = id_taker_mend_dev,
};

static bool mending;

/* Of two interfaces the one that registered first is told of a device first. */
static int id_taker_mend_set(const char *value, const struct kernel_param *param)
{
	int ret;

	if (mending)
		return -EBUSY;
	ret = ib_class_register(&id_taker_mender);
	mending = !ret;
	return ret;
}

static const struct kernel_param_ops id_taker_mend_ops = {
	.set = id_taker_mend_set,
};
module_param_cb(mend, &id_taker_mend_ops, NULL, 0200);
MODULE_PARM_DESC(mend,
		 "write anything here after mlx5_ep is loaded, before mlx5_ib is");

static int __init id_taker_init(void)
{
	struct ib_device_ops ops;

	if (wrap && !strcmp(wrap, "ufile_hw_cleanup") &&
	    !compat_ufile_hw_cleanup(&ops))
		return -EOPNOTSUPP;
	taken_object.id = UVERBS_API_NS_FLAG | object;
	taken_method.id = UVERBS_API_NS_FLAG | method;
	return ib_class_register(&id_taker_interface);
}

static void __exit id_taker_exit(void)
{
	if (mending)
		class_interface_unregister(&id_taker_mender);
	class_interface_unregister(&id_taker_interface);
}

module_init(id_taker_init);
module_exit(id_taker_exit);

MODULE_DESCRIPTION("Takes what mlx5_ep needs of a device, for its tests");
MODULE_LICENSE("Dual BSD/GPL");
