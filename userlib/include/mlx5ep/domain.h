/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_DOMAIN_H
#define MLX5EP_DOMAIN_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: Domains
 *
 * A domain is a parent domain (ibv_alloc_parent_domain(3)) on a UAR page, or on
 * a uUAR, that nobody else rings. A program creates its own QPs on the PD of the
 * domain. Posting to such a QP takes no lock, so one thread at a time may post to
 * the QPs of a domain. The kernel module is not needed.
 *
 * A forked child that frees a domain of its parent frees its copy only. A child of
 * vfork(2) or clone(CLONE_VM), which shares the memory, cannot allocate or free one:
 * -EXDEV.
 */

struct mlx5ep_domain;

/**
 * struct mlx5ep_domain_attr - attributes of a domain; all may be 0
 * @level: 1 a UAR page of its own, 2 a uUAR of its own on a page that another
 *	domain or QP may ring too; 0: 1
 * @flags: must be 0
 * @reserved: must be 0
 */
struct mlx5ep_domain_attr {
	uint32_t level;
	uint32_t flags;
	uint64_t reserved[4];
};

/**
 * enum mlx5ep_domain_flags - properties of a domain
 * @MLX5EP_DOMAIN_BLUEFLAME: libmlx5 uses BlueFlame writes on its uUAR
 */
enum mlx5ep_domain_flags {
	MLX5EP_DOMAIN_BLUEFLAME = 1 << 0,
};

/**
 * struct mlx5ep_domain_info - what a domain has got
 * @pd: parent domain for the program's QPs
 * @td: its thread domain, for a parent domain with allocators of the program;
 *	all parent domains of it must be gone before the domain is freed
 * @uuar: address of the uUAR that QPs of the domain ring
 * @level: 1 or 2, as in the attributes
 * @flags: enum mlx5ep_domain_flags
 */
struct mlx5ep_domain_info {
	struct ibv_pd *pd;
	struct ibv_td *td;
	void *uuar;
	uint32_t level;
	uint32_t flags;
};

/**
 * mlx5ep_domain_alloc() - get a parent domain on a UAR page of its own
 * @pd: PD of the caller; memory that is registered on it can be used by QPs of
 *	the domain
 * @attr: NULL: all 0
 *
 * Return: 0. -EINVAL for an attribute that is not valid. -EOPNOTSUPP if the
 * device is not an mlx5 device. Else the errno of a verbs call: -EAGAIN or
 * -ENOMEM if the adapter has no UAR page left; -EDQUOT if a limit or the budget of
 * the module leaves none.
 */
int mlx5ep_domain_alloc(struct ibv_pd *pd,
			const struct mlx5ep_domain_attr *attr,
			struct mlx5ep_domain **domain);

/**
 * mlx5ep_domain_free() - free a domain
 * @domain: may be NULL; freed on success, unchanged on failure
 *
 * Return: 0. -EBUSY if a QP or another object is on its PD: the call can be
 * repeated.
 */
int mlx5ep_domain_free(struct mlx5ep_domain *domain);

/**
 * mlx5ep_domain_pd() - the PD to create QPs on
 */
struct ibv_pd *mlx5ep_domain_pd(const struct mlx5ep_domain *domain);

/* The exported call. @size: size of the structure in the calling program. */
void _mlx5ep_domain_query(const struct mlx5ep_domain *domain,
			  struct mlx5ep_domain_info *info, size_t size);

/**
 * mlx5ep_domain_query() - ask what a domain has got
 */
static inline void mlx5ep_domain_query(const struct mlx5ep_domain *domain,
				       struct mlx5ep_domain_info *info)
{
	_mlx5ep_domain_query(domain, info, sizeof(*info));
}

#ifdef __cplusplus
}
#endif

#endif
