/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A set of endpoints, inside.
 *
 * home		a context with its PD and a tiny CQ for probing
 * domain	a thread domain, the PD that puts a QP in it, and the register
 *		that such a QP rings
 * page		two domains that hold both uUARs of one UAR page
 * ring		a QP with its CQ; endpoints and unused QPs of 2xdynamic
 *
 * An endpoint is a ring; with mpi-threads all endpoints are the same ring.
 */
#ifndef MLX5EP_ENDPOINTS_INTERNAL_H
#define MLX5EP_ENDPOINTS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <mlx5ep/endpoints.h>

#define ENDPOINTS_MAX 4096
#define UAR_PAGE_MASK (~(uintptr_t)4095)
#define STATIC_PAGES 8	/* of a context, in the paper: 16 uUARs */

struct home {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *probe_cq;
	bool ours;
};

struct domain {
	struct ibv_td *td;
	struct ibv_pd *pd;
	uintptr_t reg;
};

struct page {
	struct domain dom[2];
};

struct ring {
	struct home *home;
	struct domain *dom;	/* NULL: in no thread domain */
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
	uintptr_t reg;
	uint64_t bytes;
	bool blueflame;
	bool dynamic;		/* page was allocated after the context */
};

struct mlx5ep_endpoints {
	struct mlx5ep_endpoints_attr attr;
	unsigned int category;	/* never MLX5EP_AUTO */
	unsigned int n;
	struct home *homes;
	unsigned int n_homes;
	struct page *pages;
	unsigned int n_pages;
	struct domain *parked;	/* off by one, or beside a stranger */
	unsigned int n_parked;
	struct ring *rings;	/* endpoints first */
	unsigned int n_rings;
};

int endpoints_check(const struct mlx5ep_endpoints_attr *attr, unsigned int n);
int endpoints_choose(const struct mlx5ep_endpoints_attr *attr, unsigned int n,
		     unsigned int *category);
unsigned int endpoints_pages(unsigned int category, unsigned int n);
unsigned int endpoints_static_pages(unsigned int n);

int domain_init(struct home *home, struct domain *dom);
int domain_fini(struct domain *dom);
int endpoints_reserve(struct mlx5ep_endpoints *set, unsigned int wanted);

int ring_init(struct mlx5ep_endpoints *set, struct ring *ring,
	      struct home *home, struct domain *dom);
int ring_fini(struct ring *ring);

#endif
