// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Change a caller's request for the time of one driver call.
 *
 * The driver reads the request from user memory (udata->inbuf), so the change
 * must be made there.
 *
 * A patch is made in the caller's own buffer where it can be written, and undone
 * after the call: that costs next to nothing. Another thread of the caller can see
 * and overwrite the bytes while the driver reads them. So only values may be put
 * there that the caller could have passed itself, and what another thread makes of
 * them harms nobody but that process.
 *
 * A seal is for what other processes depend on, as the number of pages that
 * count for a user, and for what cannot be patched: a copy on pages that the
 * process cannot write, make writable, move or inherit, mapped for the call, with
 * udata->inbuf pointing at it meanwhile. It can only be unmapped, and then what it
 * was made of is not to be had again.
 *
 * mlx5_ep_request_restore() tells whether the bytes were still there at the end,
 * so that no answer is given that the driver does not stand behind.
 *
 * udata itself is never copied: uverbs finds its bundle around it.
 */

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat/compat.h"
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

static int sealed_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

/* No fault: its pages are there from the start, or the driver meets none. */
static const struct vm_operations_struct sealed_vm_ops = {
	.mremap = sealed_mremap,
};

static int sealed_mmap(struct file *file, struct vm_area_struct *vma)
{
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP,
		     VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_ops = &sealed_vm_ops;
	return remap_vmalloc_range(vma, file->private_data, 0);
}

static int sealed_release(struct inode *inode, struct file *file)
{
	vfree(file->private_data);
	return 0;
}

static const struct file_operations sealed_fops = {
	.owner = THIS_MODULE,
	.mmap = sealed_mmap,
	.release = sealed_release,
};

/* A file of the request, with the bytes at @is in it. */
static struct file *sealed_file(const struct ib_udata *udata, size_t offset,
				const void *is, size_t len)
{
	struct file *file;
	void *buf;

	buf = vmalloc_user(PAGE_ALIGN(udata->inlen));
	if (!buf)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(buf, udata->inbuf, udata->inlen)) {
		file = ERR_PTR(-EFAULT);
		goto err_free;
	}
	memcpy(buf + offset, is, len);
	file = anon_inode_getfile("[mlx5_ep]", &sealed_fops, buf, O_RDONLY);
	if (IS_ERR(file))
		goto err_free;
	return file;

err_free:
	vfree(buf);
	return file;
}

/* Is what we mapped still mapped there, all of it? */
static bool sealed_intact(const struct mlx5_ep_request *req)
{
	struct vm_area_struct *vma;
	bool intact;

	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, req->copy);
	intact = vma && vma->vm_start == req->copy &&
		 vma->vm_end == req->copy + req->copy_len &&
		 vma->vm_file == req->sealed;
	mmap_read_unlock(current->mm);
	return intact;
}

/**
 * mlx5_ep_request_seal() - give the driver a request that nobody can change
 * @req: state of the seal, for mlx5_ep_request_restore()
 * @udata: of the call, from user space
 * @offset: first byte to change
 * @is: bytes to put there, whatever stands there now
 * @len: how many, inside udata->inlen
 *
 * Sleeps.
 *
 * Return: 0; -EINVAL: it is empty or longer than uverbs takes; -EFAULT; -ENOMEM,
 * -EAGAIN, -ENFILE: a limit of the process or the system; the request is then
 * as it was
 */
int mlx5_ep_request_seal(struct mlx5_ep_request *req, struct ib_udata *udata,
			 size_t offset, const void *is, size_t len)
{
	if (!udata->inlen || udata->inlen > REQUEST_MAX)
		return -EINVAL;
	*req = (struct mlx5_ep_request){
		.udata = udata,
		.inbuf = udata->inbuf,
		.copy_len = PAGE_ALIGN(udata->inlen),
	};
	req->sealed = sealed_file(udata, offset, is, len);
	if (IS_ERR(req->sealed))
		return PTR_ERR(req->sealed);
	req->copy = vm_mmap(req->sealed, 0, req->copy_len, PROT_READ,
			    MAP_PRIVATE, 0);
	if (IS_ERR_VALUE(req->copy)) {
		fput(req->sealed);
		return (int)req->copy;
	}
	udata->inbuf = (void __user *)req->copy;
	return 0;
}

/* Undo mlx5_ep_request_seal(). */
static bool sealed_restore(struct mlx5_ep_request *req)
{
	bool intact = sealed_intact(req);

	req->udata->inbuf = req->inbuf;
	if (intact)
		vm_munmap(req->copy, req->copy_len);
	fput(req->sealed);
	return intact;
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
 * Return: 0; -EFAULT, or as mlx5_ep_request_seal(), with the request as it was
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
	req->sealed = NULL;
	req->offset = offset;
	req->len = len;
	memcpy(req->was, was, len);
	memcpy(req->is, is, len);
	if (!patch_in_place(req))
		return 0;
	return mlx5_ep_request_seal(req, udata, offset, is, len);
}

/**
 * mlx5_ep_request_restore() - undo mlx5_ep_request_patch() or
 *	mlx5_ep_request_seal() after the call
 * @req: the patch or seal
 *
 * Sleeps.
 *
 * Return: true when our bytes were still there
 */
bool mlx5_ep_request_restore(struct mlx5_ep_request *req)
{
	u8 now[MLX5_EP_PATCH_MAX];
	bool intact;

	if (req->sealed)
		return sealed_restore(req);
	intact = !copy_from_user(now, req->inbuf + req->offset, req->len) &&
		 !memcmp(now, req->is, req->len);
	/* Another thread may have taken the buffer away: nothing to restore. */
	if (copy_to_user((void __user *)req->inbuf + req->offset, req->was,
			 req->len))
		intact = false;
	return intact;
}
