// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Before 6.4 (2243acd50a3b) add_dev and remove_dev were told the interface. */
#include <linux/device.h>

static int add_dev(struct device *dev, struct class_interface *intf)
{
	return 0;
}

static struct class_interface probe = { .add_dev = add_dev };
