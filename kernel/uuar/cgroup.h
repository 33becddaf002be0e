/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Policies and limits of cgroups. */

#ifndef MLX5_EP_CGROUP_H
#define MLX5_EP_CGROUP_H

#include <linux/list.h>
#include <linux/types.h>

struct mlx5_ep_account;
struct mlx5_ep_device;
struct mlx5_ep_settings;

const struct mlx5_ep_settings *
mlx5_ep_cgroup_settings(struct mlx5_ep_device *edev);
int mlx5_ep_cgroup_set(struct mlx5_ep_device *edev, const char *path,
		       const struct mlx5_ep_settings *settings);
int mlx5_ep_cgroup_set_limit(struct mlx5_ep_device *edev, const char *path,
			     unsigned int limit);
char *mlx5_ep_cgroup_text(struct mlx5_ep_device *edev, bool limits);
void mlx5_ep_cgroup_forget(struct list_head *cgroups);
struct mlx5_ep_account *mlx5_ep_cgroup_account_get(struct mlx5_ep_device *edev);
int mlx5_ep_cgroup_charge(struct mlx5_ep_device *edev,
			  struct mlx5_ep_account *account, unsigned int pages);

#endif
