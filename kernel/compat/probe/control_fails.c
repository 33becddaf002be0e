// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Must not compile: what the kernel lacks is an error. */
#include <linux/device.h>
#include <linux/mm.h>
#include <rdma/ib_verbs.h>

static int probe(void)
{
	return mlx5_ep_no_such_function();
}
