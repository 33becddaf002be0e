// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Holds up each call that creates a QP of an XRC domain, after ib_core has made the
 * QP findable by its number and before the caller knows of it.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <rdma/ib_verbs.h>

#define BIRTH_MS	500

static int birth_delay(struct kretprobe_instance *instance,
		       struct pt_regs *regs)
{
	struct ib_qp *qp = (void *)regs_return_value(regs);

	if (!IS_ERR_OR_NULL(qp) && qp->qp_type == IB_QPT_XRC_TGT)
		mdelay(BIRTH_MS);
	return 0;
}

static struct kretprobe birth_probe = {
	.kp.symbol_name = "ib_create_qp_user",
	.handler = birth_delay,
};

static int __init birth_delay_init(void)
{
	return register_kretprobe(&birth_probe);
}

static void __exit birth_delay_exit(void)
{
	unregister_kretprobe(&birth_probe);
}

module_init(birth_delay_init);
module_exit(birth_delay_exit);
MODULE_DESCRIPTION("Makes the creation of XRC QPs slow, for mlx5_ep's tests");
MODULE_LICENSE("Dual BSD/GPL");
