/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What is said when a limit refuses something. */

#ifndef MLX5_EP_LIMIT_H
#define MLX5_EP_LIMIT_H

struct mlx5_ep_device;

/**
 * struct mlx5_ep_refusal - what a limit has refused
 * @what: what is counted, in the plural
 * @who: the holder that has reached the limit
 * @held: how many it holds
 * @refused: how many more were asked for
 * @name: the parameter or attribute that sets the limit
 * @limit: what @name is set to
 */
struct mlx5_ep_refusal {
	const char *what;
	const char *who;
	unsigned int held;
	unsigned int refused;
	const char *name;
	unsigned int limit;
};

int mlx5_ep_limit_refuse(struct mlx5_ep_device *edev,
			 const struct mlx5_ep_refusal *refusal);
int mlx5_ep_limit_refuse_process(struct mlx5_ep_device *edev,
				 struct mlx5_ep_refusal *refusal);

#endif
