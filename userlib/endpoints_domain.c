// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UAR pages that only one set rings.
 *
 * Verbs cannot ask for a UAR page for a thread domain. libmlx5 assigns the two
 * uUARs of a page to one domain after the other, and appends the uUAR of a
 * freed domain to its list of free ones. So this file allocates two domains for
 * a page; the second may stay without a QP. It finds the uUAR of a domain by
 * creating the smallest possible QP in it and reading the address that this QP
 * rings.
 *
 * Two domains are kept as a page only if they have both uUARs of one page: then
 * nobody else can ring it. Any other domain is held, unused, until the set is
 * destroyed, so that libmlx5 does not return it again.
 */
#include <stdlib.h>

#include <infiniband/mlx5dv.h>

#include "endpoints.h"
#include "internal.h"

#define BFREG_OFFSET 0x800
#define BFREG_SIZE 0x200
/* libmlx5 has at most this many domains in a context. */
#define UNUSED_MAX 1024

static int probe(struct owner *owner, struct domain *domain)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = owner->probe_cq,
		.recv_cq = owner->probe_cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct mlx5dv_qp dv = {};
	struct mlx5dv_obj obj = {};
	struct ibv_qp *qp;
	int ret;

	qp = ibv_create_qp(domain->pd, &attr);
	if (!qp)
		return -errno;
	obj.qp.in = qp;
	obj.qp.out = &dv;
	ret = -mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	domain->uuar = (uintptr_t)dv.bf.reg;
	if (ibv_destroy_qp(qp) && !ret)
		ret = -errno;
	return ret;
}

/* Allocates a thread domain and finds its uUAR. */
static int domain_init(struct owner *owner, struct domain *domain)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr pd_attr = { .pd = owner->pd };
	int ret;

	domain->td = ibv_alloc_td(owner->ctx, &td_attr);
	if (!domain->td)
		return -errno;
	pd_attr.td = domain->td;
	domain->pd = ibv_alloc_parent_domain(owner->ctx, &pd_attr);
	if (!domain->pd) {
		ret = -errno;
		goto err_td;
	}
	ret = probe(owner, domain);
	if (!ret)
		return 0;
	ibv_dealloc_pd(domain->pd);
	domain->pd = NULL;
err_td:
	ibv_dealloc_td(domain->td);
	domain->td = NULL;
	return ret;
}

/**
 * domain_fini() - free a thread domain
 * @domain: zeroed, or from endpoints_reserve()
 *
 * Return: 0 or -errno. After a failure the call can be repeated.
 */
int domain_fini(struct domain *domain)
{
	int ret;

	if (domain->pd) {
		ret = ibv_dealloc_pd(domain->pd);
		if (ret)
			return -ret;
		domain->pd = NULL;
	}
	if (domain->td) {
		ret = ibv_dealloc_td(domain->td);
		if (ret)
			return -ret;
		domain->td = NULL;
	}
	return 0;
}

static int keep_unused(struct mlx5ep_endpoints *set,
		       const struct domain *domain)
{
	struct domain *unused;

	if (set->n_unused == UNUSED_MAX)
		return -ENOSPC;
	unused = realloc(set->unused, (set->n_unused + 1) * sizeof(*unused));
	if (!unused)
		return -ENOMEM;
	set->unused = unused;
	unused[set->n_unused++] = *domain;
	return 0;
}

static bool is_page(const struct uar_page *page)
{
	uintptr_t base = page->domains[0].uuar & UAR_PAGE_MASK;

	return page->domains[0].uuar == base + BFREG_OFFSET &&
		page->domains[1].uuar == base + BFREG_OFFSET + BFREG_SIZE;
}

static int page_init(struct mlx5ep_endpoints *set, struct uar_page *page)
{
	int ret;

	ret = domain_init(&set->owners[0], &page->domains[0]);
	if (ret)
		return ret;
	for (;;) {
		ret = domain_init(&set->owners[0], &page->domains[1]);
		if (ret)
			break;
		if (is_page(page))
			return 0;
		ret = keep_unused(set, &page->domains[0]);
		if (ret) {
			domain_fini(&page->domains[1]);
			break;
		}
		page->domains[0] = page->domains[1];
		page->domains[1] = (struct domain) {};
	}
	domain_fini(&page->domains[0]);
	return ret;
}

/**
 * endpoints_reserve() - get UAR pages that only this set rings
 * @set: has its contexts; @pages and @unused are written
 *
 * Return: 0. -ENOSPC, -ENOMEM or the errno of a verbs call if there are fewer
 * than
 * @wanted; the set keeps those.
 */
int endpoints_reserve(struct mlx5ep_endpoints *set, unsigned int wanted)
{
	int ret;

	if (!wanted)
		return 0;
	set->pages = calloc(wanted, sizeof(*set->pages));
	if (!set->pages)
		return -ENOMEM;
	while (set->n_pages < wanted) {
		ret = page_init(set, &set->pages[set->n_pages]);
		if (ret)
			return ret;
		set->n_pages++;
	}
	return 0;
}
