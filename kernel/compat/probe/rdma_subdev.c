// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Since 6.11 (bca51197620a) a device may have sub-devices, of a type. */
#include <rdma/ib_verbs.h>

static int probe(struct ib_device *dev)
{
	return dev->type == RDMA_DEVICE_TYPE_SMI;
}
