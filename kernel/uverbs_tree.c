// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Add our uverbs objects and methods to a device's tree, each part where it can be.
 *
 * uverbs reads ib_device.driver_def when it makes the device's file. Two
 * definitions of one id would leave the device without any file at all
 * (uverbs_uapi.c, uapi_merge_def()). So each of our trees is compared with each
 * of the driver's first. Where an id of a part is taken, the device lacks that part.
 * Where the driver's tree has a kind of definition that this code does not know, any id
 * may be taken, and the device lacks all trees of ours. Policies need none of them.
 * Two parts have no tree: they are hooks of the driver's objects (object_hook.c).
 *
 * The definitions stay until the device goes, because uverbs reads them again
 * when the device is moved to another network namespace, or ib_uverbs is loaded again
 * (uverbs_reload.c). On a preexisting device they stay until mlx5_ep leaves, and
 * uverbs_tree_gate() stands before them. uverbs calls it as it reads them, with
 * client_data_rwsem of the device held:
 *
 *   - Who reads them holds mlx5_ep from then on. Else the gate leaves the driver's own
 *     definitions to be read.
 *   - They are published after the operations are wrapped. So each context of a tree that
 *     has ours has a side of ours.
 *   - They are taken back with client_data_rwsem held for writing: nobody is inside the
 *     gate then, nor reads behind it.
 *
 * To add an object: its file ends with `const struct uapi_definition
 * mlx5_ep_<object>_defs[]`, declared in its header, which is a part or in one,
 * and its methods are named in names[].
 */

#include <linux/module.h>
#define UVERBS_MODULE_NAME mlx5_ep
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "compat/built_for.h"
#include "device.h"
#include "methods.h"
#include "object_hook.h"
#include "uuar/devx_qp.h"
#include "uuar/uar_alloc.h"
#include "uverbs_tree.h"
#include "watch/notifier.h"
#include "xrc/xrc.h"

static const struct {
	const char *name;
	const struct uapi_definition *defs;
} parts[] = {
	[MLX5_EP_PART_CONTEXT] = { "methods on contexts", mlx5_ep_device_defs },
	[MLX5_EP_PART_QP] = { "methods on QPs", mlx5_ep_qp_defs },
	[MLX5_EP_PART_NOTIFIER] = { "notifiers of the device",
				    mlx5_ep_notifier_defs },
	[MLX5_EP_PART_XRC] = { "shared XRC receive QPs",
			       mlx5_ep_xrc_rcv_qp_defs },
	[MLX5_EP_PART_UARS] = { "limits of UAR objects" },
	[MLX5_EP_PART_DEVX_QPS] = { "QPs of DevX" },
};

static_assert(ARRAY_SIZE(parts) == MLX5_EP_PARTS);

/*
 * What user space reads in uverbs_ids after "abi": kind and name, then the id. The library
 * looks for a name from the beginning; objects are created more often than contexts are
 * asked.
 */
static const struct {
	const char *name;
	u16 id;
	enum mlx5_ep_part part;
} names[] = {
	{ "object xrc_rcv_qp", MLX5_EP_OBJECT_XRC_RCV_QP, MLX5_EP_PART_XRC },
	{ "object notifier", MLX5_EP_OBJECT_NOTIFIER, MLX5_EP_PART_NOTIFIER },
	{ "method device context_dump", MLX5_EP_METHOD_CONTEXT_DUMP,
	  MLX5_EP_PART_CONTEXT },
	{ "method device context_query", MLX5_EP_METHOD_CONTEXT_QUERY,
	  MLX5_EP_PART_CONTEXT },
	{ "method device context_set_policy", MLX5_EP_METHOD_CONTEXT_SET_POLICY,
	  MLX5_EP_PART_CONTEXT },
	{ "method device query_features", MLX5_EP_METHOD_QUERY_FEATURES,
	  MLX5_EP_PART_CONTEXT },
	{ "method qp list", MLX5_EP_METHOD_QP_LIST, MLX5_EP_PART_QP },
	{ "method qp query_uuar", MLX5_EP_METHOD_QP_QUERY_UUAR,
	  MLX5_EP_PART_QP },
};

struct walk {
	const struct uapi_definition *theirs;
	/* called for each object tree; false ends the walk */
	bool (*tree)(struct walk *walk, const struct uverbs_object_def *tree);
	const struct uverbs_object_def *ours;
	/* why the walk ended */
	char *reason;
	size_t reason_len;
};

#define WALK_ENDS(_walk, ...)                                                  \
	(snprintf((_walk)->reason, (_walk)->reason_len, __VA_ARGS__), false)

static bool uverbs_tree_walk_defs(struct walk *walk,
				  const struct uapi_definition *def,
				  unsigned int depth)
{
	bool ok = true;

	if (!def)
		return true;
	if (depth == MLX5_EP_DEFS_DEPTH)
		return WALK_ENDS(walk, "uverbs tree is too deep");

	for (; ok && def->kind != UAPI_DEF_END; def++) {
		switch (def->kind) {
		case UAPI_DEF_CHAIN:
			ok = uverbs_tree_walk_defs(walk, def->chain, depth + 1);
			break;
		case UAPI_DEF_CHAIN_OBJ_TREE:
			ok = walk->tree(walk, def->chain_obj_tree);
			break;
		case UAPI_DEF_OBJECT_START:
		case UAPI_DEF_WRITE:
		case UAPI_DEF_IS_SUPPORTED_FUNC:
		case UAPI_DEF_IS_SUPPORTED_DEV_FN:
			break;
		default:
			ok = WALK_ENDS(walk, "unknown uverbs definition %u",
				       def->kind);
		}
	}
	return ok;
}

static bool uverbs_tree_has_method(const struct uverbs_object_def *tree, u16 id)
{
	size_t i;

	for (i = 0; tree->methods && i < tree->num_methods; i++)
		if ((*tree->methods)[i] && (*tree->methods)[i]->id == id)
			return true;
	return false;
}

/* Does a tree of the driver's leave the ids of walk->ours free? */
static bool uverbs_tree_check_theirs(struct walk *walk,
				     const struct uverbs_object_def *tree)
{
	const struct uverbs_object_def *ours = walk->ours;
	size_t i;

	if (tree->id != ours->id)
		return true;
	if (ours->type_attrs)
		return WALK_ENDS(walk, "uverbs object 0x%x is taken", ours->id);
	for (i = 0; ours->methods && i < ours->num_methods; i++) {
		u16 id = (*ours->methods)[i]->id;

		if (uverbs_tree_has_method(tree, id))
			return WALK_ENDS(walk,
					 "uverbs method 0x%x of object 0x%x is taken",
					 id, ours->id);
	}
	return true;
}

static bool uverbs_tree_check_ours(struct walk *walk,
				   const struct uverbs_object_def *tree)
{
	struct walk theirs = *walk;

	theirs.tree = uverbs_tree_check_theirs;
	theirs.ours = tree;
	return uverbs_tree_walk_defs(&theirs, walk->theirs, 0);
}

static void uverbs_tree_say_lacking(struct mlx5_ep_device *edev,
				    enum mlx5_ep_part part)
{
	dev_info(&edev->ibdev->dev, "mlx5_ep: without %s: %s\n",
		 parts[part].name, edev->lacking[part]);
}

/* Notes in edev->lacking which parts the driver's definitions leave no room for. */
static void uverbs_tree_check(struct mlx5_ep_device *edev)
{
	unsigned int i;

	for (i = 0; i < MLX5_EP_PARTS; i++) {
		char *reason = edev->lacking[i];
		struct walk ours = {
			.theirs = edev->ibdev->driver_def,
			.tree = uverbs_tree_check_ours,
			.reason = reason,
			.reason_len = sizeof(edev->lacking[i]),
		};

		*reason = '\0';
		uverbs_tree_walk_defs(&ours, parts[i].defs, 0);
		/* The methods take handles of an object that is another's. */
		if (i == MLX5_EP_PART_XRC && !*reason)
			strscpy(reason, edev->lacking[MLX5_EP_PART_NOTIFIER],
				sizeof(edev->lacking[i]));
		if (*reason)
			uverbs_tree_say_lacking(edev, i);
	}
}

/*
 * Chooses between @defs and what a hook made of them. Where the driver's object has not the
 * methods that the hook wraps, the device lacks @part.
 */
static const struct uapi_definition *
uverbs_tree_hooked(struct mlx5_ep_device *edev, enum mlx5_ep_part part,
		   const struct uapi_definition *hooked,
		   const struct uapi_definition *defs)
{
	if (hooked != ERR_PTR(-EOPNOTSUPP))
		return hooked;
	strscpy(edev->lacking[part], "mlx5_ib's object has other methods",
		sizeof(edev->lacking[part]));
	uverbs_tree_say_lacking(edev, part);
	return defs;
}

/* Makes the text of uverbs_ids once: each process that uses the library reads it. */
static void uverbs_tree_list_ids(struct mlx5_ep_device *edev)
{
	const size_t size = sizeof(edev->ids);
	size_t i, len;

	len = scnprintf(edev->ids, size, "abi %u\n", MLX5_EP_ABI_VERSION);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!*edev->lacking[names[i].part])
			len += scnprintf(edev->ids + len, size - len,
					 "%s 0x%x\n", names[i].name,
					 names[i].id);
	edev->ids_len = len;
}

/**
 * mlx5_ep_uverbs_tree_part_name() - name a part for people
 * @part: any but %MLX5_EP_PARTS
 *
 * Return: the name, in the plural
 */
const char *mlx5_ep_uverbs_tree_part_name(enum mlx5_ep_part part)
{
	return parts[part].name;
}

/* What uverbs reads behind the gate. */
static void uverbs_tree_fill(struct mlx5_ep_device *edev, bool ours)
{
	struct uapi_definition *def = &edev->defs[1];
	unsigned int i;

	*def++ = (struct uapi_definition)UAPI_DEF_CHAIN(
		ours ? edev->hooked_def : edev->stock.driver_def);
	for (i = 0; ours && i < MLX5_EP_PARTS; i++)
		if (!*edev->lacking[i])
			*def++ = (struct uapi_definition)UAPI_DEF_CHAIN(
				parts[i].defs);
	*def = (struct uapi_definition){};
}

/*
 * uverbs asks whether something is supported, before it reads the next definition. The
 * answer is always true.
 */
static bool uverbs_tree_gate(struct ib_device *ibdev)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(ibdev);
	bool whole = READ_ONCE(edev->whole);
	int ret = 0;

	if (whole && edev->preexisting)
		return true;
	if (compat_is_foreign("ib_uverbs"))
		ret = mlx5_ep_device_refuse(
			edev,
			"ib_uverbs is not the one that mlx5_ep was compiled for");
	if (!ret && !whole && !mlx5_ep_device_may_attach(edev))
		ret = -ENODEV;
	if (!ret && edev->preexisting && !try_module_get(THIS_MODULE))
		ret = mlx5_ep_device_refuse(edev, "mlx5_ep is being unloaded");
	uverbs_tree_fill(edev, !ret);
	if (ret)
		dev_info(&ibdev->dev, "mlx5_ep: not attached wholly: %s\n",
			 edev->refusal);
	else
		*edev->refusal = '\0';
	WRITE_ONCE(edev->whole, !ret);
	return true;
}

/**
 * mlx5_ep_uverbs_tree_create() - make our definitions, behind the driver's
 * @edev: device that is being attached; its @lacking and @ids are set here
 *
 * Nobody reads them before mlx5_ep_uverbs_tree_publish(). Sleeps.
 *
 * Return: 0; -ENOMEM
 */
int mlx5_ep_uverbs_tree_create(struct mlx5_ep_device *edev)
{
	const struct uapi_definition *theirs = edev->ibdev->driver_def;

	uverbs_tree_check(edev);
	uverbs_tree_list_ids(edev);
	edev->stock.driver_def = theirs;
	theirs = uverbs_tree_hooked(edev, MLX5_EP_PART_UARS,
				    mlx5_ep_uar_alloc_hook(edev, theirs),
				    theirs);
	if (!IS_ERR(theirs))
		theirs = uverbs_tree_hooked(edev, MLX5_EP_PART_DEVX_QPS,
					    mlx5_ep_devx_qp_hook(edev, theirs),
					    theirs);
	if (IS_ERR(theirs)) {
		mlx5_ep_uar_alloc_unhook(edev);
		return PTR_ERR(theirs);
	}
	edev->hooked_def = theirs;
	edev->defs[0] = (struct uapi_definition)
		UAPI_DEF_IS_OBJ_SUPPORTED(uverbs_tree_gate);
	uverbs_tree_fill(edev, true);
	return 0;
}

/**
 * mlx5_ep_uverbs_tree_publish() - let uverbs read our definitions from now on
 * @edev: attached device, whose operations are wrapped
 */
void mlx5_ep_uverbs_tree_publish(struct mlx5_ep_device *edev)
{
	/* Who reads them finds the wrapped operations. */
	smp_store_release(&edev->ibdev->driver_def, edev->defs);
}

/* Do definitions lead to @ours? */
static bool uverbs_tree_leads_to(const struct uapi_definition *def,
				 const struct uapi_definition *ours,
				 unsigned int depth)
{
	if (def == ours)
		return true;
	if (!def || depth == MLX5_EP_DEFS_DEPTH)
		return false;
	for (; def->kind != UAPI_DEF_END; def++)
		if (def->kind == UAPI_DEF_CHAIN &&
		    uverbs_tree_leads_to(def->chain, ours, depth + 1))
			return true;
	return false;
}

/**
 * mlx5_ep_uverbs_tree_take_back() - restore the driver's definitions of a device in use
 * @edev: held device, for which nothing holds mlx5_ep any more
 *
 * Sleeps.
 *
 * Return: true: nobody reads ours, nor will; false: another module has its own before ours
 */
bool mlx5_ep_uverbs_tree_take_back(struct mlx5_ep_device *edev)
{
	struct ib_device *ibdev = edev->ibdev;
	bool ours;

	down_write(&ibdev->client_data_rwsem);
	if (ibdev->driver_def == edev->defs)
		ibdev->driver_def = edev->stock.driver_def;
	ours = uverbs_tree_leads_to(ibdev->driver_def, edev->defs, 0);
	up_write(&ibdev->client_data_rwsem);
	return !ours;
}

/**
 * mlx5_ep_uverbs_tree_remove() - restore the driver's definitions
 * @edev: device that nobody uses any more, or that has the driver's again
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
 * @edev: attached device
 * @buf: page of a sysfs attribute
 *
 * Writes the version of the ABI, then a line for each id: kind, name and id. Nothing if
 * uverbs has not read our definitions.
 *
 * Return: bytes written
 */
ssize_t mlx5_ep_uverbs_tree_show(const struct mlx5_ep_device *edev, char *buf)
{
	if (!READ_ONCE(edev->whole))
		return 0;
	memcpy(buf, edev->ids, edev->ids_len);
	return edev->ids_len;
}
