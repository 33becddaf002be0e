/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The part of a device that accounts and refusals are in. Included by limits.inc. */
struct mlx5_ep_device {
	struct {
		int dev;
	} *ibdev;
	struct mlx5_ep_accounts users;
	struct mlx5_ep_refusals refusals;
};
