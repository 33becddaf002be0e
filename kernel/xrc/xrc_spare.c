// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that is allocated before the device's lock is taken.
 *
 * A registration may need a new entry in any of the tables, or in none. The
 * caller takes the lock and tries. Where an entry is missing, the attempt ends
 * with -EAGAIN and the kind of the entry is noted in the spare. The caller lets
 * the lock go, allocates what is noted and tries again.
 */
#include <linux/slab.h>

#include "xrc.h"

static const size_t spare_sizes[] = {
	[XRC_SPARE_DOMAIN] = sizeof(struct mlx5_ep_xrc_domain),
	[XRC_SPARE_HANDLE] = sizeof(struct mlx5_ep_xrc_handle),
	[XRC_SPARE_FILE] = sizeof(struct mlx5_ep_xrc_file),
	[XRC_SPARE_HOLDER] = sizeof(struct mlx5_ep_xrc_holder),
	[XRC_SPARE_QP] = sizeof(struct mlx5_ep_xrc_qp),
};

/**
 * mlx5_ep_xrc_spare_take() - use the memory of one kind
 * @spare: memory that belongs to the calling thread
 * @kind: the table for which an entry is needed; it says how large the memory
 *	is
 *
 * Return: zeroed memory; NULL: there is none, and the kind is noted
 */
void *mlx5_ep_xrc_spare_take(struct mlx5_ep_xrc_spare *spare,
			     enum mlx5_ep_xrc_spare_kind kind)
{
	void *mem = spare->mem[kind];

	spare->mem[kind] = NULL;
	spare->wanted |= BIT(kind);
	return mem;
}

/**
 * mlx5_ep_xrc_spare_fill() - allocate each kind that is noted
 * @spare: memory that belongs to the calling thread; the device's lock is not
 *	held
 *
 * Sleeps. The memory is charged to the memory cgroup of the caller.
 *
 * Return: 0; -ENOMEM
 */
int mlx5_ep_xrc_spare_fill(struct mlx5_ep_xrc_spare *spare)
{
	unsigned int kind;

	for (kind = 0; kind < XRC_SPARE_KINDS; kind++) {
		if (!(spare->wanted & BIT(kind)) || spare->mem[kind])
			continue;
		spare->mem[kind] = kzalloc(spare_sizes[kind],
					   GFP_KERNEL_ACCOUNT);
		if (!spare->mem[kind])
			return -ENOMEM;
	}
	return 0;
}

/**
 * mlx5_ep_xrc_spare_free() - free what was not used
 * @spare: memory that belongs to the calling thread, who does not use it
 *	afterwards
 */
void mlx5_ep_xrc_spare_free(struct mlx5_ep_xrc_spare *spare)
{
	unsigned int kind;

	for (kind = 0; spare->wanted && kind < XRC_SPARE_KINDS; kind++)
		kfree(spare->mem[kind]);
}
