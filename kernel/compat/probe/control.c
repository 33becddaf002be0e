// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Must compile everywhere: the flags and the headers are right. */
#include <linux/device.h>
#include <linux/mm.h>
#include <rdma/ib_verbs.h>

struct class_interface probe;

static int probe_function(struct ib_device *dev)
{
	return dev->index;
}
