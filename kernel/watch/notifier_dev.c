// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * /dev/mlx5_ep: notifiers (notifier.c) without a device. Every process may open it, as it
 * may open /dev/infiniband/uverbs*: a notifier tells a process about its own memory only.
 *
 * Such a notifier belongs to its file and ends with it. It knows no dma-bufs, and no events
 * of shared XRC receive QPs, which are objects of a device. Users have accounts of their own
 * here, and cgroups pay for the memory, as for notifiers of a device.
 *
 * @notifier_dev_lock protects the list. Its place is that of mlx5_ep_device.lock.
 */
#include <linux/anon_inodes.h>
#include <linux/compat.h>
#include <linux/fcntl.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/mlx5_ep_notifier.h>

#include "account/limit.h"
#include "account/user.h"
#include "compat/compat.h"
#include "watch/notifier_dev.h"
#include "watch/notifier_priv.h"

static_assert(sizeof(struct mlx5_ep_notifier_create) == 8);

static struct mlx5_ep_accounts notifier_dev_users;
static DEFINE_MUTEX(notifier_dev_lock);
static LIST_HEAD(notifier_dev_list);
static bool notifier_dev_registered;

static int notifier_dev_begin(struct mlx5_ep_notifier *notifier, u32 capacity)
{
	struct mlx5_ep_account *user = mlx5_ep_user_get(&notifier_dev_users);
	int ret;

	if (!user)
		return -ENOMEM;
	ret = mlx5_ep_notifier_begin(notifier, NULL, user, capacity);
	if (ret) {
		mlx5_ep_user_put(&notifier_dev_users, user);
		return ret;
	}
	mutex_lock(&notifier_dev_lock);
	list_add_tail(&notifier->node, &notifier_dev_list);
	mutex_unlock(&notifier_dev_lock);
	return 0;
}

static void notifier_dev_end(struct mlx5_ep_notifier *notifier)
{
	mutex_lock(&notifier_dev_lock);
	list_del(&notifier->node);
	mutex_unlock(&notifier_dev_lock);
	mlx5_ep_notifier_end(notifier, false);
	mlx5_ep_user_put(&notifier_dev_users, notifier->user);
	kfree(notifier);
}

static int notifier_dev_release(struct inode *inode, struct file *filp)
{
	notifier_dev_end(filp->private_data);
	return 0;
}

static const struct file_operations notifier_dev_file_fops = {
	NOTIFIER_FILE_OPERATIONS,
	.release = notifier_dev_release,
};

/* Returns a new file descriptor, or an errno. */
static int notifier_dev_create(u32 capacity)
{
	struct mlx5_ep_notifier *notifier;
	int ret;

	notifier = kzalloc_obj(*notifier, GFP_KERNEL_ACCOUNT);
	if (!notifier)
		return -ENOMEM;
	ret = notifier_dev_begin(notifier, capacity);
	if (ret) {
		kfree(notifier);
		return ret;
	}
	ret = anon_inode_getfd("[mlx5_ep_notifier]",
			       &notifier_dev_file_fops, notifier,
			       O_RDONLY | O_CLOEXEC);
	if (ret < 0)
		notifier_dev_end(notifier);
	return ret;
}

static long notifier_dev_ioctl(struct file *filp, unsigned int cmd,
			       unsigned long arg)
{
	struct mlx5_ep_notifier_create req;

	if (cmd != MLX5_EP_IOC_NOTIFIER_CREATE)
		return -ENOTTY;
	if (copy_from_user(&req, (void __user *)arg, sizeof(req)))
		return -EFAULT;
	if (req.flags)
		return -EINVAL;
	return notifier_dev_create(req.capacity);
}

static const struct file_operations notifier_dev_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = notifier_dev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static ssize_t abi_version_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", MLX5_EP_NOTIFIER_VERSION);
}
static DEVICE_ATTR_RO(abi_version);

static ssize_t refusals_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return mlx5_ep_limit_show_refusals(NULL, buf);
}
static DEVICE_ATTR_RO(refusals);

static struct attribute *notifier_dev_attrs[] = {
	&dev_attr_abi_version.attr,
	&dev_attr_refusals.attr,
	NULL,
};
ATTRIBUTE_GROUPS(notifier_dev);

static struct miscdevice notifier_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mlx5_ep",
	.mode = 0666,
	.fops = &notifier_dev_fops,
	.groups = notifier_dev_groups,
};

/**
 * mlx5_ep_notifier_dev_show() - print the notifiers of /dev/mlx5_ep
 * @seq: file "watches" in debugfs, one line per notifier
 *
 * May sleep.
 */
void mlx5_ep_notifier_dev_show(struct seq_file *seq)
{
	mutex_lock(&notifier_dev_lock);
	mlx5_ep_notifier_list(&notifier_dev_list, seq);
	mutex_unlock(&notifier_dev_lock);
}

/**
 * mlx5_ep_notifier_dev_init() - make /dev/mlx5_ep
 *
 * If that fails, one line of the log says so, and the module does without. Sleeps.
 */
void mlx5_ep_notifier_dev_init(void)
{
	int ret;

	mlx5_ep_accounts_init(&notifier_dev_users);
	ret = misc_register(&notifier_dev);
	notifier_dev_registered = !ret;
	if (ret)
		pr_warn("mlx5_ep: no /dev/mlx5_ep: %d\n", ret);
}

/**
 * mlx5_ep_notifier_dev_fini() - remove /dev/mlx5_ep
 *
 * Nobody has it open, and no notifier is left: each file holds the module. Sleeps.
 */
void mlx5_ep_notifier_dev_fini(void)
{
	if (notifier_dev_registered)
		misc_deregister(&notifier_dev);
}
