// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The file of a notifier: read() and poll() for events, mmap() for the words, and
 * ioctls for watches.
 *
 * The watches have ioctls of this file instead of uverbs methods: a registration
 * cache adds and deletes watches all the time, and a uverbs ioctl costs more than
 * the work (Documentation/results/notifications.md has the figures).
 *
 * There are two kinds of files: those of objects of a device (notifier_object.c), and those
 * that /dev/mlx5_ep gives, which know of no device (notifier_dev.c). After an object was
 * destroyed (close, device removal) its memory stays while the file is open, so that read()
 * can report that the device is gone.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/uaccess.h>
#include <rdma/mlx5_ep_notifier.h>
#include <rdma/uverbs_types.h>

#include "compat/compat.h"
#include "watch/notifier_priv.h"

/* Events of a read() that fit on the stack. */
#define NOTIFIER_STACK_EVENTS 8

/* The file of an object has the object, a file of /dev/mlx5_ep the notifier. */
static struct mlx5_ep_notifier *notifier_of_file(const struct file *filp)
{
	if (filp->f_op->release == uverbs_uobject_fd_release)
		return &notifier_object_of(filp->private_data)->notifier;
	return filp->private_data;
}

/*
 * Takes the last event of a channel, then its end. That is 0 if the address space
 * is gone, as its exit closes the device too; otherwise -EIO.
 */
static int notifier_take_last(struct mlx5_ep_notifier *notifier,
			      struct mlx5_ep_event *event)
{
	bool mm_gone;
	int ret;

	spin_lock_irq(&notifier->source_lock);
	mm_gone = READ_ONCE(notifier->watches.mm_gone) && !notifier->removed;
	if (!notifier->told) {
		*event = (struct mlx5_ep_event){
			.type = mm_gone ? MLX5_EP_EVENT_MM_GONE :
					  MLX5_EP_EVENT_DEVICE_REMOVED,
			.count = 1,
		};
		notifier->told = true;
		ret = 1;
	} else {
		ret = mm_gone ? 0 : -EIO;
	}
	spin_unlock_irq(&notifier->source_lock);
	return ret;
}

static bool notifier_ended(struct mlx5_ep_notifier *notifier)
{
	return READ_ONCE(notifier->dead) ||
	       READ_ONCE(notifier->watches.mm_gone);
}

static bool notifier_readable(struct mlx5_ep_notifier *notifier)
{
	return notifier_ended(notifier) ||
	       READ_ONCE(notifier->watches.pending) ||
	       READ_ONCE(notifier->source_pending);
}

/* Returns the number of events taken, 0 at the end, or an errno. */
static int notifier_take(struct mlx5_ep_notifier *notifier, bool nonblock,
			 struct mlx5_ep_event *events, unsigned int count)
{
	unsigned int taken;
	int ret;

	for (;;) {
		if (notifier_ended(notifier))
			return notifier_take_last(notifier, events);
		ret = mlx5_ep_watch_slots_check(&notifier->watches);
		if (ret == -EXDEV)
			return ret;

		taken = mlx5_ep_notifier_take_sources(notifier, events,
						      count);
		taken += mlx5_ep_watch_event_take(&notifier->watches,
						  events + taken,
						  count - taken);
		if (taken)
			return taken;
		if (nonblock)
			return -EAGAIN;
		ret = wait_event_interruptible(notifier->wait,
					       notifier_readable(notifier));
		if (ret)
			return ret;
	}
}

/**
 * mlx5_ep_notifier_read() - read() of a notifier
 * @filp: opened by uverbs, or given by /dev/mlx5_ep
 * @buf: the caller's, for struct mlx5_ep_event
 * @size: bytes of @buf
 * @pos: not used
 *
 * Sleeps.
 *
 * Return: bytes read, 0 at the end, or an errno as uapi/rdma/mlx5_ep_notifier.h says
 */
ssize_t mlx5_ep_notifier_read(struct file *filp, char __user *buf, size_t size,
			      loff_t *pos)
{
	struct mlx5_ep_notifier *notifier = notifier_of_file(filp);
	bool nonblock = filp->f_flags & O_NONBLOCK;
	struct mlx5_ep_event events[NOTIFIER_STACK_EVENTS];
	ssize_t done = 0;
	int taken;

	if (size < sizeof(events[0]))
		return -EINVAL;

	while (size - done >= sizeof(events[0])) {
		unsigned int count = min_t(size_t, ARRAY_SIZE(events),
					   (size - done) / sizeof(events[0]));

		/* If the buffer cannot be written, no event is taken. */
		if (fault_in_safe_writeable(buf + done,
					    count * sizeof(events[0])))
			return done ?: -EFAULT;
		taken = notifier_take(notifier, nonblock || done, events,
				      count);
		if (taken <= 0)
			return done ?: taken;
		if (copy_to_user(buf + done, events, taken * sizeof(events[0])))
			return done ?: -EFAULT;
		done += taken * sizeof(events[0]);
		if (taken < count)
			break;
	}
	return done;
}

/**
 * mlx5_ep_notifier_poll() - poll() of a notifier
 * @filp: opened by uverbs, or given by /dev/mlx5_ep
 * @wait: from the caller
 *
 * Return: what can be done without waiting
 */
__poll_t mlx5_ep_notifier_poll(struct file *filp,
			       struct poll_table_struct *wait)
{
	struct mlx5_ep_notifier *notifier = notifier_of_file(filp);
	__poll_t mask = 0;

	poll_wait(filp, &notifier->wait, wait);
	if (READ_ONCE(notifier->dead))
		mask |= EPOLLERR;
	if (notifier_ended(notifier))
		mask |= EPOLLHUP;
	if (notifier_readable(notifier))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

static void notifier_vma_open(struct vm_area_struct *vma)
{
	struct mlx5_ep_watch_area *area = vma->vm_private_data;

	kref_get(&area->ref);
}

static void notifier_vma_close(struct vm_area_struct *vma)
{
	mlx5_ep_watch_slots_area_put(vma->vm_private_data);
}

static vm_fault_t notifier_vma_fault(struct vm_fault *vmf)
{
	struct mlx5_ep_watch_area *area = vmf->vma->vm_private_data;
	void *page;

	if (vmf->pgoff >= area->nr_pages)
		return VM_FAULT_SIGBUS;
	/* Pairs with slots_grow_words(). */
	page = smp_load_acquire(&area->pages[vmf->pgoff]);
	if (!page)
		return VM_FAULT_SIGBUS;
	vmf->page = virt_to_page(page);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct notifier_vm_ops = {
	.open = notifier_vma_open,
	.close = notifier_vma_close,
	.fault = notifier_vma_fault,
};

/**
 * mlx5_ep_notifier_mmap() - mmap() of a notifier
 * @filp: opened by uverbs, or given by /dev/mlx5_ep
 * @vma: the new mapping, shared and for reading
 *
 * Return: 0; -EINVAL: another mapping, or too long; -EXDEV; -EIO
 */
int mlx5_ep_notifier_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct mlx5_ep_notifier *notifier = notifier_of_file(filp);
	struct mlx5_ep_watch_area *area;
	int ret;

	/* A shared mapping of a file opened for reading has no VM_SHARED. */
	if ((vma->vm_flags & (VM_WRITE | VM_EXEC)) ||
	    !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	ret = mlx5_ep_watch_slots_get(&notifier->watches);
	if (ret)
		return ret;
	area = notifier->watches.area;
	if (vma->vm_pgoff + vma_pages(vma) > area->nr_pages) {
		ret = -EINVAL;
		goto out_put;
	}

	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP,
		     VM_MAYWRITE | VM_MAYEXEC);
	kref_get(&area->ref);
	vma->vm_private_data = area;
	vma->vm_ops = &notifier_vm_ops;

out_put:
	mlx5_ep_watch_slots_put(&notifier->watches);
	return ret;
}

/* A child of vfork() shares the address space: what it changed, its parent would lose. */
static bool notifier_may(const struct mlx5_ep_notifier *notifier,
			 unsigned int cmd)
{
	return (cmd != MLX5_EP_IOC_WATCH_ADD && cmd != MLX5_EP_IOC_WATCH_DEL) ||
	       task_tgid(current) == notifier->tgid;
}

/**
 * mlx5_ep_notifier_ioctl() - ioctl() of a notifier
 * @filp: opened by uverbs, or given by /dev/mlx5_ep
 * @cmd: MLX5_EP_IOC_WATCH_ADD and so on
 * @arg: address of a struct mlx5_ep_watch_batch
 *
 * Sleeps.
 *
 * Return: 0, or an errno as uapi/rdma/mlx5_ep_notifier.h says
 */
long mlx5_ep_notifier_ioctl(struct file *filp, unsigned int cmd,
			    unsigned long arg)
{
	struct mlx5_ep_notifier *notifier = notifier_of_file(filp);

	if (!notifier_may(notifier, cmd))
		return -EXDEV;
	return mlx5_ep_watch_ioctl(&notifier->watches, cmd,
				   (void __user *)arg);
}
