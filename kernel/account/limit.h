/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What is counted and said when a limit or a strict policy refuses something. */

#ifndef MLX5_EP_LIMIT_H
#define MLX5_EP_LIMIT_H

#include <linux/types.h>

struct mlx5_ep_device;

/* What refuses. */
enum mlx5_ep_reason {
	MLX5_EP_REASON_BUDGET,
	MLX5_EP_REASON_USER,
	MLX5_EP_REASON_CGROUP,
	MLX5_EP_REASON_WATCHES,
	MLX5_EP_REASON_NOTIFIERS,
	MLX5_EP_REASON_DMABUF_WATCHES,
	MLX5_EP_REASON_XRC_QPS_DEVICE,
	MLX5_EP_REASON_XRC_QPS_USER,
	MLX5_EP_REASON_XRC_REGS_USER,
	MLX5_EP_REASON_STRICT_CONTEXT,
	MLX5_EP_REASON_STRICT_QP,
	MLX5_EP_NR_REASONS
};

/**
 * struct mlx5_ep_refusals - what was refused on a device since it was attached
 * @number: of refusals, by enum mlx5_ep_reason
 */
struct mlx5_ep_refusals {
	atomic64_t number[MLX5_EP_NR_REASONS];
};

/**
 * struct mlx5_ep_refusal - what a limit has refused
 * @what: what is counted, in the plural
 * @who: the holder that has reached the limit
 * @held: how many it holds
 * @refused: how many more were asked for
 * @reason: what refuses, as the log and sysfs name it
 * @limit: what @reason is set to
 */
struct mlx5_ep_refusal {
	const char *what;
	const char *who;
	unsigned int held;
	unsigned int refused;
	enum mlx5_ep_reason reason;
	unsigned int limit;
};

void mlx5_ep_limit_count_refusal(struct mlx5_ep_device *edev,
				 enum mlx5_ep_reason reason);
int mlx5_ep_limit_refuse(struct mlx5_ep_device *edev,
			 const struct mlx5_ep_refusal *refusal);
int mlx5_ep_limit_refuse_process(struct mlx5_ep_device *edev,
				 struct mlx5_ep_refusal *refusal);
ssize_t mlx5_ep_limit_show_refusals(struct mlx5_ep_device *edev, char *buf);

#endif
