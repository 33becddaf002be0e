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
 * All or nothing: where anything is not as expected the device is left exactly
 * as it was; one log line and the attribute "attached" say why.
 *
 * The module is pinned while a device is attached: user contexts hold objects
 * of ours.
 */

#include <linux/auxiliary_bus.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "mlx5_ep.h"
#include "compat/compat.h"
#include "xrc/xrc.h"

static bool attach = true;
module_param(attach, bool, 0644);
MODULE_PARM_DESC(attach,
		 "attach to mlx5 devices that register from now on (default: Y)");

static bool reprobe;
module_param(reprobe, bool, 0444);
MODULE_PARM_DESC(reprobe,
		 "at load, re-probe mlx5 devices that registered earlier; that ends their users (default: N)");

/* By ib_device.index. A device is there from add_dev to remove_dev. */
static DEFINE_XARRAY(mlx5_ep_devices);

/*
 * Most devices are found without a walk, which the create of a QP or a
 * registration would notice: by index modulo the slots, where the slot was free
 * when they came. A slot is its device's from add_dev to remove_dev; who looks
 * for another one compares and goes on.
 */
static struct device_slot {
	const struct ib_device *ibdev;
	struct mlx5_ep_device *edev;
} device_slots[16];

static struct device_slot *device_slot(const struct ib_device *ibdev)
{
	return &device_slots[ibdev->index % ARRAY_SIZE(device_slots)];
}

/* Who is inside class_interface_register(): it is told of devices too late. */
static struct task_struct *registering;

/**
 * mlx5_ep_device_find() - our side of an ib_device
 * @ibdev: the device
 *
 * May be called from anywhere; does not sleep.
 *
 * Return: the device, attached or refused, valid until its remove_dev; NULL
 * when it is none of ours
 */
struct mlx5_ep_device *mlx5_ep_device_find(const struct ib_device *ibdev)
{
	const struct device_slot *slot = device_slot(ibdev);

	if (READ_ONCE(slot->ibdev) == ibdev)
		return slot->edev;
	return xa_load(&mlx5_ep_devices, ibdev->index);
}

/* Under the class mutex, as device_forget(). */
static int device_note(struct mlx5_ep_device *edev)
{
	struct device_slot *slot = device_slot(edev->ibdev);
	int ret;

	ret = xa_insert(&mlx5_ep_devices, edev->ibdev->index, edev, GFP_KERNEL);
	if (!ret && !slot->ibdev) {
		slot->edev = edev;
		WRITE_ONCE(slot->ibdev, edev->ibdev);
	}
	return ret;
}

static void device_forget(struct mlx5_ep_device *edev)
{
	struct device_slot *slot = device_slot(edev->ibdev);

	if (slot->ibdev == edev->ibdev)
		WRITE_ONCE(slot->ibdev, NULL);
	xa_erase(&mlx5_ep_devices, edev->ibdev->index);
}

struct auxdev_search {
	const struct device *parent;
	struct auxiliary_device *found;
};

static int match_rdma_auxdev(struct device *dev, void *data)
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
 * While it is being added its parent does not know it yet, device_add() probes
 * before; its bus does. A subfunction is itself on that bus. Below a PCI function
 * the bus is out of reach: NULL, and find_mdev() helps.
 */
static struct auxiliary_device *find_auxdev(struct ib_device *ibdev)
{
	struct device *parent = ibdev->dev.parent;
	struct auxdev_search search = { .parent = parent };

	if (!parent)
		return NULL;
	device_for_each_child(parent, &search, match_rdma_auxdev);
	if (!search.found && parent->bus &&
	    !strcmp(parent->bus->name, "auxiliary"))
		bus_for_each_dev(parent->bus, NULL, &search,
				 match_rdma_auxdev);
	return search.found;
}

/* The adapter, which mlx5_core has as the driver data of its PCI function. */
static struct mlx5_core_dev *find_mdev(struct ib_device *ibdev)
{
	struct device *parent = ibdev->dev.parent;
	struct mlx5_core_dev *mdev;

	if (!parent || !dev_is_pci(parent))
		return NULL;
	mdev = pci_get_drvdata(to_pci_dev(parent));
	return mdev && mdev->device == parent ? mdev : NULL;
}

/**
 * mlx5_ep_device_refuse() - note why a device is not attached
 * @edev: the device
 * @fmt: the reason, as printf
 *
 * Return: -ENODEV, for the caller to return
 */
int mlx5_ep_device_refuse(struct mlx5_ep_device *edev, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(edev->refusal, sizeof(edev->refusal), fmt, args);
	va_end(args);
	return -ENODEV;
}

/* Everything that can refuse without having changed the device. */
static int check_device(struct mlx5_ep_device *edev)
{
	struct auxiliary_device *auxdev = find_auxdev(edev->ibdev);

	if (auxdev) {
		edev->auxdev = get_device(&auxdev->dev);
		edev->mdev = container_of(auxdev, struct mlx5_adev, adev)->mdev;
	} else {
		edev->mdev = find_mdev(edev->ibdev);
	}
	if (!edev->mdev)
		return mlx5_ep_device_refuse(edev, "no mlx5_core device");
	if (!READ_ONCE(attach))
		return mlx5_ep_device_refuse(
			edev, "module parameter attach is off");
	if (PAGE_SIZE != SZ_4K)
		return mlx5_ep_device_refuse(edev, "pages are not of 4 KiB");
	if (registering == current) {
		edev->late = true;
		return mlx5_ep_device_refuse(
			edev, "registered before mlx5_ep was loaded");
	}
	return 0;
}

static int attach_device(struct mlx5_ep_device *edev)
{
	int ret;

	ret = check_device(edev);
	if (ret)
		return ret;
	if (!try_module_get(THIS_MODULE))
		return mlx5_ep_device_refuse(edev, "mlx5_ep is being unloaded");

	edev->xrc = mlx5_ep_xrc_create(edev);
	if (!edev->xrc) {
		ret = mlx5_ep_device_refuse(edev, "no memory");
		goto err_module;
	}
	ret = mlx5_ep_graft_add(edev);
	if (ret)
		goto err_xrc;
	ret = mlx5_ep_interpose_add(edev);
	if (ret)
		goto err_graft;
	edev->attached = true;
	return 0;

err_graft:
	mlx5_ep_graft_remove(edev);
err_xrc:
	mlx5_ep_xrc_destroy(edev->xrc);
err_module:
	module_put(THIS_MODULE);
	return ret;
}

static int mlx5_ep_add_dev(CLASS_INTERFACE_ARGS(dev))
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);
	struct mlx5_ep_device *edev;
	int ret;

	/* A device has more entries in the class, one per net namespace. */
	if (&ibdev->dev != dev || ibdev->ops.driver_id != RDMA_DRIVER_MLX5 ||
	    compat_ib_device_is_subdev(ibdev))
		return 0;

	edev = kzalloc_obj(*edev, GFP_KERNEL);
	if (!edev)
		return -ENOMEM;
	kobject_init(&edev->kobj, &mlx5_ep_device_ktype);
	edev->ibdev = ibdev;
	mutex_init(&edev->lock);
	INIT_LIST_HEAD(&edev->cgroups);
	INIT_LIST_HEAD(&edev->users);
	INIT_LIST_HEAD(&edev->contexts);
	INIT_LIST_HEAD(&edev->notifiers);

	ret = device_note(edev);
	if (ret)
		goto err_put;
	ret = attach_device(edev);
	if (ret)
		dev_info(dev, "mlx5_ep: not attached: %s\n", edev->refusal);
	else
		mlx5_ep_debugfs_add(edev);

	/* Without the folder the device works; it just cannot be tuned. */
	ret = kobject_add(&edev->kobj, &dev->kobj, "mlx5_ep");
	if (ret)
		dev_warn(dev, "mlx5_ep: no folder in sysfs: %d\n", ret);
	return 0;

err_put:
	kobject_put(&edev->kobj);
	return ret;
}

static void mlx5_ep_remove_dev(CLASS_INTERFACE_ARGS(dev))
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);
	struct mlx5_ep_device *edev;
	bool attached;

	if (&ibdev->dev != dev)
		return;
	edev = mlx5_ep_device_find(ibdev);
	if (!edev)
		return;

	/* Its folder could not be made: there is nothing to take out. */
	if (edev->kobj.state_in_sysfs)
		kobject_del(&edev->kobj);
	attached = edev->attached;
	if (attached) {
		mlx5_ep_debugfs_remove(edev);
		mlx5_ep_interpose_remove(edev);
		mlx5_ep_graft_remove(edev);
		mlx5_ep_xrc_destroy(edev->xrc);
	}
	device_forget(edev);
	kobject_put(&edev->kobj);
	if (attached)
		module_put(THIS_MODULE);
}

static struct class_interface mlx5_ep_interface = {
	.add_dev = mlx5_ep_add_dev,
	.remove_dev = mlx5_ep_remove_dev,
};

/* The class is private to ib_core; any ib_device of its making knows it. */
static int find_class(void)
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

/*
 * Re-probing removes the ib_device and with it our side of it: only the
 * auxiliary device may be held meanwhile. The device comes back under a higher
 * index, and is not late: where it is refused again it is left alone.
 */
static void reprobe_devices(void)
{
	struct mlx5_ep_device *edev;
	unsigned long index = 0;
	struct device *auxdev;

	for (;; index++) {
		auxdev = NULL;
		xa_lock(&mlx5_ep_devices);
		edev = xa_find(&mlx5_ep_devices, &index, ULONG_MAX, XA_PRESENT);
		if (edev && edev->late)
			auxdev = get_device(edev->auxdev);
		xa_unlock(&mlx5_ep_devices);
		if (!edev)
			return;
		if (!auxdev)
			continue;
		if (device_reprobe(auxdev))
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
 * Return: 0; -ENOMEM; -ENODEV where ib_core has no class
 */
int mlx5_ep_attach_init(void)
{
	int ret;

	ret = find_class();
	if (ret)
		return ret;
	registering = current;
	ret = class_interface_register(&mlx5_ep_interface);
	registering = NULL;
	if (!ret && reprobe)
		reprobe_devices();
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
	xa_destroy(&mlx5_ep_devices);
}
