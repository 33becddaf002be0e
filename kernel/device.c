// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The mlx5 ib_devices that mlx5_ep knows, attached or refused.
 *
 * A device is known from add_dev to remove_dev of the class_interface.
 */

#include <linux/device.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "compat/compat.h"
#include "device.h"

static bool attach = true;
module_param(attach, bool, 0644);
MODULE_PARM_DESC(attach,
		 "attach to mlx5 devices, now and as they register (default: Y)");

/* All devices, by ib_device.index. */
static DEFINE_XARRAY(mlx5_ep_devices);

/**
 * mlx5_ep_device_find() - what mlx5_ep keeps for an ib_device
 * @ibdev: any ib_device, of mlx5 or not, to which the caller holds a reference
 *
 * May be called in any context; does not sleep.
 *
 * Return: the device, attached or refused, which is valid until its remove_dev;
 * NULL where mlx5_ep does not know @ibdev
 */
struct mlx5_ep_device *mlx5_ep_device_find(const struct ib_device *ibdev)
{
	return xa_load(&mlx5_ep_devices, ibdev->index);
}

static void device_free(struct mlx5_ep_device *edev)
{
	put_device(edev->auxdev);
	mlx5_ep_sides_fini(&edev->qp_sides);
	mlx5_ep_sides_fini(&edev->context_sides);
	free_percpu(edev->inside);
	kfree(edev);
}

/**
 * mlx5_ep_device_create() - get to know an ib_device
 * @ibdev: registered mlx5 ib_device for which no mlx5_ep_device exists yet
 *
 * Called under the class mutex, as mlx5_ep_device_destroy() is. Sleeps.
 *
 * Return: the device, found by mlx5_ep_device_find() from now on; -ENOMEM
 */
struct mlx5_ep_device *mlx5_ep_device_create(struct ib_device *ibdev)
{
	struct mlx5_ep_device *edev;
	int ret;

	edev = kzalloc_obj(*edev, GFP_KERNEL);
	if (!edev)
		return ERR_PTR(-ENOMEM);
	ret = mlx5_ep_sides_init(&edev->context_sides);
	if (ret) {
		kfree(edev);
		return ERR_PTR(ret);
	}
	ret = mlx5_ep_sides_init(&edev->qp_sides);
	if (ret) {
		mlx5_ep_sides_fini(&edev->context_sides);
		kfree(edev);
		return ERR_PTR(ret);
	}
	edev->inside = alloc_percpu(struct mlx5_ep_inside);
	if (!edev->inside) {
		device_free(edev);
		return ERR_PTR(-ENOMEM);
	}
	edev->ibdev = ibdev;
	mutex_init(&edev->lock);
	INIT_LIST_HEAD(&edev->folders);
	INIT_LIST_HEAD(&edev->cgroups);
	mlx5_ep_accounts_init(&edev->users);
	mlx5_ep_accounts_init(&edev->cgroup_accounts);
	INIT_LIST_HEAD(&edev->contexts);
	INIT_LIST_HEAD(&edev->laters);
	INIT_LIST_HEAD(&edev->notifiers);

	ret = xa_insert(&mlx5_ep_devices, ibdev->index, edev, GFP_KERNEL);
	if (ret) {
		device_free(edev);
		return ERR_PTR(ret);
	}
	return edev;
}

/**
 * mlx5_ep_device_destroy() - forget a device
 * @edev: device that is not attached, or no more, and has no folder in sysfs
 *
 * Nobody uses the device any more. Its memory is freed.
 */
void mlx5_ep_device_destroy(struct mlx5_ep_device *edev)
{
	xa_erase(&mlx5_ep_devices, edev->ibdev->index);
	device_free(edev);
}

/**
 * mlx5_ep_device_forget_uverbs() - ib_uverbs has gone
 *
 * Preexisting devices that were whole are so no more.
 *
 * Return: how many were, for each of which the caller puts a reference of mlx5_ep
 */
unsigned int mlx5_ep_device_forget_uverbs(void)
{
	struct mlx5_ep_device *edev;
	unsigned long index;
	unsigned int n = 0;

	/* A device that goes at the same time forgets it here or there. */
	xa_lock(&mlx5_ep_devices);
	xa_for_each(&mlx5_ep_devices, index, edev)
		if (edev->preexisting && xchg(&edev->whole, 0))
			n++;
	xa_unlock(&mlx5_ep_devices);
	return n;
}

/**
 * mlx5_ep_device_next_preexisting() - the next device that came before us
 * @index: ib_device.index to begin at; answer: index to go on with
 *
 * The caller may not hold the device itself, because re-probing removes it.
 *
 * Return: a reference to the device's auxiliary device, to be put; NULL: no
 * further device can be re-probed
 */
struct device *mlx5_ep_device_next_preexisting(unsigned long *index)
{
	struct mlx5_ep_device *edev;
	struct device *auxdev = NULL;

	xa_lock(&mlx5_ep_devices);
	xa_for_each_start(&mlx5_ep_devices, *index, edev, *index) {
		if (edev->attached && edev->preexisting &&
		    !READ_ONCE(edev->whole) && edev->auxdev) {
			auxdev = get_device(edev->auxdev);
			break;
		}
	}
	xa_unlock(&mlx5_ep_devices);
	++*index;
	return auxdev;
}

/**
 * mlx5_ep_device_hold_wrapped() - the next device with operations of ours, so that it stays
 * @index: ib_device.index to begin at; answer: index to go on with
 * @passed: set where such a device was passed over, because it is just coming or going.
 *	That is a step of ib_core's own, which waits for nobody there, so the caller
 *	prints no message about it
 *
 * Return: the device, whose removal waits until ib_device_put() of its ibdev; NULL: there
 * is no further one
 */
struct mlx5_ep_device *mlx5_ep_device_hold_wrapped(unsigned long *index,
						   bool *passed)
{
	struct mlx5_ep_device *edev;

	xa_lock(&mlx5_ep_devices);
	xa_for_each_start(&mlx5_ep_devices, *index, edev, *index) {
		if (!READ_ONCE(edev->wrapped))
			continue;
		if (ib_device_try_get(edev->ibdev))
			break;
		*passed = true;
	}
	xa_unlock(&mlx5_ep_devices);
	++*index;
	return edev;
}

/**
 * mlx5_ep_device_refuse() - note why a device is not attached
 * @edev: device that add_dev is trying to attach, or attached by half; the reason is
 *	stored in its @refusal, without a lock
 * @fmt: the reason, as for printf()
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

/**
 * mlx5_ep_device_may_attach() - is the module parameter attach on?
 * @edev: device that is being attached, or gets a uverbs tree; where the parameter is off,
 *	that is noted as the reason why not
 *
 * Does not sleep.
 */
bool mlx5_ep_device_may_attach(struct mlx5_ep_device *edev)
{
	if (READ_ONCE(attach))
		return true;
	mlx5_ep_device_refuse(edev, "module parameter attach is off");
	return false;
}
