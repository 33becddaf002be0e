// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Since 6.16 (97d06802d10a) callbacks are told a const bin_attribute. */
#include <linux/sysfs.h>

static ssize_t probe_read(struct file *file, struct kobject *kobj,
			  const struct bin_attribute *attr, char *buf,
			  loff_t pos, size_t count)
{
	return 0;
}

struct bin_attribute probe = { .read = probe_read };
