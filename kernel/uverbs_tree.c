// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Add our uverbs objects and methods to a device's tree, or refuse.
 *
 * uverbs reads ib_device.driver_def when it makes the device's file. Two
 * definitions of one id would leave the device without any file at all
 * (uverbs_uapi.c, uapi_merge_def()). So each of our trees is compared with each
 * of the driver's first. Where an id is taken, or the driver's tree has a kind
 * of definition that this code does not know, nothing is changed.
 *
 * The definitions stay until the device goes, because uverbs reads them again
 * when the device is moved to another network namespace.
 *
 * To add an object: its file ends with `const struct uapi_definition
 * mlx5_ep_<object>_defs[]`, declared in its header, chained in our_defs below,
 * and its methods are named in names[].
 */

#define UVERBS_MODULE_NAME mlx5_ep
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "device.h"
#include "methods.h"
#include "object_hook.h"
#include "uuar/devx_qp.h"
#include "uuar/uar_alloc.h"
#include "uverbs_tree.h"
#include "watch/notifier.h"
#include "xrc/xrc.h"

static const struct uapi_definition our_defs[] = {
	UAPI_DEF_CHAIN(mlx5_ep_device_defs),
	UAPI_DEF_CHAIN(mlx5_ep_qp_defs),
	UAPI_DEF_CHAIN(mlx5_ep_notifier_defs),
	UAPI_DEF_CHAIN(mlx5_ep_xrc_rcv_qp_defs),
	{},
};

/* What user space reads in uverbs_ids after "abi": kind and name, then the id. */
static const struct {
	const char *name;
	u16 id;
} names[] = {
	{ "method device context_dump", MLX5_EP_METHOD_CONTEXT_DUMP },
	{ "method device context_query", MLX5_EP_METHOD_CONTEXT_QUERY },
	{ "method device context_set_policy",
	  MLX5_EP_METHOD_CONTEXT_SET_POLICY },
	{ "method device query_features", MLX5_EP_METHOD_QUERY_FEATURES },
	{ "method qp list", MLX5_EP_METHOD_QP_LIST },
	{ "method qp query_uuar", MLX5_EP_METHOD_QP_QUERY_UUAR },
	{ "object notifier", MLX5_EP_OBJECT_NOTIFIER },
	{ "object xrc_rcv_qp", MLX5_EP_OBJECT_XRC_RCV_QP },
};

struct walk {
	struct mlx5_ep_device *edev;
	/* called for each object tree; a value other than 0 ends the walk */
	int (*tree)(struct walk *walk, const struct uverbs_object_def *tree);
	const struct uverbs_object_def *ours;
};

static int uverbs_tree_walk_defs(struct walk *walk,
				 const struct uapi_definition *def,
				 unsigned int depth)
{
	int ret = 0;

	if (!def)
		return 0;
	if (depth == MLX5_EP_DEFS_DEPTH)
		return mlx5_ep_device_refuse(walk->edev,
					     "uverbs tree is too deep");

	for (; !ret && def->kind != UAPI_DEF_END; def++) {
		switch (def->kind) {
		case UAPI_DEF_CHAIN:
			ret = uverbs_tree_walk_defs(walk, def->chain,
						    depth + 1);
			break;
		case UAPI_DEF_CHAIN_OBJ_TREE:
			ret = walk->tree(walk, def->chain_obj_tree);
			break;
		case UAPI_DEF_OBJECT_START:
		case UAPI_DEF_WRITE:
		case UAPI_DEF_IS_SUPPORTED_FUNC:
		case UAPI_DEF_IS_SUPPORTED_DEV_FN:
			break;
		default:
			ret = mlx5_ep_device_refuse(
				walk->edev, "unknown uverbs definition %u",
				def->kind);
		}
	}
	return ret;
}

static bool uverbs_tree_has_method(const struct uverbs_object_def *tree, u16 id)
{
	size_t i;

	for (i = 0; tree->methods && i < tree->num_methods; i++)
		if ((*tree->methods)[i] && (*tree->methods)[i]->id == id)
			return true;
	return false;
}

/* Does a tree of the driver's use an id of walk->ours? */
static int uverbs_tree_check_theirs(struct walk *walk,
				    const struct uverbs_object_def *tree)
{
	const struct uverbs_object_def *ours = walk->ours;
	size_t i;

	if (tree->id != ours->id)
		return 0;
	if (ours->type_attrs)
		return mlx5_ep_device_refuse(
			walk->edev, "uverbs object 0x%x is taken", ours->id);
	for (i = 0; ours->methods && i < ours->num_methods; i++) {
		u16 id = (*ours->methods)[i]->id;

		if (uverbs_tree_has_method(tree, id))
			return mlx5_ep_device_refuse(
				walk->edev,
				"uverbs method 0x%x of object 0x%x is taken",
				id, ours->id);
	}
	return 0;
}

static int uverbs_tree_check_ours(struct walk *walk,
				  const struct uverbs_object_def *tree)
{
	struct walk theirs = {
		.edev = walk->edev,
		.tree = uverbs_tree_check_theirs,
		.ours = tree,
	};

	return uverbs_tree_walk_defs(&theirs, walk->edev->ibdev->driver_def, 0);
}

/**
 * mlx5_ep_uverbs_tree_add() - put our definitions behind the driver's
 * @edev: device that nobody uses yet
 *
 * Return: 0; -ENODEV, with the reason noted and nothing changed
 */
int mlx5_ep_uverbs_tree_add(struct mlx5_ep_device *edev)
{
	struct uapi_definition *def = edev->defs;
	struct walk ours = { .edev = edev, .tree = uverbs_tree_check_ours };
	const struct uapi_definition *theirs;
	int ret;

	ret = uverbs_tree_walk_defs(&ours, our_defs, 0);
	if (ret)
		return ret;

	edev->stock.driver_def = edev->ibdev->driver_def;
	theirs = mlx5_ep_uar_alloc_hook(edev, edev->stock.driver_def);
	if (!IS_ERR(theirs))
		theirs = mlx5_ep_devx_qp_hook(edev, theirs);
	if (IS_ERR(theirs)) {
		mlx5_ep_uar_alloc_unhook(edev);
		return mlx5_ep_device_refuse(
			edev, PTR_ERR(theirs) == -ENOMEM ? "no memory" :
			"mlx5_ib's DevX or UAR objects have other methods");
	}
	*def++ = (struct uapi_definition)UAPI_DEF_CHAIN(theirs);
	*def++ = (struct uapi_definition)UAPI_DEF_CHAIN(our_defs);
	*def = (struct uapi_definition){};
	edev->ibdev->driver_def = edev->defs;
	return 0;
}

/**
 * mlx5_ep_uverbs_tree_remove() - restore the driver's definitions
 * @edev: device that nobody uses any more
 *
 * Another module may have put definitions there before ours. It has restored the
 * driver's already, and removed ours thereby: class interfaces are told of a
 * removal in the order in which they registered.
 */
void mlx5_ep_uverbs_tree_remove(struct mlx5_ep_device *edev)
{
	if (edev->ibdev->driver_def == edev->defs)
		edev->ibdev->driver_def = edev->stock.driver_def;
	mlx5_ep_devx_qp_unhook(edev);
	mlx5_ep_uar_alloc_unhook(edev);
}

/**
 * mlx5_ep_uverbs_tree_show() - list the ids that user space may call
 * @buf: page of a sysfs attribute
 *
 * Writes the version of the ABI, then a line for each id: kind, name and id.
 *
 * Return: bytes written
 */
ssize_t mlx5_ep_uverbs_tree_show(char *buf)
{
	ssize_t len = sysfs_emit(buf, "abi %u\n", MLX5_EP_ABI_VERSION);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		len += sysfs_emit_at(buf, len, "%s 0x%x\n", names[i].name,
				     names[i].id);
	return len;
}
