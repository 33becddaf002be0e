// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Change a few bytes of a caller's request for the time of one driver call.
 *
 * The driver reads the request from user memory (udata->inbuf), so the change
 * must be made there. In the caller's own buffer where it can be written, and
 * undone after the call: that costs next to nothing. Else in a copy on a page
 * that is mapped for the call, with udata->inbuf pointing at it meanwhile.
 *
 * Either way another thread of the caller can see and overwrite the bytes while
 * the driver reads them. So only values may be put there that the caller could
 * have passed itself, and what another thread makes of them harms nobody but
 * that process. mlx5_ep_request_restore() tells whether they were still there
 * at the end, so that no answer is given that the driver does not stand behind.
 *
 * udata itself is never copied: uverbs finds its bundle around it.
 */

#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "request.h"

/* A request of uverbs is no longer (struct uverbs_attr.len is 16 bits wide). */
#define REQUEST_MAX SZ_64K

static int patch_in_place(struct mlx5_ep_request *req)
{
	void __user *at = (void __user *)req->inbuf + req->offset;

	size_t left = copy_to_user(at, req->is, req->len);

	if (!left)
		return 0;
	/* Undo what was written in front of a page that cannot be. */
	left = copy_to_user(at, req->was, req->len - left);
	return -EFAULT;
}

static int patch_copy(struct mlx5_ep_request *req)
{
	size_t inlen = req->udata->inlen;
	void *buf;
	int ret;

	if (inlen > REQUEST_MAX)
		return -EFAULT;
	buf = vmemdup_user(req->inbuf, inlen);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	memcpy(buf + req->offset, req->is, req->len);

	req->copy_len = PAGE_ALIGN(inlen);
	req->copy = vm_mmap(NULL, 0, req->copy_len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, 0);
	if (IS_ERR_VALUE(req->copy)) {
		ret = (int)req->copy;
		goto out_free;
	}
	ret = 0;
	if (copy_to_user((void __user *)req->copy, buf, inlen)) {
		vm_munmap(req->copy, req->copy_len);
		ret = -EFAULT;
		goto out_free;
	}
	req->udata->inbuf = (void __user *)req->copy;

out_free:
	kvfree(buf);
	return ret;
}

/**
 * mlx5_ep_request_patch() - change part of the request that the driver reads
 * @req: state of the patch, for mlx5_ep_request_restore()
 * @udata: of the call, from user space
 * @offset: first byte to change
 * @was: bytes that stand there, as the caller of this read them
 * @is: bytes to put there
 * @len: how many, at most MLX5_EP_PATCH_MAX, inside udata->inlen
 *
 * Sleeps.
 *
 * Return: 0; -EFAULT or -ENOMEM, with the request as it was
 */
int mlx5_ep_request_patch(struct mlx5_ep_request *req, struct ib_udata *udata,
			  size_t offset, const void *was, const void *is,
			  size_t len)
{
	if (WARN_ON_ONCE(len > MLX5_EP_PATCH_MAX ||
			 offset + len > udata->inlen))
		return -EFAULT;
	req->udata = udata;
	req->inbuf = udata->inbuf;
	req->copy = 0;
	req->offset = offset;
	req->len = len;
	memcpy(req->was, was, len);
	memcpy(req->is, is, len);
	if (!patch_in_place(req))
		return 0;
	return patch_copy(req);
}

/**
 * mlx5_ep_request_restore() - undo mlx5_ep_request_patch() after the call
 * @req: the patch
 *
 * Sleeps.
 *
 * Return: true when our bytes were still there
 */
bool mlx5_ep_request_restore(struct mlx5_ep_request *req)
{
	u8 now[MLX5_EP_PATCH_MAX];
	bool intact;

	intact = !copy_from_user(now, req->udata->inbuf + req->offset,
				 req->len) &&
		 !memcmp(now, req->is, req->len);
	if (req->copy) {
		req->udata->inbuf = req->inbuf;
		vm_munmap(req->copy, req->copy_len);
	} else if (copy_to_user((void __user *)req->inbuf + req->offset,
				req->was, req->len)) {
		/* Another thread took the buffer away: nothing to restore. */
		intact = false;
	}
	return intact;
}
