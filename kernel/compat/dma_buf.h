/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * dma-bufs, whose exporters say that they move or revoke the memory. Where the
 * kernel has no such thing, a dma-buf cannot be looked up.
 */
#ifndef MLX5_EP_COMPAT_DMA_BUF_H
#define MLX5_EP_COMPAT_DMA_BUF_H

#include <linux/err.h>
#include <linux/module.h>
#include <linux/types.h>

#include "probed.h"

#if HAVE_DMA_BUF_INVALIDATE_MAPPINGS || HAVE_DMA_BUF_MOVE_NOTIFY
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>

#define COMPAT_HAS_DMA_BUF	true

/*
 * MODULE_IMPORT_NS() takes a string since 6.13 (cdd30ebb1b9f), a bare name before:
 * drop with 6.12.
 */
#define COMPAT_IMPORT_DMA_BUF	MODULE_INFO(import_ns, "DMA_BUF")

/* The callback has another name in 6.12: drop with it. */
#if HAVE_DMA_BUF_INVALIDATE_MAPPINGS
#define COMPAT_DMA_BUF_MOVED	invalidate_mappings
#else
#define COMPAT_DMA_BUF_MOVED	move_notify
#endif

/*
 * May its exporter neither move the buffer nor take it back from an importer? So it is
 * where the kernel maps the buffer as an importer attaches, and until that detaches:
 * 6.12 does so where the exporter has no .pin. Drop with it.
 */
static inline bool compat_dma_buf_is_fixed(struct dma_buf *buf)
{
	return HAVE_DMA_BUF_ATTACH_MAPS && !dma_buf_is_dynamic(buf);
}

#else /* Some configurations have none: nothing to drop. */

#define COMPAT_HAS_DMA_BUF	false
#define COMPAT_IMPORT_DMA_BUF	MODULE_INFO(lacks, "dma-buf")
#define COMPAT_DMA_BUF_MOVED	moved

struct dma_resv;
struct ww_acquire_ctx;

struct dma_buf {
	size_t size;
	struct dma_resv *resv;
};

struct dma_buf_attachment {
	struct dma_buf *dmabuf;
	void *importer_priv;
};

struct dma_buf_attach_ops {
	bool allow_peer2peer;
	void (*moved)(struct dma_buf_attachment *attach);
};

static inline struct dma_buf *dma_buf_get(int fd)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct dma_buf_attachment *
dma_buf_dynamic_attach(struct dma_buf *dmabuf, struct device *dev,
		       const struct dma_buf_attach_ops *ops, void *priv)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void dma_buf_detach(struct dma_buf *dmabuf,
				  struct dma_buf_attachment *attach)
{
}

static inline void get_dma_buf(struct dma_buf *dmabuf)
{
}

static inline void dma_buf_put(struct dma_buf *dmabuf)
{
}

static inline int dma_resv_lock(struct dma_resv *obj,
				struct ww_acquire_ctx *ctx)
{
	return 0;
}

static inline void dma_resv_unlock(struct dma_resv *obj)
{
}

static inline bool compat_dma_buf_is_fixed(struct dma_buf *buf)
{
	return false;
}

#endif

#endif
