// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The first object of a driver that counts which of its lines ran. It tells the module
 * gcov of the counts, which a kernel with gcov does by constructors.
 */
#include <linux/module.h>

struct gcov_info;

void __gcov_init(struct gcov_info *info);
int mlx5_ib_init_module(void);

struct gcov_info *gcov_begin[1] __section(".gcov_info");
extern struct gcov_info *gcov_end[1];

static int __init gcov_begin_load(void)
{
	struct gcov_info **info;

	/* The two arrays are the ends of one section. */
	for (info = gcov_begin + 1; info < gcov_end; info++) {
		if (*info)
			__gcov_init(*info);
	}
	return mlx5_ib_init_module();
}
module_init(gcov_begin_load);
