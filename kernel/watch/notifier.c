// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * NOTIFIER: the event channel of a process, an anonymous-inode file.
 *
 * Its watches (mr_watch.c) and the sources that other objects embed post to it;
 * read() and poll() tell, the mapped area tells without a system call. Events
 * coalesce in what they are about, so memory is bounded by the number of watches
 * and registrations, and nothing is ever lost for want of room.
 *
 * The watches take ioctls on this file rather than uverbs methods: adding and
 * removing is what a registration cache does all day, and the generic ioctl
 * costs more than the work (Documentation/notifications.md has the figures).
 *
 * Lifetime: the file holds the uobject, sources hold it too. Destroy (close,
 * device removal) ends everything but the uobject's own memory, which stays for
 * read() to say that the device is gone, and for sources to post into the void.
 *
 * @source_lock is taken by event handlers with interrupts off. It and the
 * watches' lock are never held together; mlx5_ep_device.lock is outside both.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#define UVERBS_MODULE_NAME mlx5_ep
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_notifier.h>

#include "compat.h"
#include "device.h"
#include "mr_watch.h"
#include "notifier.h"

#define NOTIFIER_DEFAULT_WATCHES 65536

/* Events of a read that fit on the stack. */
#define NOTIFIER_STACK_EVENTS 8

static unsigned int notifier_max_watches = 1 << 20;
module_param(notifier_max_watches, uint, 0644);
MODULE_PARM_DESC(notifier_max_watches, "Watches that one notifier may have");

/**
 * struct mlx5_ep_notifier - the channel
 * @uobj: the file's object
 * @edev: its device
 * @node: in the device's list, until destroyed
 * @tgid: thread group of who made it, until destroyed
 * @comm: its name
 * @watches: watched ranges
 * @wait: readers and pollers
 * @source_lock: protects what follows
 * @dead: destroyed; no event comes any more
 * @removed: destroyed because the device is gone
 * @told: a reader has had the last event there is
 * @sources: those with something to tell
 * @source_total: events posted, ever
 * @source_pending: length of @sources
 * @header: of the mapped area, NULL once @dead
 */
struct mlx5_ep_notifier {
	struct ib_uobject uobj;
	struct mlx5_ep_device *edev;
	struct list_head node;
	struct pid *tgid;
	char comm[TASK_COMM_LEN];
	struct mlx5_ep_watches watches;
	wait_queue_head_t wait;
	spinlock_t source_lock;
	bool dead;
	bool removed;
	bool told;
	struct list_head sources;
	u64 source_total;
	u64 source_pending;
	struct mlx5_ep_notifier_page *header;
};

static struct mlx5_ep_notifier *to_notifier(struct ib_uobject *uobj)
{
	return container_of(uobj, struct mlx5_ep_notifier, uobj);
}

/* Read without the lock by who waits. */
static void notifier_count_pending(struct mlx5_ep_notifier *notifier, int by)
{
	WRITE_ONCE(notifier->source_pending, notifier->source_pending + by);
}

static void notifier_publish_sources(struct mlx5_ep_notifier *notifier)
{
	if (!notifier->header)
		return;
	WRITE_ONCE(notifier->header->source_pending, notifier->source_pending);
	/* A reader that sees it may read() the event. */
	smp_store_release(&notifier->header->source_total,
			  notifier->source_total);
}

/**
 * mlx5_ep_notifier_source_init - let an object post events
 * @source: embedded in the registration
 * @notifier_uobj: the channel's object, from an attribute of the call
 * @object: number that names the object to the user
 * @cookie: of the user, comes back with each event
 *
 * Takes a reference to the channel's memory, not to its file.
 *
 * Return: 0; -EXDEV where the channel is of another address space; else -EIO
 * where the device is gone.
 */
int mlx5_ep_notifier_source_init(struct mlx5_ep_notifier_source *source,
				 struct ib_uobject *notifier_uobj, u32 object,
				 u64 cookie)
{
	struct mlx5_ep_notifier *notifier = to_notifier(notifier_uobj);
	int ret;

	ret = mlx5_ep_watches_check(&notifier->watches);
	if (ret)
		return ret;

	INIT_LIST_HEAD(&source->node);
	source->events = 0;
	source->object = object;
	source->cookie = cookie;
	uverbs_uobject_get(notifier_uobj);
	/* A post may run already: it sees all of the source, or no channel. */
	smp_store_release(&source->notifier, notifier);
	return 0;
}

/**
 * mlx5_ep_notifier_source_fini - no event comes from this object any more
 * @source: may never have been initialised, but zeroed
 *
 * Call it once no post can run. Events of this source that nobody has read are
 * dropped.
 */
void mlx5_ep_notifier_source_fini(struct mlx5_ep_notifier_source *source)
{
	struct mlx5_ep_notifier *notifier = source->notifier;

	if (!notifier)
		return;

	spin_lock_irq(&notifier->source_lock);
	if (!list_empty(&source->node)) {
		list_del_init(&source->node);
		notifier_count_pending(notifier, -1);
		notifier_publish_sources(notifier);
	}
	spin_unlock_irq(&notifier->source_lock);
	source->notifier = NULL;
	uverbs_uobject_put(&notifier->uobj);
}

/**
 * mlx5_ep_notifier_post - tell a registrant
 * @source: of the registration; one that was never initialised is quiet
 * @event: enum mlx5_ep_event_type
 *
 * Any context. An event of a type that has not been read yet is the same event.
 */
void mlx5_ep_notifier_post(struct mlx5_ep_notifier_source *source,
			   unsigned int event)
{
	struct mlx5_ep_notifier *notifier;
	unsigned long flags;

	/* Pairs with source_init(). */
	notifier = smp_load_acquire(&source->notifier);
	if (!notifier)
		return;

	spin_lock_irqsave(&notifier->source_lock, flags);
	if (!notifier->dead) {
		source->events |= BIT(event);
		notifier->source_total++;
		if (list_empty(&source->node)) {
			list_add_tail(&source->node, &notifier->sources);
			notifier_count_pending(notifier, 1);
		}
		notifier_publish_sources(notifier);
	}
	spin_unlock_irqrestore(&notifier->source_lock, flags);
	if (wq_has_sleeper(&notifier->wait))
		wake_up_interruptible_poll(&notifier->wait,
					   EPOLLIN | EPOLLRDNORM);
}

static unsigned int notifier_take_sources(struct mlx5_ep_notifier *notifier,
					  struct mlx5_ep_event *events,
					  unsigned int count)
{
	struct mlx5_ep_notifier_source *source;
	unsigned int type, i = 0;

	spin_lock_irq(&notifier->source_lock);
	while (i < count && !list_empty(&notifier->sources)) {
		source = list_first_entry(&notifier->sources,
					  struct mlx5_ep_notifier_source, node);
		type = __ffs(source->events);
		events[i++] = (struct mlx5_ep_event){
			.cookie = source->cookie,
			.type = type,
			.count = 1,
			.object = source->object,
		};
		source->events &= ~BIT(type);
		if (!source->events) {
			list_del_init(&source->node);
			notifier_count_pending(notifier, -1);
		}
	}
	if (i)
		notifier_publish_sources(notifier);
	spin_unlock_irq(&notifier->source_lock);
	return i;
}

/*
 * The last event of a channel; then its end: 0 where the address space is gone,
 * whose exit closes the device too, else -EIO.
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
		ret = mlx5_ep_watches_check(&notifier->watches);
		if (ret == -EXDEV)
			return ret;

		taken = notifier_take_sources(notifier, events, count);
		taken += mlx5_ep_watches_take_events(&notifier->watches,
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

static ssize_t mlx5_ep_notifier_read(struct file *filp, char __user *buf,
				     size_t size, loff_t *pos)
{
	struct mlx5_ep_notifier *notifier = to_notifier(filp->private_data);
	bool nonblock = filp->f_flags & O_NONBLOCK;
	struct mlx5_ep_event events[NOTIFIER_STACK_EVENTS];
	ssize_t done = 0;
	int taken;

	if (size < sizeof(events[0]))
		return -EINVAL;

	while (size - done >= sizeof(events[0])) {
		unsigned int count = min_t(size_t, ARRAY_SIZE(events),
					   (size - done) / sizeof(events[0]));

		/* Nothing is taken for a buffer that cannot take it. */
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
		if (taken < count || notifier_ended(notifier))
			break;
	}
	return done;
}

static __poll_t mlx5_ep_notifier_poll(struct file *filp,
				      struct poll_table_struct *wait)
{
	struct mlx5_ep_notifier *notifier = to_notifier(filp->private_data);
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
	mlx5_ep_watch_area_put(vma->vm_private_data);
}

static vm_fault_t notifier_vma_fault(struct vm_fault *vmf)
{
	struct mlx5_ep_watch_area *area = vmf->vma->vm_private_data;
	void *page;

	if (vmf->pgoff >= area->nr_pages)
		return VM_FAULT_SIGBUS;
	/* Pairs with watches_grow_words(). */
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

static int mlx5_ep_notifier_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct mlx5_ep_notifier *notifier = to_notifier(filp->private_data);
	struct mlx5_ep_watch_area *area;

	/* VM_SHARED is off in a shared mapping of a file opened for reading. */
	if ((vma->vm_flags & (VM_WRITE | VM_EXEC)) ||
	    !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	area = mlx5_ep_watches_get_area(&notifier->watches);
	if (IS_ERR(area))
		return PTR_ERR(area);
	if (vma->vm_pgoff + vma_pages(vma) > area->nr_pages) {
		mlx5_ep_watch_area_put(area);
		return -EINVAL;
	}

	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP,
		     VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_private_data = area;
	vma->vm_ops = &notifier_vm_ops;
	return 0;
}

static long mlx5_ep_notifier_ioctl(struct file *filp, unsigned int cmd,
				   unsigned long arg)
{
	struct mlx5_ep_notifier *notifier = to_notifier(filp->private_data);

	return mlx5_ep_watches_ioctl(&notifier->watches, cmd,
				     (void __user *)arg);
}

static const struct file_operations mlx5_ep_notifier_fops = {
	.owner = THIS_MODULE,
	.release = uverbs_uobject_fd_release,
	.read = mlx5_ep_notifier_read,
	.poll = mlx5_ep_notifier_poll,
	.mmap = mlx5_ep_notifier_mmap,
	.unlocked_ioctl = mlx5_ep_notifier_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static void notifier_list_add(struct mlx5_ep_notifier *notifier)
{
	struct mlx5_ep_device *edev =
		mlx5_ep_device_find(notifier->uobj.context->device);

	notifier->edev = edev;
	notifier->tgid = get_pid(task_tgid(current));
	get_task_comm(notifier->comm, current->group_leader);
	mutex_lock(&edev->lock);
	list_add_tail(&notifier->node, &edev->notifiers);
	mutex_unlock(&edev->lock);
}

static void notifier_list_remove(struct mlx5_ep_notifier *notifier)
{
	mutex_lock(&notifier->edev->lock);
	list_del(&notifier->node);
	mutex_unlock(&notifier->edev->lock);
	put_pid(notifier->tgid);
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_NOTIFIER_CREATE)(
	struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(
		attrs, MLX5_EP_ATTR_NOTIFIER_CREATE_HANDLE);
	struct mlx5_ep_notifier *notifier = to_notifier(uobj);
	u32 capacity = NOTIFIER_DEFAULT_WATCHES;
	int ret;

	ret = uverbs_copy_from(&capacity, attrs,
			       MLX5_EP_ATTR_NOTIFIER_CREATE_CAPACITY);
	if (ret == -ENOENT)
		capacity = min(capacity, READ_ONCE(notifier_max_watches));
	else if (ret)
		return ret;
	if (!capacity)
		return -EINVAL;
	if (capacity > READ_ONCE(notifier_max_watches))
		return -EDQUOT;

	init_waitqueue_head(&notifier->wait);
	spin_lock_init(&notifier->source_lock);
	INIT_LIST_HEAD(&notifier->sources);
	ret = mlx5_ep_watches_init(&notifier->watches, capacity,
				   &notifier->wait);
	if (ret)
		return ret;
	notifier->header = notifier->watches.area->pages[0];
	notifier_list_add(notifier);
	return 0;
}

static void mlx5_ep_notifier_destroy(struct ib_uobject *uobj,
				     enum rdma_remove_reason why)
{
	struct mlx5_ep_notifier *notifier = to_notifier(uobj);
	struct mlx5_ep_notifier_source *source, *next;

	notifier_list_remove(notifier);
	spin_lock_irq(&notifier->source_lock);
	notifier->removed = why == RDMA_REMOVE_DRIVER_REMOVE;
	notifier->header = NULL;
	WRITE_ONCE(notifier->source_pending, 0);
	list_for_each_entry_safe(source, next, &notifier->sources, node)
		list_del_init(&source->node);
	WRITE_ONCE(notifier->dead, true);
	spin_unlock_irq(&notifier->source_lock);

	mlx5_ep_watches_fini(&notifier->watches);
	wake_up_interruptible_poll(&notifier->wait,
				   EPOLLIN | EPOLLERR | EPOLLHUP);
}

/**
 * mlx5_ep_notifier_show - tell all notifiers of a device
 * @edev: the device
 * @seq: where to
 *
 * May sleep.
 */
void mlx5_ep_notifier_show(struct mlx5_ep_device *edev, struct seq_file *seq)
{
	struct mlx5_ep_watches_stats stats;
	struct mlx5_ep_notifier *notifier;
	u64 total, pending;

	seq_puts(seq, "pid watches capacity bytes events unread xrc_events xrc_unread comm\n");
	mutex_lock(&edev->lock);
	list_for_each_entry(notifier, &edev->notifiers, node) {
		mlx5_ep_watches_get_stats(&notifier->watches, &stats);
		spin_lock_irq(&notifier->source_lock);
		total = notifier->source_total;
		pending = notifier->source_pending;
		spin_unlock_irq(&notifier->source_lock);
		seq_printf(seq, "%d %u %u %llu %llu %llu %llu %llu ",
			   pid_nr(notifier->tgid), stats.live, stats.capacity,
			   stats.bytes, stats.total, stats.pending, total,
			   pending);
		seq_escape(seq, notifier->comm, "\n\\");
		seq_putc(seq, '\n');
	}
	mutex_unlock(&edev->lock);
}

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_NOTIFIER_CREATE,
	UVERBS_ATTR_FD(MLX5_EP_ATTR_NOTIFIER_CREATE_HANDLE,
		       MLX5_EP_OBJECT_NOTIFIER,
		       UVERBS_ACCESS_NEW,
		       UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_NOTIFIER_CREATE_CAPACITY,
			   UVERBS_ATTR_TYPE(u32),
			   UA_OPTIONAL));

DECLARE_UVERBS_NAMED_OBJECT(
	MLX5_EP_OBJECT_NOTIFIER,
	UVERBS_TYPE_ALLOC_FD(sizeof(struct mlx5_ep_notifier),
			     mlx5_ep_notifier_destroy,
			     &mlx5_ep_notifier_fops, "[mlx5_ep_notifier]",
			     O_RDONLY),
	&UVERBS_METHOD(MLX5_EP_METHOD_NOTIFIER_CREATE));

const struct uapi_definition mlx5_ep_notifier_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_EP_OBJECT_NOTIFIER),
	{},
};
