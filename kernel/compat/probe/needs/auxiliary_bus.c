// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Needs: mlx5_ib as a driver of the auxiliary bus (since 5.11). */
#include <linux/auxiliary_bus.h>

static struct auxiliary_driver probe;
