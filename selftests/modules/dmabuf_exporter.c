// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Exports dma-bufs of system memory, and moves or revokes them when it is asked to,
 * as the driver of a GPU does. A buffer has two sets of pages. A move makes the other
 * set the one that is mapped from then on.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat/compat.h"
#include "compat/dma_buf.h"
#include "dmabuf_exporter.h"

#define MAX_PAGES	4096

COMPAT_IMPORT_DMA_BUF;

#if HAVE_DMA_BUF_INVALIDATE_MAPPINGS
#define tell_importers	dma_buf_invalidate_mappings
#else
#define tell_importers	dma_buf_move_notify
#endif

static atomic_t exporter_buffers;

/**
 * struct exported - a buffer; its reservation lock protects it
 * @flags: enum exporter_flags
 * @npages: length
 * @set: which pages are mapped, 0 or 1
 * @pinned: importers that forbid a move
 * @mapped: importers that have it mapped
 * @maps: times that it was mapped
 * @attachments: importers
 * @revoked: cannot be mapped any more
 * @pages: both sets
 */
struct exported {
	u32 flags;
	unsigned int npages;
	unsigned int set;
	unsigned int pinned;
	unsigned int mapped;
	unsigned int maps;
	atomic_t attachments;
	bool revoked;
	struct page *pages[];
};

static void dmabuf_exporter_fill(struct exported *ex, u8 byte)
{
	unsigned int i;

	for (i = 0; i < ex->npages; i++)
		memset(page_address(ex->pages[ex->set * ex->npages + i]), byte,
		       PAGE_SIZE);
}

static int exported_attach(struct dma_buf *buf,
			   struct dma_buf_attachment *attach)
{
	struct exported *ex = buf->priv;

	if (ex->flags & EXPORTER_REFUSES)
		return -EOPNOTSUPP;
	atomic_inc(&ex->attachments);
	return 0;
}

static void exported_detach(struct dma_buf *buf,
			    struct dma_buf_attachment *attach)
{
	struct exported *ex = buf->priv;

	atomic_dec(&ex->attachments);
}

static int exported_pin(struct dma_buf_attachment *attach)
{
	struct exported *ex = attach->dmabuf->priv;

	ex->pinned++;
	return 0;
}

static void exported_unpin(struct dma_buf_attachment *attach)
{
	struct exported *ex = attach->dmabuf->priv;

	ex->pinned--;
}

static struct sg_table *exported_map(struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	struct exported *ex = attach->dmabuf->priv;
	struct sg_table *sgt;
	int ret;

	if (ex->revoked)
		return ERR_PTR(-ENODEV);
	sgt = kzalloc_obj(*sgt, GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table_from_pages(sgt, ex->pages + ex->set * ex->npages,
					ex->npages, 0,
					(size_t)ex->npages << PAGE_SHIFT,
					GFP_KERNEL);
	if (ret)
		goto err_free;
	ret = dma_map_sgtable(attach->dev, sgt, dir, 0);
	if (ret)
		goto err_table;
	ex->mapped++;
	ex->maps++;
	return sgt;

err_table:
	sg_free_table(sgt);
err_free:
	kfree(sgt);
	return ERR_PTR(ret);
}

static void exported_unmap(struct dma_buf_attachment *attach,
			   struct sg_table *sgt, enum dma_data_direction dir)
{
	struct exported *ex = attach->dmabuf->priv;

	ex->mapped--;
	dma_unmap_sgtable(attach->dev, sgt, dir, 0);
	sg_free_table(sgt);
	kfree(sgt);
}

static void exported_free(struct exported *ex)
{
	unsigned int i;

	for (i = 0; i < 2 * ex->npages && ex->pages[i]; i++)
		__free_page(ex->pages[i]);
	kvfree(ex);
}

static void exported_release(struct dma_buf *buf)
{
	exported_free(buf->priv);
	atomic_dec(&exporter_buffers);
}

static const struct dma_buf_ops exported_ops = {
	.attach = exported_attach,
	.detach = exported_detach,
	.pin = exported_pin,
	.unpin = exported_unpin,
	.map_dma_buf = exported_map,
	.unmap_dma_buf = exported_unmap,
	.release = exported_release,
};

static const struct dma_buf_ops exported_no_pin_ops = {
	.attach = exported_attach,
	.detach = exported_detach,
	.map_dma_buf = exported_map,
	.unmap_dma_buf = exported_unmap,
	.release = exported_release,
};

static struct exported *exported_alloc(u64 size, u32 flags)
{
	unsigned int npages = size >> PAGE_SHIFT, i;
	struct exported *ex;

	if (!npages || npages > MAX_PAGES || offset_in_page(size))
		return ERR_PTR(-EINVAL);
	ex = kvzalloc(struct_size(ex, pages, 2 * npages), GFP_KERNEL);
	if (!ex)
		return ERR_PTR(-ENOMEM);
	ex->flags = flags;
	ex->npages = npages;
	for (i = 0; i < 2 * npages; i++) {
		ex->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!ex->pages[i]) {
			exported_free(ex);
			return ERR_PTR(-ENOMEM);
		}
	}
	return ex;
}

static int exporter_create(struct exporter_create *req)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct exported *ex = exported_alloc(req->size, req->flags);
	struct dma_buf *buf;

	if (IS_ERR(ex))
		return PTR_ERR(ex);
	info.ops = req->flags & (EXPORTER_STATIC | EXPORTER_NO_PIN) ?
			   &exported_no_pin_ops :
			   &exported_ops;
	info.size = req->size;
	info.flags = O_RDWR | O_CLOEXEC;
	info.priv = ex;
	buf = dma_buf_export(&info);
	if (IS_ERR(buf)) {
		exported_free(ex);
		return PTR_ERR(buf);
	}
	atomic_inc(&exporter_buffers);
	req->fd = dma_buf_fd(buf, O_CLOEXEC);
	if (req->fd < 0) {
		dma_buf_put(buf);
		return req->fd;
	}
	return 0;
}

/* Holds the buffer, if it is one of ours. */
static struct dma_buf *exporter_get(int fd)
{
	struct dma_buf *buf = dma_buf_get(fd);

	if (IS_ERR(buf) || buf->ops == &exported_ops ||
	    buf->ops == &exported_no_pin_ops)
		return buf;
	dma_buf_put(buf);
	return ERR_PTR(-EINVAL);
}

static int exporter_move(const struct exporter_move *req)
{
	struct dma_buf *buf = exporter_get(req->fd);
	struct exported *ex;
	int ret = 0;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ex = buf->priv;
	dma_resv_lock(buf->resv, NULL);
	if (ex->pinned || (ex->flags & EXPORTER_STATIC)) {
		ret = -EBUSY;
		goto out_unlock;
	}
	if (!(ex->flags & EXPORTER_SILENT))
		tell_importers(buf);
	if (req->slow_ms)
		msleep(req->slow_ms);
	ex->revoked |= !!req->revoke;
	ex->set = !ex->set;
	dmabuf_exporter_fill(ex, req->byte);

out_unlock:
	dma_resv_unlock(buf->resv);
	dma_buf_put(buf);
	return ret;
}

static int exporter_query(struct exporter_query *req)
{
	struct dma_buf *buf;
	struct exported *ex;

	req->buffers = atomic_read(&exporter_buffers);
	req->attachments = 0;
	req->mapped = 0;
	req->maps = 0;
	req->attach_maps = HAVE_DMA_BUF_ATTACH_MAPS;
	if (req->fd < 0)
		return 0;
	buf = exporter_get(req->fd);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ex = buf->priv;
	dma_resv_lock(buf->resv, NULL);
	req->attachments = atomic_read(&ex->attachments);
	req->mapped = ex->mapped;
	req->maps = ex->maps;
	dma_resv_unlock(buf->resv);
	dma_buf_put(buf);
	return 0;
}

static long exporter_ioctl(struct file *filp, unsigned int cmd,
			   unsigned long arg)
{
	union {
		struct exporter_create create;
		struct exporter_move move;
		struct exporter_query query;
	} req;
	int ret;

	if (cmd != EXPORTER_CREATE && cmd != EXPORTER_MOVE &&
	    cmd != EXPORTER_QUERY)
		return -ENOTTY;
	if (copy_from_user(&req, (void __user *)arg, _IOC_SIZE(cmd)))
		return -EFAULT;
	if (cmd == EXPORTER_MOVE)
		return exporter_move(&req.move);
	ret = cmd == EXPORTER_CREATE ? exporter_create(&req.create) :
				       exporter_query(&req.query);
	if (!ret && copy_to_user((void __user *)arg, &req, _IOC_SIZE(cmd)))
		return -EFAULT;
	return ret;
}

static const struct file_operations exporter_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = exporter_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice exporter_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "dmabuf_exporter",
	.fops = &exporter_fops,
};
module_misc_device(exporter_device);

MODULE_DESCRIPTION("Exports dma-bufs that can be moved, for mlx5_ep's tests");
MODULE_LICENSE("Dual BSD/GPL");
