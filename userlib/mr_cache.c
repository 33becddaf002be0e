// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The registration cache.
 *
 * A get that finds a valid registration is a hit. A hit takes no lock if a hint
 * leads to the registration; mr_cache_ref.h has the rules of it. Without a hint it
 * is looked for with the lock. Any other get reads events, verifies the registrations
 * that are suspect, drops those that are stale, and registers.
 *
 * @lock protects the table and the list of failed deregistrations. It is never held
 * during a system call. Every call into the kernel may have to wait for the lock
 * of the address space, which another thread's munmap() holds for long; also
 * read(), where its buffer is not mapped yet. So a hit waits for no system call.
 * For the same reason, memory that is used with the lock held is written before.
 *
 * An event names a watch by its slot and its armed word, which is never used
 * again. So an event can be handled late: if the registration is gone, nothing is
 * found.
 *
 * Caches can have their watches with one notifier. Whoever reads its events holds
 * @reading of the notifier, which a get only tries to take, and offers them to each
 * cache. A cache comes and goes with @reading held, so a reader finds none that is gone.
 * @reading is taken before the lock of any cache.
 *
 * A forked child has its own copy of the memory of a cache only. Registrations and
 * watches are the parent's, and the lock may be held in the child for ever.
 */
#include <sys/stat.h>

#include <mlx5ep/mr_cache.h>
#include <mlx5ep/mr_watch.h>

#include "internal.h"
#include "mr_cache_internal.h"

#define CACHE_GET_FLAGS (MLX5EP_MR_CACHE_GET_ACCESS | MLX5EP_MR_CACHE_GET_IOVA)

/* Counts a hit of the caller, who uses @entry, and leaves a hint to it. */
static void cache_hit(struct mlx5ep_mr_cache *cache, struct cache_entry *entry,
		      uintptr_t start)
{
	__atomic_add_fetch(&entry->hits, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->touched, true, __ATOMIC_RELAXED);
	__atomic_store_n(cache_hint(&cache->table, start), entry,
			 __ATOMIC_RELEASE);
}

/*
 * The put that needs the lock. If @owned, the last use of @entry has ended, and it is
 * freed. Then unused entries are freed until the cache keeps to its maximum.
 */
static void cache_put_slowly(struct mlx5ep_mr_cache *cache,
			     struct cache_entry *entry, bool owned)
{
	struct cache_entry *doomed = NULL;

	pthread_mutex_lock(&cache->lock);
	if (owned)
		cache_doom(&cache->table, entry, &doomed);
	cache_evict(&cache->table, &doomed);
	pthread_mutex_unlock(&cache->lock);
	cache_free(cache, doomed);
}

static inline void cache_put(struct mlx5ep_mr_cache *cache,
			     struct cache_entry *entry)
{
	bool owned = cache_ref_put(&entry->refs);

	if (owned || __atomic_load_n(&cache->table.over, __ATOMIC_SEQ_CST))
		cache_put_slowly(cache, entry, owned);
}

/* Drops a registration that the caller uses, and ends the use. */
static void cache_put_stale(struct mlx5ep_mr_cache *cache,
			    struct cache_entry *entry)
{
	struct cache_entry *doomed = NULL;

	pthread_mutex_lock(&cache->lock);
	if (cache_ref_kept(&entry->refs)) {
		cache->table.stats.stale++;
		cache_drop(&cache->table, entry, &doomed);
	}
	pthread_mutex_unlock(&cache->lock);
	cache_put(cache, entry);
}

/* A hit that makes no system call. NULL: there is no registration that is valid. */
static struct cache_entry *cache_find_valid(struct mlx5ep_mr_cache *cache,
					    const struct mr_kind *kind,
					    uintptr_t start, uintptr_t end)
{
	struct cache_entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = cache_covering(&cache->table, kind, start, end);
	if (entry && mlx5ep_mr_valid(&entry->mr))
		cache_ref_get_kept(&entry->refs);
	else
		entry = NULL;
	pthread_mutex_unlock(&cache->lock);
	if (entry)
		cache_hit(cache, entry, start);
	return entry;
}

/*
 * Finds a registration that covers the range. If it is suspect it is verified,
 * without the lock. Returns with the lock held if there is none.
 */
static struct cache_entry *cache_find(struct mlx5ep_mr_cache *cache,
				      const struct mr_kind *kind,
				      uintptr_t start, uintptr_t end)
{
	struct cache_entry *entry;
	int ret;

	for (;;) {
		pthread_mutex_lock(&cache->lock);
		entry = cache_covering(&cache->table, kind, start, end);
		if (!entry)
			return NULL;
		cache_ref_get_kept(&entry->refs);
		pthread_mutex_unlock(&cache->lock);

		if (mlx5ep_mr_valid(&entry->mr))
			break;
		ret = mlx5ep_watch_verify(&entry->mr.watch);
		if (!ret) {
			pthread_mutex_lock(&cache->lock);
			cache->table.stats.verified++;
			pthread_mutex_unlock(&cache->lock);
			break;
		}
		cache_put_stale(cache, entry);
	}
	cache_hit(cache, entry, start);
	return entry;
}

/* @fd: of the dma-buf that @kind names, if it names one */
static int cache_register(struct mlx5ep_mr_cache *cache,
			  const struct mr_kind *kind, int fd, uintptr_t start,
			  uintptr_t end, struct cache_entry **out)
{
	struct cache_entry *entry;
	int ret;

	entry = cache_entry_alloc(cache);
	if (!entry)
		return -ENOMEM;
	if (kind->object)
		ret = mlx5ep_reg_dmabuf_mr(cache->notifier, cache->pd, fd,
					   start, end - start,
					   start + kind->offset, kind->access,
					   0, &entry->mr);
	else
		ret = mlx5ep_reg_mr_iova(cache->notifier, cache->pd,
					 (void *)start, end - start,
					 start + kind->offset, kind->access, 0,
					 &entry->mr);
	if (ret) {
		cache_entry_free(cache, entry);
		return ret;
	}
	entry->pub.mr = entry->mr.mr;
	entry->kind = *kind;
	entry->start = start;
	entry->end = end;
	/* Load the page of its word now: with the lock held it must be there. */
	mlx5ep_mr_valid(&entry->mr);
	*out = entry;
	return 0;
}

/* Drops a registration that was not used for long. false if all are in use. */
static bool cache_make_room(struct mlx5ep_mr_cache *cache)
{
	struct cache_entry *doomed = NULL;
	bool any;

	pthread_mutex_lock(&cache->lock);
	any = cache_drop_oldest(&cache->table, &doomed);
	pthread_mutex_unlock(&cache->lock);
	cache_free(cache, doomed);
	return any;
}

/* A get that is not a hit at once. */
static int cache_get_slowly(struct mlx5ep_mr_cache *cache,
			    const struct mr_kind *kind, int fd,
			    uintptr_t start, uintptr_t end,
			    struct cache_entry **out)
{
	uintptr_t wide_start = start, wide_end = end;
	struct cache_entry *entry, *doomed = NULL;
	bool merged;
	int ret;

	*out = cache_find_valid(cache, kind, start, end);
	if (*out)
		return 0;
	cache_read_events(cache);
	*out = cache_find(cache, kind, start, end);
	if (*out)
		return 0;
	merged = cache_widen(&cache->table, kind, &wide_start, &wide_end);
	pthread_mutex_unlock(&cache->lock);

	ret = cache_register(cache, kind, fd, wide_start, wide_end, &entry);
	if (ret && merged) {
		merged = false;
		ret = cache_register(cache, kind, fd, start, end, &entry);
	}
	/* The others may have all the memory that the process may lock. */
	while ((ret == -ENOMEM || ret == -ENOSPC) && cache_make_room(cache))
		ret = cache_register(cache, kind, fd, start, end, &entry);
	if (ret)
		return ret;

	pthread_mutex_lock(&cache->lock);
	cache_keep(&cache->table, entry, &doomed);
	cache->table.stats.merges += merged;
	pthread_mutex_unlock(&cache->lock);
	cache_free(cache, doomed);
	__atomic_store_n(cache_hint(&cache->table, start), entry,
			 __ATOMIC_RELEASE);
	*out = entry;
	return 0;
}

/* A hit without the lock. NULL: the range is to be looked for. */
static inline struct cache_entry *cache_find_hint(struct mlx5ep_mr_cache *cache,
						  const struct mr_kind *kind,
						  uintptr_t start,
						  uintptr_t end)
{
	struct cache_entry *entry = __atomic_load_n(
		cache_hint(&cache->table, start), __ATOMIC_ACQUIRE);

	if (!entry || !cache_ref_get(&entry->refs))
		return NULL;
	if (entry->start <= start && entry->end >= end &&
	    mr_kind_equal(&entry->kind, kind) &&
	    mlx5ep_mr_valid(&entry->mr)) {
		__atomic_add_fetch(&entry->hits, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&entry->touched, true, __ATOMIC_RELAXED);
		return entry;
	}
	cache_put(cache, entry);
	return NULL;
}

static inline int cache_get(struct mlx5ep_mr_cache *cache,
			    const struct mr_kind *kind, int fd, uintptr_t first,
			    size_t length, struct mlx5ep_mr_cache_entry **out)
{
	uintptr_t start, end;
	struct cache_entry *entry;
	int ret;

	start = first & cache->page_mask;
	end = (first + length + ~cache->page_mask) & cache->page_mask;
	if (first + length <= first || end <= start)
		return -EINVAL;
	if (!notifier_usable(cache->notifier))
		return -EXDEV;

	entry = cache_find_hint(cache, kind, start, end);
	if (!entry) {
		ret = cache_get_slowly(cache, kind, fd, start, end, &entry);
		if (ret)
			return ret;
	}
	*out = &entry->pub;
	return 0;
}

MLX5EP_EXPORT int mlx5ep_mr_cache_get(struct mlx5ep_mr_cache *cache, void *addr,
				      size_t length,
				      struct mlx5ep_mr_cache_entry **out)
{
	const struct mr_kind kind = { .access = cache->attr.access };

	return cache_get(cache, &kind, -1, (uintptr_t)addr, length, out);
}

/* @first: the first byte that is asked for. Returns 0 or -EINVAL. */
static int cache_kind(const struct mlx5ep_mr_cache *cache,
		      const struct mlx5ep_mr_cache_get_attr *attr,
		      uintptr_t first, struct mr_kind *kind)
{
	if (attr->flags & ~CACHE_GET_FLAGS || attr->reserved[0] ||
	    attr->reserved[1] || attr->reserved[2] || attr->reserved[3])
		return -EINVAL;
	*kind = (struct mr_kind) { .access = cache->attr.access };
	if (attr->flags & MLX5EP_MR_CACHE_GET_ACCESS)
		kind->access = attr->access;
	else if (attr->access)
		return -EINVAL;
	if (attr->flags & MLX5EP_MR_CACHE_GET_IOVA)
		kind->offset = attr->iova - first;
	else if (attr->iova)
		return -EINVAL;
	/* A registration is of whole pages. */
	return kind->offset & ~cache->page_mask ? -EINVAL : 0;
}

MLX5EP_EXPORT int
mlx5ep_mr_cache_get_as(struct mlx5ep_mr_cache *cache, void *addr,
		       size_t length,
		       const struct mlx5ep_mr_cache_get_attr *attr,
		       struct mlx5ep_mr_cache_entry **out)
{
	struct mr_kind kind;
	int ret = cache_kind(cache, attr, (uintptr_t)addr, &kind);

	return ret ? ret : cache_get(cache, &kind, -1, (uintptr_t)addr, length,
				     out);
}

/*
 * No other dma-buf has the inode while the registration or its watch holds this one.
 * A file of another file system may have the same number.
 */
MLX5EP_EXPORT int
mlx5ep_mr_cache_get_dmabuf(struct mlx5ep_mr_cache *cache, int fd,
			   uint64_t offset, size_t length,
			   const struct mlx5ep_mr_cache_get_attr *attr,
			   struct mlx5ep_mr_cache_entry **out)
{
	struct mr_kind kind;
	struct stat st;
	dev_t dmabufs;
	int ret = cache_kind(cache, attr, offset, &kind);

	if (ret)
		return ret;
	if (fstat(fd, &st))
		return -errno;
	dmabufs = __atomic_load_n(&cache->dmabufs, __ATOMIC_RELAXED);
	if (!st.st_ino || (dmabufs && st.st_dev != dmabufs))
		return -EINVAL;
	kind.object = st.st_ino;
	ret = cache_get(cache, &kind, fd, offset, length, out);
	if (!ret && !dmabufs)
		__atomic_store_n(&cache->dmabufs, st.st_dev, __ATOMIC_RELAXED);
	return ret;
}

MLX5EP_EXPORT void mlx5ep_mr_cache_put(struct mlx5ep_mr_cache *cache,
				       struct mlx5ep_mr_cache_entry *pub)
{
	if (notifier_usable(cache->notifier))
		cache_put(cache, (struct cache_entry *)pub);
}

MLX5EP_EXPORT int mlx5ep_mr_cache_trim(struct mlx5ep_mr_cache *cache)
{
	int ret = mlx5ep_process_may_change(cache->notifier->memory) ?:
		  cache_read_events(cache);

	if (!ret && mlx5ep_notifier_page(cache->notifier)->flags &
		    MLX5_EP_NOTIFIER_PAGE_DEAD)
		ret = -EIO;
	return ret;
}

MLX5EP_EXPORT int mlx5ep_mr_cache_fd(const struct mlx5ep_mr_cache *cache)
{
	return mlx5ep_notifier_fd(cache->notifier);
}

MLX5EP_EXPORT void _mlx5ep_mr_cache_query(struct mlx5ep_mr_cache *cache,
					  struct mlx5ep_mr_cache_stats *stats,
					  size_t size)
{
	bool locked = notifier_usable(cache->notifier) &&
		      !pthread_mutex_lock(&cache->lock);
	struct mlx5ep_mr_cache_stats now = cache->table.stats;

	now.hits = cache_hits(&cache->table);
	if (locked)
		pthread_mutex_unlock(&cache->lock);
	mlx5ep_answer(stats, size, &now, sizeof(now));
}
