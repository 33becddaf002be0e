/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Where libmlx5ep-ucx leaves the work to UCX's hooks; mlx5ep doctor names these too. */
#ifndef MLX5EP_UCX_LIMITS_H
#define MLX5EP_UCX_LIMITS_H

#define UCX_VERSION(major, minor) ((major) * 1000u + (minor))

/*
 * The first UCX whose lookups hold against another thread that tells, and the newest one
 * that was run with the library.
 */
#define UCX_OLDEST UCX_VERSION(1, 17)
#define UCX_NEWEST UCX_VERSION(1, 23)

/* Devices by which processes of a node reach each other's memory. */
#define UCX_KNEM "/dev/knem"
#define UCX_XPMEM "/dev/xpmem"

#endif
