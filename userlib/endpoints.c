// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sets of endpoints. A set is built in this order: contexts, UAR pages, QPs. It
 * is destroyed in the reverse order. mlx5ep_endpoints_destroy() stops at the
 * first object that cannot be destroyed, because an object of the caller still
 * uses it, and can be called again.
 *
 * Never: a page counted as the set's own that a QP of somebody else can ring; a
 * level that was not read from the addresses that the QPs ring.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "endpoints.h"
#include "internal.h"
#include "process.h"

static int owner_fini(struct owner *owner)
{
	int ret;

	if (owner->pd) {
		ret = ibv_dealloc_pd(owner->pd);
		if (ret)
			return -ret;
		owner->pd = NULL;
	}
	if (owner->opened && owner->ctx) {
		if (ibv_close_device(owner->ctx))
			return -errno;
		owner->ctx = NULL;
	}
	return 0;
}

static int owners_init(struct mlx5ep_endpoints *set, struct ibv_device *device,
		      struct ibv_context *context)
{
	bool alone = set->category == MLX5EP_CATEGORY_MPI_EVERYWHERE;
	unsigned int n = alone ? set->n : 1;
	struct owner *owner;

	set->owners = calloc(n, sizeof(*set->owners));
	if (!set->owners)
		return -ENOMEM;
	while (set->n_owners < n) {
		owner = &set->owners[set->n_owners];
		owner->opened = !context || set->n_owners;
		errno = 0;
		owner->ctx = owner->opened ? ibv_open_device(device) : context;
		if (!owner->ctx)
			return errno ? -errno : -EIO;
		set->n_owners++;
		owner->pd = ibv_alloc_pd(owner->ctx);
		if (!owner->pd)
			return -errno;
	}
	return 0;
}

/*
 * The thread domain of endpoint @i. If there are fewer pages than the category
 * wants, the first endpoints get a page each, the next ones the second uUAR of
 * these pages, and the rest no thread domain.
 */
static struct domain *endpoint_domain(struct mlx5ep_endpoints *set,
				      unsigned int i)
{
	unsigned int page = i, slot = 0;

	if (set->category == MLX5EP_CATEGORY_SHARED_DYNAMIC) {
		page = i / 2;
		slot = i % 2;
	} else if (set->category == MLX5EP_CATEGORY_2XDYNAMIC &&
		   set->n_pages == 2 * set->n) {
		page = 2 * i;
	} else if (i >= set->n_pages) {
		page = i - set->n_pages;
		slot = 1;
	}
	return page < set->n_pages ? &set->pages[page].domains[slot] : NULL;
}

static int qps_init(struct mlx5ep_endpoints *set)
{
	bool shared = set->category == MLX5EP_CATEGORY_MPI_THREADS;
	unsigned int n = shared ? 1 : set->n;
	unsigned int spare = 0;
	const struct mlx5ep_endpoint_attr *each;
	struct endpoint_qp *qp;
	unsigned int i;
	int ret;

	/* The QPs that no endpoint uses are left out if pages ran out. */
	if (set->category == MLX5EP_CATEGORY_2XDYNAMIC &&
	    set->n_pages == 2 * set->n)
		spare = n;
	set->qps = calloc(n + spare, sizeof(*set->qps));
	if (!set->qps)
		return -ENOMEM;
	for (i = 0; i < n + spare; i++) {
		qp = &set->qps[set->n_qps++];
		qp->owner = &set->owners[i < set->n_owners ? i : 0];
		qp->domain = i < n ? endpoint_domain(set, i) :
			&set->pages[2 * (i - n) + 1].domains[0];
		each = set->attr.each && i < n ? &set->attr.each[i] : NULL;
		ret = endpoint_qp_init(set, qp, each);
		if (ret)
			return ret;
		if (qp->domain && qp->domain->uuar != qp->uuar)
			return -EPROTO;
	}
	return 0;
}

/* Gets UAR pages that only this set rings. If there are fewer, it keeps those. */
static int reserve_pages(struct mlx5ep_endpoints *set, unsigned int wanted)
{
	int ret;

	if (!wanted)
		return 0;
	ret = domain_source_init(&set->source, set->owners[0].pd);
	if (ret)
		return ret;
	set->pages = calloc(wanted, sizeof(*set->pages));
	if (!set->pages)
		return -ENOMEM;
	while (set->n_pages < wanted) {
		ret = uar_page_init(&set->source, &set->pages[set->n_pages]);
		if (ret)
			return ret;
		set->n_pages++;
	}
	return 0;
}

static int set_build(struct mlx5ep_endpoints *set, struct ibv_device *device,
		     struct ibv_context *context)
{
	struct mlx5ep_endpoints_info info;
	int ret;

	ret = owners_init(set, device, context);
	if (ret)
		return ret;
	if (!mlx5dv_is_supported(set->owners[0].ctx->device))
		return -EOPNOTSUPP;
	ret = reserve_pages(set, endpoints_pages(set->category, set->n));
	if (ret && (set->attr.flags & MLX5EP_ENDPOINTS_STRICT))
		return -ENOSPC;
	ret = domain_source_end(&set->source);
	if (!ret)
		ret = qps_init(set);
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
	if (mlx5ep_process_shared())
		return -EXDEV;
	set = calloc(1, sizeof(*set));
	if (!set)
		return -ENOMEM;
	set->memory = mlx5ep_process_memory();
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
	if (attr->srq || attr->each)
		return -EINVAL;
	return set_create(device, NULL, attr, n, set);
}

/* Destroys the objects of verbs. What fails is tried again by the next call. */
static int set_fini(struct mlx5ep_endpoints *set)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < set->n_qps && !ret; i++)
		ret = endpoint_qp_fini(&set->qps[i]);
	for (i = 0; i < set->n_pages && !ret; i++)
		ret = uar_page_fini(&set->pages[i]);
	if (!ret)
		ret = domain_source_fini(&set->source);
	for (i = 0; i < set->n_owners && !ret; i++)
		ret = owner_fini(&set->owners[i]);
	return ret;
}

MLX5EP_EXPORT int mlx5ep_endpoints_destroy(struct mlx5ep_endpoints *set)
{
	int ret = 0;

	if (!set)
		return 0;
	/* The objects of a forked child are its parent's. */
	if (process_same(set->memory))
		ret = mlx5ep_process_shared() ? -EXDEV : set_fini(set);
	if (ret)
		return ret;
	free(set->source.unused);
	free(set->qps);
	free(set->pages);
	free(set->owners);
	free(set);
	return 0;
}
