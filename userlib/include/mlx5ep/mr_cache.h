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
 * A cache keeps the registrations of one protection domain for later use. Each
 * has a watch, so the cache returns a registration only while the adapter and
 * the process have the same memory. A hit allocates nothing, makes no system
 * call and waits for none. It takes no lock either if the cache was asked for a
 * range with the same first page before.
 *
 * Any number of threads may use a cache at the same time. A forked child may
 * only ask the cache that it inherited for its counters, and destroy it; that of the
 * parent stays as it is. A child of vfork(2) or clone(CLONE_VM), which shares the
 * memory, gets what is kept, which counts as a get of its parent, and nothing new:
 * -EXDEV.
 */

struct mlx5ep_mr_cache;
struct mlx5ep_notifier;

/**
 * struct mlx5ep_mr_cache_attr - attributes of a cache; all may be 0
 * @access: access flags of each registration, as for ibv_reg_mr(); 0: local
 *	write, remote read and remote write
 * @flags: must be 0
 * @max_regions: maximum number of registrations; 0: 4096
 * @max_bytes: maximum number of registered bytes; 0: no maximum except the
 *	limit of locked memory
 * @reserved: must be 0
 *
 * The cache never drops a registration that is in use. So there can be more
 * registrations than the maximum while they are in use, but at most 4096 more
 * than
 * @max_regions.
 */
struct mlx5ep_mr_cache_attr {
	uint32_t access;
	uint32_t flags;
	uint64_t max_regions;
	uint64_t max_bytes;
	uint64_t reserved[4];
};

/**
 * struct mlx5ep_mr_cache_stats - counters of a cache
 * @hits: gets that found a registration
 * @misses: gets that registered
 * @merges: of @misses, those that replaced overlapping registrations by a
 *	larger one
 * @verified: registrations that were suspect and found to be unchanged
 * @stale: registrations that were dropped because their memory changed
 * @evicted: registrations that were dropped because of the maximum, or because
 *	the system had no memory for another one
 * @regions: registrations now
 * @bytes: registered bytes now
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
 * struct mlx5ep_mr_cache_entry - a registration that is in use
 * @mr: covers at least the range that was asked for
 */
struct mlx5ep_mr_cache_entry {
	struct ibv_mr *mr;
};

/**
 * mlx5ep_mr_cache_create() - create an empty cache
 * @pd: must exist as long as the cache; it may be a parent domain, and of a device of any
 *	driver. mlx5ep_mr_cache_get_dmabuf() needs a device that the module is attached to
 *
 * Return: 0. -EINVAL if a flag or a reserved field is set. -EDQUOT if
 * max_regions plus 4096 is above the module's limit (notifier_max_watches), or if
 * the user has as many notifiers on this device as notifiers_per_user allows. The
 * errors of mlx5ep_notifier_create(), and of mlx5ep_notifier_open() for other devices.
 */
int mlx5ep_mr_cache_create(struct ibv_pd *pd,
			   const struct mlx5ep_mr_cache_attr *attr,
			   struct mlx5ep_mr_cache **cache);

/**
 * mlx5ep_mr_cache_create_on() - create a cache that has no notifier of its own
 * @notifier: of mlx5ep_notifier_open() or mlx5ep_notifier_create(), with max_regions plus
 *	4096 watches for each of its caches; it must exist as long as they do
 * @pd: as for mlx5ep_mr_cache_create()
 *
 * Caches of several adapters, or of several protection domains of one, can share a
 * notifier. They read its events, each for all of them, so that the caller must not, and
 * set its descriptor to O_NONBLOCK. The words of the caller's own watches stay true;
 * their events are lost.
 *
 * Return: 0. -ENOSPC if the notifier has not so many watches left. -EINVAL if a flag or a
 * reserved field is set. -EDQUOT if max_regions is too large. -ENOMEM. -EXDEV in a child
 * of the process that created the notifier.
 */
int mlx5ep_mr_cache_create_on(struct mlx5ep_notifier *notifier,
			      struct ibv_pd *pd,
			      const struct mlx5ep_mr_cache_attr *attr,
			      struct mlx5ep_mr_cache **cache);

/**
 * mlx5ep_mr_cache_destroy() - deregister everything and free the cache
 * @cache: may be NULL; a forked child frees its copy only
 *
 * Return: 0. -EBUSY if a registration is in use, or cannot be deregistered: the
 * cache exists on, and the call can be repeated. -EXDEV in a child that shares the
 * memory.
 */
int mlx5ep_mr_cache_destroy(struct mlx5ep_mr_cache *cache);

/**
 * mlx5ep_mr_cache_get() - get a registration of a range
 * @length: in bytes, at least 1
 * @entry: the caller returns it with mlx5ep_mr_cache_put()
 *
 * The registration is of the memory that is at @addr during the call. The
 * caller must not unmap the range before mlx5ep_mr_cache_put(). If it does, the
 * adapter keeps using the old memory until then; later calls of this function
 * register again.
 *
 * Return: 0. -EINVAL if the range is empty or wraps around. -ENOMEM or -ENOSPC
 * if there is no space for the registration, and all others are in use. -EXDEV
 * in a forked child. The errors of mlx5ep_reg_mr().
 */
int mlx5ep_mr_cache_get(struct mlx5ep_mr_cache *cache, void *addr,
			size_t length, struct mlx5ep_mr_cache_entry **entry);

/**
 * enum mlx5ep_mr_cache_get_flags - which attributes of a get are set
 * @MLX5EP_MR_CACHE_GET_ACCESS: access
 * @MLX5EP_MR_CACHE_GET_IOVA: iova
 */
enum mlx5ep_mr_cache_get_flags {
	MLX5EP_MR_CACHE_GET_ACCESS = 1 << 0,
	MLX5EP_MR_CACHE_GET_IOVA = 1 << 1,
};

/**
 * struct mlx5ep_mr_cache_get_attr - attributes of a get; all may be 0
 * @flags: enum mlx5ep_mr_cache_get_flags
 * @access: access flags of the registration, exactly; 0 is none
 * @iova: I/O virtual address of the first byte of the range. It differs from the
 *	address by a multiple of the page size
 * @reserved: must be 0
 */
struct mlx5ep_mr_cache_get_attr {
	uint32_t flags;
	uint32_t access;
	uint64_t iova;
	uint64_t reserved[4];
};

/**
 * mlx5ep_mr_cache_get_as() - get a registration with access flags or an address
 *	of its own
 * @length: in bytes, at least 1
 * @entry: the caller returns it with mlx5ep_mr_cache_put()
 *
 * As mlx5ep_mr_cache_get(), and what is found has exactly these access flags and
 * this I/O virtual address. One range can have several registrations.
 *
 * Return: as mlx5ep_mr_cache_get(). -EINVAL also for an attribute that is not
 * valid.
 */
int mlx5ep_mr_cache_get_as(struct mlx5ep_mr_cache *cache, void *addr,
			   size_t length,
			   const struct mlx5ep_mr_cache_get_attr *attr,
			   struct mlx5ep_mr_cache_entry **entry);

/**
 * mlx5ep_mr_cache_get_dmabuf() - get a registration of a range of a dma-buf
 * @fd: of the dma-buf; it may be closed afterwards
 * @offset: first byte in the buffer
 * @length: in bytes, at least 1
 * @attr: as for mlx5ep_mr_cache_get_as(). The I/O virtual address of the first byte
 *	is @offset if the attribute is not set
 * @entry: the caller returns it with mlx5ep_mr_cache_put()
 *
 * Two descriptors of one dma-buf have the same registrations. What is found was not
 * moved or revoked by its exporter since it was registered. The cache does not see
 * that a program gives the memory back to its allocator while a dma-buf of it exists:
 * a program that then exports it anew has another dma-buf. A hit makes one system
 * call, fstat(). The cache holds the buffer until it drops the registration.
 *
 * Return: as mlx5ep_mr_cache_get_as(). The errors of mlx5ep_reg_dmabuf_mr().
 */
int mlx5ep_mr_cache_get_dmabuf(struct mlx5ep_mr_cache *cache, int fd,
			       uint64_t offset, size_t length,
			       const struct mlx5ep_mr_cache_get_attr *attr,
			       struct mlx5ep_mr_cache_entry **entry);

/**
 * mlx5ep_mr_cache_put() - return a registration to the cache
 * @entry: from mlx5ep_mr_cache_get(), in any thread
 *
 * The call does nothing in a forked child.
 */
void mlx5ep_mr_cache_put(struct mlx5ep_mr_cache *cache,
			 struct mlx5ep_mr_cache_entry *entry);

/**
 * mlx5ep_mr_cache_trim() - drop stale registrations
 *
 * A stale registration keeps memory pinned that the process does not use any
 * more. mlx5ep_mr_cache_get() drops stale ones too when it registers. A program
 * that is idle calls this function when mlx5ep_mr_cache_fd() is readable.
 *
 * Return: number of registrations that were dropped, of all caches of the notifier. -EXDEV
 * in a forked child. -EIO if the device is gone; mlx5ep_mr_cache_fd() stays readable then.
 */
int mlx5ep_mr_cache_trim(struct mlx5ep_mr_cache *cache);

/**
 * mlx5ep_mr_cache_fd() - a descriptor for poll()
 *
 * It is readable if mlx5ep_mr_cache_trim() has something to do.
 *
 * Return: the descriptor.
 */
int mlx5ep_mr_cache_fd(const struct mlx5ep_mr_cache *cache);

/* The exported calls. @size: size of the structure in the calling program. */
void _mlx5ep_mr_cache_query(struct mlx5ep_mr_cache *cache,
			    struct mlx5ep_mr_cache_stats *stats, size_t size);

/**
 * mlx5ep_mr_cache_query() - read the counters
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
