// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Since 5.7 (bd2275eeed5b, 4981cdb063e3) an exporter says that it moves a dma-buf,
 * and an importer may map memory without pages. The kernel must have dma-bufs.
 */
#include <linux/dma-buf.h>

#if !IS_ENABLED(CONFIG_DMA_SHARED_BUFFER)
#error "no dma-bufs"
#endif

static void moved(struct dma_buf_attachment *attach)
{
}

struct dma_buf_attach_ops probe = {
	.allow_peer2peer = true,
	.move_notify = moved,
};
