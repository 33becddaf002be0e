/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Our side of objects of the driver, found by the object. */

#ifndef MLX5_EP_SIDE_H
#define MLX5_EP_SIDE_H

#include <linux/hash.h>
#include <linux/rhashtable.h>
#include <linux/types.h>

/**
 * struct mlx5_ep_side - what makes a structure our side of an object
 * @node: in mlx5_ep_device.context_sides or qp_sides
 * @object: the context or QP; compared only
 * @rcu: for kfree_rcu(), after mlx5_ep_side_del()
 */
struct mlx5_ep_side {
	struct rhash_head node;
	const void *object;
	struct rcu_head rcu;
};

static inline u32 mlx5_ep_side_hash(const void *key, u32 len, u32 seed)
{
	return hash_long(*(const unsigned long *)key, 32) ^ seed;
}

static inline int mlx5_ep_side_cmp(struct rhashtable_compare_arg *arg,
				   const void *side)
{
	return *(const void *const *)arg->key !=
	       ((const struct mlx5_ep_side *)side)->object;
}

/* Constant for the compiler, which makes a few instructions of a lookup. */
static const struct rhashtable_params mlx5_ep_side_params = {
	.head_offset = offsetof(struct mlx5_ep_side, node),
	.key_offset = offsetof(struct mlx5_ep_side, object),
	.key_len = sizeof(const void *),
	.hashfn = mlx5_ep_side_hash,
	.obj_cmpfn = mlx5_ep_side_cmp,
	.automatic_shrinking = true,
};

/**
 * mlx5_ep_side_find() - our side of an object
 * @sides: of the object's device
 * @object: an object that exists
 *
 * May be called in any context. Who holds the object can use what is found as long as
 * the object is held. Anybody else needs rcu_read_lock() around call and use.
 *
 * Return: NULL where the object has no side of ours
 */
static inline struct mlx5_ep_side *mlx5_ep_side_find(struct rhashtable *sides,
						     const void *object)
{
	return rhashtable_lookup_fast(sides, &object, mlx5_ep_side_params);
}

int mlx5_ep_sides_init(struct rhashtable *sides);
void mlx5_ep_sides_fini(struct rhashtable *sides);
int mlx5_ep_side_add(struct rhashtable *sides, struct mlx5_ep_side *side,
		     const void *object);
void mlx5_ep_side_del(struct rhashtable *sides, struct mlx5_ep_side *side);

#endif
