// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Wrap methods of uverbs objects that belong to the driver.
 *
 * uverbs calls no operation of the device for such an object. So it is given a
 * copy of the driver's definitions that differs in a few pointers: the handlers
 * of the wrapped methods, and the function that destroys the object. Each
 * wrapper calls the driver's exactly once.
 *
 * The driver's own definitions are never written to: they are constants, and
 * all its devices use them. An object is changed wholly or not at all.
 */

#include <linux/kernel.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "object_hook.h"

static const struct uverbs_method_def **
hook_find_method(struct mlx5_ep_object_hook *hook, u16 id)
{
	size_t i;

	for (i = 0; i < hook->object.num_methods; i++)
		if (hook->methods[i] && hook->methods[i]->id == id)
			return &hook->methods[i];
	return NULL;
}

/* The changes below return 1, 0 where there is nothing to change, or -ENOMEM. */

static int hook_change_methods(struct mlx5_ep_object_hook *hook,
			       const struct mlx5_ep_object_change *change)
{
	const struct uverbs_method_def **method;
	unsigned int i;

	hook->methods = NULL;
	if (!hook->object.methods)
		return 0;
	hook->methods = kmemdup(*hook->object.methods,
				hook->object.num_methods *
					sizeof(*hook->methods),
				GFP_KERNEL);
	if (!hook->methods)
		return -ENOMEM;
	for (i = 0; i < MLX5_EP_HOOK_METHODS && change->ids[i]; i++) {
		method = hook_find_method(hook, change->ids[i]);
		if (!method || !(*method)->handler)
			return 0;
		hook->changed[i] = **method;
		hook->handlers[i] = (*method)->handler;
		hook->changed[i].handler = change->handlers[i];
		*method = &hook->changed[i];
	}
	hook->object.methods = (void *)hook->methods;
	return 1;
}

static int hook_change_type(struct mlx5_ep_object_hook *hook,
			    const struct mlx5_ep_object_change *change)
{
	const struct uverbs_obj_type *type = hook->object.type_attrs;

	if (!change->destroy)
		return 1;
	if (!type || type->type_class != &uverbs_idr_class)
		return 0;
	hook->type = kmemdup(container_of(type, struct uverbs_obj_idr_type,
					  type),
			     sizeof(*hook->type), GFP_KERNEL);
	if (!hook->type)
		return -ENOMEM;
	hook->offset = ALIGN(type->obj_size, sizeof(u64));
	hook->destroy = hook->type->destroy_object;
	hook->type->destroy_object = change->destroy;
	hook->type->type.obj_size = hook->offset + change->size;
	hook->object.type_attrs = &hook->type->type;
	return 1;
}

static int hook_change_object(struct mlx5_ep_object_hook *hook,
			      const struct mlx5_ep_object_change *change,
			      const struct uverbs_object_def *object)
{
	int ret;

	/* A tree of the same object before this one may have lacked something. */
	kfree(hook->methods);
	hook->object = *object;
	ret = hook_change_methods(hook, change);
	if (ret > 0)
		ret = hook_change_type(hook, change);
	hook->lacking = !ret;
	return ret;
}

/*
 * Copy the arrays that lead to the object. Returns @defs where none leads to one
 * that can be changed, or ERR_PTR(-ENOMEM).
 */
static const struct uapi_definition *
hook_change_defs(struct mlx5_ep_object_hook *hook,
		 const struct mlx5_ep_object_change *change,
		 const struct uapi_definition *defs, unsigned int depth)
{
	const struct uapi_definition *def, *below = NULL;
	size_t at = 0, n;
	int found = 0;

	if (!defs || depth == MLX5_EP_DEFS_DEPTH)
		return defs;
	for (n = 0; defs[n].kind != UAPI_DEF_END; n++) {
		def = &defs[n];
		if (found)
			continue;
		at = n;
		if (def->kind == UAPI_DEF_CHAIN) {
			below = hook_change_defs(hook, change, def->chain,
						 depth + 1);
			found = below != def->chain;
		} else if (def->kind == UAPI_DEF_CHAIN_OBJ_TREE &&
			   def->chain_obj_tree->id == change->object) {
			found = hook_change_object(hook, change,
						   def->chain_obj_tree);
		}
	}
	if (found < 0 || IS_ERR(below))
		return ERR_PTR(-ENOMEM);
	if (!found)
		return defs;
	hook->defs[depth] = kmemdup(defs, (n + 1) * sizeof(*defs), GFP_KERNEL);
	if (!hook->defs[depth])
		return ERR_PTR(-ENOMEM);
	if (defs[at].kind == UAPI_DEF_CHAIN)
		hook->defs[depth][at].chain = below;
	else
		hook->defs[depth][at].chain_obj_tree = &hook->object;
	return hook->defs[depth];
}

/**
 * mlx5_ep_object_hook_destroy() - free changed definitions
 * @hook: hook of a device that nobody uses any more; NULL: nothing happens
 */
void mlx5_ep_object_hook_destroy(struct mlx5_ep_object_hook *hook)
{
	unsigned int i;

	if (!hook)
		return;
	for (i = 0; i < MLX5_EP_DEFS_DEPTH; i++)
		kfree(hook->defs[i]);
	kfree(hook->methods);
	kfree(hook->type);
	kfree(hook);
}

/**
 * mlx5_ep_object_hook_create() - wrap methods of an object of the driver
 * @hook: answer: the hook, whose defs[0] is to be used instead of @defs; NULL
 *	where the driver has no such object
 * @change: what to change
 * @defs: definitions of a device that nobody uses yet, which have been checked:
 *	the driver's, or what another hook made of them
 *
 * Sleeps. The hook must stay until nobody uses the device any more.
 *
 * Return: the definitions to be used, @defs where *@hook is NULL; as a pointer,
 * with *@hook NULL: -ENOMEM; -EOPNOTSUPP: the object lacks what is to be changed
 */
const struct uapi_definition *
mlx5_ep_object_hook_create(struct mlx5_ep_object_hook **hook,
			   const struct mlx5_ep_object_change *change,
			   const struct uapi_definition *defs)
{
	const struct uapi_definition *changed;

	*hook = kzalloc_obj(**hook, GFP_KERNEL);
	if (!*hook)
		return ERR_PTR(-ENOMEM);
	changed = hook_change_defs(*hook, change, defs, 0);
	if ((*hook)->lacking)
		changed = ERR_PTR(-EOPNOTSUPP);
	if (IS_ERR(changed) || changed == defs) {
		mlx5_ep_object_hook_destroy(*hook);
		*hook = NULL;
	}
	return changed;
}
