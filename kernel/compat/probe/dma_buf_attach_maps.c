// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel keeps a mapping for an importer, which it makes when a dynamic importer
 * attaches to what an exporter without .pin gives: 6.12 has the field, 7.2 has not. The
 * kernel must have dma-bufs.
 */
#include <linux/dma-buf.h>

#if !IS_ENABLED(CONFIG_DMA_SHARED_BUFFER)
#error "no dma-bufs"
#endif

struct sg_table *probe(const struct dma_buf_attachment *attach);
struct sg_table *probe(const struct dma_buf_attachment *attach)
{
	return attach->sgt;
}
