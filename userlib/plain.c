// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The calls that the headers define inline, as exported functions: for programs that
 * open the library with dlopen(), and for other languages than C.
 *
 * Such a program does not say how long its structures are. So a function here uses
 * the members that the structure had when the function was added, for ever: a
 * program that was compiled then has no more, and one that is compiled later may
 * leave the others alone. END() names the last of these members.
 */
#include <mlx5ep.h>

#include "internal.h"

#define END(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* The headers have taken the name for C, so the assembler is told it. */
#define PLAIN(type, name, ...)						\
	MLX5EP_EXPORT type plain_##name(__VA_ARGS__) __asm__("mlx5ep_" #name); \
	type plain_##name(__VA_ARGS__)

PLAIN(int, device_query, struct ibv_context *context,
	struct mlx5_ep_features *features)
{
	return _mlx5ep_device_query(context, features,
				    END(struct mlx5_ep_features,
					uar_user_held));
}

PLAIN(int, context_query, struct ibv_context *context,
	struct mlx5_ep_context_info *info)
{
	return _mlx5ep_context_query(context, info,
				     END(struct mlx5_ep_context_info,
					 reserved));
}

PLAIN(int, context_set_policy, struct ibv_context *context,
	const struct mlx5_ep_context_policy *policy)
{
	return _mlx5ep_context_set_policy(context, policy,
					  END(struct mlx5_ep_context_policy,
					      reserved));
}

PLAIN(int, context_dump, struct ibv_context *context,
	struct mlx5_ep_uuar_info *uuars, unsigned int *count)
{
	return _mlx5ep_context_dump(context, uuars, count,
				    END(struct mlx5_ep_uuar_info, reserved));
}

PLAIN(int, qp_query_uuar, struct ibv_qp *qp, struct mlx5_ep_qp_uuar *uuar)
{
	return _mlx5ep_qp_query_uuar(qp, uuar,
				     END(struct mlx5_ep_qp_uuar, reserved));
}

PLAIN(void, domain_query, const struct mlx5ep_domain *domain,
	struct mlx5ep_domain_info *info)
{
	_mlx5ep_domain_query(domain, info,
			     END(struct mlx5ep_domain_info, flags));
}

PLAIN(int, endpoints_get, const struct mlx5ep_endpoints *set, unsigned int i,
	struct mlx5ep_endpoint *endpoint)
{
	return _mlx5ep_endpoints_get(set, i, endpoint,
				     END(struct mlx5ep_endpoint, recv_cq));
}

PLAIN(int, endpoints_query, const struct mlx5ep_endpoints *set,
	struct mlx5ep_endpoints_info *info)
{
	return _mlx5ep_endpoints_query(set, info,
				       END(struct mlx5ep_endpoints_info,
					   bytes));
}

PLAIN(int, endpoints_predict, const struct mlx5ep_endpoints_attr *attr,
	unsigned int n, struct mlx5ep_endpoints_info *info)
{
	return _mlx5ep_endpoints_predict(attr, n, info,
					 END(struct mlx5ep_endpoints_info,
					     bytes));
}

PLAIN(int, xrc_rcv_qp_modify, struct mlx5ep_xrc_rcv_qp *qp,
	const struct ibv_qp_attr *attr, int mask,
	struct mlx5_ep_xrc_rcv_qp_modify *answer)
{
	return _mlx5ep_xrc_rcv_qp_modify(qp, attr, mask, answer,
					 END(struct mlx5_ep_xrc_rcv_qp_modify,
					     flags));
}

PLAIN(int, xrc_rcv_qp_query, struct mlx5ep_xrc_rcv_qp *qp,
	struct ibv_qp_attr *attr, struct mlx5_ep_xrc_rcv_qp_info *info)
{
	return _mlx5ep_xrc_rcv_qp_query(qp, attr, info,
					END(struct mlx5_ep_xrc_rcv_qp_info,
					    key));
}

PLAIN(int, watch_add_batch, struct mlx5ep_notifier *notifier,
	struct mlx5_ep_watch_add *ranges, struct mlx5ep_watch *watches,
	unsigned int count)
{
	return _mlx5ep_watch_add_batch(notifier, ranges,
				       END(struct mlx5_ep_watch_add, flags),
				       watches, count);
}

PLAIN(bool, watch_valid, const struct mlx5ep_watch *watch)
{
	return mlx5ep_watch_valid(watch);
}

PLAIN(bool, mr_valid, const struct mlx5ep_mr *mr)
{
	return mlx5ep_mr_valid(mr);
}

PLAIN(void, mr_cache_query, struct mlx5ep_mr_cache *cache,
	struct mlx5ep_mr_cache_stats *stats)
{
	_mlx5ep_mr_cache_query(cache, stats,
			       END(struct mlx5ep_mr_cache_stats, bytes));
}
