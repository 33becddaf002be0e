// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Parent domains on a UAR page, or on a uUAR, that nobody else rings.
 *
 * Never: a domain of level 1 that has only one of the two uUARs of its page.
 */
#include <stdlib.h>

#include <infiniband/mlx5dv.h>
#include <mlx5ep/domain.h>

#include "internal.h"
#include "process.h"
#include "uar_domain.h"

/**
 * struct mlx5ep_domain - a domain
 * @page: with level 2 only the first of its thread domains is allocated
 * @level: 1 or 2
 * @memory: of the process that allocated it
 */
struct mlx5ep_domain {
	struct uar_page page;
	unsigned int level;
	uint64_t memory;
};

static int attr_check(const struct mlx5ep_domain_attr *attr)
{
	if (attr->level > 2 || attr->flags || attr->reserved[0] ||
	    attr->reserved[1] || attr->reserved[2] || attr->reserved[3])
		return -EINVAL;
	return 0;
}

/* Thread domains that were not wanted are freed: others can have them now. */
static int domain_find(struct mlx5ep_domain *domain, struct ibv_pd *pd)
{
	struct domain_source source = {};
	int ret;

	ret = domain_source_init(&source, pd);
	if (!ret && domain->level == 2)
		ret = domain_init(&source, &domain->page.domains[0]);
	else if (!ret)
		ret = uar_page_init(&source, &domain->page);
	domain_source_fini(&source);
	return ret;
}

MLX5EP_EXPORT int mlx5ep_domain_alloc(struct ibv_pd *pd,
				      const struct mlx5ep_domain_attr *attr,
				      struct mlx5ep_domain **out)
{
	struct mlx5ep_domain *domain;
	int ret;

	ret = attr ? attr_check(attr) : 0;
	if (ret)
		return ret;
	if (!mlx5dv_is_supported(pd->context->device))
		return -EOPNOTSUPP;
	if (mlx5ep_process_shared())
		return -EXDEV;
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return -ENOMEM;
	domain->level = attr && attr->level ? attr->level : 1;
	domain->memory = mlx5ep_process_memory();
	ret = domain_find(domain, pd);
	if (ret)
		free(domain);
	else
		*out = domain;
	return ret;
}

MLX5EP_EXPORT int mlx5ep_domain_free(struct mlx5ep_domain *domain)
{
	int ret = 0;

	if (!domain)
		return 0;
	/* The thread domains of a forked child are its parent's. */
	if (process_same(domain->memory))
		ret = mlx5ep_process_shared() ? -EXDEV :
			uar_page_fini(&domain->page);
	if (!ret)
		free(domain);
	return ret;
}

MLX5EP_EXPORT struct ibv_pd *
mlx5ep_domain_pd(const struct mlx5ep_domain *domain)
{
	return domain->page.domains[0].pd;
}

MLX5EP_EXPORT void _mlx5ep_domain_query(const struct mlx5ep_domain *domain,
					struct mlx5ep_domain_info *info,
					size_t size)
{
	const struct domain *first = &domain->page.domains[0];
	struct mlx5ep_domain_info answer = {
		.pd = first->pd,
		.td = first->td,
		.uuar = (void *)first->uuar,
		.level = domain->level,
		.flags = first->blueflame ? MLX5EP_DOMAIN_BLUEFLAME : 0,
	};

	mlx5ep_answer(info, size, &answer, sizeof(answer));
}
