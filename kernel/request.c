// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Change a caller's request for the time of one call of the driver.
 *
 * The driver reads the request from user memory (udata->inbuf), so the change
 * must be made in user memory. There are two ways.
 *
 * A patched request is changed in the caller's own buffer and changed back after
 * the call, which costs next to nothing. While the driver reads the bytes,
 * another thread of the process can see them and overwrite them. So only values
 * are put there that the caller could have passed itself, and whatever another
 * thread makes of them harms no other process.
 *
 * A protected request is a copy on pages that the process can neither write,
 * nor make writable, nor move, nor inherit. The copy is mapped for the call, and
 * udata->inbuf points at it meanwhile. It is used for numbers that other
 * processes depend on, such as the pages that count for a user, and where the
 * caller's buffer cannot be written. The copy is charged to the memory cgroup of the
 * caller. The process can unmap the copy or a part of it, but it cannot map it again.
 * It can split the mapping. Each part that is left is unmapped after the call, but for
 * one for which the process has called mseal(), and where there is no memory to unmap:
 * that stays until the process ends.
 *
 * While a call is in the driver, no other call of the same process may use the
 * same request or answer, or it would read our bytes for its caller's. Threads can
 * share one request, which they only read. So such a call waits in
 * mlx5_ep_request_begin() until the other one has ended. The answer can be in the
 * same buffer as the request, where the driver writes it over our bytes. Such a
 * request is protected.
 *
 * mlx5_ep_request_restore() tells whether the bytes were still there after the
 * call. If they were not, the caller must not give an answer that depends on
 * them.
 *
 * A copy for each QP would spare the patch, the waits and this. It was measured: to
 * create and destroy a QP takes 135 100 instructions without mlx5_ep, 136 600 with the
 * patch and 153 200 with a copy.
 *
 * udata itself is never copied: uverbs finds the bundle of attributes around it.
 */

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait_bit.h>

#include "compat/compat.h"
#include "request.h"

/* The longest request of uverbs: struct uverbs_attr.len has 16 bits. */
#define REQUEST_MAX SZ_64K

#define PROCESS_BITS 8

/*
 * Requests that are in use, by a hash of the address space: a process with many
 * calls is not to slow down the calls of others.
 */
static struct {
	spinlock_t lock;
	struct hlist_head requests;
} in_use[1 << PROCESS_BITS] = {
	[0 ... (1 << PROCESS_BITS) - 1] = {
		.lock = __SPIN_LOCK_UNLOCKED(in_use.lock),
	},
};

static bool request_overlap(const void __user *a, size_t a_len,
			    const void __user *b, size_t b_len)
{
	return a_len && b_len && a < b + b_len && b < a + a_len;
}

/*
 * Do two calls of one process use common memory? What udata says of the other call may be
 * another thing at the moment.
 */
static bool request_conflicts(const struct mlx5_ep_request *a,
			      const struct mlx5_ep_request *b)
{
	return a->mm == b->mm &&
	       (request_overlap(a->inbuf, a->inlen, b->inbuf, b->inlen) ||
		request_overlap(a->inbuf, a->inlen, b->outbuf, b->outlen) ||
		request_overlap(a->outbuf, a->outlen, b->inbuf, b->inlen) ||
		request_overlap(a->outbuf, a->outlen, b->outbuf, b->outlen));
}

static bool request_try_begin(struct mlx5_ep_request *req)
{
	unsigned int process = hash_ptr(req->mm, PROCESS_BITS);
	const struct mlx5_ep_request *other;
	bool ok = true;

	spin_lock(&in_use[process].lock);
	hlist_for_each_entry(other, &in_use[process].requests, node) {
		if (request_conflicts(req, other)) {
			ok = false;
			break;
		}
	}
	if (ok)
		hlist_add_head(&req->node, &in_use[process].requests);
	spin_unlock(&in_use[process].lock);
	return ok;
}

/**
 * mlx5_ep_request_begin() - use the request of a call from user space
 * @req: to be filled; it is not moved until mlx5_ep_request_end()
 * @udata: of the call, made by the current process
 *
 * Waits while another call of the process uses the same memory for its request
 * or answer. Until mlx5_ep_request_end() no other call does.
 *
 * Return: 0; -EINTR: the caller is being killed
 */
int mlx5_ep_request_begin(struct mlx5_ep_request *req, struct ib_udata *udata)
{
	*req = (struct mlx5_ep_request){
		.udata = udata,
		.mm = current->mm,
		.inbuf = udata->inbuf,
		.inlen = udata->inlen,
		.outbuf = udata->outbuf,
		.outlen = udata->outlen,
	};
	if (request_try_begin(req))
		return 0;
	return wait_var_event_killable(req->mm, request_try_begin(req)) ?
		       -EINTR : 0;
}

/**
 * mlx5_ep_request_end() - the call does not need its request any more
 * @req: after mlx5_ep_request_begin(); neither patched nor protected now
 */
void mlx5_ep_request_end(struct mlx5_ep_request *req)
{
	unsigned int process = hash_ptr(req->mm, PROCESS_BITS);

	spin_lock(&in_use[process].lock);
	hlist_del(&req->node);
	spin_unlock(&in_use[process].lock);
	/*
	 * No barrier: a waiter queues itself before it takes this lock. So it sees the
	 * list without @req, or this call sees it in the queue.
	 */
	wake_up_var(req->mm);
}

static int request_patch_in_place(struct mlx5_ep_request *req)
{
	void __user *at = (void __user *)req->inbuf + req->offset;
	size_t left = copy_to_user(at, req->new, req->len);

	if (!left)
		return 0;
	/* The end of the buffer cannot be written: undo its beginning. */
	left = copy_to_user(at, req->old, req->len - left);
	return -EFAULT;
}

/* A copy of a request: whole pages, of which a mapping holds each too. */
struct request_copy {
	void *buf;
	size_t len;
};

static int request_copy_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

/* There is no fault handler: all pages are mapped by mmap() itself. */
static const struct vm_operations_struct request_copy_vm_ops = {
	.mremap = request_copy_mremap,
};

static int request_copy_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct request_copy *copy = file->private_data;
	size_t at;
	int ret = 0;

	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != copy->len)
		return -EINVAL;
	/* Without VM_IO the process could have its children inherit it. */
	vm_flags_mod(vma, VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP,
		     VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_ops = &request_copy_vm_ops;
	for (at = 0; !ret && at < copy->len; at += PAGE_SIZE)
		ret = vm_insert_page(vma, vma->vm_start + at,
				     virt_to_page(copy->buf + at));
	return ret;
}

static void request_copy_free(struct request_copy *copy)
{
	if (copy->buf)
		free_pages_exact(copy->buf, copy->len);
	kfree(copy);
}

static int request_copy_release(struct inode *inode, struct file *file)
{
	request_copy_free(file->private_data);
	return 0;
}

static const struct file_operations request_copy_fops = {
	.owner = THIS_MODULE,
	.mmap = request_copy_mmap,
	.release = request_copy_release,
};

/* A file that holds a copy of the request with the bytes @new at @offset. */
static struct file *request_copy_file(const struct ib_udata *udata,
				      size_t offset, const void *new,
				      size_t len)
{
	struct request_copy *copy = kzalloc_obj(*copy, GFP_KERNEL_ACCOUNT);
	struct file *file = ERR_PTR(-ENOMEM);

	if (!copy)
		return file;
	copy->len = PAGE_ALIGN(udata->inlen);
	copy->buf = alloc_pages_exact(copy->len,
				      GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!copy->buf)
		goto err_free;
	file = ERR_PTR(-EFAULT);
	if (copy_from_user(copy->buf, udata->inbuf, udata->inlen))
		goto err_free;
	memcpy(copy->buf + offset, new, len);
	file = anon_inode_getfile("[mlx5_ep]", &request_copy_fops, copy,
				  O_RDONLY);
	if (IS_ERR(file))
		goto err_free;
	return file;

err_free:
	request_copy_free(copy);
	return file;
}

/*
 * Finds the first mapping of the copy that begins at @at or above. The process may have
 * split the mapping, and mapped something else between the parts.
 */
static bool request_copy_find(const struct mlx5_ep_request *req,
			      unsigned long at, unsigned long *begin,
			      unsigned long *end)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;

	mmap_read_lock(mm);
	vma = find_vma(mm, at);
	while (vma && vma->vm_file != req->file)
		vma = vma->vm_end < req->copy + req->copy_len ?
			      find_vma(mm, vma->vm_end) : NULL;
	if (vma) {
		*begin = vma->vm_start;
		*end = vma->vm_end;
	}
	mmap_read_unlock(mm);
	return vma;
}

/*
 * Unmaps one mapping. A caller that is being killed does not wait for the mmap_lock in
 * vm_munmap(). Another process may share the memory, and the mapping would stay there.
 */
static int request_munmap(unsigned long begin, size_t len)
{
	int ret;

	while ((ret = vm_munmap(begin, len)) == -EINTR)
		schedule_timeout_uninterruptible(1);
	return ret;
}

/* Unmaps the copy. Returns whether all of it was still mapped where it was. */
static bool request_copy_unmap(const struct mlx5_ep_request *req)
{
	unsigned long begin, end = req->copy;
	size_t mapped = 0;

	while (request_copy_find(req, end, &begin, &end))
		if (!request_munmap(begin, end - begin))
			mapped += end - begin;
	return mapped == req->copy_len;
}

/**
 * mlx5_ep_request_protect() - give the driver a request that nobody can change
 * @req: request in use, to be given to mlx5_ep_request_restore() after the call
 * @offset: first byte to change
 * @new: bytes to put at @offset, whatever stands there now
 * @len: bytes at @new; @offset + @len is at most udata->inlen
 *
 * Sleeps, and takes the mmap_lock of the process.
 *
 * Return: 0; -EINVAL: the request is empty or longer than uverbs allows;
 * -EFAULT: it cannot be read; -ENOMEM, -EAGAIN, -ENFILE: a limit of the process
 * or of the system is reached; -EINTR: the caller is being killed. After an error the
 * request is as it was.
 */
int mlx5_ep_request_protect(struct mlx5_ep_request *req, size_t offset,
			    const void *new, size_t len)
{
	struct ib_udata *udata = req->udata;
	struct file *file;

	if (!udata->inlen || udata->inlen > REQUEST_MAX)
		return -EINVAL;
	file = request_copy_file(udata, offset, new, len);
	if (IS_ERR(file))
		return PTR_ERR(file);
	req->copy_len = PAGE_ALIGN(udata->inlen);
	req->copy = vm_mmap(file, 0, req->copy_len, PROT_READ, MAP_PRIVATE, 0);
	if (IS_ERR_VALUE(req->copy)) {
		fput(file);
		return (int)req->copy;
	}
	req->file = file;
	udata->inbuf = (void __user *)req->copy;
	return 0;
}

static bool request_protected_restore(struct mlx5_ep_request *req)
{
	bool intact = request_copy_unmap(req);

	req->udata->inbuf = req->inbuf;
	fput(req->file);
	req->file = NULL;
	return intact;
}

/**
 * mlx5_ep_request_patch() - change part of the request that the driver reads
 * @req: request in use, to be given to mlx5_ep_request_restore() after the call
 * @offset: first byte to change
 * @old: bytes that the caller has read at @offset
 * @new: bytes to put there
 * @len: bytes at @new, at most MLX5_EP_PATCH_MAX; @offset + @len is at most
 *	udata->inlen
 *
 * The request is protected instead if the caller's buffer cannot be written, or if
 * the answer goes there too. Sleeps.
 *
 * Return: 0; -EFAULT; an error of mlx5_ep_request_protect(). After an error the
 * request is as it was.
 */
int mlx5_ep_request_patch(struct mlx5_ep_request *req, size_t offset,
			  const void *old, const void *new, size_t len)
{
	const struct ib_udata *udata = req->udata;

	if (WARN_ON_ONCE(len > MLX5_EP_PATCH_MAX ||
			 offset + len > udata->inlen))
		return -EFAULT;
	req->offset = offset;
	req->len = len;
	memcpy(req->old, old, len);
	memcpy(req->new, new, len);
	if (!request_overlap(req->inbuf + offset, len, udata->outbuf,
			     udata->outlen) &&
	    !request_patch_in_place(req))
		return 0;
	return mlx5_ep_request_protect(req, offset, new, len);
}

/**
 * mlx5_ep_request_restore() - give the call its own request back
 * @req: a patched or protected request
 *
 * Sleeps.
 *
 * Return: true if the changed bytes were there until now
 */
bool mlx5_ep_request_restore(struct mlx5_ep_request *req)
{
	u8 now[MLX5_EP_PATCH_MAX];
	bool intact;

	if (req->file)
		return request_protected_restore(req);
	intact = !copy_from_user(now, req->inbuf + req->offset, req->len) &&
		 !memcmp(now, req->new, req->len);
	/* Another thread may have unmapped the buffer. */
	if (copy_to_user((void __user *)req->inbuf + req->offset, req->old,
			 req->len))
		intact = false;
	return intact;
}
