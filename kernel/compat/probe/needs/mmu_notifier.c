// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Needs: notifications that mapped memory changes (CONFIG_MMU_NOTIFIER). */
#include <linux/mmu_notifier.h>

static void probe(struct mmu_notifier *notifier)
{
	mmu_notifier_put(notifier);
}
