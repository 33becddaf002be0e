// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What an administrator has set for a device, kept while the device is away.
 *
 * An ib_device goes and comes back with each unbind and bind, devlink reload,
 * reset and recovery of the adapter. Its settings belong to its parent, the PCI
 * function or subfunction, which is known by the names of its bus and of itself.
 * They are copied to the ib_device when it is attached, and back when it goes.
 * They are forgotten when the module is unloaded. A parent that was not seen
 * before begins with the defaults (defaults.c).
 *
 * All of this is called under the class mutex, or when no device is attached.
 */

#include <linux/list.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/compat.h"
#include "device.h"
#include "uuar/cgroup.h"
#include "uuar/defaults.h"
#include "uuar/settings.h"

/**
 * struct saved_settings - the settings of one parent device
 * @node: in all_saved
 * @bus: name of its bus
 * @name: name of the parent device on @bus
 * @edev: the device that has the settings now; NULL while it is away
 * @values: what was set
 * @cgroups: struct mlx5_ep_cgroup.node, owned by this record
 */
struct saved_settings {
	struct list_head node;
	char *bus;
	char *name;
	struct mlx5_ep_device *edev;
	struct mlx5_ep_values values;
	struct list_head cgroups;
};

static LIST_HEAD(all_saved);

static void settings_free_saved(struct saved_settings *saved)
{
	mlx5_ep_cgroup_forget(&saved->cgroups);
	kfree(saved->bus);
	kfree(saved->name);
	kfree(saved);
}

static struct saved_settings *
settings_new_saved(const struct mlx5_ep_device *edev, const char *bus,
		   const char *name)
{
	struct saved_settings *saved = kzalloc_obj(*saved, GFP_KERNEL);

	if (!saved)
		return NULL;
	INIT_LIST_HEAD(&saved->cgroups);
	saved->bus = kstrdup(bus, GFP_KERNEL);
	saved->name = kstrdup(name, GFP_KERNEL);
	if (!saved->bus || !saved->name) {
		settings_free_saved(saved);
		return NULL;
	}
	mlx5_ep_defaults_get(edev, &saved->values);
	list_add_tail(&saved->node, &all_saved);
	return saved;
}

static struct saved_settings *settings_find_saved(const char *bus,
						  const char *name)
{
	struct saved_settings *saved;

	list_for_each_entry(saved, &all_saved, node)
		if (!strcmp(saved->bus, bus) && !strcmp(saved->name, name))
			return saved;
	return NULL;
}

/**
 * mlx5_ep_settings_restore() - give a device the settings of its parent
 * @edev: device that nobody uses yet
 *
 * Where the parent has another ib_device that is attached, this one begins with
 * the defaults.
 *
 * Return: 0; -ENOMEM
 */
int mlx5_ep_settings_restore(struct mlx5_ep_device *edev)
{
	const struct device *parent = edev->ibdev->dev.parent;
	const char *bus = parent->bus ? parent->bus->name : "";
	struct saved_settings *saved =
		settings_find_saved(bus, dev_name(parent));

	if (!saved)
		saved = settings_new_saved(edev, bus, dev_name(parent));
	if (!saved)
		return -ENOMEM;
	if (saved->edev) {
		mlx5_ep_defaults_get(edev, &edev->values);
		return 0;
	}
	saved->edev = edev;
	edev->values = saved->values;
	list_splice_init(&saved->cgroups, &edev->cgroups);
	return 0;
}

/**
 * mlx5_ep_settings_save() - the device goes: keep its settings
 * @edev: device that nobody uses any more
 */
void mlx5_ep_settings_save(struct mlx5_ep_device *edev)
{
	struct saved_settings *saved;

	list_for_each_entry(saved, &all_saved, node) {
		if (saved->edev != edev)
			continue;
		saved->edev = NULL;
		saved->values = edev->values;
		list_splice_init(&edev->cgroups, &saved->cgroups);
	}
	/* What is left belongs to a device that had no settings to keep. */
	mlx5_ep_cgroup_forget(&edev->cgroups);
}

/**
 * mlx5_ep_settings_fini() - forget the settings of all devices
 */
void mlx5_ep_settings_fini(void)
{
	struct saved_settings *saved, *next;

	list_for_each_entry_safe(saved, next, &all_saved, node)
		settings_free_saved(saved);
}
