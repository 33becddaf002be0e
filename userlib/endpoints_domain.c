// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Thread domains whose place is known.
 *
 * Verbs cannot ask for a UAR page per thread domain: libmlx5 hands out the two
 * uUARs of a page one after the other, and takes freed ones back at the tail of
 * a list. So a page is had by two domains of which one may stay unused. What a
 * domain got shows in the address that a QP in it rings: each is probed with
 * the smallest QP possible. Two domains are kept as a page only when they hold
 * both uUARs of one page, so nobody else can ring it; others are parked, that
 * is, held until the set goes, so that they are not handed out again.
 */
#include <stdlib.h>

#include <infiniband/mlx5dv.h>

#include "endpoints.h"
#include "internal.h"

#define BFREG_OFFSET 0x800
#define BFREG_SIZE 0x200
/* libmlx5 has no more than this many in a context, so none can be in the way */
#define PARKED_MAX 1024

static int probe(struct home *home, struct domain *dom)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = home->probe_cq,
		.recv_cq = home->probe_cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct mlx5dv_qp dv = {};
	struct mlx5dv_obj obj = {};
	struct ibv_qp *qp;
	int ret;

	qp = ibv_create_qp(dom->pd, &attr);
	if (!qp)
		return -errno;
	obj.qp.in = qp;
	obj.qp.out = &dv;
	ret = -mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	dom->reg = (uintptr_t)dv.bf.reg;
	if (ibv_destroy_qp(qp) && !ret)
		ret = -errno;
	return ret;
}

/**
 * domain_init - allocate a thread domain and learn its uUAR
 * @home: context
 * @dom: written
 *
 * Return: 0 or -errno, with nothing left behind.
 */
int domain_init(struct home *home, struct domain *dom)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr pd_attr = { .pd = home->pd };
	int ret;

	dom->td = ibv_alloc_td(home->ctx, &td_attr);
	if (!dom->td)
		return -errno;
	pd_attr.td = dom->td;
	dom->pd = ibv_alloc_parent_domain(home->ctx, &pd_attr);
	if (!dom->pd) {
		ret = -errno;
		goto err_td;
	}
	ret = probe(home, dom);
	if (!ret)
		return 0;
	ibv_dealloc_pd(dom->pd);
	dom->pd = NULL;
err_td:
	ibv_dealloc_td(dom->td);
	dom->td = NULL;
	return ret;
}

/**
 * domain_fini - free a thread domain; may be called again after a failure
 * @dom: domain, or one that was never made
 *
 * Return: 0 or -errno.
 */
int domain_fini(struct domain *dom)
{
	int ret;

	if (dom->pd) {
		ret = ibv_dealloc_pd(dom->pd);
		if (ret)
			return -ret;
		dom->pd = NULL;
	}
	if (dom->td) {
		ret = ibv_dealloc_td(dom->td);
		if (ret)
			return -ret;
		dom->td = NULL;
	}
	return 0;
}

static int park(struct mlx5ep_endpoints *set, const struct domain *dom)
{
	struct domain *parked;

	if (set->n_parked == PARKED_MAX)
		return -ENOSPC;
	parked = realloc(set->parked, (set->n_parked + 1) * sizeof(*parked));
	if (!parked)
		return -ENOMEM;
	set->parked = parked;
	parked[set->n_parked++] = *dom;
	return 0;
}

static bool is_page(const struct page *page)
{
	uintptr_t base = page->dom[0].reg & UAR_PAGE_MASK;

	return page->dom[0].reg == base + BFREG_OFFSET &&
		page->dom[1].reg == base + BFREG_OFFSET + BFREG_SIZE;
}

static int page_init(struct mlx5ep_endpoints *set, struct page *page)
{
	int ret;

	ret = domain_init(&set->homes[0], &page->dom[0]);
	if (ret)
		return ret;
	for (;;) {
		ret = domain_init(&set->homes[0], &page->dom[1]);
		if (ret)
			break;
		if (is_page(page))
			return 0;
		ret = park(set, &page->dom[0]);
		if (ret) {
			domain_fini(&page->dom[1]);
			break;
		}
		page->dom[0] = page->dom[1];
		page->dom[1] = (struct domain) {};
	}
	domain_fini(&page->dom[0]);
	return ret;
}

/**
 * endpoints_reserve - get UAR pages that only this set rings
 * @set: with its home; gets the pages
 * @wanted: how many
 *
 * Return: 0; -ENOSPC, -ENOMEM or what verbs said where there were fewer: those
 * stay in the set.
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
