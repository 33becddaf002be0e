// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Since 5.8 (dadbb612f6e5). */
#include <linux/mm.h>

static int probe(unsigned long addr, struct page **pages)
{
	return get_user_pages_fast_only(addr, 1, FOLL_FORCE, pages);
}
