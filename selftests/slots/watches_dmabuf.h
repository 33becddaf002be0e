/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What dmabuf.c of kernel/watch/ takes beside watches_kernel.h: dma-bufs that
 * count their users and attachments, and the account of one user.
 */
#ifndef WATCHES_DMABUF_H
#define WATCHES_DMABUF_H

#define COMPAT_IMPORT_DMA_BUF	extern int fake_parameter
#define COMPAT_DMA_BUF_MOVED	move_notify

struct dma_resv {
	bool held;
};

struct dma_buf {
	size_t size;
	struct dma_resv *resv;
	int refs, attached;
	bool fixed;		/* the kernel maps it for each importer */
};

struct dma_buf_attachment {
	struct dma_buf *dmabuf;
	struct device *dev;
	const struct dma_buf_attach_ops *ops;
	void *importer_priv;
};

struct dma_buf_attach_ops {
	bool allow_peer2peer;
	void (*move_notify)(struct dma_buf_attachment *attach);
};

enum mlx5_ep_resource { MLX5_EP_DMABUF_WATCHES = 3 };

struct mlx5_ep_account {
	unsigned int held;
};

struct ib_device {
	struct device *dma_device;
};

struct mlx5_ep_device {
	struct ib_device *ibdev;
};

/* What a test sets and reads. */
static struct {
	struct dma_buf buf;	/* its number is 5 */
	struct dma_resv resv;	/* of the buffer */
	bool moves;		/* a move is under way; its end lets go of the lock */
	struct dma_buf_attachment *last;
	int refuses;		/* what attaching says; 0: it succeeds */
	void (*meanwhile)(void);	/* runs once where one detaches */
} exporter;

static struct dma_buf *dma_buf_get(int fd)
{
	may_sleep();
	if (fd != 5)
		return ERR_PTR(-EBADF);
	exporter.buf.refs++;
	exporter.buf.resv = &exporter.resv;
	return &exporter.buf;
}

static bool compat_dma_buf_is_fixed(struct dma_buf *buf)
{
	return buf->fixed;
}

static void dma_resv_lock(struct dma_resv *resv, void *context)
{
	may_sleep();
	fake.misuses += resv != &exporter.resv || resv->held || context;
	exporter.moves = false;
	resv->held = true;
}

static void dma_resv_unlock(struct dma_resv *resv)
{
	fake.misuses += !resv->held || fake.spins || exporter.buf.refs <= 0;
	resv->held = false;
}

static void get_dma_buf(struct dma_buf *buf)
{
	fake.misuses += buf->refs <= 0;
	buf->refs++;
}

static void dma_buf_put(struct dma_buf *buf)
{
	may_sleep();
	buf->refs--;
}

static struct dma_buf_attachment *
dma_buf_dynamic_attach(struct dma_buf *buf, struct device *dev,
		       const struct dma_buf_attach_ops *ops, void *priv)
{
	struct dma_buf_attachment *attach;

	may_sleep();
	if (exporter.refuses)
		return ERR_PTR(exporter.refuses);
	attach = calloc(1, sizeof(*attach));
	*attach = (struct dma_buf_attachment){ buf, dev, ops, priv };
	buf->attached++;
	exporter.last = attach;
	return attach;
}

static void dma_buf_detach(struct dma_buf *buf, struct dma_buf_attachment *attach)
{
	void (*meanwhile)(void) = exporter.meanwhile;

	may_sleep();
	exporter.meanwhile = NULL;
	if (meanwhile)
		meanwhile();
	fake.misuses += attach->dmabuf != buf || buf->refs <= 0;
	buf->attached--;
	free(attach);
}

static int mlx5_ep_user_charge(struct mlx5_ep_device *edev,
			       struct mlx5_ep_account *user,
			       enum mlx5_ep_resource resource, unsigned int number,
			       unsigned int limit)
{
	may_sleep();
	fake.misuses += !edev || resource != MLX5_EP_DMABUF_WATCHES;
	if (!user)
		return 0;
	if (user->held + number > limit)
		return -EDQUOT;
	user->held += number;
	return 0;
}

static void mlx5_ep_account_uncharge(struct mlx5_ep_account *user,
				     enum mlx5_ep_resource resource,
				     unsigned int number)
{
	fake.misuses += resource != MLX5_EP_DMABUF_WATCHES;
	if (user)
		user->held -= number;
}

#endif
