// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which UAR pages and uUARs a set has, judged by the addresses that its QPs
 * ring. Two QPs that ring one address share a uUAR; two addresses on one page
 * share the page.
 */
#include <infiniband/mlx5dv.h>

#include <mlx5ep/uuar.h>

#include "endpoints.h"
#include "internal.h"

static const struct endpoint_qp *qp_of(const struct mlx5ep_endpoints *set,
				       unsigned int i)
{
	return &set->qps[set->category == MLX5EP_CATEGORY_MPI_THREADS ? 0 : i];
}

static unsigned int endpoint_level(const struct mlx5ep_endpoints *set,
				   const struct endpoint_qp *qp)
{
	unsigned int level = 1;
	unsigned int i;

	if (set->category == MLX5EP_CATEGORY_MPI_THREADS && set->n > 1)
		return 4;
	for (i = 0; i < set->n_qps; i++) {
		const struct endpoint_qp *other = &set->qps[i];

		if (other == qp)
			continue;
		if (other->uuar == qp->uuar)
			return 3;
		if (((other->uuar ^ qp->uuar) & UAR_PAGE_MASK) == 0)
			level = 2;
	}
	return level;
}

MLX5EP_EXPORT int _mlx5ep_endpoints_get(const struct mlx5ep_endpoints *set,
					unsigned int i,
					struct mlx5ep_endpoint *endpoint,
					size_t size)
{
	struct mlx5ep_endpoint answer = {};
	const struct endpoint_qp *qp;

	if (i >= set->n)
		return -EINVAL;
	qp = qp_of(set, i);
	answer.context = qp->owner->ctx;
	answer.pd = qp->owner->pd;
	answer.domain_pd = qp->domain ? qp->domain->pd : qp->owner->pd;
	answer.cq_ex = qp->cq;
	answer.cq = qp->send_cq;
	answer.recv_cq = qp->recv_cq;
	answer.qp = qp->ibv;
	answer.level = endpoint_level(set, qp);
	answer.uuar = (void *)qp->uuar;
	if (qp->domain)
		answer.flags |= MLX5EP_ENDPOINT_DOMAIN;
	if (qp->cq && endpoints_cq_unlocked(set))
		answer.flags |= MLX5EP_ENDPOINT_CQ_UNLOCKED;
	if (qp->blueflame)
		answer.flags |= MLX5EP_ENDPOINT_BLUEFLAME;
	mlx5ep_answer(endpoint, size, &answer, sizeof(answer));
	return 0;
}

/*
 * Number of static pages of one context. A context that is opened with static
 * pages has them all from then on. In any other libmlx5 allocates a page when a
 * QP needs one, and some pages before a QP rings them; those count too.
 */
static unsigned int owner_static_pages(const struct mlx5ep_endpoints *set,
				       const struct owner *owner)
{
	struct mlx5_ep_context_info info;
	unsigned int n_qps = 0, seen = 0;
	bool dynamic = true;
	unsigned int i, k;

	for (i = 0; i < set->n_qps; i++) {
		const struct endpoint_qp *qp = &set->qps[i];

		if (qp->owner != owner || qp->domain)
			continue;
		n_qps++;
		dynamic = dynamic && qp->dynamic;
		/* It ends at @qp at the latest. */
		for (k = 0; set->qps[k].domain ||
		     ((set->qps[k].uuar ^ qp->uuar) & UAR_PAGE_MASK); k++)
			;
		seen += k == i;
	}
	if (!mlx5ep_context_query(owner->ctx, &info) &&
	    (info.flags & MLX5_EP_CONTEXT_STATIC))
		return info.static_pages;
	if (owner->opened && dynamic && endpoints_static_pages(n_qps) > seen)
		return endpoints_static_pages(n_qps);
	return seen;
}

/* libmlx5 allocates a page without write combining for the doorbells of CQs. */
static unsigned int owner_own_pages(const struct owner *owner)
{
	return mlx5dv_devx_alloc_uar(owner->ctx,
				     MLX5DV_UAR_ALLOC_TYPE_NC) ? 1 : 0;
}

static unsigned int used_uuars(const struct mlx5ep_endpoints *set)
{
	bool shared = set->category == MLX5EP_CATEGORY_MPI_THREADS;
	unsigned int n = shared ? 1 : set->n;
	unsigned int i, k, used = 0;

	for (i = 0; i < n; i++) {
		for (k = 0; set->qps[k].uuar != set->qps[i].uuar; k++)
			;
		used += k == i;
	}
	return used;
}

static unsigned int shortfall(const struct mlx5ep_endpoints *set,
			      const struct mlx5ep_endpoints_info *info)
{
	unsigned int missing = 0;

	switch (set->category) {
	case MLX5EP_CATEGORY_2XDYNAMIC:
		missing = 2 * set->n - info->qps;
		/* fall through */
	case MLX5EP_CATEGORY_MPI_EVERYWHERE:
	case MLX5EP_CATEGORY_DYNAMIC:
		return missing + set->n - info->level[1];
	case MLX5EP_CATEGORY_SHARED_DYNAMIC:
		return set->n - info->level[1] - info->level[2];
	default:
		return 0;
	}
}

MLX5EP_EXPORT int _mlx5ep_endpoints_query(const struct mlx5ep_endpoints *set,
					  struct mlx5ep_endpoints_info *info,
					  size_t size)
{
	struct mlx5ep_endpoints_info answer = {};
	unsigned int i, pages;

	answer.category = set->category;
	answer.endpoints = set->n;
	answer.contexts = set->n_owners;
	answer.qps = set->n_qps;
	for (i = 0; i < set->n_owners; i++) {
		pages = owner_static_pages(set, &set->owners[i]);
		answer.static_pages += pages;
		if (pages < STATIC_PAGES)
			answer.absent_pages += STATIC_PAGES - pages;
		answer.own_pages += owner_own_pages(&set->owners[i]);
	}
	/*
	 * Pages of unused thread domains do not count: somebody else has the
	 * other uUAR of each.
	 */
	answer.uar_pages = answer.static_pages + set->n_pages;
	answer.uuars = 2 * answer.uar_pages;
	answer.used_uuars = used_uuars(set);
	for (i = 0; i < set->n; i++)
		answer.level[endpoint_level(set, qp_of(set, i))]++;
	for (i = 0; i < set->n_qps; i++) {
		answer.bytes += set->qps[i].bytes;
		answer.cqs += set->qps[i].cq != NULL;
	}
	answer.degraded = shortfall(set, &answer);
	mlx5ep_answer(info, size, &answer, sizeof(answer));
	return 0;
}
