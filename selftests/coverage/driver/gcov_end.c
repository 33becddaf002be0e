// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The last object of a driver that counts which of its lines ran: see gcov_begin.c.
 */
#include <linux/module.h>

struct gcov_info;

extern struct gcov_info *gcov_end[1];
struct gcov_info *gcov_end[1] __section(".gcov_info");
