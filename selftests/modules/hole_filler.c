// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes get_user_pages_unlocked() answer with a page where FOLL_DUMP finds a hole, as a
 * kernel would that fills what is looked at.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ptrace.h>

/* The third argument is the pages, the fourth the flags. */
static unsigned long hole_argument(struct pt_regs *regs, unsigned int number)
{
#ifdef CONFIG_HAVE_FUNCTION_ARG_ACCESS_API
	return regs_get_kernel_argument(regs, number);
#else
	/* Kernels before 4.20, on x86-64 */
	return number == 2 ? regs->dx : regs->cx;
#endif
}

/* A return value other than 0 leaves this call alone. */
static int hole_entered(struct kretprobe_instance *instance,
			struct pt_regs *regs)
{
	struct page ***pages = (void *)instance->data;

	*pages = (void *)hole_argument(regs, 2);
	return !*pages || !(hole_argument(regs, 3) & FOLL_DUMP);
}

static int hole_returns(struct kretprobe_instance *instance,
			struct pt_regs *regs)
{
	struct page ***pages = (void *)instance->data;

	if ((long)regs_return_value(regs) > 0)
		return 0;
	get_page(ZERO_PAGE(0));
	**pages = ZERO_PAGE(0);
	regs_set_return_value(regs, 1);
	return 0;
}

static struct kretprobe hole_probe = {
	.kp.symbol_name = "get_user_pages_unlocked",
	.entry_handler = hole_entered,
	.handler = hole_returns,
	.data_size = sizeof(struct page **),
};

static int __init hole_filler_init(void)
{
	return register_kretprobe(&hole_probe);
}

static void __exit hole_filler_exit(void)
{
	unregister_kretprobe(&hole_probe);
}

module_init(hole_filler_init);
module_exit(hole_filler_exit);
MODULE_DESCRIPTION("Makes holes of memory look filled, for mlx5_ep's tests");
MODULE_LICENSE("Dual BSD/GPL");
