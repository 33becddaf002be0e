/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How a module for tests hears of mlx5 devices, as mlx5_ep does. */
#ifndef SELFTESTS_IB_CLASS_H
#define SELFTESTS_IB_CLASS_H

#include <rdma/ib_verbs.h>

/* Registers an interface with the class, which is private to ib_core. */
static inline int ib_class_register(struct class_interface *interface)
{
	struct dummy {
		struct ib_device ibdev;
	} *dummy = ib_alloc_device(dummy, ibdev);

	if (!dummy)
		return -ENOMEM;
	interface->class = dummy->ibdev.dev.class;
	ib_dealloc_device(&dummy->ibdev);
	return class_interface_register(interface);
}

/* The mlx5 device that a device of the class is; NULL: it is none */
static inline struct ib_device *ib_class_mlx5(struct device *dev)
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);

	return &ibdev->dev == dev &&
	       ibdev->ops.driver_id == RDMA_DRIVER_MLX5 ? ibdev : NULL;
}

#endif
