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

#include "uar_domain.h"

#define ENDPOINTS_MAX 4096
#define UAR_PAGE_MASK (~(uintptr_t)4095)
#define STATIC_PAGES 8	/* of a context, in the paper: 16 uUARs */

/**
 * struct owner - the context that QPs belong to, and a PD in it
 * @opened: the set opened @ctx and closes it
 */
struct owner {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	bool opened;
};

/**
 * struct endpoint_qp - a QP and its CQ
 * @domain: thread domain that the QP is in, or NULL
 * @cq: CQ that the set created, or NULL
 * @send_cq: CQ for sends, that of the set or one of the caller
 * @recv_cq: likewise for receives
 * @uuar: address of the uUAR that the QP rings
 * @bytes: size of the queues' buffers
 * @dynamic: libmlx5 allocated the UAR page after it had opened the context
 */
struct endpoint_qp {
	struct owner *owner;
	struct domain *domain;
	struct ibv_cq_ex *cq;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_qp *ibv;
	uintptr_t uuar;
	uint64_t bytes;
	bool blueflame;
	bool dynamic;
};

/**
 * struct mlx5ep_endpoints - a set
 * @attr: as the caller passed it; its pointers are not used after the creation
 * @category: never %MLX5EP_CATEGORY_AUTO
 * @n: endpoints
 * @pages: UAR pages that only QPs of this set ring
 * @source: thread domains that are not part of a page of @pages
 * @qps: QPs of endpoints first
 * @memory: of the process that created the set
 */
struct mlx5ep_endpoints {
	struct mlx5ep_endpoints_attr attr;
	unsigned int category;
	unsigned int n;
	struct owner *owners;
	unsigned int n_owners;
	struct uar_page *pages;
	unsigned int n_pages;
	struct domain_source source;
	struct endpoint_qp *qps;
	unsigned int n_qps;
	uint64_t memory;
};

int endpoints_check(const struct mlx5ep_endpoints_attr *attr, unsigned int n);
int endpoints_choose(const struct mlx5ep_endpoints_attr *attr, unsigned int n,
		     unsigned int *category);
unsigned int endpoints_pages(unsigned int category, unsigned int n);
unsigned int endpoints_static_pages(unsigned int n);

/* The library creates CQs that one thread at a time polls. */
static inline bool endpoints_cq_unlocked(const struct mlx5ep_endpoints *set)
{
	return !(set->attr.flags & MLX5EP_ENDPOINTS_LOCKED_CQ) &&
		(set->category != MLX5EP_CATEGORY_MPI_THREADS || set->n == 1);
}

int endpoint_qp_init(struct mlx5ep_endpoints *set, struct endpoint_qp *qp,
		     const struct mlx5ep_endpoint_attr *each);
int endpoint_qp_fini(struct endpoint_qp *qp);

#endif
