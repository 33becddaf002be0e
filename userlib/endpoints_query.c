// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a set really got, judged by the addresses that its QPs ring: two QPs with
 * one register share a uUAR; two on one page share the page.
 */
#include <infiniband/mlx5dv.h>

#include <mlx5ep/uuar.h>

#include "endpoints.h"
#include "internal.h"

static const struct ring *endpoint_ring(const struct mlx5ep_endpoints *set,
					unsigned int i)
{
	return &set->rings[set->category == MLX5EP_MPI_THREADS ? 0 : i];
}

static unsigned int endpoint_level(const struct mlx5ep_endpoints *set,
				   const struct ring *ring)
{
	unsigned int level = 1;
	unsigned int i;

	if (set->category == MLX5EP_MPI_THREADS && set->n > 1)
		return 4;
	for (i = 0; i < set->n_rings; i++) {
		const struct ring *other = &set->rings[i];

		if (other == ring)
			continue;
		if (other->reg == ring->reg)
			return 3;
		if (((other->reg ^ ring->reg) & UAR_PAGE_MASK) == 0)
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
	const struct ring *ring;

	if (i >= set->n)
		return -EINVAL;
	ring = endpoint_ring(set, i);
	answer.context = ring->home->ctx;
	answer.pd = ring->home->pd;
	answer.cq_ex = ring->cq;
	answer.cq = ibv_cq_ex_to_cq(ring->cq);
	answer.qp = ring->qp;
	answer.level = endpoint_level(set, ring);
	answer.uuar = (void *)ring->reg;
	if (ring->dom)
		answer.flags |= MLX5EP_ENDPOINT_DOMAIN;
	if (!(set->attr.flags & MLX5EP_ENDPOINTS_LOCKED_CQ) &&
	    (set->category != MLX5EP_MPI_THREADS || set->n == 1))
		answer.flags |= MLX5EP_ENDPOINT_CQ_UNLOCKED;
	if (ring->blueflame)
		answer.flags |= MLX5EP_ENDPOINT_BLUEFLAME;
	mlx5ep_answer(endpoint, size, &answer, sizeof(answer));
	return 0;
}

/*
 * Static pages of one context: all that were allocated when it was opened, if
 * they were; else those that libmlx5 has taken for this set's QPs, which may be
 * more than the QPs ring (it takes pages ahead).
 */
static unsigned int home_static_pages(const struct mlx5ep_endpoints *set,
				      const struct home *home)
{
	struct mlx5_ep_context_info info;
	unsigned int qps = 0, seen = 0;
	bool dynamic = true;
	unsigned int i, k;

	for (i = 0; i < set->n_rings; i++) {
		const struct ring *ring = &set->rings[i];

		if (ring->home != home || ring->dom)
			continue;
		qps++;
		dynamic = dynamic && ring->dynamic;
		for (k = 0; k < i; k++)
			if (!set->rings[k].dom &&
			    ((set->rings[k].reg ^ ring->reg) &
			     UAR_PAGE_MASK) == 0)
				break;
		seen += k == i;
	}
	if (!mlx5ep_context_query(home->ctx, &info) &&
	    (info.flags & MLX5_EP_CONTEXT_STATIC))
		return info.static_pages;
	if (home->ours && dynamic && endpoints_static_pages(qps) > seen)
		return endpoints_static_pages(qps);
	return seen;
}

/* libmlx5 opens a page without write combining for the doorbells of its CQs */
static unsigned int home_own_pages(const struct home *home)
{
	return mlx5dv_devx_alloc_uar(home->ctx,
				     MLX5DV_UAR_ALLOC_TYPE_NC) ? 1 : 0;
}

static unsigned int used_uuars(const struct mlx5ep_endpoints *set)
{
	unsigned int n = set->category == MLX5EP_MPI_THREADS ? 1 : set->n;
	unsigned int i, k, used = 0;

	for (i = 0; i < n; i++) {
		for (k = 0; k < i; k++)
			if (set->rings[k].reg == set->rings[i].reg)
				break;
		used += k == i;
	}
	return used;
}

static unsigned int shortfall(const struct mlx5ep_endpoints *set,
			      const struct mlx5ep_endpoints_info *info)
{
	unsigned int missing = 0;

	switch (set->category) {
	case MLX5EP_2XDYNAMIC:
		missing = 2 * set->n - info->qps;
		/* fall through */
	case MLX5EP_MPI_EVERYWHERE:
	case MLX5EP_DYNAMIC:
		return missing + set->n - info->level[1];
	case MLX5EP_SHARED_DYNAMIC:
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
	answer.contexts = set->n_homes;
	answer.qps = set->n_rings;
	answer.cqs = set->n_rings;
	for (i = 0; i < set->n_homes; i++) {
		pages = home_static_pages(set, &set->homes[i]);
		answer.static_pages += pages;
		if (pages < STATIC_PAGES)
			answer.absent_pages += STATIC_PAGES - pages;
		answer.own_pages += home_own_pages(&set->homes[i]);
	}
	/* a parked domain holds half a page, whose other half is a stranger's */
	answer.uar_pages = answer.static_pages + set->n_pages;
	answer.uuars = 2 * answer.uar_pages;
	answer.used_uuars = used_uuars(set);
	for (i = 0; i < set->n; i++)
		answer.level[endpoint_level(set, endpoint_ring(set, i))]++;
	for (i = 0; i < set->n_rings; i++)
		answer.bytes += set->rings[i].bytes;
	answer.degraded = shortfall(set, &answer);
	mlx5ep_answer(info, size, &answer, sizeof(answer));
	return 0;
}
