// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UAR pages that a library allocates after open, as uverbs objects. They are
 * charged when they are allocated: a user whose limit is reached gets none, and
 * a page counts although nobody maps it.
 *
 * The handler here charges the page, and calls the driver's. The driver makes an
 * entry for the mapping together with the page: the page is tracked by that
 * entry, and uncharged when the entry is freed. The handle of the object is
 * mandatory, so there is a uobject; the driver's handler does not look either.
 *
 * The driver can fail after it has made the entry, as it cannot write the answer. uverbs
 * then removes the object, after the handler here. Another thread can have mapped the
 * page meanwhile, since the offset can be guessed: the entry, and the page, stay as
 * long as that mapping. So it is the entry that counts, whatever the driver returns.
 *
 * A driver without such a method keeps its own definitions, and its pages count
 * when they are mapped (uar_map.c). With the method, these are the only UAR pages
 * that have an entry for their mapping.
 */

#include <rdma/uverbs_ioctl.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "device.h"
#include "object_hook.h"
#include "uuar/context.h"
#include "uuar/context_pages.h"
#include "uuar/uar_alloc.h"

/*
 * Is this the entry that the driver made with the page? The object of mlx5_ib
 * is its own entry, which begins with the core's: check that.
 */
static bool uar_alloc_is_entry(struct ib_ucontext *uctx,
			       const struct rdma_user_mmap_entry *entry)
{
	return entry && xa_load(&uctx->mmap_xa, entry->start_pgoff) == entry;
}

static int uar_alloc_obj(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(
		attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	struct ib_ucontext *uctx = uobj->context;
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uctx->device);
	struct mlx5_ep_context *ectx = mlx5_ep_context_of(edev, uctx);
	struct rdma_user_mmap_entry *entry;
	int ret;

	ret = mlx5_ep_context_pages_charge_one(ectx);
	if (ret)
		return ret;
	ret = edev->uar_hook->handlers[0](attrs);
	/* Nobody can find the object before this returns, so it is not freed. */
	entry = uobj->object;
	if (uar_alloc_is_entry(uctx, entry))
		mlx5_ep_context_pages_track(ectx, entry->start_pgoff, entry);
	else
		mlx5_ep_context_pages_uncharge_one(ectx);
	return ret;
}

static const struct mlx5_ep_object_change uar_change = {
	.object = MLX5_IB_OBJECT_UAR,
	.ids = { MLX5_IB_METHOD_UAR_OBJ_ALLOC },
	.handlers = { uar_alloc_obj },
};

/**
 * mlx5_ep_uar_alloc_hook() - count the UAR objects of a device from now on
 * @edev: device that nobody uses yet
 * @defs: its definitions, which have been checked
 *
 * Return: the definitions to be used instead of @defs; @defs where the driver
 * has no such object; -ENOMEM or -EOPNOTSUPP as a pointer
 */
const struct uapi_definition *
mlx5_ep_uar_alloc_hook(struct mlx5_ep_device *edev,
		       const struct uapi_definition *defs)
{
	return mlx5_ep_object_hook_create(&edev->uar_hook, &uar_change, defs);
}

/**
 * mlx5_ep_uar_alloc_unhook() - free the changed definitions
 * @edev: device that nobody uses any more
 */
void mlx5_ep_uar_alloc_unhook(struct mlx5_ep_device *edev)
{
	mlx5_ep_object_hook_destroy(edev->uar_hook);
	edev->uar_hook = NULL;
}

/**
 * mlx5_ep_uar_alloc_is_hooked() - are the UAR objects of a device counted?
 * @edev: attached device, or one that was refused
 *
 * Return: false where uverbs uses the driver's own definitions
 */
bool mlx5_ep_uar_alloc_is_hooked(const struct mlx5_ep_device *edev)
{
	return READ_ONCE(edev->whole) && edev->uar_hook;
}
