// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Policies of cgroups (v2): a job has the policy of its cgroup, or of the
 * nearest one above it that has one.
 *
 * A cgroup is remembered by its id, which is never used again, and is not held:
 * an entry whose cgroup is gone matches nobody, is not shown, and makes room at
 * the next write by somebody who sees all cgroups: from inside a cgroup namespace
 * those outside look as if they were gone.
 */

#include <linux/cgroup.h>
#include <linux/limits.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/compat.h"
#include "device.h"
#include "uuar/cgroup.h"
#include "uuar/uuar_policy.h"

/* Entries of a device. */
#define MAX_CGROUPS 64

/**
 * struct mlx5_ep_cgroup - the policy of one cgroup on one device
 * @node: in mlx5_ep_device.cgroups
 * @id: of the cgroup
 */
struct mlx5_ep_cgroup {
	struct list_head node;
	u64 id;
	struct mlx5_ep_settings settings;
};

static struct mlx5_ep_cgroup *find_entry(struct mlx5_ep_device *edev, u64 id)
{
	struct mlx5_ep_cgroup *entry;

	list_for_each_entry(entry, &edev->cgroups, node)
		if (entry->id == id)
			return entry;
	return NULL;
}

/**
 * mlx5_ep_cgroup_settings() - the policy of the caller's cgroup
 * @edev: device; its lock is held
 *
 * Return: the policy of the nearest cgroup that has one; NULL when none has
 */
const struct mlx5_ep_settings *
mlx5_ep_cgroup_settings(struct mlx5_ep_device *edev)
{
	struct mlx5_ep_cgroup *entry = NULL;
	struct cgroup *cgrp;

	lockdep_assert_held(&edev->lock);
	if (list_empty(&edev->cgroups))
		return NULL;
	rcu_read_lock();
	for (cgrp = task_dfl_cgroup(current); cgrp && !entry;
	     cgrp = cgroup_parent(cgrp))
		entry = find_entry(edev, cgroup_id(cgrp));
	rcu_read_unlock();
	return entry ? &entry->settings : NULL;
}

static void drop_entry(struct mlx5_ep_cgroup *entry)
{
	list_del(&entry->node);
	kfree(entry);
}

/* Is the root of the caller's cgroup namespace that of all cgroups? */
static bool sees_all_cgroups(void)
{
	struct cgroup *root = cgroup_get_from_path("/");
	bool all;

	if (IS_ERR(root))
		return false;
	all = !cgroup_parent(root);
	cgroup_put(root);
	return all;
}

/* Drop the entries whose cgroups are surely gone; how many are left. */
static unsigned int drop_dead(struct mlx5_ep_device *edev)
{
	bool all = sees_all_cgroups();
	struct mlx5_ep_cgroup *entry, *next;
	unsigned int left = 0;
	struct cgroup *cgrp;

	list_for_each_entry_safe(entry, next, &edev->cgroups, node) {
		cgrp = cgroup_get_from_id(entry->id);
		if (!IS_ERR(cgrp)) {
			cgroup_put(cgrp);
		} else if (all) {
			drop_entry(entry);
			continue;
		}
		left++;
	}
	return left;
}

/**
 * mlx5_ep_cgroup_set() - give a cgroup a policy, or take it away
 * @path: of the cgroup, from the root of the caller's cgroup namespace
 * @settings: the policy; NULL: none of its own any more
 *
 * Return: 0; -ENOENT or -ENOTDIR: no such cgroup, or it has no policy; -ENOMEM;
 * -ENOSPC: 64 cgroups have one already
 */
int mlx5_ep_cgroup_set(struct mlx5_ep_device *edev, const char *path,
		       const struct mlx5_ep_settings *settings)
{
	struct cgroup *cgrp = cgroup_get_from_path(path);
	struct mlx5_ep_cgroup *entry;
	unsigned int entries;
	int ret = 0;

	if (IS_ERR(cgrp))
		return PTR_ERR(cgrp);
	mutex_lock(&edev->lock);
	entries = drop_dead(edev);
	entry = find_entry(edev, cgroup_id(cgrp));
	if (!settings) {
		if (entry)
			drop_entry(entry);
		else
			ret = -ENOENT;
		goto out_unlock;
	}
	if (!entry) {
		if (entries == MAX_CGROUPS) {
			ret = -ENOSPC;
			goto out_unlock;
		}
		entry = kzalloc_obj(*entry, GFP_KERNEL);
		if (!entry) {
			ret = -ENOMEM;
			goto out_unlock;
		}
		entry->id = cgroup_id(cgrp);
		list_add_tail(&entry->node, &edev->cgroups);
	}
	entry->settings = *settings;

out_unlock:
	mutex_unlock(&edev->lock);
	cgroup_put(cgrp);
	return ret;
}

/**
 * mlx5_ep_cgroup_show() - list the policies, one "PATH POLICY STRICT PAGES" each
 * @buf: page of a sysfs attribute
 *
 * Paths are as the caller would write them, from the root of its cgroup
 * namespace; what is not below that is not shown.
 *
 * Return: bytes written; -ENOMEM
 */
ssize_t mlx5_ep_cgroup_show(struct mlx5_ep_device *edev, char *buf)
{
	struct mlx5_ep_cgroup *entry;
	struct cgroup *cgrp;
	ssize_t len = 0;
	char *path;

	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	mutex_lock(&edev->lock);
	list_for_each_entry(entry, &edev->cgroups, node) {
		cgrp = cgroup_get_from_id(entry->id);
		if (IS_ERR(cgrp))
			continue;
		if (cgroup_path_ns(cgrp, path, PATH_MAX,
				   current->nsproxy->cgroup_ns) > 0)
			len += sysfs_emit_at(
				buf, len, "%s %s %d %u\n", path,
				mlx5_ep_policy_names[entry->settings.policy],
				entry->settings.strict, entry->settings.pages);
		cgroup_put(cgrp);
	}
	mutex_unlock(&edev->lock);
	kfree(path);
	return len;
}

/**
 * mlx5_ep_cgroup_forget() - free the policies of cgroups
 * @cgroups: list of struct mlx5_ep_cgroup.node
 */
void mlx5_ep_cgroup_forget(struct list_head *cgroups)
{
	struct mlx5_ep_cgroup *entry, *next;

	list_for_each_entry_safe(entry, next, cgroups, node)
		drop_entry(entry);
}
