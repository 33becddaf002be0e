// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Attach to mlx5 ib_devices: to each as it registers, and to those that have registered.
 * Detach as a device or mlx5_ep goes.
 *
 * A class_interface on the infiniband class is told of a device from inside
 * device_add(), that is before ib_register_device() has told any client:
 * uverbs has not built its method tree yet, nobody has a context or a user's
 * QP, and nothing runs through the operations that we replace. The interface's
 * remove_dev comes when all clients are gone again.
 *
 * A preexisting device had registered before mlx5_ep was loaded, and is attached as it
 * runs. Its operations are replaced (ops.c says in which order). Its uverbs definitions are
 * too, but uverbs may have built the method tree, and reads them when it builds the next
 * one (uverbs_tree.c).
 *
 * If the operations are not as expected, or something cannot be had, the device stays
 * exactly as it was. One log line and the attribute "attached" say why. What may be
 * missing is tables in debugfs, and what the driver's uverbs definitions leave no room
 * for (uverbs_tree.c). The operations are replaced last, and nothing fails after that.
 *
 * Who needs mlx5_ep holds a reference of the module, so that rmmod says EBUSY: a managed
 * context, an open file, and a device whose method tree may have pointers to ours. A
 * preexisting device holds one while uverbs has such a tree. When mlx5_ep leaves it, it has
 * none and no managed context, and gets none because try_module_get() fails.
 *
 * The operations are given back first when mlx5_ep leaves, with no lock held: a call that is
 * inside may take as long as its program wants, and other devices are to come and go
 * meanwhile. A device is held as long as calls of it are waited for. Its removal has to wait
 * for such a call without us, too. Nothing is held while another module has its own
 * operations in the place of ours. The rest follows under the class mutex.
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
#include "uuar/context.h"
#include "uuar/settings.h"
#include "uverbs_reload.h"
#include "uverbs_tree.h"
#include "xrc/xrc.h"

static bool reprobe;
module_param(reprobe, bool, 0444);
MODULE_PARM_DESC(reprobe,
		 "at load, re-probe mlx5 devices that registered earlier, to attach wholly; that ends their users (default: N)");

/*
 * The task that is inside class_interface_register(): the devices that the core
 * tells it of have registered already, or are about to go.
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
	if (!mlx5_ep_device_may_attach(edev))
		return -ENODEV;
	if (!mlx5_ep_cmd_is_linked())
		return mlx5_ep_device_refuse(
			edev, "mlx5_ep was loaded before mlx5_core");
	if (compat_is_foreign("mlx5_ib"))
		return mlx5_ep_device_refuse(
			edev,
			"mlx5_ib is not the one that mlx5_ep was compiled for");
	return mlx5_ep_ops_check(edev);
}

static int attach_device(struct mlx5_ep_device *edev)
{
	int ret;

	edev->preexisting = registering == current;
	edev->whole = !edev->preexisting;
	ret = attach_check(edev);
	if (ret)
		return ret;
	edev->pinned = !edev->preexisting || !COMPAT_CAN_LEAVE;
	if (edev->pinned && !try_module_get(THIS_MODULE))
		return mlx5_ep_device_refuse(edev, "mlx5_ep is being unloaded");

	edev->uars_together = mlx5_ep_cmd_uars_together(edev->mdev);
	if (edev->uars_together != MLX5_UARS_IN_PAGE)
		edev->no_policies =
			"the device has no UAR pages of 4 KiB (uar_4k)";
	else if (edev->uars_together != mlx5_ep_cmd_uars_told(edev->mdev))
		edev->no_policies =
			"libmlx5 is told of another number of UAR pages in a page";
	/* From here on only memory can be missing. */
	if (mlx5_ep_settings_restore(edev))
		goto err_module;
	edev->xrc = mlx5_ep_xrc_device_create(edev);
	if (!edev->xrc)
		goto err_settings;
	if (mlx5_ep_uverbs_tree_create(edev))
		goto err_xrc;
	edev->attached = true;
	if (mlx5_ep_sysfs_add(edev, &edev->ibdev->dev))
		goto err_tree;
	mlx5_ep_debugfs_add(edev);
	/* Contexts may be ours from here on: nothing may fail any more. */
	mlx5_ep_ops_wrap(edev);
	mlx5_ep_uverbs_tree_publish(edev);
	return 0;

err_tree:
	edev->attached = false;
	mlx5_ep_uverbs_tree_remove(edev);
err_xrc:
	mlx5_ep_xrc_device_destroy(edev->xrc);
err_settings:
	mlx5_ep_settings_save(edev);
err_module:
	if (edev->pinned)
		module_put(THIS_MODULE);
	return mlx5_ep_device_refuse(edev, "no memory");
}

/* Contexts that stay open are the driver's alone from now on. None is managed. */
static void attach_forget_contexts(struct mlx5_ep_device *edev)
{
	struct mlx5_ep_context *ectx, *next;

	list_for_each_entry_safe(ectx, next, &edev->contexts, node)
		mlx5_ep_context_close(ectx);
}

/* The device goes, or has its operations already and stays. */
static void attach_undo(struct mlx5_ep_device *edev)
{
	mlx5_ep_debugfs_remove(edev);
	mlx5_ep_ops_unwrap(edev);
	attach_forget_contexts(edev);
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
	/* The folder shows the reason, which the log has in any case. */
	mlx5_ep_sysfs_add(edev, dev);
	return 0;
}

static void attach_remove_dev(CLASS_INTERFACE_ARGS(dev))
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);
	struct mlx5_ep_device *edev = mlx5_ep_device_find(ibdev);
	bool pinned, held;

	if (!edev)
		return;
	if (&ibdev->dev != dev) {
		mlx5_ep_sysfs_remove(edev, dev);
		return;
	}
	mlx5_ep_sysfs_remove(edev, NULL);
	pinned = edev->attached && edev->pinned;
	if (edev->attached)
		attach_undo(edev);
	held = edev->preexisting && xchg(&edev->whole, 0);
	mlx5_ep_device_destroy(edev);
	if (pinned)
		module_put(THIS_MODULE);
	if (held)
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
 * higher index, and not as a preexisting one: where it is refused it is left alone.
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
 * Sleeps. It also re-probes the devices that are there already, if the parameter
 * reprobe says so.
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
	ret = mlx5_ep_uverbs_reload_init();
	if (ret)
		return ret;
	registering = current;
	ret = class_interface_register(&mlx5_ep_interface);
	registering = NULL;
	if (ret)
		mlx5_ep_uverbs_reload_fini();
	else if (reprobe)
		attach_reprobe();
	return ret;
}

/*
 * Give back the operations of all devices that can be held. Returns whether none has any
 * of ours now.
 */
static bool attach_give_back(bool *told)
{
	struct mlx5_ep_device *edev;
	unsigned long index = 0;
	bool left = false;

	while ((edev = mlx5_ep_device_hold_wrapped(&index, &left))) {
		if (!mlx5_ep_uverbs_tree_take_back(edev) ||
		    !mlx5_ep_ops_give_back(edev)) {
			left = true;
			if (!*told)
				dev_warn(&edev->ibdev->dev,
					 "mlx5_ep: to unload it, unload first the module that has changed the operations after it\n");
			*told = true;
		}
		ib_device_put(edev->ibdev);
	}
	return !left;
}

/**
 * mlx5_ep_attach_fini() - stop; no device is attached any more
 *
 * Waits until all calls of our operations have returned. Sleeps.
 */
void mlx5_ep_attach_fini(void)
{
	bool told = false;

	while (!attach_give_back(&told))
		schedule_timeout_idle(HZ / 10);
	class_interface_unregister(&mlx5_ep_interface);
	mlx5_ep_uverbs_reload_fini();
	/* A caller that was counted out may not have returned from our text. */
	compat_wait_for_callers();
	mlx5_ep_settings_fini();
}
