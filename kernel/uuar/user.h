/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UAR pages by user. */

#ifndef MLX5_EP_USER_H
#define MLX5_EP_USER_H

#include <linux/list.h>
#include <linux/uidgid.h>

struct mlx5_ep_device;

/**
 * struct mlx5_ep_user - a user who has contexts on a device
 * @node: in mlx5_ep_device.users
 * @contexts: number of these contexts
 * @pages: UAR pages that these contexts hold
 * @notifiers: notifiers that the user has
 */
struct mlx5_ep_user {
	struct list_head node;
	kuid_t uid;
	unsigned int contexts;
	atomic_t pages;
	atomic_t notifiers;
};

struct mlx5_ep_user *mlx5_ep_user_get(struct mlx5_ep_device *edev);
void mlx5_ep_user_put(struct mlx5_ep_device *edev, struct mlx5_ep_user *user);
int mlx5_ep_user_charge(struct mlx5_ep_device *edev, struct mlx5_ep_user *user,
			unsigned int least, unsigned int most);
void mlx5_ep_user_uncharge(struct mlx5_ep_user *user, unsigned int pages);

#endif
