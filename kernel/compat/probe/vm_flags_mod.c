// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Since 6.3 (bc292ab00f6c); before, vm_flags is written directly. */
#include <linux/mm.h>

static void probe(struct vm_area_struct *vma)
{
	vm_flags_mod(vma, VM_DONTCOPY, VM_MAYWRITE);
}
