// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sets of endpoints. Order of construction: homes, UAR pages, rings; of
 * destruction the reverse, and each step may be repeated, so that a destroy
 * which met an object of the caller's can be called again.
 *
 * Never: a page counted as a set's own that somebody else can ring; a level that
 * was not read back from the addresses of the QPs.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "endpoints.h"
#include "internal.h"

static int home_init(struct mlx5ep_endpoints *set, struct home *home)
{
	home->pd = ibv_alloc_pd(home->ctx);
	if (!home->pd)
		return -errno;
	if (!endpoints_pages(set->category, set->n))
		return 0;
	home->probe_cq = ibv_create_cq(home->ctx, 1, NULL, NULL, 0);
	return home->probe_cq ? 0 : -errno;
}

static int probe_fini(struct home *home)
{
	int ret;

	if (home->probe_cq) {
		ret = ibv_destroy_cq(home->probe_cq);
		if (ret)
			return -ret;
		home->probe_cq = NULL;
	}
	return 0;
}

static int home_fini(struct home *home)
{
	int ret;

	ret = probe_fini(home);
	if (ret)
		return ret;
	if (home->pd) {
		ret = ibv_dealloc_pd(home->pd);
		if (ret)
			return -ret;
		home->pd = NULL;
	}
	if (home->ours && home->ctx) {
		if (ibv_close_device(home->ctx))
			return -errno;
		home->ctx = NULL;
	}
	return 0;
}

static int homes_init(struct mlx5ep_endpoints *set, struct ibv_device *device,
		      struct ibv_context *context)
{
	unsigned int n = set->category == MLX5EP_MPI_EVERYWHERE ? set->n : 1;
	struct home *home;
	int ret;

	set->homes = calloc(n, sizeof(*set->homes));
	if (!set->homes)
		return -ENOMEM;
	while (set->n_homes < n) {
		home = &set->homes[set->n_homes];
		home->ours = !context || set->n_homes;
		errno = 0;
		home->ctx = home->ours ? ibv_open_device(device) : context;
		if (!home->ctx)
			return errno ? -errno : -EIO;
		set->n_homes++;
		ret = home_init(set, home);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * The thread domain of endpoint @i. With fewer pages than the category wants,
 * first every page is used, then the second uUAR of each; after that, none.
 */
static struct domain *endpoint_domain(struct mlx5ep_endpoints *set,
				      unsigned int i)
{
	unsigned int page = i, slot = 0;

	if (set->category == MLX5EP_SHARED_DYNAMIC) {
		page = i / 2;
		slot = i % 2;
	} else if (set->category == MLX5EP_2XDYNAMIC &&
		   set->n_pages == 2 * set->n) {
		page = 2 * i;
	} else if (set->n_pages && i >= set->n_pages) {
		page = i - set->n_pages;
		slot = 1;
	}
	return page < set->n_pages ? &set->pages[page].dom[slot] : NULL;
}

static int rings_init(struct mlx5ep_endpoints *set)
{
	unsigned int n = set->category == MLX5EP_MPI_THREADS ? 1 : set->n;
	unsigned int spare = 0;
	unsigned int i;
	struct domain *dom;
	int ret;

	/* the unused half; where pages are short, none of it */
	if (set->category == MLX5EP_2XDYNAMIC && set->n_pages == 2 * set->n)
		spare = n;
	set->rings = calloc(n + spare, sizeof(*set->rings));
	if (!set->rings)
		return -ENOMEM;
	for (i = 0; i < n + spare; i++) {
		dom = i < n ? endpoint_domain(set, i) :
			&set->pages[2 * (i - n) + 1].dom[0];
		set->n_rings++;
		ret = ring_init(set, &set->rings[i],
				&set->homes[i < set->n_homes ? i : 0], dom);
		if (ret)
			return ret;
		if (dom && dom->reg != set->rings[i].reg)
			return -EPROTO;
	}
	return 0;
}

static int set_build(struct mlx5ep_endpoints *set, struct ibv_device *device,
		     struct ibv_context *context)
{
	struct mlx5ep_endpoints_info info;
	int ret;

	ret = homes_init(set, device, context);
	if (ret)
		return ret;
	if (!mlx5dv_is_supported(set->homes[0].ctx->device))
		return -EOPNOTSUPP;
	ret = endpoints_reserve(set, endpoints_pages(set->category, set->n));
	if (ret && (set->attr.flags & MLX5EP_ENDPOINTS_STRICT))
		return -ENOSPC;
	ret = probe_fini(&set->homes[0]);
	if (!ret)
		ret = rings_init(set);
	if (ret)
		return ret;
	ret = mlx5ep_endpoints_query(set, &info);
	if (!ret && info.degraded &&
	    (set->attr.flags & MLX5EP_ENDPOINTS_STRICT))
		return -ENOSPC;
	return ret;
}

static int set_create(struct ibv_device *device, struct ibv_context *context,
		      const struct mlx5ep_endpoints_attr *attr, unsigned int n,
		      struct mlx5ep_endpoints **out)
{
	struct mlx5ep_endpoints *set;
	unsigned int category;
	int ret;

	ret = endpoints_check(attr, n);
	if (!ret)
		ret = endpoints_choose(attr, n, &category);
	if (ret)
		return ret;
	set = calloc(1, sizeof(*set));
	if (!set)
		return -ENOMEM;
	set->attr = *attr;
	set->category = category;
	set->n = n;
	ret = set_build(set, device, context);
	if (ret)
		mlx5ep_endpoints_destroy(set);
	else
		*out = set;
	return ret;
}

MLX5EP_EXPORT int
mlx5ep_endpoints_create(struct ibv_context *context,
			const struct mlx5ep_endpoints_attr *attr,
			unsigned int n, struct mlx5ep_endpoints **set)
{
	return set_create(context->device, context, attr, n, set);
}

MLX5EP_EXPORT int
mlx5ep_endpoints_open(struct ibv_device *device,
		      const struct mlx5ep_endpoints_attr *attr,
		      unsigned int n, struct mlx5ep_endpoints **set)
{
	if (attr->srq)
		return -EINVAL;
	return set_create(device, NULL, attr, n, set);
}

MLX5EP_EXPORT int mlx5ep_endpoints_destroy(struct mlx5ep_endpoints *set)
{
	unsigned int i;
	int ret = 0;

	if (!set)
		return 0;
	for (i = 0; i < set->n_rings && !ret; i++)
		ret = ring_fini(&set->rings[i]);
	for (i = 0; i < 2 * set->n_pages && !ret; i++)
		ret = domain_fini(&set->pages[i / 2].dom[i % 2]);
	for (i = 0; i < set->n_parked && !ret; i++)
		ret = domain_fini(&set->parked[i]);
	for (i = 0; i < set->n_homes && !ret; i++)
		ret = home_fini(&set->homes[i]);
	if (ret)
		return ret;
	free(set->rings);
	free(set->pages);
	free(set->parked);
	free(set->homes);
	free(set);
	return 0;
}
