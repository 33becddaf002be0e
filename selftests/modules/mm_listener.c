// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listens to an address space and does nothing, so that a benchmark can measure
 * what the kernel's own part of an mmu notifier costs. A process that writes one
 * of these words
 *
 *	none	callbacks for nothing but the end of the address space
 *	start	that an invalidation begins
 *	both	that it begins and that it has ended
 *	range	an interval notifier of memory that is never unmapped
 *	slow	that an invalidation begins; one that begins at SLOW_ADDR is held
 *		up for three seconds, and with it everybody who waits for the
 *		callbacks of any address space to end
 *	hold	likewise, until any process writes "go" to the same file; those that
 *		begin behind SLOW_ADDR in its 16 MiB until one writes "all"; for
 *		at most a minute
 *
 * to /dev/mm_listener is listened to until it closes the file.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* mmap() never returns this address, because mmap_min_addr is above it. */
#define RANGE_ADDR	0
#define RANGE_SIZE	PAGE_SIZE

#define SLOW_ADDR	0x600000000000ul
#define SLOW_MS		3000
#define HOLD_MS		60000
#define HOLD_SIZE	SZ_16M

struct mm_listener {
	struct mmu_notifier mn;
	struct mmu_interval_notifier interval;
	struct mm_struct *mm;	/* that @mn follows */
	bool ranged;
	struct completion go, all;	/* of "hold" */
};

static int listener_start(struct mmu_notifier *mn,
			  const struct mmu_notifier_range *range)
{
	return 0;
}

static int listener_slow(struct mmu_notifier *mn,
			 const struct mmu_notifier_range *range)
{
	if (range->start == SLOW_ADDR && mmu_notifier_range_blockable(range))
		msleep(SLOW_MS);
	return 0;
}

static int listener_hold(struct mmu_notifier *mn,
			 const struct mmu_notifier_range *range)
{
	struct mm_listener *listener =
		container_of(mn, struct mm_listener, mn);

	if (range->start >= SLOW_ADDR &&
	    range->start < SLOW_ADDR + HOLD_SIZE &&
	    mmu_notifier_range_blockable(range))
		wait_for_completion_timeout(range->start == SLOW_ADDR ?
						    &listener->go :
						    &listener->all,
					    msecs_to_jiffies(HOLD_MS));
	return 0;
}

static void listener_end(struct mmu_notifier *mn,
			 const struct mmu_notifier_range *range)
{
}

static bool listener_invalidate(struct mmu_interval_notifier *interval,
				const struct mmu_notifier_range *range,
				unsigned long seq)
{
	return true;
}

static const struct mmu_interval_notifier_ops listener_interval_ops = {
	.invalidate = listener_invalidate,
};

static const struct {
	const char *word;
	struct mmu_notifier_ops ops;
} listener_kinds[] = {
	{ "none", { } },
	{ "start", { .invalidate_range_start = listener_start } },
	{ "hold", { .invalidate_range_start = listener_hold } },
	{ "slow", { .invalidate_range_start = listener_slow } },
	{ "both", {
		.invalidate_range_start = listener_start,
		.invalidate_range_end = listener_end,
	} },
};

static ssize_t listener_write(struct file *filp, const char __user *buf,
			      size_t size, loff_t *pos)
{
	struct mm_listener *listener = filp->private_data;
	char word[8] = "";
	unsigned int i;
	int ret = -EINVAL;

	if (size >= sizeof(word) || copy_from_user(word, buf, size))
		return -EINVAL;
	if (listener && sysfs_streq(word, "go")) {
		complete_all(&listener->go);
		return size;
	}
	if (listener && sysfs_streq(word, "all")) {
		complete_all(&listener->all);
		return size;
	}
	if (listener)
		return -EBUSY;
	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return -ENOMEM;
	init_completion(&listener->go);
	init_completion(&listener->all);
	if (sysfs_streq(word, "range")) {
		listener->ranged = true;
		ret = mmu_interval_notifier_insert(&listener->interval,
						   current->mm, RANGE_ADDR,
						   RANGE_SIZE,
						   &listener_interval_ops);
	}
	for (i = 0; i < ARRAY_SIZE(listener_kinds); i++) {
		if (!sysfs_streq(word, listener_kinds[i].word))
			continue;
		listener->mn.ops = &listener_kinds[i].ops;
		listener->mm = current->mm;
		ret = mmu_notifier_register(&listener->mn, current->mm);
	}
	if (ret) {
		kfree(listener);
		return ret;
	}
	filp->private_data = listener;
	return size;
}

static int listener_release(struct inode *inode, struct file *filp)
{
	struct mm_listener *listener = filp->private_data;

	if (!listener)
		return 0;
	if (listener->ranged)
		mmu_interval_notifier_remove(&listener->interval);
	else
		mmu_notifier_unregister(&listener->mn, listener->mm);
	kfree(listener);
	return 0;
}

static int listener_open(struct inode *inode, struct file *filp)
{
	/* misc_open() has stored the device there. */
	filp->private_data = NULL;
	return 0;
}

static const struct file_operations listener_fops = {
	.owner = THIS_MODULE,
	.open = listener_open,
	.write = listener_write,
	.release = listener_release,
};

static struct miscdevice listener_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mm_listener",
	.fops = &listener_fops,
};
module_misc_device(listener_device);

MODULE_DESCRIPTION("Listens to an address space, for mlx5_ep's benchmarks");
MODULE_LICENSE("Dual BSD/GPL");
