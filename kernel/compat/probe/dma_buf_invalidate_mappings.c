// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* 7.2 has this name for move_notify, and 6.12 does not. */
#include <linux/dma-buf.h>

#if !IS_ENABLED(CONFIG_DMA_SHARED_BUFFER)
#error "no dma-bufs"
#endif

static void moved(struct dma_buf_attachment *attach)
{
}

struct dma_buf_attach_ops probe = {
	.allow_peer2peer = true,
	.invalidate_mappings = moved,
};
