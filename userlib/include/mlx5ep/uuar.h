/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_UUAR_H
#define MLX5EP_UUAR_H

#include <stddef.h>

#include <infiniband/verbs.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The exported calls. @size: size of the structure in the calling program. */
int _mlx5ep_context_query(struct ibv_context *context,
			  struct mlx5_ep_context_info *info, size_t size);
int _mlx5ep_context_set_policy(struct ibv_context *context,
			       const struct mlx5_ep_context_policy *policy,
			       size_t size);
int _mlx5ep_context_dump(struct ibv_context *context,
			 struct mlx5_ep_uuar_info *uuars, unsigned int *count,
			 size_t size);
int _mlx5ep_qp_query_uuar(struct ibv_qp *qp, struct mlx5_ep_qp_uuar *uuar,
			  size_t size);

/**
 * mlx5ep_context_query() - ask for policy, UAR pages and QPs of a context
 *
 * Return: 0, or -EOPNOTSUPP without the module.
 */
static inline int mlx5ep_context_query(struct ibv_context *context,
				       struct mlx5_ep_context_info *info)
{
	return _mlx5ep_context_query(context, info, sizeof(*info));
}

/**
 * mlx5ep_context_set_policy() - choose the uUAR policy of a context
 * @context: has had no QP yet; with %MLX5_EP_POLICY_LATER_OPENS any context
 *
 * With %MLX5_EP_POLICY_LATER_OPENS the policy is for the contexts that the
 * process opens later, and not for @context.
 *
 * Return: 0. -EBUSY if the context has or had a QP. -EINVAL for an unknown
 * policy or flag. -EOPNOTSUPP without the module, or if the context was opened
 * under policy stock: libmlx5 then assigns uUARs itself.
 */
static inline int
mlx5ep_context_set_policy(struct ibv_context *context,
			  const struct mlx5_ep_context_policy *policy)
{
	return _mlx5ep_context_set_policy(context, policy, sizeof(*policy));
}

/**
 * mlx5ep_context_dump() - read the table of uUARs of a managed context
 * @uuars: array to fill, ordered by page and slot; may be NULL if *@count is 0
 * @count: before the call: length of @uuars; after it: length of the table,
 *	which may be more
 *
 * Return: 0. -EOPNOTSUPP without the module, or if the context has no table.
 */
static inline int mlx5ep_context_dump(struct ibv_context *context,
				      struct mlx5_ep_uuar_info *uuars,
				      unsigned int *count)
{
	return _mlx5ep_context_dump(context, uuars, count, sizeof(*uuars));
}

/**
 * mlx5ep_qp_query_uuar() - which UAR page and uUAR does a QP ring?
 *
 * The answer comes from the kernel and from the adapter.
 *
 * Return: 0. -EOPNOTSUPP without the module. -ENOENT if the kernel has no such
 * QP. -EIO if the adapter does not answer.
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
