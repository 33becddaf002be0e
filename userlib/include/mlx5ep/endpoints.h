/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_ENDPOINTS_H
#define MLX5EP_ENDPOINTS_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: Endpoints
 *
 * An endpoint is what one thread of a program needs to communicate: context,
 * PD, CQ and QP, all plain verbs objects. A set of n endpoints is built after
 * one of the six categories of "Scalable Communication Endpoints for MPI+Threads
 * Applications" (Zambre, Chandramowlishwaran, Balaji, 2018), which trade the
 * adapter's UAR pages against speed. User space alone suffices; the kernel
 * module is not needed.
 *
 * One thread at a time uses an endpoint. Endpoints of one set may be used by
 * different threads at the same time.
 */

/**
 * enum mlx5ep_category - how n endpoints share the adapter
 * @MLX5EP_MPI_EVERYWHERE: a context, QP and CQ each
 * @MLX5EP_2XDYNAMIC: one context; 2n thread domains with a UAR page each, every
 *	other one used
 * @MLX5EP_DYNAMIC: one context; n thread domains with a UAR page each
 * @MLX5EP_SHARED_DYNAMIC: one context; n thread domains, two on a UAR page
 * @MLX5EP_STATIC: one context; n QPs without a thread domain
 * @MLX5EP_MPI_THREADS: one context, one QP and one CQ for all
 * @MLX5EP_AUTO: the first of 2xdynamic, dynamic, shared-dynamic, static,
 *	mpi-threads that meets the limits of the attributes
 */
enum mlx5ep_category {
	MLX5EP_MPI_EVERYWHERE,
	MLX5EP_2XDYNAMIC,
	MLX5EP_DYNAMIC,
	MLX5EP_SHARED_DYNAMIC,
	MLX5EP_STATIC,
	MLX5EP_MPI_THREADS,
	MLX5EP_AUTO,
};

/**
 * enum mlx5ep_endpoints_flags - wishes
 * @MLX5EP_ENDPOINTS_STRICT: fail rather than give an endpoint a lower level
 * @MLX5EP_ENDPOINTS_LOCKED_CQ: CQs that several threads may poll
 */
enum mlx5ep_endpoints_flags {
	MLX5EP_ENDPOINTS_STRICT = 1 << 0,
	MLX5EP_ENDPOINTS_LOCKED_CQ = 1 << 1,
};

/**
 * struct mlx5ep_endpoints_attr - what to build; all zero is a good start
 * @category: of enum mlx5ep_category
 * @flags: of enum mlx5ep_endpoints_flags
 * @max_uar_pages: with %MLX5EP_AUTO, the most UAR pages for the QPs; 0: any
 * @level: with %MLX5EP_AUTO, the worst level wanted for an endpoint (1 own UAR
 *	page, 2 own uUAR, 3 shared uUAR, 4 shared QP), got with the fewest pages;
 *	0: any
 * @cap: capacities of each QP; all zero: 128 sends and receives of one SGE
 * @qp_type: 0: IBV_QPT_RC
 * @sq_sig_all: as in struct ibv_qp_init_attr
 * @cqe: entries of each CQ; 0: enough for the QPs on it
 * @srq: for all QPs, of the context given; only with one context
 * @reserved: 0
 */
struct mlx5ep_endpoints_attr {
	uint32_t category;
	uint32_t flags;
	uint32_t max_uar_pages;
	uint32_t level;
	struct ibv_qp_cap cap;
	uint32_t qp_type;
	int sq_sig_all;
	uint32_t cqe;
	struct ibv_srq *srq;
	uint64_t reserved[4];
};

/**
 * enum mlx5ep_endpoint_flags - what an endpoint got
 * @MLX5EP_ENDPOINT_DOMAIN: its QP is in a thread domain: posting takes no lock
 * @MLX5EP_ENDPOINT_CQ_UNLOCKED: ibv_start_poll() on its CQ takes no lock
 * @MLX5EP_ENDPOINT_BLUEFLAME: the uUAR takes BlueFlame writes
 */
enum mlx5ep_endpoint_flags {
	MLX5EP_ENDPOINT_DOMAIN = 1 << 0,
	MLX5EP_ENDPOINT_CQ_UNLOCKED = 1 << 1,
	MLX5EP_ENDPOINT_BLUEFLAME = 1 << 2,
};

/**
 * struct mlx5ep_endpoint - one endpoint
 * @context: its context
 * @pd: for the caller's memory regions and address handles
 * @cq: for send and receive completions
 * @cq_ex: the same CQ for ibv_start_poll()
 * @qp: in state RESET when created
 * @level: 1 alone on its UAR page, 2 own uUAR, 3 shared uUAR, 4 shared QP;
 *	judged within the set, by the addresses that the QPs ring
 * @flags: of enum mlx5ep_endpoint_flags
 * @uuar: the register that its QP rings
 */
struct mlx5ep_endpoint {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;
	struct ibv_qp *qp;
	uint32_t level;
	uint32_t flags;
	void *uuar;
};

/**
 * struct mlx5ep_endpoints_info - what a set takes
 * @category: that it was built after
 * @endpoints: how many
 * @contexts: contexts, the caller's included
 * @qps: QPs, unused ones of 2xdynamic included
 * @cqs: CQs
 * @uar_pages: UAR pages for QPs, held by the set
 * @static_pages: of @uar_pages, those that the library picked by itself because
 *	the QP is in no thread domain
 * @own_pages: pages beside @uar_pages that libmlx5 opens per context for the
 *	doorbells of CQs
 * @absent_pages: static pages which libraries allocated when the categories got
 *	their names (8 per context) and today's do not: the published tables
 *	count @uar_pages + @absent_pages
 * @uuars: usable uUARs of @uar_pages, two each
 * @used_uuars: uUARs that a QP of an endpoint rings
 * @level: level[i] endpoints are at level i, 1 to 4
 * @degraded: endpoints or unused QPs that did not get what the category says
 * @bytes: memory; see mlx5ep_endpoints_query() and mlx5ep_endpoints_predict()
 */
struct mlx5ep_endpoints_info {
	uint32_t category;
	uint32_t endpoints;
	uint32_t contexts;
	uint32_t qps;
	uint32_t cqs;
	uint32_t uar_pages;
	uint32_t static_pages;
	uint32_t own_pages;
	uint32_t absent_pages;
	uint32_t uuars;
	uint32_t used_uuars;
	uint32_t level[5];
	uint32_t degraded;
	uint64_t bytes;
};

struct mlx5ep_endpoints;

/**
 * mlx5ep_endpoints_create - build a set in a context of the caller's
 * @context: outlives the set; mpi-everywhere opens its device for the other
 *	endpoints
 * @attr: what to build
 * @n: endpoints, 1 to 4096
 * @set: written on success
 *
 * The thread domains, QPs and CQs that others have in @context do not matter,
 * but nobody may allocate thread domains in it during the call.
 *
 * Return: 0; -EINVAL for a bad attribute; -EOPNOTSUPP where the device is not
 * mlx5; -ENOSPC with %MLX5EP_ENDPOINTS_STRICT where an endpoint would get less
 * than the category says, or for %MLX5EP_AUTO where no category meets the
 * limits; else what verbs said.
 */
int mlx5ep_endpoints_create(struct ibv_context *context,
			    const struct mlx5ep_endpoints_attr *attr,
			    unsigned int n, struct mlx5ep_endpoints **set);

/**
 * mlx5ep_endpoints_open - build a set in contexts of its own
 * @device: opened once, or n times for mpi-everywhere
 * @attr: what to build
 * @n: endpoints, 1 to 4096
 * @set: written on success
 *
 * Return: as mlx5ep_endpoints_create().
 */
int mlx5ep_endpoints_open(struct ibv_device *device,
			  const struct mlx5ep_endpoints_attr *attr,
			  unsigned int n, struct mlx5ep_endpoints **set);

/**
 * mlx5ep_endpoints_destroy - destroy a set with all of its objects
 * @set: a set or NULL
 *
 * Return: 0; -EBUSY where the caller still has objects on a PD of the set: the
 * set is then good only for another mlx5ep_endpoints_destroy().
 */
int mlx5ep_endpoints_destroy(struct mlx5ep_endpoints *set);

/* What is exported: @size is that of the structure which the program knows. */
int _mlx5ep_endpoints_get(const struct mlx5ep_endpoints *set, unsigned int i,
			  struct mlx5ep_endpoint *endpoint, size_t size);
int _mlx5ep_endpoints_query(const struct mlx5ep_endpoints *set,
			    struct mlx5ep_endpoints_info *info, size_t size);
int _mlx5ep_endpoints_predict(const struct mlx5ep_endpoints_attr *attr,
			      unsigned int n,
			      struct mlx5ep_endpoints_info *info, size_t size);

/**
 * mlx5ep_endpoints_get - one endpoint of a set
 * @set: the set
 * @i: 0 to n - 1
 * @endpoint: written on success; valid until the set is destroyed
 *
 * Return: 0; -EINVAL where there is no such endpoint.
 */
static inline int mlx5ep_endpoints_get(const struct mlx5ep_endpoints *set,
				       unsigned int i,
				       struct mlx5ep_endpoint *endpoint)
{
	return _mlx5ep_endpoints_get(set, i, endpoint, sizeof(*endpoint));
}

/**
 * mlx5ep_endpoints_query - what a set really got
 * @set: the set
 * @info: written on success. Pages and uUARs are read back from the addresses
 *	that its QPs ring; bytes are those of the queue buffers of its QPs and CQs
 *
 * Return: 0.
 */
static inline int mlx5ep_endpoints_query(const struct mlx5ep_endpoints *set,
					 struct mlx5ep_endpoints_info *info)
{
	return _mlx5ep_endpoints_query(set, info, sizeof(*info));
}

/**
 * mlx5ep_endpoints_predict - what a set would take, without a device
 * @attr: category and, for %MLX5EP_AUTO, limits
 * @n: endpoints, 1 to 4096
 * @info: written on success. Bytes follow the published sizes: 256 KiB for a
 *	context, 80 KiB for a QP, 9 KiB for a CQ, 144 bytes for a PD
 *
 * Return: 0; -EINVAL; -ENOSPC where no category meets the limits.
 */
static inline int
mlx5ep_endpoints_predict(const struct mlx5ep_endpoints_attr *attr,
			 unsigned int n, struct mlx5ep_endpoints_info *info)
{
	return _mlx5ep_endpoints_predict(attr, n, info, sizeof(*info));
}

/**
 * mlx5ep_category_name - name of a category, for instance "shared-dynamic"
 * @category: of enum mlx5ep_category
 *
 * Return: the name, or NULL.
 */
const char *mlx5ep_category_name(unsigned int category);

/**
 * mlx5ep_category_parse - category by its name
 * @name: for instance "shared-dynamic"
 *
 * Return: of enum mlx5ep_category, or -EINVAL.
 */
int mlx5ep_category_parse(const char *name);

#ifdef __cplusplus
}
#endif

#endif
