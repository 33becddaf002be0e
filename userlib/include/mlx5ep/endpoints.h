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
 * An endpoint is what one thread needs to communicate: a context, PD, CQ and
 * QP, all of them plain verbs objects. A set of n endpoints is built in one of
 * the six categories of "Scalable Communication Endpoints for MPI+Threads
 * Applications" (Zambre, Chandramowlishwaran, Balaji, 2018). A faster category
 * takes more of the adapter's UAR pages. The kernel module is not needed.
 *
 * Only one thread at a time may use an endpoint. Different threads may use
 * different endpoints of a set at the same time.
 *
 * A forked child that destroys a set of its parent frees its copy only. A child of
 * vfork(2) or clone(CLONE_VM), which shares the memory, cannot create or destroy one:
 * -EXDEV.
 */

/**
 * enum mlx5ep_category - how n endpoints share the adapter
 * @MLX5EP_CATEGORY_AUTO: the first of dynamic, shared-dynamic, static and
 *	mpi-threads that meets the limits in the attributes; 2xdynamic comes
 *	before them if the attributes say how many pages there are
 * @MLX5EP_CATEGORY_MPI_EVERYWHERE: each endpoint has its own context, QP and CQ
 * @MLX5EP_CATEGORY_2XDYNAMIC: one context and 2n thread domains with a UAR page
 *	each, of which every other one is used
 * @MLX5EP_CATEGORY_DYNAMIC: one context and n thread domains with a UAR page
 *	each
 * @MLX5EP_CATEGORY_SHARED_DYNAMIC: one context and n thread domains, two on a
 *	UAR page
 * @MLX5EP_CATEGORY_STATIC: one context and n QPs without a thread domain
 * @MLX5EP_CATEGORY_MPI_THREADS: one context, one QP and one CQ for all
 *	endpoints
 */
enum mlx5ep_category {
	MLX5EP_CATEGORY_AUTO,
	MLX5EP_CATEGORY_MPI_EVERYWHERE,
	MLX5EP_CATEGORY_2XDYNAMIC,
	MLX5EP_CATEGORY_DYNAMIC,
	MLX5EP_CATEGORY_SHARED_DYNAMIC,
	MLX5EP_CATEGORY_STATIC,
	MLX5EP_CATEGORY_MPI_THREADS,
};

/**
 * enum mlx5ep_endpoints_flags - flags of a set
 * @MLX5EP_ENDPOINTS_STRICT: fail if an endpoint would get less than its
 *	category says
 * @MLX5EP_ENDPOINTS_LOCKED_CQ: several threads may poll a CQ at the same time
 */
enum mlx5ep_endpoints_flags {
	MLX5EP_ENDPOINTS_STRICT = 1 << 0,
	MLX5EP_ENDPOINTS_LOCKED_CQ = 1 << 1,
};

/**
 * struct mlx5ep_endpoint_attr - attributes of one endpoint; all may be 0
 * @qp_attr: attributes of its QP, instead of cap, qp_type, sq_sig_all and srq of
 *	the set; its pd is not read. If its send_cq and recv_cq are NULL, the set
 *	creates one CQ for both. NULL: the attributes of the set
 * @channel: completion channel of the CQ that the set creates, or NULL
 * @cq_context: user context of that CQ
 * @comp_vector: completion vector of that CQ
 * @flags: must be 0
 * @reserved: must be 0
 */
struct mlx5ep_endpoint_attr {
	const struct ibv_qp_init_attr_ex *qp_attr;
	struct ibv_comp_channel *channel;
	void *cq_context;
	uint32_t comp_vector;
	uint32_t flags;
	uint64_t reserved[4];
};

/**
 * struct mlx5ep_endpoints_attr - attributes of a set; all may be 0
 * @category: enum mlx5ep_category
 * @flags: enum mlx5ep_endpoints_flags
 * @max_uar_pages: only with %MLX5EP_CATEGORY_AUTO: maximum number of UAR pages
 *	for the QPs; 0: no maximum, but no page that no endpoint rings
 * @level: only with %MLX5EP_CATEGORY_AUTO: worst acceptable level of an
 *	endpoint (1 own UAR page, 2 own uUAR, 3 shared uUAR, 4 shared QP); the
 *	category with the fewest pages is chosen; 0: any level
 * @cap: capacities of each QP; all 0: 128 sends and receives with one SGE
 * @qp_type: 0: IBV_QPT_RC
 * @sq_sig_all: as in struct ibv_qp_init_attr
 * @cqe: entries of each CQ; 0: enough for its QPs
 * @srq: SRQ of all QPs, in the caller's context; not with several contexts
 * @each: attributes of each endpoint, an array of n, or NULL; all objects are in
 *	the caller's context, so there are none with several contexts. With
 *	mpi-threads only the first one is read
 * @reserved: must be 0
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
	const struct mlx5ep_endpoint_attr *each;
	uint64_t reserved[4];
};

/**
 * enum mlx5ep_endpoint_flags - properties of an endpoint
 * @MLX5EP_ENDPOINT_DOMAIN: its QP is in a thread domain: posting takes no lock
 * @MLX5EP_ENDPOINT_CQ_UNLOCKED: ibv_start_poll() on its CQ takes no lock
 * @MLX5EP_ENDPOINT_BLUEFLAME: libmlx5 uses BlueFlame writes on its uUAR
 */
enum mlx5ep_endpoint_flags {
	MLX5EP_ENDPOINT_DOMAIN = 1 << 0,
	MLX5EP_ENDPOINT_CQ_UNLOCKED = 1 << 1,
	MLX5EP_ENDPOINT_BLUEFLAME = 1 << 2,
};

/**
 * struct mlx5ep_endpoint - one endpoint
 * @pd: for the caller's memory regions and address handles
 * @cq: for completions of sends; of receives too, unless @recv_cq is another
 * @cq_ex: the same CQ for ibv_start_poll(); NULL if it is the caller's
 * @qp: in state RESET when created
 * @level: 1 alone on its UAR page, 2 own uUAR, 3 shared uUAR, 4 shared QP;
 *	compared with the QPs of this set only, by the addresses that they ring
 * @flags: enum mlx5ep_endpoint_flags
 * @uuar: address of the uUAR that its QP rings
 * @domain_pd: PD that the QP was created on: the parent domain of its thread
 *	domain, or @pd if it has none. A QP that the caller creates on it rings the
 *	uUAR of the endpoint, and the caller's thread must ring it
 * @recv_cq: for completions of receives
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
	struct ibv_pd *domain_pd;
	struct ibv_cq *recv_cq;
};

/**
 * struct mlx5ep_endpoints_info - what a set takes
 * @category: never %MLX5EP_CATEGORY_AUTO
 * @contexts: number of contexts, including the caller's
 * @qps: number of QPs, including the unused ones of 2xdynamic
 * @cqs: number of CQs that the set created
 * @uar_pages: UAR pages for the QPs
 * @static_pages: of @uar_pages, those that libmlx5 chose because the QP is in
 *	no thread domain
 * @own_pages: in addition to @uar_pages, those that libmlx5 allocates per
 *	context for the doorbells of CQs
 * @absent_pages: static pages that libmlx5 allocated in advance, 8 per context,
 *	when the paper was written, and does not allocate today; the paper's
 *	tables count @uar_pages + @absent_pages
 * @uuars: uUARs of @uar_pages, two per page
 * @used_uuars: uUARs that the QP of an endpoint rings
 * @level: level[i] is the number of endpoints of level i, 1 to 4
 * @degraded: endpoints or unused QPs that got less than the category says
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
 * mlx5ep_endpoints_create() - build a set in a context of the caller
 * @context: must stay open as long as the set exists; mpi-everywhere opens the
 *	device again for all endpoints but the first
 * @n: number of endpoints, 1 to 4096
 *
 * The context may have other thread domains, QPs and CQs. No other thread may
 * allocate a thread domain in it during the call.
 *
 * Return: 0. -EINVAL for an attribute that is not valid. -EOPNOTSUPP if the
 * device is not an mlx5 device. -ENOSPC with %MLX5EP_ENDPOINTS_STRICT if an
 * endpoint would get less than the category says. -ENOSPC with
 * %MLX5EP_CATEGORY_AUTO if no category meets the limits. -EPROTO if the QP of an
 * endpoint does not ring the uUAR of its thread domain, for instance one for RSS.
 * Else the errno of a verbs call.
 */
int mlx5ep_endpoints_create(struct ibv_context *context,
			    const struct mlx5ep_endpoints_attr *attr,
			    unsigned int n, struct mlx5ep_endpoints **set);

/**
 * mlx5ep_endpoints_open() - open a device and build a set
 * @device: opened once, or n times for mpi-everywhere
 * @n: number of endpoints, 1 to 4096
 *
 * Return: as mlx5ep_endpoints_create().
 */
int mlx5ep_endpoints_open(struct ibv_device *device,
			  const struct mlx5ep_endpoints_attr *attr,
			  unsigned int n, struct mlx5ep_endpoints **set);

/**
 * mlx5ep_endpoints_destroy() - destroy a set with all of its objects
 * @set: may be NULL
 *
 * Return: 0. -EBUSY if the caller still has objects on a PD of the set: after
 * that the only valid call with the set is mlx5ep_endpoints_destroy().
 */
int mlx5ep_endpoints_destroy(struct mlx5ep_endpoints *set);

/* The exported calls. @size: size of the structure in the calling program. */
int _mlx5ep_endpoints_get(const struct mlx5ep_endpoints *set, unsigned int i,
			  struct mlx5ep_endpoint *endpoint, size_t size);
int _mlx5ep_endpoints_query(const struct mlx5ep_endpoints *set,
			    struct mlx5ep_endpoints_info *info, size_t size);
int _mlx5ep_endpoints_predict(const struct mlx5ep_endpoints_attr *attr,
			      unsigned int n,
			      struct mlx5ep_endpoints_info *info, size_t size);

/**
 * mlx5ep_endpoints_get() - get one endpoint of a set
 * @i: 0 to n - 1
 * @endpoint: its objects exist until the set is destroyed
 *
 * Return: 0, or -EINVAL if there is no such endpoint.
 */
static inline int mlx5ep_endpoints_get(const struct mlx5ep_endpoints *set,
				       unsigned int i,
				       struct mlx5ep_endpoint *endpoint)
{
	return _mlx5ep_endpoints_get(set, i, endpoint, sizeof(*endpoint));
}

/**
 * mlx5ep_endpoints_query() - ask what a set has got
 * @info: pages and uUARs are counted from the addresses that the QPs ring;
 *	bytes is the size of the queue buffers of all QPs and CQs
 *
 * Return: 0.
 */
static inline int mlx5ep_endpoints_query(const struct mlx5ep_endpoints *set,
					 struct mlx5ep_endpoints_info *info)
{
	return _mlx5ep_endpoints_query(set, info, sizeof(*info));
}

/**
 * mlx5ep_endpoints_predict() - compute what a set would take, without a device
 * @n: number of endpoints, 1 to 4096
 * @info: bytes is computed from the sizes in the paper: 256 KiB for a context,
 *	80 KiB for a QP, 9 KiB for a CQ, 144 bytes for a PD
 *
 * Return: 0. -EINVAL for an attribute that is not valid. -ENOSPC if no category
 * meets the limits.
 */
static inline int
mlx5ep_endpoints_predict(const struct mlx5ep_endpoints_attr *attr,
			 unsigned int n, struct mlx5ep_endpoints_info *info)
{
	return _mlx5ep_endpoints_predict(attr, n, info, sizeof(*info));
}

/**
 * mlx5ep_category_name() - name of a category, for instance "shared-dynamic"
 * @category: enum mlx5ep_category
 *
 * Return: the name, or NULL if there is no such category.
 */
const char *mlx5ep_category_name(unsigned int category);

/**
 * mlx5ep_category_parse() - find a category by its name
 * @name: for instance "shared-dynamic"
 *
 * Return: enum mlx5ep_category, or -EINVAL.
 */
int mlx5ep_category_parse(const char *name);

#ifdef __cplusplus
}
#endif

#endif
