// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * NOTIFIER: a notifier (notifier.c) as a uverbs object of a device, which is a file. It can
 * do what needs the device: watch dma-bufs, and have events of shared XRC receive QPs.
 *
 * Destroy (close, device removal) ends everything but the object's own memory. mlx5_ep_device.lock
 * protects the list of a device's notifiers.
 *
 * The file can stay open when the context and the device are gone. Its end then puts the
 * last reference of what ib_uverbs keeps for the device, whose release function belongs to
 * ib_uverbs. So an object holds ib_uverbs until then, where mlx5_ep does not.
 */
#include <linux/compat.h>
#include <linux/module.h>
#define UVERBS_MODULE_NAME mlx5_ep
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "account/account.h"
#include "compat/compat.h"
#include "device.h"
#include "uuar/context.h"
#include "uverbs_reload.h"
#include "watch/notifier_priv.h"

static int UVERBS_HANDLER(MLX5_EP_METHOD_NOTIFIER_CREATE)(
	struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(
		attrs, MLX5_EP_ATTR_NOTIFIER_CREATE_HANDLE);
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uobj->context->device);
	struct notifier_object *object = notifier_object_of(uobj);
	u32 capacity = 0;
	int ret;

	ret = uverbs_copy_from(&capacity, attrs,
			       MLX5_EP_ATTR_NOTIFIER_CREATE_CAPACITY);
	if (ret && ret != -ENOENT)
		return ret;
	/* Who asks for watches asks for one at least. */
	if (!ret && !capacity)
		return -EINVAL;
	ret = mlx5_ep_notifier_begin(
		&object->notifier, edev,
		mlx5_ep_context_of(edev, uobj->context)->user, capacity);
	if (ret)
		return ret;
	object->edev = edev;
	/* The method succeeds, so the file's end is told. */
	object->uverbs = mlx5_ep_uverbs_reload_hold();
	mutex_lock(&edev->lock);
	list_add_tail(&object->notifier.node, &edev->notifiers);
	mutex_unlock(&edev->lock);
	return 0;
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF)(
	struct uverbs_attr_bundle *attrs)
{
	struct notifier_object *object =
		notifier_object_of(uverbs_attr_get_uobject(
			attrs, MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_HANDLE));
	struct mlx5_ep_watches *ws = &object->notifier.watches;
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
	ret = mlx5_ep_watch_dmabuf_add(ws, object->edev,
				       object->notifier.user, &req, &resp);
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

static const struct file_operations notifier_object_fops = {
	NOTIFIER_FILE_OPERATIONS,
	.release = uverbs_uobject_fd_release,
};

static void mlx5_ep_notifier_destroy(struct ib_uobject *uobj,
				     enum rdma_remove_reason why)
{
	struct notifier_object *object = notifier_object_of(uobj);

	mutex_lock(&object->edev->lock);
	list_del(&object->notifier.node);
	mutex_unlock(&object->edev->lock);
	mlx5_ep_notifier_end(&object->notifier,
			     why == RDMA_REMOVE_DRIVER_REMOVE);
}

/* The file has ended, and what it kept of ib_uverbs. */
static void COMPAT_FD_RELEASE notifier_object_release(struct ib_uobject *uobj)
{
	module_put(notifier_object_of(uobj)->uverbs);
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
	mutex_lock(&edev->lock);
	mlx5_ep_notifier_list(&edev->notifiers, seq);
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
	COMPAT_TYPE_ALLOC_FD(
		sizeof(struct notifier_object), mlx5_ep_notifier_destroy,
		notifier_object_release, &notifier_object_fops,
		"[mlx5_ep_notifier]", O_RDONLY),
	&UVERBS_METHOD(MLX5_EP_METHOD_NOTIFIER_CREATE),
	&UVERBS_METHOD(MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF));

const struct uapi_definition mlx5_ep_notifier_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_EP_OBJECT_NOTIFIER),
	{},
};
