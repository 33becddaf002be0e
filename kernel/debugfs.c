// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * /sys/kernel/debug/mlx5_ep/<PCI device>/: tables of what is open now, for
 * people and for tests. A table is one line of column names, then one line for
 * each row. "-" stands for a value that is not known.
 *
 * A spinlock is held while a row is read, or some users, never while a whole table is
 * printed. So the rows are from moments that follow each other.
 */

#include <linux/debugfs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "debugfs.h"
#include "device.h"
#include "uuar/context.h"
#include "uuar/qp_list.h"
#include "uuar/qp_uuar.h"
#include "watch/notifier.h"
#include "watch/notifier_dev.h"
#include "xrc/xrc.h"

static struct dentry *root;

static const char *const source_names[] = {
	[MLX5_EP_POLICY_SOURCE_DEVICE] = "device",
	[MLX5_EP_POLICY_SOURCE_EXEMPT] = "exempt",
	[MLX5_EP_POLICY_SOURCE_CGROUP] = "cgroup",
	[MLX5_EP_POLICY_SOURCE_PROCESS] = "process",
	[MLX5_EP_POLICY_SOURCE_CONTEXT] = "context",
	[MLX5_EP_POLICY_SOURCE_FALLBACK] = "fallback",
};

static void debugfs_show_known(struct seq_file *s, u32 value, u32 unknown)
{
	if (value == unknown)
		seq_puts(s, " -");
	else
		seq_printf(s, " %u", value);
}

static int debugfs_contexts_show(struct seq_file *s, void *unused)
{
	struct mlx5_ep_device *edev = s->private;
	struct mlx5_ep_context_info info;
	struct mlx5_ep_context *ectx;

	seq_puts(s, "pid policy strict source managed static dynamic held low_latency qps placed used_pages used_uuars shared_uuars comm\n");
	mutex_lock(&edev->lock);
	list_for_each_entry(ectx, &edev->contexts, node) {
		mlx5_ep_context_info_get(ectx, &info);
		seq_printf(s, "%d %s %d %s %d %u %u %u %u %u %u %u %u %u ",
			   pid_nr(ectx->tgid),
			   mlx5_ep_uuar_policy_names[info.policy],
			   !!(info.flags & MLX5_EP_CONTEXT_STRICT),
			   source_names[info.source],
			   !!(info.flags & MLX5_EP_CONTEXT_MANAGED),
			   info.static_pages, info.dynamic_pages,
			   info.held_pages,
			   info.low_latency, info.qps, info.placed_qps,
			   info.used_pages, info.used_uuars, info.shared_uuars);
		/* A program's name may have newlines. */
		seq_escape(s, ectx->comm, "\n\\");
		seq_putc(s, '\n');
	}
	mutex_unlock(&edev->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_contexts);

static void debugfs_show_context_uuars(struct seq_file *s,
				       struct mlx5_ep_context *ectx)
{
	const struct mlx5_ep_uuar_table *table = ectx->table;
	struct mlx5_ep_uuar_info info;
	unsigned int i;

	for (i = 0; i < table->nr_pages * MLX5_EP_UUARS_PER_PAGE; i++) {
		spin_lock(&ectx->lock);
		mlx5_ep_qp_uuar_info_get(table, i, &info);
		spin_unlock(&ectx->lock);
		cond_resched();
		seq_printf(s, "%d", pid_nr(ectx->tgid));
		debugfs_show_known(s, info.uar, MLX5_EP_UAR_UNKNOWN);
		seq_printf(s, " %u %u %u %d %d\n", info.page, info.slot,
			   info.qps, !!(info.flags & MLX5_EP_UUAR_LOCKED),
			   !(info.flags & MLX5_EP_UUAR_NO_BLUEFLAME));
	}
}

static int debugfs_uuars_show(struct seq_file *s, void *unused)
{
	struct mlx5_ep_device *edev = s->private;
	struct mlx5_ep_context *ectx;

	seq_puts(s, "pid uar page slot qps locked blueflame\n");
	mutex_lock(&edev->lock);
	list_for_each_entry(ectx, &edev->contexts, node)
		if (ectx->table)
			debugfs_show_context_uuars(s, ectx);
	mutex_unlock(&edev->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_uuars);

static void debugfs_show_qp(struct seq_file *s,
			    const struct mlx5_ep_context *ectx,
			    const struct mlx5_ep_qp_info *info)
{
	const struct mlx5_ep_qp_uuar *uuar = &info->where;

	seq_printf(s, "%d ", pid_nr(ectx->tgid));
	if (info->qpn == MLX5_EP_QPN_UNKNOWN)
		seq_putc(s, '-');
	else
		seq_printf(s, "0x%x", info->qpn);
	debugfs_show_known(s, uuar->uar, MLX5_EP_UAR_UNKNOWN);
	debugfs_show_known(s, uuar->page, MLX5_EP_UAR_UNKNOWN);
	debugfs_show_known(s, uuar->slot, MLX5_EP_SLOT_UNKNOWN);
	debugfs_show_known(s, uuar->level, 0);
	debugfs_show_known(s, uuar->uuar_qps, 0);
	debugfs_show_known(s, uuar->page_qps, 0);
	seq_printf(s, " %s\n", mlx5_ep_qp_uuar_placer_names[uuar->placer]);
}

static void debugfs_show_context_qps(struct seq_file *s,
				     struct mlx5_ep_context *ectx)
{
	struct mlx5_ep_qp_cursor cursor;
	struct mlx5_ep_qp_info info;

	mlx5_ep_qp_list_begin(&cursor, ectx);
	while (!seq_has_overflowed(s) &&
	       mlx5_ep_qp_list_next(&cursor, &info, 1))
		debugfs_show_qp(s, ectx, &info);
	mlx5_ep_qp_list_end(&cursor);
}

static int debugfs_qps_show(struct seq_file *s, void *unused)
{
	struct mlx5_ep_device *edev = s->private;
	struct mlx5_ep_context *ectx;

	seq_puts(s, "pid qpn uar page slot level uuar_qps page_qps placer\n");
	mutex_lock(&edev->lock);
	list_for_each_entry(ectx, &edev->contexts, node)
		debugfs_show_context_qps(s, ectx);
	mutex_unlock(&edev->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_qps);

static int debugfs_xrc_show(struct seq_file *s, void *unused)
{
	struct mlx5_ep_device *edev = s->private;

	mlx5_ep_xrc_show(edev->xrc, s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_xrc);

static int debugfs_watches_show(struct seq_file *s, void *unused)
{
	mlx5_ep_notifier_show(s->private, s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_watches);

static int debugfs_dev_watches_show(struct seq_file *s, void *unused)
{
	mlx5_ep_notifier_dev_show(s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_dev_watches);

static void debugfs_show_user(struct seq_file *s,
			      const struct mlx5_ep_account *user)
{
	seq_printf(s, "%llu %u %u", user->id,
		   mlx5_ep_account_held(user, MLX5_EP_CONTEXTS),
		   mlx5_ep_account_held(user, MLX5_EP_UAR_PAGES));
	if (user->parent)
		seq_printf(s, " %llu\n", user->parent->id);
	else
		seq_puts(s, " -\n");
}

static int debugfs_users_show(struct seq_file *s, void *unused)
{
	struct mlx5_ep_device *edev = s->private;
	struct mlx5_ep_account *user;
	int bucket;

	seq_puts(s, "uid contexts pages owner\n");
	for (bucket = 0; bucket < HASH_SIZE(edev->users.table); bucket++) {
		spin_lock(&edev->users.lock);
		hlist_for_each_entry(user, &edev->users.table[bucket], node)
			debugfs_show_user(s, user);
		spin_unlock(&edev->users.lock);
		cond_resched();
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_users);

/**
 * mlx5_ep_debugfs_init() - make the folder "mlx5_ep", with what belongs to no device
 */
void mlx5_ep_debugfs_init(void)
{
	root = debugfs_create_dir("mlx5_ep", NULL);
	debugfs_create_file("watches", 0400, root, NULL,
			    &debugfs_dev_watches_fops);
}

/**
 * mlx5_ep_debugfs_fini() - remove the folder "mlx5_ep"
 */
void mlx5_ep_debugfs_fini(void)
{
	debugfs_remove_recursive(root);
}

/**
 * mlx5_ep_debugfs_add() - make the folder of an attached device
 * @edev: attached device; it stays valid until mlx5_ep_debugfs_remove()
 *
 * The folder has the name of the PCI device, since ib_devices are renamed. A
 * failure is ignored, as everywhere with debugfs.
 */
void mlx5_ep_debugfs_add(struct mlx5_ep_device *edev)
{
	edev->debugfs =
		debugfs_create_dir(dev_name(edev->ibdev->dev.parent), root);
	debugfs_create_file("contexts", 0400, edev->debugfs, edev,
			    &debugfs_contexts_fops);
	debugfs_create_file("uuars", 0400, edev->debugfs, edev,
			    &debugfs_uuars_fops);
	debugfs_create_file("qps", 0400, edev->debugfs, edev,
			    &debugfs_qps_fops);
	debugfs_create_file("xrc", 0400, edev->debugfs, edev,
			    &debugfs_xrc_fops);
	debugfs_create_file("watches", 0400, edev->debugfs, edev,
			    &debugfs_watches_fops);
	debugfs_create_file("users", 0400, edev->debugfs, edev,
			    &debugfs_users_fops);
}

/**
 * mlx5_ep_debugfs_remove() - remove the folder of a device
 * @edev: device whose folder is removed; one that has none (it was not
 *	attached) is allowed
 *
 * Nobody reads its files any more when this returns.
 */
void mlx5_ep_debugfs_remove(struct mlx5_ep_device *edev)
{
	debugfs_remove_recursive(edev->debugfs);
}
