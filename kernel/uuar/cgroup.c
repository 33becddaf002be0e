// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Policies of cgroups (v2): a job has the policy of its cgroup, or of the
 * nearest one above that has a policy.
 *
 * A cgroup is remembered by its id, which is never used again, and is not held.
 * Once the cgroup is gone its entry matches nobody and is not shown. The entry
 * is freed at the next write by somebody who sees all cgroups: from inside a
 * cgroup namespace, cgroups outside look as if they were gone.
 *
 * The cgroup core has locks of its own, so it is never called with the device's
 * lock held: entries are copied, and the copy is looked at.
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

/**
 * struct mlx5_ep_cgroup - the policy of one cgroup on one device
 * @node: in mlx5_ep_device.cgroups
 * @id: id of the cgroup; no reference is held, so the cgroup may be gone
 * @settings: copy of what the administrator wrote; protected by the lock of the
 *	device
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
 * @edev: device; its lock is held, and protects the answer
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

/* Copies of all entries, linked by their nodes; false: no memory. */
static bool copy_entries(struct mlx5_ep_device *edev, struct list_head *copies)
{
	struct mlx5_ep_cgroup *entry, *copy;
	bool complete = true;

	mutex_lock(&edev->lock);
	list_for_each_entry(entry, &edev->cgroups, node) {
		copy = kmemdup(entry, sizeof(*entry), GFP_KERNEL);
		complete = copy;
		if (!copy)
			break;
		list_add_tail(&copy->node, copies);
	}
	mutex_unlock(&edev->lock);
	return complete;
}

/* Drop the entries whose cgroups are surely gone. */
static void drop_dead(struct mlx5_ep_device *edev)
{
	struct mlx5_ep_cgroup *copy, *entry;
	struct cgroup *cgrp;
	LIST_HEAD(copies);

	if (!sees_all_cgroups())
		return;
	copy_entries(edev, &copies);
	list_for_each_entry(copy, &copies, node) {
		cgrp = cgroup_get_from_id(copy->id);
		if (!IS_ERR(cgrp)) {
			cgroup_put(cgrp);
			continue;
		}
		mutex_lock(&edev->lock);
		entry = find_entry(edev, copy->id);
		if (entry)
			drop_entry(entry);
		mutex_unlock(&edev->lock);
	}
	mlx5_ep_cgroup_forget(&copies);
}

static int set_entry(struct mlx5_ep_device *edev, u64 id,
		     const struct mlx5_ep_settings *settings)
{
	struct mlx5_ep_cgroup *entry = find_entry(edev, id);

	lockdep_assert_held(&edev->lock);
	if (!settings) {
		if (!entry)
			return -ENOENT;
		drop_entry(entry);
		return 0;
	}
	if (!entry) {
		entry = kzalloc_obj(*entry, GFP_KERNEL);
		if (!entry)
			return -ENOMEM;
		entry->id = id;
		list_add_tail(&entry->node, &edev->cgroups);
	}
	entry->settings = *settings;
	return 0;
}

/**
 * mlx5_ep_cgroup_set() - give a cgroup a policy, or take it away
 * @edev: device for which the policy holds; its lock is taken here
 * @path: of the cgroup, from the root of the caller's cgroup namespace
 * @settings: the policy; NULL: the cgroup has none of its own any more
 *
 * Return: 0; -ENOENT or -ENOTDIR: there is no such cgroup, or it has no policy;
 * -ENOMEM
 */
int mlx5_ep_cgroup_set(struct mlx5_ep_device *edev, const char *path,
		       const struct mlx5_ep_settings *settings)
{
	struct cgroup *cgrp = cgroup_get_from_path(path);
	int ret;

	if (IS_ERR(cgrp))
		return PTR_ERR(cgrp);
	drop_dead(edev);
	mutex_lock(&edev->lock);
	ret = set_entry(edev, cgroup_id(cgrp), settings);
	mutex_unlock(&edev->lock);
	cgroup_put(cgrp);
	return ret;
}

/* A text that grows at its end; @at is NULL when there was no memory. */
struct text {
	char *at;
	size_t len;
	size_t size;
};

/* Append one entry as a line. */
static void append_entry(struct text *text, const struct mlx5_ep_cgroup *entry,
			 char *path)
{
	struct cgroup *cgrp = cgroup_get_from_id(entry->id);
	size_t most = PATH_MAX + 64;
	char *longer;
	int len;

	if (IS_ERR(cgrp))
		return;
	len = cgroup_path_ns(cgrp, path, PATH_MAX,
			     current->nsproxy->cgroup_ns);
	cgroup_put(cgrp);
	/* A cgroup outside of the caller's namespace has no path there. */
	if (len <= 0)
		return;
	if (text->size - text->len < most) {
		longer = krealloc(text->at, 2 * text->size + most, GFP_KERNEL);
		if (!longer)
			kfree(text->at);
		text->at = longer;
		text->size = 2 * text->size + most;
	}
	if (text->at)
		text->len += scnprintf(
			text->at + text->len, most, "%s %s %d %u\n", path,
			mlx5_ep_policy_names[entry->settings.policy],
			entry->settings.strict, entry->settings.pages);
}

/**
 * mlx5_ep_cgroup_text() - list the policies, one "PATH POLICY STRICT PAGES" each
 * @edev: device whose list it is; its lock is taken here
 *
 * Paths are as the caller would write them, from the root of its cgroup
 * namespace. What is not below that root is not listed.
 *
 * Return: the list, to be freed by kfree(); NULL: no memory
 */
char *mlx5_ep_cgroup_text(struct mlx5_ep_device *edev)
{
	struct text text = { .at = kstrdup("", GFP_KERNEL), .size = 1 };
	char *path = kmalloc(PATH_MAX, GFP_KERNEL);
	struct mlx5_ep_cgroup *copy;
	LIST_HEAD(copies);

	if (!path || !copy_entries(edev, &copies)) {
		kfree(text.at);
		text.at = NULL;
	}
	list_for_each_entry(copy, &copies, node)
		if (text.at)
			append_entry(&text, copy, path);
	mlx5_ep_cgroup_forget(&copies);
	kfree(path);
	return text.at;
}
