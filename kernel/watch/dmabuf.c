// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watches of dma-bufs: memory that its exporter may move or revoke.
 *
 * Each watch has an attachment of its own to the buffer, for the adapter's device,
 * by which it never maps the memory. Before an exporter moves or revokes the memory it
 * calls each attachment (Documentation/notifications.md has who does so). That makes
 * the word stale. Words, slots, generations and events are those of all watches
 * (watch.c); no tree has the watch, since it has no address.
 *
 * Older kernels map the memory of an exporter without .pin as an importer attaches, and
 * until that detaches. Such an exporter cannot move the memory, so nothing will be told:
 * there the watch holds the buffer, and has no attachment.
 *
 * What never happens:
 * - the exporter's call returns while the word is still armed: the word changes in
 *   the callback, under the reservation lock of the buffer;
 * - a word is armed while the memory moves: it is armed under the same lock. A move
 *   that began before, and called the attachment before there was a word, has ended;
 * - a watch or its buffer is used after it was armed: a thread that sees the word may
 *   delete the watch at once;
 * - a callback finds a watch that was deleted: it looks at mlx5_ep_dmabuf.w under
 *   the lock of the address space;
 * - an attachment outlives its notifier: fini waits until all are detached, before
 *   the device goes and before the account of the user does;
 * - an attachment ends in a callback, which holds the reservation lock that
 *   detaching takes.
 *
 * Locking: the reservation lock is taken under @reap_lock and under locks of uverbs,
 * and the lock of the address space under it.
 */
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "account/user.h"
#include "compat/compat.h"
#include "compat/dma_buf.h"
#include "device.h"
#include "watch/hit.h"

static_assert(sizeof(struct mlx5_ep_watch_dmabuf) == 32);
static_assert(sizeof(struct mlx5_ep_watch_dmabuf_resp) == 16);

static unsigned int dmabuf_watches_per_user = 16384;
module_param(dmabuf_watches_per_user, uint, 0644);
MODULE_PARM_DESC(dmabuf_watches_per_user,
	"watches of dma-bufs that a user may have on a device, more are refused with EDQUOT (default 16384)");

COMPAT_IMPORT_DMA_BUF;

/* The exporter is about to move or revoke the memory. Must not sleep for long. */
static void dmabuf_moved(struct dma_buf_attachment *attach)
{
	struct mlx5_ep_dmabuf *dmabuf = attach->importer_priv;
	struct mlx5_ep_watch_space *space = dmabuf->ws->space;
	struct mlx5_ep_watch *w;

	spin_lock(&space->lock);
	w = dmabuf->w;
	if (w && !w->resting && !space->mm_gone)
		mlx5_ep_watch_hit_report(w, w->start, watch_last(w),
					 MLX5_EP_WATCH_CAUSE_DMABUF);
	spin_unlock(&space->lock);
}

/* No watch maps the memory, so it may be of any kind. */
static const struct dma_buf_attach_ops dmabuf_attach_ops = {
	.allow_peer2peer = true,
	.COMPAT_DMA_BUF_MOVED = dmabuf_moved,
};

/* Looks the buffer up, which holds it, and checks the range. */
static struct dma_buf *dmabuf_get(const struct mlx5_ep_watch_dmabuf *req)
{
	struct dma_buf *buf;
	u64 end;

	if (req->flags || !req->length ||
	    check_add_overflow(req->offset, req->length, &end) ||
	    end > U64_MAX - PAGE_SIZE ||
	    PFN_UP(end) - PFN_DOWN(req->offset) > U32_MAX)
		return ERR_PTR(-EINVAL);
	buf = dma_buf_get(req->fd);
	if (!IS_ERR(buf) && end > buf->size) {
		dma_buf_put(buf);
		return ERR_PTR(-EINVAL);
	}
	return buf;
}

/* Detaches. No spinlock is held. */
static void dmabuf_free(struct mlx5_ep_dmabuf *dmabuf)
{
	if (dmabuf->attach)
		dma_buf_detach(dmabuf->buf, dmabuf->attach);
	dma_buf_put(dmabuf->buf);
	mlx5_ep_account_uncharge(dmabuf->user, MLX5_EP_DMABUF_WATCHES, 1);
	kfree(dmabuf);
}

/* Attaches to the buffer, unless that stays where it is. Returns 0 or errno. */
static int dmabuf_attach(struct mlx5_ep_dmabuf *dmabuf, struct device *dev)
{
	struct dma_buf_attachment *attach;

	if (compat_dma_buf_is_fixed(dmabuf->buf))
		return 0;
	attach = dma_buf_dynamic_attach(dmabuf->buf, dev, &dmabuf_attach_ops,
					dmabuf);
	if (IS_ERR(attach))
		return PTR_ERR(attach);
	dmabuf->attach = attach;
	return 0;
}

/* Holds the buffer that @req names, attaches to it, and charges the user. */
static struct mlx5_ep_dmabuf *
dmabuf_alloc(struct mlx5_ep_watches *ws, struct mlx5_ep_device *edev,
	     struct mlx5_ep_account *user,
	     const struct mlx5_ep_watch_dmabuf *req)
{
	struct mlx5_ep_dmabuf *dmabuf;
	struct dma_buf *buf;
	int ret;

	buf = dmabuf_get(req);
	if (IS_ERR(buf))
		return ERR_CAST(buf);
	dmabuf = kzalloc_obj(*dmabuf, WATCH_GFP);
	if (!dmabuf) {
		ret = -ENOMEM;
		goto err_put;
	}
	ret = mlx5_ep_user_charge(edev, user, MLX5_EP_DMABUF_WATCHES, 1,
				  READ_ONCE(dmabuf_watches_per_user));
	if (ret)
		goto err_free;
	dmabuf->user = user;
	dmabuf->ws = ws;
	dmabuf->buf = buf;
	ret = dmabuf_attach(dmabuf, edev->ibdev->dma_device);
	if (!ret)
		return dmabuf;

	mlx5_ep_account_uncharge(user, MLX5_EP_DMABUF_WATCHES, 1);
err_free:
	kfree(dmabuf);
err_put:
	dma_buf_put(buf);
	return ERR_PTR(ret);
}

static int dmabuf_arm_locked(struct mlx5_ep_watches *ws,
			     struct mlx5_ep_dmabuf *dmabuf,
			     const struct mlx5_ep_watch_dmabuf *req,
			     struct mlx5_ep_watch_dmabuf_resp *resp)
{
	struct mlx5_ep_watch *w;

	lockdep_assert_held(&ws->space->lock);
	if (ws->dead)
		return -EIO;
	if (list_empty(&ws->partial))
		return -EAGAIN;
	w = slots_take(ws);
	w->start = PFN_DOWN(req->offset);
	w->npages = PFN_UP(req->offset + req->length) - w->start;
	w->dmabuf = dmabuf;
	slots_begin(ws, w, req->cookie, true);
	dmabuf->w = w;
	resp->slot = watch_chunk(w)->base + w->index;
	resp->word = slots_arm(ws, w);
	return 0;
}

/*
 * Arms a watch for an attachment, when the buffer does not move. Once it is armed another
 * thread may delete it, with @dmabuf, and close the buffer. Returns 0; -EAGAIN to grow;
 * -EIO.
 */
static int dmabuf_arm(struct mlx5_ep_watches *ws,
		      struct mlx5_ep_dmabuf *dmabuf,
		      const struct mlx5_ep_watch_dmabuf *req,
		      struct mlx5_ep_watch_dmabuf_resp *resp)
{
	struct dma_buf *buf = dmabuf->buf;
	int ret;

	get_dma_buf(buf);
	dma_resv_lock(buf->resv, NULL);
	spin_lock(&ws->space->lock);
	ret = dmabuf_arm_locked(ws, dmabuf, req, resp);
	spin_unlock(&ws->space->lock);
	dma_resv_unlock(buf->resv);
	dma_buf_put(buf);
	return ret;
}

/**
 * mlx5_ep_watch_dmabuf_add() - watch a range of a dma-buf
 * @ws: used by the caller
 * @edev: device of the notifier, attached during the call
 * @user: for whom the watch counts, until @ws are given to
 *	mlx5_ep_watches_fini(); may be NULL
 * @req: buffer, offset and length, as the caller of the method wrote them
 * @resp: filled in
 *
 * When it has returned, the word changes before the exporter moves or revokes the
 * memory. Sleeps.
 *
 * Return: 0, or an errno as uapi/rdma/mlx5_ep_user_ioctl_verbs.h says
 */
int mlx5_ep_watch_dmabuf_add(struct mlx5_ep_watches *ws,
			     struct mlx5_ep_device *edev,
			     struct mlx5_ep_account *user,
			     const struct mlx5_ep_watch_dmabuf *req,
			     struct mlx5_ep_watch_dmabuf_resp *resp)
{
	struct mlx5_ep_dmabuf *dmabuf;
	int ret;

	dmabuf = dmabuf_alloc(ws, edev, user, req);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	do {
		ret = dmabuf_arm(ws, dmabuf, req, resp);
		if (ret != -EAGAIN)
			break;
		ret = mlx5_ep_watch_slots_grow(ws);
	} while (!ret);
	if (ret)
		dmabuf_free(dmabuf);
	return ret;
}

static struct mlx5_ep_dmabuf *dmabuf_next_dropped(struct mlx5_ep_watches *ws)
{
	struct mlx5_ep_dmabuf *dmabuf;

	spin_lock(&ws->space->lock);
	dmabuf = list_first_entry_or_null(&ws->dmabufs, struct mlx5_ep_dmabuf,
					  node);
	if (dmabuf)
		list_del(&dmabuf->node);
	spin_unlock(&ws->space->lock);
	return dmabuf;
}

/**
 * mlx5_ep_watch_dmabuf_reap() - detach the dma-bufs of watches that were deleted
 * @ws: used by the caller, or at their end; the lock of their address space is not
 *	held
 *
 * When it has returned, all that were deleted before are detached, by whatever
 * thread. Sleeps.
 */
void mlx5_ep_watch_dmabuf_reap(struct mlx5_ep_watches *ws)
{
	struct mlx5_ep_dmabuf *dmabuf;

	mutex_lock(&ws->reap_lock);
	while ((dmabuf = dmabuf_next_dropped(ws)))
		dmabuf_free(dmabuf);
	mutex_unlock(&ws->reap_lock);
}
