/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tagged addresses. Apart from compat.h, because a test of the host includes it: no
 * kernel of the lab has an address space with tags (CONFIG_ADDRESS_MASKING of x86 is
 * off in Debian's kernels, and QEMU's TCG has no LAM).
 */
#ifndef MLX5_EP_COMPAT_UNTAGGED_H
#define MLX5_EP_COMPAT_UNTAGGED_H

/*
 * Removes the tag of an address of the caller's. untagged_addr() of x86 needs a
 * variable that modules cannot use; the mask of the address space is the same
 * (since 6.4: 82721d8b25d7, "x86/mm: Handle LAM on context switch").
 */
static inline u64 compat_untagged_addr(u64 addr)
{
#ifdef mm_untag_mask
	return addr & mm_untag_mask(current->mm);
#elif defined(CONFIG_X86)
	return addr;
#else
	return untagged_addr(addr);
#endif
}

#endif
