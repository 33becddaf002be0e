// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Our side of objects of the driver: of contexts, and of QPs. It is found by the
 * address of the object, in two tables for each device. Who finds none takes the object
 * for one that is none of our business, and calls the driver.
 *
 * A side is in the table before the driver makes the object, and leaves it when the
 * driver has destroyed the object. So no side is ever found for another object at the same
 * address. A side is freed a grace period later, because lookups pass it on their way.
 */

#include <linux/slab.h>

#include "side.h"

/**
 * mlx5_ep_sides_init() - make the table of a device
 * @sides: to be freed by mlx5_ep_sides_fini()
 *
 * Return: 0; -ENOMEM
 */
int mlx5_ep_sides_init(struct rhashtable *sides)
{
	return rhashtable_init(sides, &mlx5_ep_side_params);
}

static void side_free(void *side, void *unused)
{
	/* Each structure begins with its side. */
	kfree(side);
}

/**
 * mlx5_ep_sides_fini() - free the table of a device, and the sides that are left
 * @sides: nobody looks into the table any more
 *
 * Those are left whose objects the device has failed to destroy. Sleeps.
 */
void mlx5_ep_sides_fini(struct rhashtable *sides)
{
	rhashtable_free_and_destroy(sides, side_free, NULL);
}

/**
 * mlx5_ep_side_add() - give an object our side
 * @sides: of the object's device
 * @side: first member of a structure that kfree() frees
 * @object: object that the driver has not made yet, and that has no side
 *
 * Return: 0; -ENOMEM
 */
int mlx5_ep_side_add(struct rhashtable *sides, struct mlx5_ep_side *side,
		     const void *object)
{
	side->object = object;
	return rhashtable_insert_fast(sides, &side->node,
				      mlx5_ep_side_params) ? -ENOMEM : 0;
}

/**
 * mlx5_ep_side_del() - take our side away from an object
 * @sides: of the object's device
 * @side: in @sides; to be freed by kfree_rcu()
 */
void mlx5_ep_side_del(struct rhashtable *sides, struct mlx5_ep_side *side)
{
	rhashtable_remove_fast(sides, &side->node, mlx5_ep_side_params);
}
