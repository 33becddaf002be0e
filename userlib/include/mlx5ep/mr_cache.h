/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_MR_CACHE_H
#define MLX5EP_MR_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: Registration cache
 *
 * Registrations of one protection domain that are kept for the next use, and
 * never used when the memory is no longer the same: each is watched. A hit
 * costs a lock, a search and a load; it allocates nothing and makes no system
 * call. Any number of threads may use a cache at the same time. A forked child
 * may only destroy the one that it inherited, which leaves the parent's as it
 * is.
 */

struct mlx5ep_mr_cache;

/**
 * struct mlx5ep_mr_cache_attr - bounds of a cache; all zero is a good start
 * @access: of each registration, as for ibv_reg_mr(); 0: local write, remote
 *	read and remote write
 * @flags: 0
 * @max_regions: most registrations kept; 0: 4096
 * @max_bytes: most bytes kept registered; 0: no bound but that of locked memory
 * @reserved: 0
 *
 * Registrations that are in use are never dropped, so that there can be more of
 * them than the bounds say while they are: up to 4096 more than @max_regions.
 */
struct mlx5ep_mr_cache_attr {
	uint32_t access;
	uint32_t flags;
	uint64_t max_regions;
	uint64_t max_bytes;
	uint64_t reserved[4];
};

/**
 * struct mlx5ep_mr_cache_stats - what a cache did
 * @hits: gets served by a kept registration
 * @misses: gets that registered
 * @merges: of @misses, those that replaced kept registrations next to them
 * @verified: suspect registrations found to be unchanged
 * @stale: registrations dropped because the memory changed
 * @evicted: registrations dropped because of the bounds, or to make room where
 *	the system had none for another
 * @regions: registrations now
 * @bytes: bytes registered now
 */
struct mlx5ep_mr_cache_stats {
	uint64_t hits;
	uint64_t misses;
	uint64_t merges;
	uint64_t verified;
	uint64_t stale;
	uint64_t evicted;
	uint64_t regions;
	uint64_t bytes;
};

/**
 * struct mlx5ep_mr_cache_entry - a registration in use
 * @mr: the registration: covers the range asked for, and perhaps more
 */
struct mlx5ep_mr_cache_entry {
	struct ibv_mr *mr;
};

/**
 * mlx5ep_mr_cache_create - make an empty cache
 * @pd: protection domain of a device that the module is attached to; outlives
 *	the cache
 * @attr: bounds
 * @cache: written on success
 *
 * Return: 0; -EINVAL for an unknown flag or a reserved field; -EDQUOT where
 * @attr->max_regions and 4096 are together above the module's limit
 * (notifier_max_watches); else as mlx5ep_notifier_create().
 */
int mlx5ep_mr_cache_create(struct ibv_pd *pd,
			   const struct mlx5ep_mr_cache_attr *attr,
			   struct mlx5ep_mr_cache **cache);

/**
 * mlx5ep_mr_cache_destroy - drop everything
 * @cache: a cache or NULL; in a forked child, only the child's share
 *
 * Return: 0; -EBUSY where a registration is in use.
 */
int mlx5ep_mr_cache_destroy(struct mlx5ep_mr_cache *cache);

/**
 * mlx5ep_mr_cache_get - a registration of a range
 * @cache: the cache
 * @addr: first byte
 * @length: bytes, not 0
 * @entry: written on success; to be given back with mlx5ep_mr_cache_put()
 *
 * The adapter has the memory that is at @addr during the call. The caller must
 * not unmap it before the put; if it does, the adapter goes on with the old
 * memory, and later gets do not.
 *
 * Return: 0; -EINVAL; -ENOMEM or -ENOSPC where there is no room for it though
 * nothing is kept that is not in use; -EXDEV in a forked child; as
 * mlx5ep_reg_mr().
 */
int mlx5ep_mr_cache_get(struct mlx5ep_mr_cache *cache, void *addr,
			size_t length, struct mlx5ep_mr_cache_entry **entry);

/**
 * mlx5ep_mr_cache_put - give a registration back
 * @cache: the cache
 * @entry: from mlx5ep_mr_cache_get()
 *
 * Does nothing in a forked child.
 */
void mlx5ep_mr_cache_put(struct mlx5ep_mr_cache *cache,
			 struct mlx5ep_mr_cache_entry *entry);

/**
 * mlx5ep_mr_cache_trim - drop what is stale, so that no memory stays pinned
 * @cache: the cache
 *
 * get does so too whenever something happened; this is for a program that is
 * idle, when mlx5ep_mr_cache_fd() polls readable.
 *
 * Return: registrations dropped; -EXDEV in a forked child; -EIO once the device
 * is gone, from when on mlx5ep_mr_cache_fd() polls readable for good.
 */
int mlx5ep_mr_cache_trim(struct mlx5ep_mr_cache *cache);

/**
 * mlx5ep_mr_cache_fd - readable when mlx5ep_mr_cache_trim() has work
 * @cache: the cache
 *
 * Return: descriptor, for poll() only.
 */
int mlx5ep_mr_cache_fd(const struct mlx5ep_mr_cache *cache);

/* The exported calls. @size: size of the structure in the calling program. */
void _mlx5ep_mr_cache_query(struct mlx5ep_mr_cache *cache,
			    struct mlx5ep_mr_cache_stats *stats, size_t size);

/**
 * mlx5ep_mr_cache_query - what it did so far
 * @cache: the cache
 * @stats: written
 */
static inline void mlx5ep_mr_cache_query(struct mlx5ep_mr_cache *cache,
					 struct mlx5ep_mr_cache_stats *stats)
{
	_mlx5ep_mr_cache_query(cache, stats, sizeof(*stats));
}

#ifdef __cplusplus
}
#endif

#endif
