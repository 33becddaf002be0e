// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes sysfs have no memory for mlx5_ep's attribute uuar_cgroups, so many times as
 * the parameter says. mlx5_ep then cannot show its attributes.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/sysfs.h>

static int count = 1;
module_param(count, int, 0444);
MODULE_PARM_DESC(count, "how many folders shall fail");

static void *second_argument(struct pt_regs *regs)
{
#ifdef CONFIG_HAVE_FUNCTION_ARG_ACCESS_API
	return (void *)regs_get_kernel_argument(regs, 1);
#else
	/* Kernels before 4.20, on x86-64 */
	return (void *)regs->si;
#endif
}

/* A return value other than 0 leaves this call alone. */
static int folder_entered(struct kretprobe_instance *instance,
			  struct pt_regs *regs)
{
	const struct bin_attribute *attr = second_argument(regs);

	return strcmp(attr->attr.name, "uuar_cgroups") || count-- <= 0;
}

static int folder_returns(struct kretprobe_instance *instance,
			  struct pt_regs *regs)
{
	regs_set_return_value(regs, -ENOMEM);
	return 0;
}

static struct kretprobe folder_probe = {
	.kp.symbol_name = "sysfs_create_bin_file",
	.entry_handler = folder_entered,
	.handler = folder_returns,
};

static int __init folder_failer_init(void)
{
	return register_kretprobe(&folder_probe);
}

static void __exit folder_failer_exit(void)
{
	unregister_kretprobe(&folder_probe);
}

module_init(folder_failer_init);
module_exit(folder_failer_exit);
MODULE_DESCRIPTION("Makes mlx5_ep's folders in sysfs fail, for its tests");
MODULE_LICENSE("Dual BSD/GPL");
