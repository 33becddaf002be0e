/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Policies and limits of cgroups. */

#ifndef MLX5_EP_CGROUP_H
#define MLX5_EP_CGROUP_H

#include <linux/list.h>
#include <linux/types.h>

#include "device.h"

/**
 * struct mlx5_ep_cgroup_change - what is set for a cgroup, or taken away
 * @is_limit: the limit; otherwise the policy
 * @remove: take it away
 * @settings: read if a policy is given
 * @limit: UAR pages that the cgroup may hold
 */
struct mlx5_ep_cgroup_change {
	bool is_limit;
	bool remove;
	struct mlx5_ep_settings settings;
	unsigned int limit;
};

const struct mlx5_ep_settings *
mlx5_ep_cgroup_settings(struct mlx5_ep_device *edev);
int mlx5_ep_cgroup_set(struct mlx5_ep_device *edev, const char *path,
		       const struct mlx5_ep_cgroup_change *change);
ssize_t mlx5_ep_cgroup_read(struct mlx5_ep_device *edev, bool limits, char *buf,
			    size_t from, size_t count);
void mlx5_ep_cgroup_forget(struct list_head *cgroups);
struct mlx5_ep_account *mlx5_ep_cgroup_account_get(struct mlx5_ep_device *edev);
void mlx5_ep_cgroup_account_limit(struct mlx5_ep_device *edev,
				  struct mlx5_ep_account *account);
int mlx5_ep_cgroup_check(struct mlx5_ep_device *edev,
			 struct mlx5_ep_account *account, unsigned int pages);
int mlx5_ep_cgroup_charge(struct mlx5_ep_device *edev,
			  struct mlx5_ep_account *account, unsigned int pages);

#endif
