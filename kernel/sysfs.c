// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * /sys/class/infiniband/<device>/mlx5_ep/: what the administrator reads and
 * sets. Documentation/administration.md describes each attribute.
 *
 * A write takes effect for contexts that are opened later. A write that fails
 * changes nothing. Writing needs CAP_NET_ADMIN beside the mode of the file,
 * since whoever opened the file may have passed the descriptor on.
 *
 * While net namespaces share the RDMA devices, ib_core gives a device one more
 * entry in the class for each other namespace, and sysfs shows a process only
 * the entry of its own. So each entry has a folder. All folders of a device show
 * the same values, and only that of the device itself can be written: CAP_NET_ADMIN
 * alone is what many containers have, and the settings hold for all of them.
 */

#include <linux/capability.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "account/limit.h"
#include "cmd.h"
#include "compat/compat.h"
#include "device.h"
#include "sysfs.h"
#include "uuar/cgroup.h"
#include "uuar/context_pages.h"
#include "uuar/values.h"
#include "uverbs_reload.h"
#include "uverbs_tree.h"
#include "watch/slots.h"
#include "xrc/xrc.h"

/**
 * struct folder - the folder "mlx5_ep" of one entry in the class
 * @kobj: the folder; this memory is freed with it
 * @node: in mlx5_ep_device.folders
 * @edev: the device, valid until the folder is removed
 * @entry: the entry in the class: the ib_device's own, or that of another net
 *	namespace
 */
struct folder {
	struct kobject kobj;
	struct list_head node;
	struct mlx5_ep_device *edev;
	struct device *entry;
};

static struct folder *sysfs_to_folder(struct kobject *kobj)
{
	return container_of(kobj, struct folder, kobj);
}

static struct mlx5_ep_device *sysfs_to_edev(struct kobject *kobj)
{
	return sysfs_to_folder(kobj)->edev;
}

/* May the caller change settings in this folder? */
static bool sysfs_may_write(struct kobject *kobj)
{
	const struct folder *folder = sysfs_to_folder(kobj);

	return folder->entry == &folder->edev->ibdev->dev &&
	       capable(CAP_NET_ADMIN);
}

static ssize_t attached_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	struct mlx5_ep_device *edev = sysfs_to_edev(kobj);
	unsigned int unseen = READ_ONCE(edev->unseen), i;
	const char *no_records = mlx5_ep_fingerprint_refusal();
	const char *no_policies = READ_ONCE(edev->no_policies);
	bool whole = READ_ONCE(edev->whole);
	int len;

	if (!edev->attached)
		return sysfs_emit(buf, "not attached: %s\n", edev->refusal);
	if (whole)
		len = sysfs_emit(buf, "yes");
	else if (*edev->refusal)
		len = sysfs_emit(buf, "policies, limits; without the rest: %s",
				 edev->refusal);
	else
		len = sysfs_emit(buf, "policies, limits; the rest when %s",
				 mlx5_ep_uverbs_reload_awaits());
	if (no_policies)
		len += sysfs_emit_at(buf, len, ", without uUAR policies: %s",
				     no_policies);
	for (i = 0; whole && i < MLX5_EP_PARTS; i++)
		if (*edev->lacking[i])
			len += sysfs_emit_at(buf, len, ", without %s: %s",
					     mlx5_ep_uverbs_tree_part_name(i),
					     edev->lacking[i]);
	if (no_records)
		len += sysfs_emit_at(buf, len, ", without recorded watches: %s",
				     no_records);
	if (unseen)
		len += sysfs_emit_at(buf, len,
				     ", but not seen in %u net namespaces",
				     unseen);
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t abi_version_show(struct kobject *kobj,
				struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", MLX5_EP_ABI_VERSION);
}

static ssize_t uverbs_ids_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	return mlx5_ep_uverbs_tree_show(sysfs_to_edev(kobj), buf);
}

static ssize_t uar_budget_effective_show(struct kobject *kobj,
					 struct kobj_attribute *attr, char *buf)
{
	struct mlx5_ep_device *edev = sysfs_to_edev(kobj);

	return sysfs_emit(buf, "%u\n", mlx5_ep_context_pages_budget(edev));
}

/**
 * struct count_attribute - an attribute that is one counter of a device
 * @attr: registered in sysfs; the kernel passes it to show
 * @offset: of the counter in struct mlx5_ep_device, or in struct mlx5_ep_xrc if it
 *	counts objects of shared XRC receive QPs
 */
struct count_attribute {
	struct kobj_attribute attr;
	size_t offset;
};

static ssize_t sysfs_count_show(struct kobject *kobj,
				struct kobj_attribute *attr, char *buf)
{
	struct count_attribute *counter =
		container_of(attr, struct count_attribute, attr);
	atomic_t *count = (void *)sysfs_to_edev(kobj) + counter->offset;

	return sysfs_emit(buf, "%d\n", atomic_read(count));
}

static ssize_t sysfs_xrc_count_show(struct kobject *kobj,
				    struct kobj_attribute *attr, char *buf)
{
	struct count_attribute *counter =
		container_of(attr, struct count_attribute, attr);
	const u32 *count = (void *)sysfs_to_edev(kobj)->xrc + counter->offset;

	return sysfs_emit(buf, "%u\n", READ_ONCE(*count));
}

static ssize_t refusals_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	return mlx5_ep_limit_show_refusals(sysfs_to_edev(kobj), buf);
}

static ssize_t sysfs_value_show(struct kobject *kobj,
				struct kobj_attribute *attr, char *buf)
{
	struct mlx5_ep_device *edev = sysfs_to_edev(kobj);
	ssize_t len;

	mutex_lock(&edev->lock);
	len = mlx5_ep_values_show(&edev->values, attr->attr.name, buf);
	mutex_unlock(&edev->lock);
	return len;
}

static ssize_t sysfs_value_store(struct kobject *kobj,
				 struct kobj_attribute *attr, const char *buf,
				 size_t count)
{
	struct mlx5_ep_device *edev = sysfs_to_edev(kobj);
	int ret;

	if (!sysfs_may_write(kobj))
		return -EPERM;
	mutex_lock(&edev->lock);
	ret = mlx5_ep_values_set(&edev->values, attr->attr.name, buf,
				 mlx5_ep_cmd_uar_pages(edev->mdev));
	mutex_unlock(&edev->lock);
	return ret ?: count;
}

/*
 * A list of cgroups can be longer than a page, which is the most that a plain
 * attribute can show. So its attribute is a binary one.
 */
static ssize_t sysfs_uuar_cgroups_read(struct file *file, struct kobject *kobj,
				       COMPAT_BIN_ATTRIBUTE *attr, char *buf,
				       loff_t pos, size_t count)
{
	return mlx5_ep_cgroup_read(sysfs_to_edev(kobj), false, buf, pos, count);
}

static ssize_t sysfs_uar_cgroup_limits_read(struct file *file,
					    struct kobject *kobj,
					    COMPAT_BIN_ATTRIBUTE *attr,
					    char *buf, loff_t pos, size_t count)
{
	return mlx5_ep_cgroup_read(sysfs_to_edev(kobj), true, buf, pos, count);
}

/* The word behind the path, or the words: policy, strict and pages. */
static int sysfs_parse_change(struct mlx5_ep_device *edev, char *words,
			      struct mlx5_ep_cgroup_change *change)
{
	change->remove = !strcmp(words, "none") ||
			 (!change->is_limit && str_has_prefix(words, "none "));
	if (change->remove)
		return 0;
	if (!change->is_limit)
		return mlx5_ep_values_parse_settings(words, &change->settings);
	if (kstrtouint(words, 0, &change->limit) || !change->limit ||
	    change->limit > mlx5_ep_cmd_uar_pages(edev->mdev))
		return -EINVAL;
	return 0;
}

/*
 * A line "PATH POLICY STRICT PAGES" or "PATH LIMIT"; "none" in place of the policy
 * or the limit takes it away.
 */
static ssize_t sysfs_write_cgroups(struct kobject *kobj, bool limits,
				   const char *buf, size_t count)
{
	struct mlx5_ep_cgroup_change change = { .is_limit = limits };
	struct mlx5_ep_device *edev = sysfs_to_edev(kobj);
	char *line, *words, *path;
	int ret = -EINVAL;

	if (!sysfs_may_write(kobj))
		return -EPERM;
	line = kstrndup(buf, count, GFP_KERNEL);
	if (!line)
		return -ENOMEM;
	words = strim(line);
	path = strsep(&words, " ");
	if (words)
		ret = sysfs_parse_change(edev, words, &change);
	if (!ret)
		ret = mlx5_ep_cgroup_set(edev, path, &change);
	kfree(line);
	return ret ?: count;
}

static ssize_t sysfs_uuar_cgroups_write(struct file *file, struct kobject *kobj,
					COMPAT_BIN_ATTRIBUTE *attr, char *buf,
					loff_t pos, size_t count)
{
	return sysfs_write_cgroups(kobj, false, buf, count);
}

static ssize_t sysfs_uar_cgroup_limits_write(struct file *file,
					     struct kobject *kobj,
					     COMPAT_BIN_ATTRIBUTE *attr,
					     char *buf, loff_t pos,
					     size_t count)
{
	return sysfs_write_cgroups(kobj, true, buf, count);
}

#define COUNT(_name, _field)                                                   \
	static struct count_attribute _name##_attr = {                         \
		.attr = __ATTR(_name, 0444, sysfs_count_show, NULL),           \
		.offset = offsetof(struct mlx5_ep_device, _field),             \
	}
#define XRC_COUNT(_name, _field)                                               \
	static struct count_attribute _name##_attr = {                         \
		.attr = __ATTR(_name, 0444, sysfs_xrc_count_show, NULL),       \
		.offset = offsetof(struct mlx5_ep_xrc, _field),                \
	}
#define VALUE(_name)                                                           \
	static struct kobj_attribute _name##_attr =                            \
		__ATTR(_name, 0644, sysfs_value_show, sysfs_value_store)

COUNT(uar_in_use, managed_pages);
COUNT(uar_observed, observed_pages);
COUNT(uuar_fallbacks, nr_fallback);
XRC_COUNT(xrc_domains, num_domains);
XRC_COUNT(xrc_qps, num_qps);
XRC_COUNT(xrc_registrations, num_regs);
VALUE(uuar_policy);
VALUE(uuar_strict);
VALUE(uuar_pages);
VALUE(uar_budget);
VALUE(uar_user_limit);
VALUE(uuar_exempt);

static struct kobj_attribute attached_attr = __ATTR_RO(attached);
static struct kobj_attribute abi_version_attr = __ATTR_RO(abi_version);
static struct kobj_attribute uverbs_ids_attr = __ATTR_RO(uverbs_ids);
static struct kobj_attribute uar_budget_effective_attr =
	__ATTR_RO(uar_budget_effective);
static struct kobj_attribute refusals_attr = __ATTR_RO(refusals);

static const struct bin_attribute uuar_cgroups_attr = {
	.attr = { .name = "uuar_cgroups", .mode = 0644 },
	.read = sysfs_uuar_cgroups_read,
	.write = sysfs_uuar_cgroups_write,
};

static const struct bin_attribute uar_cgroup_limits_attr = {
	.attr = { .name = "uar_cgroup_limits", .mode = 0644 },
	.read = sysfs_uar_cgroup_limits_read,
	.write = sysfs_uar_cgroup_limits_write,
};

/* A device that is refused has the first attribute only. */
static struct attribute *device_attrs[] = {
	&attached_attr.attr,
	&abi_version_attr.attr,
	&uverbs_ids_attr.attr,
	&uar_in_use_attr.attr.attr,
	&uar_observed_attr.attr.attr,
	&uuar_fallbacks_attr.attr.attr,
	&xrc_domains_attr.attr.attr,
	&xrc_qps_attr.attr.attr,
	&xrc_registrations_attr.attr.attr,
	&refusals_attr.attr,
	&uuar_policy_attr.attr,
	&uuar_strict_attr.attr,
	&uuar_pages_attr.attr,
	&uar_budget_attr.attr,
	&uar_budget_effective_attr.attr,
	&uar_user_limit_attr.attr,
	&uuar_exempt_attr.attr,
	NULL,
};

static umode_t sysfs_device_attr_visible(struct kobject *kobj,
					 struct attribute *attr, int index)
{
	const struct mlx5_ep_device *edev = sysfs_to_edev(kobj);

	return index == 0 || edev->attached ? attr->mode : 0;
}

static const struct attribute_group device_group = {
	.attrs = device_attrs,
	.is_visible = sysfs_device_attr_visible,
};

static void sysfs_folder_release(struct kobject *kobj)
{
	kfree(sysfs_to_folder(kobj));
}

static const struct kobj_type folder_ktype = {
	.release = sysfs_folder_release,
	.sysfs_ops = &kobj_sysfs_ops,
};

/* Nobody reads or writes attributes in the folder when this returns. */
static void sysfs_remove_folder(struct folder *folder)
{
	list_del(&folder->node);
	kobject_del(&folder->kobj);
	kobject_put(&folder->kobj);
}

/* Count net namespaces that do not see the device. */
static void sysfs_note_unseen(struct mlx5_ep_device *edev,
			      const struct device *entry, int more)
{
	if (entry != &edev->ibdev->dev)
		WRITE_ONCE(edev->unseen, edev->unseen + more);
}

/**
 * mlx5_ep_sysfs_add() - make the folder "mlx5_ep" of an entry in the class
 * @edev: attached or refused device; if it was refused, attributes that need an
 *	attached device are left out
 * @entry: the ib_device's own entry, or one of another net namespace
 *
 * Called under the class mutex, as mlx5_ep_sysfs_remove() is. `attached` counts
 * the entries of other net namespaces whose folder could not be made. Sleeps.
 *
 * Return: 0; -ENOMEM, -EEXIST
 */
int mlx5_ep_sysfs_add(struct mlx5_ep_device *edev, struct device *entry)
{
	struct folder *folder;
	int ret;

	folder = kzalloc_obj(*folder, GFP_KERNEL);
	if (!folder) {
		sysfs_note_unseen(edev, entry, 1);
		return -ENOMEM;
	}
	folder->edev = edev;
	folder->entry = entry;
	list_add_tail(&folder->node, &edev->folders);
	compat_kobject_init(&folder->kobj, &folder_ktype);
	ret = kobject_add(&folder->kobj, &entry->kobj, "mlx5_ep");
	if (!ret)
		ret = sysfs_create_group(&folder->kobj, &device_group);
	if (!ret && edev->attached)
		ret = sysfs_create_bin_file(&folder->kobj, &uuar_cgroups_attr);
	if (!ret && edev->attached)
		ret = sysfs_create_bin_file(&folder->kobj,
					    &uar_cgroup_limits_attr);
	if (ret) {
		sysfs_remove_folder(folder);
		sysfs_note_unseen(edev, entry, 1);
	}
	return ret;
}

/**
 * mlx5_ep_sysfs_remove() - remove folders of a device
 * @edev: device of which mlx5_ep_sysfs_add() may have failed; its lock is not
 *	held, because the attributes take it
 * @entry: the entry of which the folder is removed; NULL: all entries
 *
 * Nobody reads or writes their attributes any more when this returns.
 */
void mlx5_ep_sysfs_remove(struct mlx5_ep_device *edev,
			  const struct device *entry)
{
	struct folder *folder, *next;
	bool found = false;

	list_for_each_entry_safe(folder, next, &edev->folders, node) {
		if (entry && folder->entry != entry)
			continue;
		sysfs_remove_folder(folder);
		found = true;
	}
	/* An entry from before the module was loaded may never have been tried. */
	if (entry && !found && edev->unseen)
		sysfs_note_unseen(edev, entry, -1);
}
