// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A registration cache comes and goes: its memory, and its place among the caches of a
 * notifier. See mr_cache.c for the locks.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mlx5ep/mr_cache.h>

#include "internal.h"
#include "mr_cache_internal.h"

#define CACHE_DEFAULT_REGIONS	4096
/* Watches above the maximum: registrations in use, and those being dropped. */
#define CACHE_SPARE_WATCHES	4096

/* All of it is written now: a first write with the lock held might have to wait. */
static int cache_make_slots(struct mlx5ep_mr_cache *cache)
{
	struct cache_table *table = &cache->table;
	size_t size;

	table->capacity = mlx5ep_notifier_page(cache->notifier)->capacity;
	size = table->capacity * sizeof(*table->slots);
	table->slots = malloc(size);
	if (!table->slots)
		return -ENOMEM;
	memset(table->slots, 0, size);
	return 0;
}

static void cache_memory_free(struct mlx5ep_mr_cache *cache)
{
	struct cache_entry *entry = cache->table.pool, *next;

	for (; entry; entry = next) {
		next = entry->pool_next;
		free(entry);
	}
	pthread_mutex_destroy(&cache->lock);
	free(cache->table.slots);
	free(cache);
}

/* Watches that a cache may have. */
static uint64_t cache_watches(const struct mlx5ep_mr_cache *cache)
{
	return cache->attr.max_regions + CACHE_SPARE_WATCHES;
}

/* Adds the cache to those of its notifier, if that has watches for it. */
static int cache_join(struct mlx5ep_mr_cache *cache)
{
	struct mlx5ep_notifier *notifier = cache->notifier;
	uint64_t all;
	int ret = 0;

	pthread_mutex_lock(&notifier->reading);
	all = notifier->promised + cache_watches(cache);
	if (!cache->own && all > cache->table.capacity) {
		ret = -ENOSPC;
	} else {
		notifier->promised = all;
		cache->next = notifier->caches;
		notifier->caches = cache;
	}
	pthread_mutex_unlock(&notifier->reading);
	return ret;
}

/* Undoes cache_join(). Called with the notifier's lock held. */
static void cache_leave(struct mlx5ep_mr_cache *cache)
{
	struct mlx5ep_mr_cache **at = &cache->notifier->caches;

	while (*at != cache)
		at = &(*at)->next;
	*at = cache->next;
	cache->notifier->promised -= cache_watches(cache);
}

static int cache_create(struct mlx5ep_notifier *notifier, struct ibv_pd *pd,
			const struct mlx5ep_mr_cache_attr *attr,
			struct mlx5ep_mr_cache **out)
{
	struct mlx5ep_mr_cache *cache;
	int ret = 0;

	if (attr->flags || attr->reserved[0] || attr->reserved[1] ||
	    attr->reserved[2] || attr->reserved[3])
		return -EINVAL;
	if (attr->max_regions > UINT32_MAX - CACHE_SPARE_WATCHES)
		return -EDQUOT;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return -ENOMEM;
	cache->pd = pd;
	cache->attr = *attr;
	if (!cache->attr.access)
		cache->attr.access = IBV_ACCESS_LOCAL_WRITE |
				     IBV_ACCESS_REMOTE_READ |
				     IBV_ACCESS_REMOTE_WRITE;
	if (!cache->attr.max_regions)
		cache->attr.max_regions = CACHE_DEFAULT_REGIONS;
	cache->page_mask = ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
	pthread_mutex_init(&cache->lock, NULL);
	cache->table.max_regions = cache->attr.max_regions;
	cache->table.max_bytes = cache->attr.max_bytes;

	cache->notifier = notifier;
	cache->own = !notifier;
	if (cache->own)
		ret = mlx5ep_notifier_any(pd->context, cache_watches(cache),
					  &cache->notifier);
	if (ret)
		goto err_free;
	ret = cache_make_slots(cache);
	if (ret)
		goto err_notifier;
	if (fcntl(mlx5ep_notifier_fd(cache->notifier), F_SETFL, O_NONBLOCK)) {
		ret = -errno;
		goto err_notifier;
	}
	ret = cache_join(cache);
	if (ret)
		goto err_notifier;
	*out = cache;
	return 0;

err_notifier:
	if (cache->own)
		mlx5ep_notifier_destroy(cache->notifier);
err_free:
	cache_memory_free(cache);
	return ret;
}

MLX5EP_EXPORT int
mlx5ep_mr_cache_create(struct ibv_pd *pd,
		       const struct mlx5ep_mr_cache_attr *attr,
		       struct mlx5ep_mr_cache **out)
{
	return cache_create(NULL, pd, attr, out);
}

MLX5EP_EXPORT int
mlx5ep_mr_cache_create_on(struct mlx5ep_notifier *notifier, struct ibv_pd *pd,
			  const struct mlx5ep_mr_cache_attr *attr,
			  struct mlx5ep_mr_cache **out)
{
	int ret = mlx5ep_process_may_change(notifier->memory);

	return ret ? ret : cache_create(notifier, pd, attr, out);
}

/* Deregisters all. Called with the notifier's lock held. */
static int cache_empty(struct mlx5ep_mr_cache *cache)
{
	struct cache_entry *entry, *doomed = NULL;
	uint64_t idle = 0;

	cache_retry_failed(cache);
	pthread_mutex_lock(&cache->lock);
	for (entry = cache->table.oldest; entry; entry = entry->newer)
		idle += cache_ref_idle(&entry->refs);
	if (idle != cache->table.stats.regions) {
		pthread_mutex_unlock(&cache->lock);
		return -EBUSY;
	}
	while (cache->table.oldest)
		cache_drop(&cache->table, cache->table.oldest, &doomed);
	pthread_mutex_unlock(&cache->lock);
	cache_free(cache, doomed);
	return cache->failed ? -EBUSY : 0;
}

MLX5EP_EXPORT int mlx5ep_mr_cache_destroy(struct mlx5ep_mr_cache *cache)
{
	struct mlx5ep_notifier *notifier;
	int ret, cancel;

	if (!cache)
		return 0;
	notifier = cache->notifier;
	if (notifier_usable(notifier)) {
		if (mlx5ep_process_shared())
			return -EXDEV;
		/* A thread that is cancelled would leave the lock held. */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
		pthread_mutex_lock(&notifier->reading);
		ret = cache_empty(cache);
		if (!ret)
			cache_leave(cache);
		pthread_mutex_unlock(&notifier->reading);
		pthread_setcancelstate(cancel, NULL);
		if (ret)
			return ret;
	} else {
		/* A forked child has registrations in memory only, which goes too. */
		notifier->users -= cache->table.stats.regions;
	}
	if (cache->own)
		mlx5ep_notifier_destroy(notifier);
	cache_memory_free(cache);
	return 0;
}
