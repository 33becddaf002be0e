// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Builds before 0.9.0 had these functions under the version MLX5EP_0.1, although
 * older builds of that version lacked them. They have their own version now, and
 * programs that were linked to them before find them here. The static library has
 * no versions, and is built without this file. It is compiled without link-time
 * optimisation, which does not know of .symver.
 */
#include <mlx5ep.h>

#include "internal.h"

/* MOVED(TYPE, NAME, (PARAMETERS), (ARGUMENTS)) */
#define MOVED(type, name, parameters, arguments)			\
	__asm__(".symver " #name "_former, " #name "@MLX5EP_0.1");	\
	MLX5EP_EXPORT type name##_former parameters;			\
	type name##_former parameters					\
	{								\
		return name arguments;					\
	}

MOVED(int, _mlx5ep_context_dump,
	(struct ibv_context *context, struct mlx5_ep_uuar_info *uuars,
	unsigned int *count, size_t size),
	(context, uuars, count, size))
MOVED(int, _mlx5ep_watch_add_batch,
	(struct mlx5ep_notifier *notifier, struct mlx5_ep_watch_add *ranges,
	size_t size, struct mlx5ep_watch *watches, unsigned int count),
	(notifier, ranges, size, watches, count))
MOVED(void, _mlx5ep_domain_query,
	(const struct mlx5ep_domain *domain, struct mlx5ep_domain_info *info,
	size_t size),
	(domain, info, size))
MOVED(int, mlx5ep_domain_alloc,
	(struct ibv_pd *pd, const struct mlx5ep_domain_attr *attr,
	struct mlx5ep_domain **domain),
	(pd, attr, domain))
MOVED(int, mlx5ep_domain_free, (struct mlx5ep_domain *domain), (domain))
MOVED(struct ibv_pd *, mlx5ep_domain_pd, (const struct mlx5ep_domain *domain),
	(domain))
MOVED(int, mlx5ep_endpoint_address,
	(struct ibv_qp *qp, const struct mlx5ep_connect_attr *attr,
	struct mlx5ep_endpoint_address *address),
	(qp, attr, address))
MOVED(int, mlx5ep_endpoint_connect,
	(struct ibv_qp *qp, const struct mlx5ep_connect_attr *attr,
	const struct mlx5ep_endpoint_address *remote),
	(qp, attr, remote))
MOVED(int, mlx5ep_mr_cache_get_as,
	(struct mlx5ep_mr_cache *cache, void *addr, size_t length,
	const struct mlx5ep_mr_cache_get_attr *attr,
	struct mlx5ep_mr_cache_entry **entry),
	(cache, addr, length, attr, entry))
MOVED(int, mlx5ep_mr_cache_get_dmabuf,
	(struct mlx5ep_mr_cache *cache, int fd, uint64_t offset, size_t length,
	const struct mlx5ep_mr_cache_get_attr *attr,
	struct mlx5ep_mr_cache_entry **entry),
	(cache, fd, offset, length, attr, entry))
MOVED(int, mlx5ep_reg_mr_iova,
	(struct mlx5ep_notifier *notifier, struct ibv_pd *pd, void *addr,
	size_t length, uint64_t iova, int access, uint64_t cookie,
	struct mlx5ep_mr *mr),
	(notifier, pd, addr, length, iova, access, cookie, mr))
MOVED(int, mlx5ep_reg_dmabuf_mr,
	(struct mlx5ep_notifier *notifier, struct ibv_pd *pd, int fd,
	uint64_t offset, size_t length, uint64_t iova, int access,
	uint64_t cookie, struct mlx5ep_mr *mr),
	(notifier, pd, fd, offset, length, iova, access, cookie, mr))
MOVED(int, mlx5ep_watch_dmabuf,
	(struct mlx5ep_notifier *notifier, int fd, uint64_t offset,
	size_t length, uint64_t cookie, struct mlx5ep_watch *watch),
	(notifier, fd, offset, length, cookie, watch))
