// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's code for gcov as a module.
 */
#include <linux/module.h>

int gcov_base_init_module(void);
int gcov_fs_init_module(void);

static int __init gcov_load(void)
{
	return gcov_base_init_module() ?: gcov_fs_init_module();
}
module_init(gcov_load);

MODULE_DESCRIPTION("gcov of modules on a kernel without it");
MODULE_LICENSE("GPL");
