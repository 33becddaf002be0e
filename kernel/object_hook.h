/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Uverbs objects of the driver, whose methods we wrap. */

#ifndef MLX5_EP_OBJECT_HOOK_H
#define MLX5_EP_OBJECT_HOOK_H

#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>

/* Chains of definitions within chains: mlx5_ib has two levels. */
#define MLX5_EP_DEFS_DEPTH 8
/* Most methods of one object that are wrapped. */
#define MLX5_EP_HOOK_METHODS 2

/**
 * struct mlx5_ep_object_change - what to change of an object of the driver
 * @object: id of the object
 * @ids: ids of the methods to wrap; 0 ends the list
 * @handlers: ours, in the order of @ids
 * @destroy: ours; NULL: the driver's stays
 * @size: bytes of ours behind each object, zeroed at birth; only with @destroy
 */
struct mlx5_ep_object_change {
	u16 object;
	u16 ids[MLX5_EP_HOOK_METHODS];
	int (*handlers[MLX5_EP_HOOK_METHODS])(struct uverbs_attr_bundle *attrs);
	int (*destroy)(struct ib_uobject *uobj, enum rdma_remove_reason why,
		       struct uverbs_attr_bundle *attrs);
	size_t size;
};

/**
 * struct mlx5_ep_object_hook - a device's changed definitions of one object
 * @handlers: the driver's, in the order of the change
 * @destroy: the driver's
 * @offset: where our bytes begin, behind the driver's object
 * @defs: copies, the outermost first
 * @object: copy of the driver's object
 * @type: copy of its type
 * @methods: copy of its list of methods
 * @lacking: the driver has the object, without something that is to be changed
 * @changed: copies of the wrapped methods, with our handlers
 */
struct mlx5_ep_object_hook {
	int (*handlers[MLX5_EP_HOOK_METHODS])(struct uverbs_attr_bundle *attrs);
	int (*destroy)(struct ib_uobject *uobj, enum rdma_remove_reason why,
		       struct uverbs_attr_bundle *attrs);
	size_t offset;
	struct uapi_definition *defs[MLX5_EP_DEFS_DEPTH];
	struct uverbs_object_def object;
	struct uverbs_obj_idr_type *type;
	const struct uverbs_method_def **methods;
	bool lacking;
	struct uverbs_method_def changed[MLX5_EP_HOOK_METHODS];
};

const struct uapi_definition *
mlx5_ep_object_hook_create(struct mlx5_ep_object_hook **hook,
			   const struct mlx5_ep_object_change *change,
			   const struct uapi_definition *defs);
void mlx5_ep_object_hook_destroy(struct mlx5_ep_object_hook *hook);

#endif
