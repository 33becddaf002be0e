// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How many objects each category takes. This file computes only; it opens no
 * device.
 *
 * The numbers are those of Zambre et al. 2018. Its eight static UAR pages of a
 * context are counted separately (absent_pages), because today's libmlx5
 * allocates them on demand. Sizes of objects are in the same paper, in its
 * table of memory per object.
 */
#include <errno.h>
#include <string.h>

#include "endpoints.h"
#include "internal.h"

#define CONTEXT_BYTES (256 * 1024)
#define QP_BYTES (80 * 1024)
#define CQ_BYTES (9 * 1024)
#define PD_BYTES 144
#define ENDPOINTS_FLAGS (MLX5EP_ENDPOINTS_STRICT | MLX5EP_ENDPOINTS_LOCKED_CQ)

static const char * const names[] = {
	[MLX5EP_CATEGORY_AUTO] = "auto",
	[MLX5EP_CATEGORY_MPI_EVERYWHERE] = "mpi-everywhere",
	[MLX5EP_CATEGORY_2XDYNAMIC] = "2xdynamic",
	[MLX5EP_CATEGORY_DYNAMIC] = "dynamic",
	[MLX5EP_CATEGORY_SHARED_DYNAMIC] = "shared-dynamic",
	[MLX5EP_CATEGORY_STATIC] = "static",
	[MLX5EP_CATEGORY_MPI_THREADS] = "mpi-threads",
};

#define N_CATEGORIES (sizeof(names) / sizeof(*names))

MLX5EP_EXPORT const char *mlx5ep_category_name(unsigned int category)
{
	return category < N_CATEGORIES ? names[category] : NULL;
}

MLX5EP_EXPORT int mlx5ep_category_parse(const char *name)
{
	unsigned int i;

	for (i = 0; i < N_CATEGORIES; i++)
		if (!strcmp(names[i], name))
			return i;
	return -EINVAL;
}

/**
 * endpoints_static_pages() - number of UAR pages that libmlx5 allocates for QPs
 * @n: QPs of one context that are in no thread domain
 *
 * The first four QPs get a uUAR each, on two pages. Each further QP takes a
 * page until there are 12 shared uUARs (rdma-core 29 and later,
 * providers/mlx5/verbs.c, mlx5_get_qp_uar()).
 */
unsigned int endpoints_static_pages(unsigned int n)
{
	if (n <= 4)
		return (n + 1) / 2;
	return n < 10 ? n - 2 : STATIC_PAGES;
}

/**
 * endpoints_pages() - number of UAR pages for a category's thread domains
 * @category: not %MLX5EP_CATEGORY_AUTO
 */
unsigned int endpoints_pages(unsigned int category, unsigned int n)
{
	switch (category) {
	case MLX5EP_CATEGORY_2XDYNAMIC:
		return 2 * n;
	case MLX5EP_CATEGORY_DYNAMIC:
		return n;
	case MLX5EP_CATEGORY_SHARED_DYNAMIC:
		return (n + 1) / 2;
	default:
		return 0;
	}
}

static void levels(struct mlx5ep_endpoints_info *info, unsigned int n)
{
	unsigned int i;

	switch (info->category) {
	case MLX5EP_CATEGORY_SHARED_DYNAMIC:
		/* With an odd number the last endpoint is alone on its page. */
		info->level[2] = n - n % 2;
		info->level[1] = n % 2;
		break;
	case MLX5EP_CATEGORY_STATIC:
		/*
		 * Up to 16 endpoints get a uUAR each. Further ones are
		 * distributed evenly over the 12 shared uUARs.
		 */
		info->used_uuars = n < 16 ? n : 16;
		info->level[2] = n <= 16 ? n - n % 2 : 4;
		info->level[1] = n <= 16 ? n % 2 : 0;
		for (i = 4; i < n && n > 16; i++) {
			unsigned int on = (n - 4) / 12 +
				((i - 4) % 12 < (n - 4) % 12);

			info->level[on > 1 ? 3 : 2]++;
		}
		break;
	case MLX5EP_CATEGORY_MPI_THREADS:
		info->used_uuars = 1;
		info->level[n > 1 ? 4 : 1] = n;
		break;
	default:
		info->level[1] = n;
	}
}

static void predict(unsigned int category, unsigned int n,
		    struct mlx5ep_endpoints_info *info)
{
	bool alone = category == MLX5EP_CATEGORY_MPI_EVERYWHERE;

	memset(info, 0, sizeof(*info));
	info->category = category;
	info->endpoints = n;
	info->contexts = alone ? n : 1;
	info->qps = category == MLX5EP_CATEGORY_2XDYNAMIC ? 2 * n :
		category == MLX5EP_CATEGORY_MPI_THREADS ? 1 : n;
	info->cqs = info->qps;
	if (alone)
		info->static_pages = n;
	else if (category == MLX5EP_CATEGORY_STATIC ||
		 category == MLX5EP_CATEGORY_MPI_THREADS)
		info->static_pages = endpoints_static_pages(info->qps);
	info->uar_pages = info->static_pages + endpoints_pages(category, n);
	info->own_pages = info->contexts;
	info->absent_pages = STATIC_PAGES * info->contexts -
		info->static_pages;
	info->uuars = 2 * info->uar_pages;
	info->used_uuars = n;
	levels(info, n);
	info->bytes = (uint64_t)info->contexts * (CONTEXT_BYTES + PD_BYTES) +
		(uint64_t)info->qps * QP_BYTES + (uint64_t)info->cqs * CQ_BYTES;
}

static bool fits(const struct mlx5ep_endpoints_attr *attr,
		 const struct mlx5ep_endpoints_info *info)
{
	unsigned int i;

	if (attr->max_uar_pages && info->uar_pages > attr->max_uar_pages)
		return false;
	for (i = attr->level + 1; attr->level && i < 5; i++)
		if (info->level[i])
			return false;
	return true;
}

/* Does an endpoint bring objects, which are of one context? */
static bool has_objects(const struct mlx5ep_endpoint_attr *each)
{
	const struct ibv_qp_init_attr_ex *qp = each->qp_attr;

	return each->channel ||
		(qp && (qp->send_cq || qp->srq || qp->xrcd || qp->rwq_ind_tbl));
}

static int check_each(const struct mlx5ep_endpoints_attr *attr, unsigned int n)
{
	bool alone = attr->category == MLX5EP_CATEGORY_MPI_EVERYWHERE;
	const struct mlx5ep_endpoint_attr *each;
	const struct ibv_qp_init_attr_ex *qp;
	unsigned int i;

	if (attr->category == MLX5EP_CATEGORY_MPI_THREADS)
		n = 1;
	for (i = 0; i < n; i++) {
		each = &attr->each[i];
		qp = each->qp_attr;
		if (each->flags || each->reserved[0] || each->reserved[1] ||
		    each->reserved[2] || each->reserved[3] ||
		    (alone && n > 1 && has_objects(each)))
			return -EINVAL;
		if (qp && (!qp->send_cq != !qp->recv_cq ||
			   (qp->send_cq &&
			    (each->channel || each->comp_vector))))
			return -EINVAL;
	}
	return 0;
}

/**
 * endpoints_check() - check the attributes of a set of @n endpoints
 *
 * Return: 0 or -EINVAL.
 */
int endpoints_check(const struct mlx5ep_endpoints_attr *attr, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < sizeof(attr->reserved) / sizeof(*attr->reserved); i++)
		if (attr->reserved[i])
			return -EINVAL;
	if (!n || n > ENDPOINTS_MAX || attr->category >= N_CATEGORIES ||
	    (attr->flags & ~ENDPOINTS_FLAGS) || attr->level > 4)
		return -EINVAL;
	if (attr->category != MLX5EP_CATEGORY_AUTO &&
	    (attr->max_uar_pages || attr->level))
		return -EINVAL;
	if (attr->srq && n > 1 &&
	    attr->category == MLX5EP_CATEGORY_MPI_EVERYWHERE)
		return -EINVAL;
	return attr->each ? check_each(attr, n) : 0;
}

/**
 * endpoints_choose() - choose the category for %MLX5EP_CATEGORY_AUTO
 * @attr: after endpoints_check(); a category other than AUTO is returned as it
 *	is
 *
 * The categories are in the order of their speed, and the first that meets the
 * limits is chosen. If the attributes ask for a level, it is the one with the
 * fewest pages of those that meet the limits. 2xdynamic takes as many unused
 * pages as used ones, so it is chosen only if the caller limits the pages: the
 * caller then knows how many there are.
 *
 * Return: 0, or -ENOSPC if no category meets the limits.
 */
int endpoints_choose(const struct mlx5ep_endpoints_attr *attr, unsigned int n,
		     unsigned int *category)
{
	struct mlx5ep_endpoints_info info;
	unsigned int best = 0;
	unsigned int i;
	int ret = -ENOSPC;

	if (attr->category != MLX5EP_CATEGORY_AUTO) {
		*category = attr->category;
		return 0;
	}
	i = attr->max_uar_pages ? MLX5EP_CATEGORY_2XDYNAMIC :
		MLX5EP_CATEGORY_DYNAMIC;
	for (; i <= MLX5EP_CATEGORY_MPI_THREADS; i++) {
		predict(i, n, &info);
		if (!fits(attr, &info))
			continue;
		if (ret || (attr->level && info.uar_pages < best)) {
			*category = i;
			best = info.uar_pages;
			ret = 0;
		}
	}
	return ret;
}

MLX5EP_EXPORT int
_mlx5ep_endpoints_predict(const struct mlx5ep_endpoints_attr *attr,
			  unsigned int n, struct mlx5ep_endpoints_info *info,
			  size_t size)
{
	struct mlx5ep_endpoints_info answer;
	unsigned int category;
	int ret;

	ret = endpoints_check(attr, n);
	if (!ret)
		ret = endpoints_choose(attr, n, &category);
	if (ret)
		return ret;
	predict(category, n, &answer);
	mlx5ep_answer(info, size, &answer, sizeof(answer));
	return 0;
}
