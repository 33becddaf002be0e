// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Attach to each mlx5 ib_device as it registers, detach as it goes.
 *
 * A class_interface on the infiniband class is told of a device from inside
 * device_add(), that is before ib_register_device() has told any client:
 * uverbs has not built its method tree yet, nobody has a context or a user's
 * QP, and nothing runs through the operations that we replace. The interface's
 * remove_dev comes when all clients are gone again.
 *
 * Attaching is all or nothing: if anything is not as expected, or cannot be had,
 * the device stays exactly as it was. One log line and the attribute "attached"
 * say why. Tables in debugfs are the only part that may be missing.
 *
 * The module is pinned while a device is attached: user contexts hold objects
 * of ours.
 */

#include <linux/auxiliary_bus.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "attach.h"
#include "cmd.h"
#include "compat/built_for.h"
#include "compat/compat.h"
#include "debugfs.h"
#include "device.h"
#include "ops.h"
#include "sysfs.h"
#include "uuar/settings.h"
#include "uverbs_tree.h"
#include "xrc/xrc.h"

static bool attach = true;
module_param(attach, bool, 0644);
MODULE_PARM_DESC(attach,
		 "attach to mlx5 devices that register from now on (default: Y)");

static bool reprobe;
module_param(reprobe, bool, 0444);
MODULE_PARM_DESC(reprobe,
		 "at load, re-probe mlx5 devices that registered earlier; that ends their users (default: N)");

/*
 * The task that is inside class_interface_register(): the devices that the core
 * tells it of have registered already.
 */
static struct task_struct *registering;

struct auxdev_search {
	const struct device *parent;
	struct auxiliary_device *found;
};

static int attach_match_auxdev(struct device *dev, void *data)
{
	struct auxdev_search *search = data;

	if (dev->parent != search->parent || !dev->bus ||
	    strcmp(dev->bus->name, "auxiliary") ||
	    !str_has_prefix(dev_name(dev), "mlx5_core.rdma"))
		return 0;
	search->found = to_auxiliary_dev(dev);
	return 1;
}

/*
 * The auxiliary device that mlx5_ib drives, a child of the PCI function or of
 * the subfunction. device_add() makes an auxiliary device known to its bus,
 * probes it, and only then makes it known to its parent: where mlx5_ib is
 * loaded already, the parent does not list it yet. A subfunction is on the
 * auxiliary bus itself and so leads to that bus; a PCI function does not, and
 * the answer is NULL: attach_find_mdev() finds the adapter there.
 */
static struct auxiliary_device *attach_find_auxdev(struct ib_device *ibdev)
{
	struct device *parent = ibdev->dev.parent;
	struct auxdev_search search = { .parent = parent };

	if (!parent)
		return NULL;
	device_for_each_child(parent, &search, attach_match_auxdev);
	if (!search.found && parent->bus &&
	    !strcmp(parent->bus->name, "auxiliary"))
		bus_for_each_dev(parent->bus, NULL, &search,
				 attach_match_auxdev);
	return search.found;
}

/* mlx5_core keeps its device as driver data of the PCI function. */
static struct mlx5_core_dev *attach_find_mdev(struct ib_device *ibdev)
{
	struct device *parent = ibdev->dev.parent;
	struct mlx5_core_dev *mdev;

	if (!parent || !dev_is_pci(parent))
		return NULL;
	mdev = pci_get_drvdata(to_pci_dev(parent));
	return mdev && mdev->device == parent ? mdev : NULL;
}

/*
 * Finds the adapter. A PCI function is known by two ways, whose structures must agree:
 * mlx5_core may have another struct auxiliary_device than the headers say.
 */
static int attach_find_adapter(struct mlx5_ep_device *edev)
{
	struct auxiliary_device *auxdev = attach_find_auxdev(edev->ibdev);
	struct mlx5_core_dev *mdev = attach_find_mdev(edev->ibdev);

	edev->mdev = mdev;
	if (auxdev) {
		edev->auxdev = get_device(&auxdev->dev);
		edev->mdev = container_of(auxdev, struct mlx5_adev, adev)->mdev;
	}
	if (mdev && edev->mdev != mdev)
		return mlx5_ep_device_refuse(
			edev,
			"mlx5_core has other structures than its headers");
	if (!edev->mdev)
		return mlx5_ep_device_refuse(edev, "no mlx5_core device");
	return 0;
}

/* Checks that change nothing: a device that fails one of them is refused. */
static int attach_check(struct mlx5_ep_device *edev)
{
	int ret = attach_find_adapter(edev);

	if (ret)
		return ret;
	if (!READ_ONCE(attach))
		return mlx5_ep_device_refuse(
			edev, "module parameter attach is off");
	if (!mlx5_ep_cmd_is_linked())
		return mlx5_ep_device_refuse(
			edev, "mlx5_ep was loaded before mlx5_core");
	if (compat_is_foreign("mlx5_ib"))
		return mlx5_ep_device_refuse(
			edev,
			"mlx5_ib is not the one that mlx5_ep was compiled for");
	if (registering == current) {
		edev->preexisting = true;
		return mlx5_ep_device_refuse(
			edev, "registered before mlx5_ep was loaded");
	}
	return 0;
}

static int attach_device(struct mlx5_ep_device *edev)
{
	int ret;

	ret = attach_check(edev);
	if (ret)
		return ret;
	if (!try_module_get(THIS_MODULE))
		return mlx5_ep_device_refuse(edev, "mlx5_ep is being unloaded");

	edev->uars_together = mlx5_ep_cmd_uars_together(edev->mdev);
	if (edev->uars_together != MLX5_UARS_IN_PAGE)
		edev->no_policies =
			"the device has no UAR pages of 4 KiB (uar_4k)";
	else if (edev->uars_together != mlx5_ep_cmd_uars_told(edev->mdev))
		edev->no_policies =
			"libmlx5 is told of another number of UAR pages in a page";
	ret = mlx5_ep_settings_restore(edev);
	if (ret) {
		ret = mlx5_ep_device_refuse(edev, "no memory");
		goto err_module;
	}
	edev->xrc = mlx5_ep_xrc_device_create(edev);
	if (!edev->xrc) {
		ret = mlx5_ep_device_refuse(edev, "no memory");
		goto err_settings;
	}
	ret = mlx5_ep_uverbs_tree_add(edev);
	if (ret)
		goto err_xrc;
	ret = mlx5_ep_ops_wrap(edev);
	if (ret)
		goto err_tree;
	edev->attached = true;
	ret = mlx5_ep_sysfs_add(edev, &edev->ibdev->dev);
	if (ret) {
		ret = mlx5_ep_device_refuse(edev, "no memory");
		goto err_ops;
	}
	mlx5_ep_debugfs_add(edev);
	return 0;

err_ops:
	edev->attached = false;
	mlx5_ep_ops_unwrap(edev);
err_tree:
	mlx5_ep_uverbs_tree_remove(edev);
err_xrc:
	mlx5_ep_xrc_device_destroy(edev->xrc);
err_settings:
	mlx5_ep_settings_save(edev);
err_module:
	module_put(THIS_MODULE);
	return ret;
}

static void attach_undo(struct mlx5_ep_device *edev)
{
	mlx5_ep_debugfs_remove(edev);
	mlx5_ep_ops_unwrap(edev);
	mlx5_ep_uverbs_tree_remove(edev);
	mlx5_ep_xrc_device_destroy(edev->xrc);
	mlx5_ep_settings_save(edev);
}

/* Show the device in another net namespace. */
static void attach_add_namespace(struct ib_device *ibdev, struct device *entry)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(ibdev);
	int ret;

	ret = edev ? mlx5_ep_sysfs_add(edev, entry) : 0;
	if (ret)
		dev_warn(entry, "mlx5_ep: not seen in a net namespace: %d\n",
			 ret);
}

static int attach_add_dev(CLASS_INTERFACE_ARGS(dev))
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);
	struct mlx5_ep_device *edev;

	if (ibdev->ops.driver_id != RDMA_DRIVER_MLX5 ||
	    compat_ib_device_is_subdev(ibdev))
		return 0;
	/* A device has more entries in the class, one per net namespace. */
	if (&ibdev->dev != dev) {
		attach_add_namespace(ibdev, dev);
		return 0;
	}

	edev = mlx5_ep_device_create(ibdev);
	if (IS_ERR(edev)) {
		dev_info(dev, "mlx5_ep: not attached: no memory\n");
		return PTR_ERR(edev);
	}
	if (!attach_device(edev))
		return 0;
	dev_info(dev, "mlx5_ep: not attached: %s\n", edev->refusal);
	/* The folder shows the reason. Without it the reason is in the log. */
	mlx5_ep_sysfs_add(edev, dev);
	return 0;
}

static void attach_remove_dev(CLASS_INTERFACE_ARGS(dev))
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);
	struct mlx5_ep_device *edev = mlx5_ep_device_find(ibdev);
	bool attached;

	if (!edev)
		return;
	if (&ibdev->dev != dev) {
		mlx5_ep_sysfs_remove(edev, dev);
		return;
	}
	mlx5_ep_sysfs_remove(edev, NULL);
	attached = edev->attached;
	if (attached)
		attach_undo(edev);
	mlx5_ep_device_destroy(edev);
	if (attached)
		module_put(THIS_MODULE);
}

static struct class_interface mlx5_ep_interface = {
	.add_dev = attach_add_dev,
	.remove_dev = attach_remove_dev,
};

/* The class is private to ib_core. Each ib_device that ib_core makes has it. */
static int attach_find_class(void)
{
	struct dummy {
		struct ib_device ibdev;
	} *dummy = ib_alloc_device(dummy, ibdev);

	if (!dummy)
		return -ENOMEM;
	mlx5_ep_interface.class = dummy->ibdev.dev.class;
	ib_dealloc_device(&dummy->ibdev);
	return mlx5_ep_interface.class ? 0 : -ENODEV;
}

/* Has a driver taken the device? device_reprobe() returns 0 if its probe fails. */
static bool attach_is_bound(struct device *dev)
{
	bool bound;

	device_lock(dev);
	bound = dev->driver;
	device_unlock(dev);
	return bound;
}

/*
 * Re-probing removes an ib_device and what mlx5_ep keeps for it, so that only
 * the auxiliary device may be held meanwhile. The ib_device comes back with a
 * higher index, and not as a preexisting one: where it is refused again it is
 * left alone.
 */
static void attach_reprobe(void)
{
	unsigned long index = 0;
	struct device *auxdev;

	while ((auxdev = mlx5_ep_device_next_preexisting(&index))) {
		if (device_reprobe(auxdev) || !attach_is_bound(auxdev))
			dev_warn(auxdev, "mlx5_ep: re-probe failed\n");
		put_device(auxdev);
	}
}

/**
 * mlx5_ep_attach_init() - start to attach to devices that register
 *
 * Sleeps. With the parameter reprobe it also re-probes the devices that are
 * there already.
 *
 * Return: 0; -ENOMEM; -ENODEV where ib_core has no class; -ENOEXEC where mlx5_ep
 * was compiled for another ib_core, ib_uverbs or mlx5_core
 */
int mlx5_ep_attach_init(void)
{
	int ret;

	ret = compat_check_linked();
	if (ret)
		return ret;
	ret = attach_find_class();
	if (ret)
		return ret;
	registering = current;
	ret = class_interface_register(&mlx5_ep_interface);
	registering = NULL;
	if (!ret && reprobe)
		attach_reprobe();
	return ret;
}

/**
 * mlx5_ep_attach_fini() - stop; no device is attached any more
 *
 * Sleeps.
 */
void mlx5_ep_attach_fini(void)
{
	class_interface_unregister(&mlx5_ep_interface);
	mlx5_ep_settings_fini();
}
