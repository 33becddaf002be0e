/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a set of endpoints is made of. The set owns all of these objects.
 *
 * An endpoint is one struct endpoint_qp. With mpi-threads all endpoints of the
 * set are the same one. With 2xdynamic the set has as many again that no
 * endpoint uses.
 */
#ifndef MLX5EP_ENDPOINTS_INTERNAL_H
#define MLX5EP_ENDPOINTS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <mlx5ep/endpoints.h>

#define ENDPOINTS_MAX 4096
#define UAR_PAGE_MASK (~(uintptr_t)4095)
#define STATIC_PAGES 8	/* of a context, in the paper: 16 uUARs */

/**
 * struct owner - the context that QPs belong to, and a PD in it
 * @probe_cq: CQ of the QPs that domain_init() creates to find a uUAR; NULL once
 *	all domains are there
 * @opened: the set opened @ctx and closes it
 */
struct owner {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *probe_cq;
	bool opened;
};

/**
 * struct domain - a thread domain
 * @pd: parent domain; a QP that is created on it is in the thread domain
 * @uuar: address of the uUAR that such a QP rings
 */
struct domain {
	struct ibv_td *td;
	struct ibv_pd *pd;
	uintptr_t uuar;
};

/* The two thread domains that have the two uUARs of one UAR page. */
struct uar_page {
	struct domain domains[2];
};

/**
 * struct endpoint_qp - a QP and its CQ
 * @domain: thread domain that the QP is in, or NULL
 * @uuar: address of the uUAR that the QP rings
 * @bytes: size of the queues' buffers
 * @dynamic: libmlx5 allocated the UAR page after it had opened the context
 */
struct endpoint_qp {
	struct owner *owner;
	struct domain *domain;
	struct ibv_cq_ex *cq;
	struct ibv_qp *ibv;
	uintptr_t uuar;
	uint64_t bytes;
	bool blueflame;
	bool dynamic;
};

/**
 * struct mlx5ep_endpoints - a set
 * @category: never %MLX5EP_CATEGORY_AUTO
 * @n: endpoints
 * @pages: UAR pages that only QPs of this set ring
 * @unused: thread domains that are not part of a page of @pages; they are held
 *	so that libmlx5 does not return them again
 * @qps: QPs of endpoints first
 */
struct mlx5ep_endpoints {
	struct mlx5ep_endpoints_attr attr;
	unsigned int category;
	unsigned int n;
	struct owner *owners;
	unsigned int n_owners;
	struct uar_page *pages;
	unsigned int n_pages;
	struct domain *unused;
	unsigned int n_unused;
	struct endpoint_qp *qps;
	unsigned int n_qps;
};

int endpoints_check(const struct mlx5ep_endpoints_attr *attr, unsigned int n);
int endpoints_choose(const struct mlx5ep_endpoints_attr *attr, unsigned int n,
		     unsigned int *category);
unsigned int endpoints_pages(unsigned int category, unsigned int n);
unsigned int endpoints_static_pages(unsigned int n);

int endpoints_reserve(struct mlx5ep_endpoints *set, unsigned int wanted);
int domain_fini(struct domain *domain);

int endpoint_qp_init(struct mlx5ep_endpoints *set, struct endpoint_qp *qp,
		     struct owner *owner, struct domain *domain);
int endpoint_qp_fini(struct endpoint_qp *qp);

#endif
