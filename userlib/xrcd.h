/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_XRCD_INTERNAL_H
#define MLX5EP_XRCD_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <mlx5ep/xrcd.h>

/**
 * struct mlx5ep_xrcd - an XRC domain
 * @handle: the kernel's number of it, within its context
 * @memory: of the process that opened or wrapped it
 * @owned: mlx5ep_xrcd_open() opened @ibv, and mlx5ep_xrcd_close() closes it
 */
struct mlx5ep_xrcd {
	struct ibv_xrcd *ibv;
	uint32_t handle;
	uint64_t memory;
	bool owned;
};

int mlx5ep_xrcd_init(struct mlx5ep_xrcd *xrcd, struct ibv_xrcd *ibv);

#endif
