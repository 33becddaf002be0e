/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The page frame behind a page of a VM_PFNMAP mapping.
 */
#ifndef MLX5_EP_VMA_PFN_H
#define MLX5_EP_VMA_PFN_H

#include <linux/mm.h>
#include <linux/mmu_context.h>

static inline int mlx5_ep_vma_pfn(struct vm_area_struct *vma,
				  unsigned long addr, unsigned long *pfn)
{
	struct follow_pfnmap_args args = { .vma = vma, .address = addr };
	int ret = follow_pfnmap_start(&args);

	if (ret)
		return ret;
	*pfn = args.pfn;
	follow_pfnmap_end(&args);
	return 0;
}

#endif
