// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Since 6.12 (6da8e9634bb7); follow_pfn() went with b0a1c0d0edcd. */
#include <linux/mm.h>

static int probe(struct follow_pfnmap_args *args)
{
	int ret = follow_pfnmap_start(args);

	if (!ret)
		follow_pfnmap_end(args);
	return ret;
}
