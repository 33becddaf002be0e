// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UAR pages that only one user rings: a set of endpoints, or a domain.
 *
 * Verbs cannot ask for a UAR page for a thread domain. libmlx5 assigns the two
 * uUARs of a page to one domain after the other, and appends the uUAR of a
 * freed domain to its list of free ones. So this file allocates domains until
 * two of them have one page; the second may stay without a QP. It finds the
 * uUAR of a domain by creating the smallest possible QP in it and reading the
 * address that this QP rings.
 *
 * Two domains are kept as a page only if they have both uUARs of one page: then
 * nobody else can ring it. Any other domain is held, unused, until
 * domain_source_fini(), so that libmlx5 does not return it again.
 *
 * One thread at a time looks for a page. Threads that looked together would take
 * one uUAR each of page after page, until libmlx5 has no more.
 */
#include <pthread.h>
#include <stdlib.h>

#include <infiniband/mlx5dv.h>

#include "internal.h"
#include "lock.h"
#include "uar_domain.h"

/* The uUARs of a page are at 0x800 and 0xa00. */
#define BFREG_DISTANCE 0x200
/* libmlx5 has at most this many domains in a context. */
#define UNUSED_MAX 1024

/* Held while a page is looked for, over its calls of the driver. */
static pthread_mutex_t page_lock = PTHREAD_MUTEX_INITIALIZER;

/* In a forked child. Another thread of the parent may have held page_lock. */
static void page_forked(void)
{
	page_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static __attribute__((constructor)) void page_load(void)
{
	pthread_atfork(NULL, NULL, page_forked);
}

/* After a failure the call can be repeated. */
static int domain_fini(struct domain *domain)
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

/**
 * domain_source_init() - prepare to look for thread domains
 * @source: zeroed; domain_source_fini() undoes the call, also after a failure
 *
 * Return: 0 or -errno.
 */
int domain_source_init(struct domain_source *source, struct ibv_pd *pd)
{
	source->pd = pd;
	source->probe_cq = ibv_create_cq(pd->context, 1, NULL, NULL, 0);
	return source->probe_cq ? 0 : -errno;
}

/**
 * domain_source_end() - end the search: all domains are there
 *
 * Return: 0 or -errno. After a failure the call can be repeated.
 */
int domain_source_end(struct domain_source *source)
{
	int ret;

	if (source->probe_cq) {
		ret = ibv_destroy_cq(source->probe_cq);
		if (ret)
			return -ret;
		source->probe_cq = NULL;
	}
	return 0;
}

/**
 * domain_source_fini() - free the thread domains that are not wanted
 * @source: zeroed, or from domain_source_init()
 *
 * Return: 0 or -errno. After a failure the call can be repeated.
 */
int domain_source_fini(struct domain_source *source)
{
	int ret;

	while (source->n_unused) {
		ret = domain_fini(&source->unused[source->n_unused - 1]);
		if (ret)
			return ret;
		source->n_unused--;
	}
	free(source->unused);
	source->unused = NULL;
	return domain_source_end(source);
}

static int probe(struct domain_source *source, struct domain *domain)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = source->probe_cq,
		.recv_cq = source->probe_cq,
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
	domain->blueflame = dv.bf.size;
	if (ibv_destroy_qp(qp) && !ret)
		ret = -errno;
	return ret;
}

/**
 * domain_init() - allocate a thread domain and find its uUAR
 * @domain: zeroed; uar_page_fini() of its page undoes the call. After a failure
 *	it must not be used.
 *
 * Return: 0 or -errno.
 */
int domain_init(struct domain_source *source, struct domain *domain)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr pd_attr = { .pd = source->pd };
	struct ibv_context *context = source->pd->context;
	int ret;

	domain->td = ibv_alloc_td(context, &td_attr);
	if (!domain->td)
		return -errno;
	pd_attr.td = domain->td;
	domain->pd = ibv_alloc_parent_domain(context, &pd_attr);
	if (!domain->pd) {
		ret = -errno;
		goto err_td;
	}
	ret = probe(source, domain);
	if (!ret)
		return 0;
	ibv_dealloc_pd(domain->pd);
err_td:
	ibv_dealloc_td(domain->td);
	return ret;
}

static int keep_unused(struct domain_source *source,
		       const struct domain *domain)
{
	struct domain *unused;

	if (source->n_unused == UNUSED_MAX)
		return -ENOSPC;
	unused = realloc(source->unused,
			 (source->n_unused + 1) * sizeof(*unused));
	if (!unused)
		return -ENOMEM;
	source->unused = unused;
	unused[source->n_unused++] = *domain;
	return 0;
}

/* Finds an unused domain that has the other uUAR of a domain's page. */
static struct domain *find_mate(struct domain_source *source,
				const struct domain *domain)
{
	unsigned int i;

	for (i = 0; i < source->n_unused; i++)
		if ((source->unused[i].uuar ^ domain->uuar) == BFREG_DISTANCE)
			return &source->unused[i];
	return NULL;
}

static int find_page(struct domain_source *source, struct uar_page *page)
{
	struct domain *mate;
	int ret;

	for (;;) {
		struct domain domain = {};

		ret = domain_init(source, &domain);
		if (ret)
			return ret;
		mate = find_mate(source, &domain);
		if (mate) {
			page->domains[0] = *mate;
			page->domains[1] = domain;
			*mate = source->unused[--source->n_unused];
			return 0;
		}
		ret = keep_unused(source, &domain);
		if (ret) {
			domain_fini(&domain);
			return ret;
		}
	}
}

/**
 * uar_page_init() - get a UAR page that only the caller rings
 * @page: zeroed; written on success
 *
 * Return: 0 or -errno.
 */
int uar_page_init(struct domain_source *source, struct uar_page *page)
{
	int ret, cancel;

	cancel = lock_take(&page_lock);
	ret = find_page(source, page);
	lock_release(&page_lock, cancel);
	return ret;
}

/**
 * uar_page_fini() - free the two thread domains of a page
 * @page: zeroed, or from uar_page_init()
 *
 * Return: 0 or -errno. After a failure the call can be repeated.
 */
int uar_page_fini(struct uar_page *page)
{
	int ret = domain_fini(&page->domains[0]);

	return ret ? ret : domain_fini(&page->domains[1]);
}
