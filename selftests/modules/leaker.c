// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Loses memory when it is loaded. A run on the debug kernel must then fail. */
#include <linux/module.h>
#include <linux/slab.h>

static unsigned int objects = 1;
module_param(objects, uint, 0444);
MODULE_PARM_DESC(objects, "how many to lose");

static noinline int leaker_lose(void)
{
	void *object = kmalloc(77, GFP_KERNEL);

	/*
	 * Nothing keeps the pointer, and the compiler must not remove the
	 * allocation.
	 */
	OPTIMIZER_HIDE_VAR(object);
	return object ? 0 : -ENOMEM;
}

static int __init leaker_init(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < objects; i++)
		ret = leaker_lose();
	return ret;
}

static void __exit leaker_exit(void)
{
}

module_init(leaker_init);
module_exit(leaker_exit);

MODULE_DESCRIPTION("Leaks memory, for mlx5_ep's tests");
MODULE_LICENSE("Dual BSD/GPL");
