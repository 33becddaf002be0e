// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a set really got, judged by the addresses that its QPs ring: two QPs with
 * one register share a uUAR; two on one page share the page.
 */
#include <string.h>

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

MLX5EP_EXPORT int mlx5ep_endpoints_get(const struct mlx5ep_endpoints *set,
				       unsigned int i,
				       struct mlx5ep_endpoint *endpoint)
{
	const struct ring *ring;

	if (i >= set->n)
		return -EINVAL;
	ring = endpoint_ring(set, i);
	memset(endpoint, 0, sizeof(*endpoint));
	endpoint->context = ring->home->ctx;
	endpoint->pd = ring->home->pd;
	endpoint->cq_ex = ring->cq;
	endpoint->cq = ibv_cq_ex_to_cq(ring->cq);
	endpoint->qp = ring->qp;
	endpoint->level = endpoint_level(set, ring);
	endpoint->uuar = (void *)ring->reg;
	if (ring->dom)
		endpoint->flags |= MLX5EP_ENDPOINT_DOMAIN;
	if (!(set->attr.flags & MLX5EP_ENDPOINTS_LOCKED_CQ) &&
	    (set->category != MLX5EP_MPI_THREADS || set->n == 1))
		endpoint->flags |= MLX5EP_ENDPOINT_CQ_UNLOCKED;
	if (ring->blueflame)
		endpoint->flags |= MLX5EP_ENDPOINT_BLUEFLAME;
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

MLX5EP_EXPORT int mlx5ep_endpoints_query(const struct mlx5ep_endpoints *set,
					 struct mlx5ep_endpoints_info *info)
{
	unsigned int i, pages;

	memset(info, 0, sizeof(*info));
	info->category = set->category;
	info->endpoints = set->n;
	info->contexts = set->n_homes;
	info->qps = set->n_rings;
	info->cqs = set->n_rings;
	for (i = 0; i < set->n_homes; i++) {
		pages = home_static_pages(set, &set->homes[i]);
		info->static_pages += pages;
		if (pages < STATIC_PAGES)
			info->absent_pages += STATIC_PAGES - pages;
		info->own_pages += home_own_pages(&set->homes[i]);
	}
	/* a parked domain holds half a page, whose other half is a stranger's */
	info->uar_pages = info->static_pages + set->n_pages;
	info->uuars = 2 * info->uar_pages;
	info->used_uuars = used_uuars(set);
	for (i = 0; i < set->n; i++)
		info->level[endpoint_level(set, endpoint_ring(set, i))]++;
	for (i = 0; i < set->n_rings; i++)
		info->bytes += set->rings[i].bytes;
	info->degraded = shortfall(set, info);
	return 0;
}
