// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UAR pages that a library allocates after open, as uverbs objects. They are
 * charged when they are allocated: a user whose limit is reached gets none, and
 * a page counts although nobody maps it.
 *
 * uverbs calls no operation of the device for such an object. So it is given a
 * copy of the driver's definitions that differs in one pointer, the handler of
 * the method that allocates. The handler here charges the page, and calls the
 * driver's. The driver makes an entry for the mapping together with the page:
 * the page is tracked by that entry, and uncharged when the entry is freed.
 *
 * A driver without such a method keeps its own definitions, and its pages count
 * when they are mapped (ops.c). With the method, these are the only UAR pages
 * that have an entry for their mapping.
 */

#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "compat/compat.h"
#include "device.h"
#include "uuar/context_pages.h"
#include "uuar/uar_alloc.h"

/**
 * struct mlx5_ep_uar_alloc - a device's changed definitions
 * @defs: copies, the outermost first
 * @object: copy of the driver's UAR object
 * @methods: copy of its methods
 * @method: copy of the one that allocates, with our handler
 * @handler: the driver's
 */
struct mlx5_ep_uar_alloc {
	struct uapi_definition *defs[MLX5_EP_DEFS_DEPTH];
	struct uverbs_object_def object;
	const struct uverbs_method_def **methods;
	struct uverbs_method_def method;
	int (*handler)(struct uverbs_attr_bundle *attrs);
};

/*
 * Is this the entry that the driver made with the page? The object of mlx5_ib
 * is its own entry, which begins with the core's: check that.
 */
static bool is_entry(struct ib_ucontext *uctx,
		     const struct rdma_user_mmap_entry *entry)
{
	return entry && xa_load(&uctx->mmap_xa, entry->start_pgoff) == entry;
}

static int uar_obj_alloc(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(
		attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	struct ib_ucontext *uctx = ib_uverbs_get_ucontext(attrs);
	struct mlx5_ep_context *ectx;
	struct rdma_user_mmap_entry *entry;
	struct mlx5_ep_device *edev;
	int ret;

	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	if (IS_ERR(uctx))
		return PTR_ERR(uctx);
	edev = mlx5_ep_device_find(uctx->device);
	ectx = mlx5_ep_context_of(edev, uctx);
	ret = mlx5_ep_context_charge_page(ectx);
	if (ret)
		return ret;
	ret = edev->uar_alloc->handler(attrs);
	/* Nobody can find the object before this returns, so it is not freed. */
	entry = uobj->object;
	if (!ret && is_entry(uctx, entry))
		mlx5_ep_context_track_page(ectx, entry->start_pgoff, entry);
	else
		mlx5_ep_context_uncharge_page(ectx);
	return ret;
}

/*
 * Copy and change the UAR object. Returns 1, 0 where it has no such method, or
 * -ENOMEM.
 */
static int change_object(struct mlx5_ep_uar_alloc *alloc,
			  const struct uverbs_object_def *object)
{
	size_t i;

	for (i = 0; object->methods && i < object->num_methods; i++)
		if ((*object->methods)[i] && (*object->methods)[i]->id ==
					     MLX5_IB_METHOD_UAR_OBJ_ALLOC)
			break;
	if (!object->methods || i == object->num_methods ||
	    !(*object->methods)[i]->handler)
		return 0;
	alloc->methods = kmemdup(*object->methods, object->num_methods *
				 sizeof(*alloc->methods), GFP_KERNEL);
	if (!alloc->methods)
		return -ENOMEM;
	alloc->method = *alloc->methods[i];
	alloc->handler = alloc->method.handler;
	alloc->method.handler = uar_obj_alloc;
	alloc->methods[i] = &alloc->method;
	alloc->object = *object;
	alloc->object.methods = (void *)alloc->methods;
	return 1;
}

/*
 * Copy the arrays that lead to the UAR object. Returns @defs where none does, or
 * ERR_PTR(-ENOMEM).
 */
static const struct uapi_definition *
change_defs(struct mlx5_ep_uar_alloc *alloc, const struct uapi_definition *defs,
	    unsigned int depth)
{
	const struct uapi_definition *def, *below = NULL;
	size_t at = 0, n;
	int found = 0;

	if (!defs || depth == MLX5_EP_DEFS_DEPTH)
		return defs;
	for (n = 0; defs[n].kind != UAPI_DEF_END; n++) {
		def = &defs[n];
		if (found)
			continue;
		at = n;
		if (def->kind == UAPI_DEF_CHAIN) {
			below = change_defs(alloc, def->chain, depth + 1);
			found = below != def->chain;
		} else if (def->kind == UAPI_DEF_CHAIN_OBJ_TREE &&
			   def->chain_obj_tree &&
			   def->chain_obj_tree->id == MLX5_IB_OBJECT_UAR) {
			found = change_object(alloc, def->chain_obj_tree);
		}
	}
	if (found < 0 || IS_ERR(below))
		return ERR_PTR(-ENOMEM);
	if (!found)
		return defs;
	alloc->defs[depth] = kmemdup(defs, (n + 1) * sizeof(*defs), GFP_KERNEL);
	if (!alloc->defs[depth])
		return ERR_PTR(-ENOMEM);
	if (defs[at].kind == UAPI_DEF_CHAIN)
		alloc->defs[depth][at].chain = below;
	else
		alloc->defs[depth][at].chain_obj_tree = &alloc->object;
	return alloc->defs[depth];
}

/**
 * mlx5_ep_uar_alloc_unhook() - free the changed definitions
 * @edev: device that nobody uses any more
 */
void mlx5_ep_uar_alloc_unhook(struct mlx5_ep_device *edev)
{
	struct mlx5_ep_uar_alloc *alloc = edev->uar_alloc;
	unsigned int i;

	if (!alloc)
		return;
	for (i = 0; i < MLX5_EP_DEFS_DEPTH; i++)
		kfree(alloc->defs[i]);
	kfree(alloc->methods);
	kfree(alloc);
	edev->uar_alloc = NULL;
}

/**
 * mlx5_ep_uar_alloc_hook() - count the UAR objects of a device from now on
 * @edev: device that nobody uses yet, whose definitions have been checked
 *
 * Return: the definitions to be used instead of the driver's; the driver's own
 * where it has no such method; ERR_PTR(-ENOMEM), with nothing left to unhook
 */
const struct uapi_definition *
mlx5_ep_uar_alloc_hook(struct mlx5_ep_device *edev)
{
	const struct uapi_definition *defs;

	edev->uar_alloc = kzalloc_obj(*edev->uar_alloc, GFP_KERNEL);
	if (!edev->uar_alloc)
		return ERR_PTR(-ENOMEM);
	defs = change_defs(edev->uar_alloc, edev->stock.driver_def, 0);
	if (IS_ERR(defs))
		mlx5_ep_uar_alloc_unhook(edev);
	return defs;
}

/**
 * mlx5_ep_uar_alloc_is_hooked() - are the UAR objects of a device counted?
 * @edev: attached device, or one that was refused
 *
 * Return: false where the driver's own definitions are used
 */
bool mlx5_ep_uar_alloc_is_hooked(const struct mlx5_ep_device *edev)
{
	/* The outermost copy is made last. */
	return edev->uar_alloc && edev->uar_alloc->defs[0];
}
