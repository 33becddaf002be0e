/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_UUAR_H
#define MLX5EP_UUAR_H

#include <stddef.h>

#include <infiniband/verbs.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is exported: @size is that of the structure which the program knows. */
int _mlx5ep_context_query(struct ibv_context *context,
			  struct mlx5_ep_context_info *info, size_t size);
int _mlx5ep_context_set_policy(struct ibv_context *context,
			       const struct mlx5_ep_context_policy *policy,
			       size_t size);
int _mlx5ep_qp_query_uuar(struct ibv_qp *qp, struct mlx5_ep_qp_uuar *uuar,
			  size_t size);

/**
 * mlx5ep_context_query - policy, pages and QPs of a context
 * @context: open context
 * @info: written on success
 *
 * Return: 0; -EOPNOTSUPP without the module.
 */
static inline int mlx5ep_context_query(struct ibv_context *context,
				       struct mlx5_ep_context_info *info)
{
	return _mlx5ep_context_query(context, info, sizeof(*info));
}

/**
 * mlx5ep_context_set_policy - choose the uUAR policy of a context
 * @context: open context without a QP so far, or any one with
 *	%MLX5_EP_POLICY_LATER_OPENS
 * @policy: what to set
 *
 * Return: 0; -EBUSY where the context has or had a QP; -EINVAL for an unknown
 * policy or flag; -EOPNOTSUPP without the module, or where the library places
 * the QPs of this context by itself because it was opened under policy stock.
 */
static inline int
mlx5ep_context_set_policy(struct ibv_context *context,
			  const struct mlx5_ep_context_policy *policy)
{
	return _mlx5ep_context_set_policy(context, policy, sizeof(*policy));
}

/**
 * mlx5ep_context_dump - the table of uUARs of a managed context
 * @context: open context
 * @uuars: array to fill, by page and slot; may be NULL when *@count is 0
 * @count: in: entries that @uuars has room for; out: entries of the table,
 *	which may be more
 *
 * Return: 0; -EOPNOTSUPP without the module or for a context without a table.
 */
int mlx5ep_context_dump(struct ibv_context *context,
			struct mlx5_ep_uuar_info *uuars, unsigned int *count);

/**
 * mlx5ep_qp_query_uuar - where a QP rings, as the kernel and the device know
 * @qp: QP of this process
 * @uuar: written on success
 *
 * Return: 0; -EOPNOTSUPP without the module; -ENOENT where the handle names no
 * QP; -EIO where the device does not answer.
 */
static inline int mlx5ep_qp_query_uuar(struct ibv_qp *qp,
				       struct mlx5_ep_qp_uuar *uuar)
{
	return _mlx5ep_qp_query_uuar(qp, uuar, sizeof(*uuar));
}

#ifdef __cplusplus
}
#endif

#endif
