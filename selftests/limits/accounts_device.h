/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The part of a device that accounts, refusals and cgroups are in. Included by
 * limits.inc.
 */
struct mlx5_ep_device {
	struct {
		int dev;
	} *ibdev;
	struct mlx5_ep_accounts users;
	struct mlx5_ep_refusals refusals;
	struct mlx5_ep_accounts cgroup_accounts;
	struct mutex lock;
	struct list_head cgroups;
};
