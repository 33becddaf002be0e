// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * NOTIFIER: the event channel of a process, a uverbs object that is a file
 * (notifier_file.c).
 *
 * Its watches (watch.c) and the sources that other objects embed
 * (notifier_source.c) have events for it. Events coalesce in what they are
 * about, so memory is bounded by the number of watches and registrations, and no
 * event is lost because there is no room.
 *
 * Lifetime: the file holds the uobject, and sources hold it too. Destroy (close,
 * device removal) ends everything but the uobject's own memory.
 *
 * @source_lock is taken by event handlers with interrupts off. It is never held
 * together with the lock of an address space (space.h). mlx5_ep_device.lock is
 * taken before either.
 */
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#define UVERBS_MODULE_NAME mlx5_ep
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>
#include <rdma/mlx5_ep_notifier.h>

#include "account/limit.h"
#include "account/user.h"
#include "device.h"
#include "uuar/context.h"
#include "watch/notifier_priv.h"

#define NOTIFIER_DEFAULT_WATCHES 65536

/*
 * Whatever the parameter says: numbers of slots are of 32 bits, with room for a chunk.
 * This is 2^28.
 */
#define NOTIFIER_MOST_WATCHES 0x10000000U

static unsigned int notifier_max_watches = 1 << 20;
module_param(notifier_max_watches, uint, 0644);
MODULE_PARM_DESC(notifier_max_watches,
	"Watches that one notifier may have, at most 268435456 (default 1048576)");

static unsigned int notifiers_per_user = 16384;
module_param(notifiers_per_user, uint, 0644);
MODULE_PARM_DESC(notifiers_per_user,
	"notifiers that a user may have on a device, more are refused with EDQUOT (default 16384)");

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

/* Counts the notifier for the user who opened the context. */
static int notifier_charge(struct mlx5_ep_notifier *notifier,
			   struct mlx5_ep_device *edev)
{
	struct mlx5_ep_account *user =
		mlx5_ep_context_of(edev, notifier->uobj.context)->user;
	int ret;

	ret = mlx5_ep_user_charge(edev, user, MLX5_EP_NOTIFIERS, 1,
				  READ_ONCE(notifiers_per_user));
	if (!ret)
		notifier->user = user;
	return ret;
}

static void notifier_uncharge(struct mlx5_ep_notifier *notifier)
{
	mlx5_ep_account_uncharge(notifier->user, MLX5_EP_NOTIFIERS, 1);
}

static void notifier_list_remove(struct mlx5_ep_notifier *notifier)
{
	mutex_lock(&notifier->edev->lock);
	list_del(&notifier->node);
	mutex_unlock(&notifier->edev->lock);
	put_pid(notifier->tgid);
}

static u32 notifier_most_watches(void)
{
	return min(READ_ONCE(notifier_max_watches), NOTIFIER_MOST_WATCHES);
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_NOTIFIER_CREATE)(
	struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(
		attrs, MLX5_EP_ATTR_NOTIFIER_CREATE_HANDLE);
	struct mlx5_ep_notifier *notifier = notifier_of(uobj);
	struct mlx5_ep_refusal refusal = {
		.what = "watches of a notifier",
		.reason = MLX5_EP_REASON_WATCHES,
	};
	u32 capacity = NOTIFIER_DEFAULT_WATCHES;
	struct mlx5_ep_device *edev;
	int ret;

	ret = uverbs_copy_from(&capacity, attrs,
			       MLX5_EP_ATTR_NOTIFIER_CREATE_CAPACITY);
	if (ret == -ENOENT)
		capacity = min(capacity, notifier_most_watches());
	else if (ret)
		return ret;
	if (!capacity)
		return -EINVAL;
	edev = mlx5_ep_device_find(uobj->context->device);
	refusal.refused = capacity;
	refusal.limit = notifier_most_watches();
	if (capacity > refusal.limit)
		return mlx5_ep_limit_refuse_process(edev, &refusal);

	ret = notifier_charge(notifier, edev);
	if (ret)
		return ret;
	init_waitqueue_head(&notifier->wait);
	spin_lock_init(&notifier->source_lock);
	INIT_LIST_HEAD(&notifier->sources);
	ret = mlx5_ep_watches_init(&notifier->watches, capacity,
				   &notifier->wait);
	if (ret) {
		notifier_uncharge(notifier);
		return ret;
	}
	notifier->header = notifier->watches.header;
	notifier_list_add(notifier);
	return 0;
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF)(
	struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_notifier *notifier =
		notifier_of(uverbs_attr_get_uobject(
			attrs, MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_HANDLE));
	struct mlx5_ep_watches *ws = &notifier->watches;
	struct mlx5_ep_watch_dmabuf_resp resp = {};
	struct mlx5_ep_watch_dmabuf req;
	struct mlx5_ep_watch_ref ref;
	int ret;

	ret = uverbs_copy_from_or_zero(&req, attrs,
				       MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_REQ);
	if (ret)
		return ret;
	ret = mlx5_ep_watch_slots_get(ws);
	if (ret)
		return ret;
	ret = mlx5_ep_watch_dmabuf_add(ws, notifier->edev, notifier->user,
				       &req, &resp);
	if (ret)
		goto out_put;
	ret = uverbs_copy_to_struct_or_zero(
		attrs, MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_RESP, &resp,
		sizeof(resp));
	if (ret) {
		ref.word = resp.word;
		ref.slot = resp.slot;
		mlx5_ep_watches_del(ws, &ref, 1);
	}

out_put:
	mlx5_ep_watch_slots_put(ws);
	return ret;
}

static void mlx5_ep_notifier_destroy(struct ib_uobject *uobj,
				     enum rdma_remove_reason why)
{
	struct mlx5_ep_notifier *notifier = notifier_of(uobj);

	notifier_list_remove(notifier);
	spin_lock_irq(&notifier->source_lock);
	notifier->removed = why == RDMA_REMOVE_DRIVER_REMOVE;
	notifier->header = NULL;
	WRITE_ONCE(notifier->source_pending, 0);
	/* There may be very many sources: each leaves the list when it ends. */
	WRITE_ONCE(notifier->dead, true);
	spin_unlock_irq(&notifier->source_lock);

	mlx5_ep_watches_fini(&notifier->watches);
	notifier_uncharge(notifier);
	wake_up_interruptible_poll(&notifier->wait,
				   EPOLLIN | EPOLLERR | EPOLLHUP);
}

/**
 * mlx5_ep_notifier_show() - print all notifiers of a device
 * @edev: attached device; its lock is taken here
 * @seq: file "watches" in debugfs, one line per notifier
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
		mlx5_ep_watch_slots_get_stats(&notifier->watches, &stats);
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

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF,
	UVERBS_ATTR_FD(MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_HANDLE,
		       MLX5_EP_OBJECT_NOTIFIER,
		       UVERBS_ACCESS_READ,
		       UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_REQ,
			   UVERBS_ATTR_STRUCT(struct mlx5_ep_watch_dmabuf,
					      flags),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_RESP,
			    UVERBS_ATTR_STRUCT(struct mlx5_ep_watch_dmabuf_resp,
					       reserved),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(
	MLX5_EP_OBJECT_NOTIFIER,
	UVERBS_TYPE_ALLOC_FD(sizeof(struct mlx5_ep_notifier),
			     mlx5_ep_notifier_destroy,
			     &mlx5_ep_notifier_fops, "[mlx5_ep_notifier]",
			     O_RDONLY),
	&UVERBS_METHOD(MLX5_EP_METHOD_NOTIFIER_CREATE),
	&UVERBS_METHOD(MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF));

const struct uapi_definition mlx5_ep_notifier_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_EP_OBJECT_NOTIFIER),
	{},
};
