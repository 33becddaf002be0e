/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What users hold on a device, and of /dev/mlx5_ep. */

#ifndef MLX5_EP_USER_H
#define MLX5_EP_USER_H

#include "account/account.h"

struct mlx5_ep_device;

struct mlx5_ep_account *mlx5_ep_user_get(struct mlx5_ep_accounts *users);
void mlx5_ep_user_put(struct mlx5_ep_accounts *users,
		      struct mlx5_ep_account *user);
int mlx5_ep_user_check(struct mlx5_ep_device *edev,
		       struct mlx5_ep_account *user,
		       enum mlx5_ep_resource resource, unsigned int number,
		       unsigned int limit);
int mlx5_ep_user_charge(struct mlx5_ep_device *edev,
			struct mlx5_ep_account *user,
			enum mlx5_ep_resource resource, unsigned int number,
			unsigned int limit);

#endif
