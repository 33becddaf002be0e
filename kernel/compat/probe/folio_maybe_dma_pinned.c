// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Folios are asked whether they are pinned, since 5.17; 7.2 does not ask pages any more.
 */
#include <linux/mm.h>

bool probe(struct page *page);
bool probe(struct page *page)
{
	return folio_maybe_dma_pinned(page_folio(page));
}
