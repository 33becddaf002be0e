// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The registration cache.
 *
 * A get that finds a valid registration is a hit. Any other reads events, verifies
 * the registrations that are suspect, drops those that are stale, and registers.
 *
 * @lock protects the table and the list of failed deregistrations. It is never held
 * during a system call. Every call into the kernel may have to wait for the lock
 * of the address space, which another thread's munmap() holds for long; also
 * read(), where its buffer is not mapped yet. So a hit waits for no system call.
 *
 * An event names a watch by its slot and its armed word, which is never used
 * again. So an event can be handled late: if the registration is gone, nothing is
 * found.
 *
 * A forked child has its own copy of the memory of a cache only. Registrations and
 * watches are the parent's, and the lock may be held in the child for ever.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <mlx5ep/mr_cache.h>
#include <mlx5ep/mr_watch.h>

#include "internal.h"
#include "mr_cache_table.h"
#include "notifier.h"

#define CACHE_DEFAULT_REGIONS	4096
#define CACHE_EVENTS		32

/* Watches above the maximum: registrations in use, and those being dropped. */
#define CACHE_SPARE_WATCHES	4096

/**
 * struct mlx5ep_mr_cache - a cache
 * @page_mask: mask of the bits of an address above those within a page
 * @reading: a thread is reading events
 * @lock: protects what follows
 * @failed: dropped registrations that ibv_dereg_mr() did not deregister
 */
struct mlx5ep_mr_cache {
	struct ibv_pd *pd;
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_mr_cache_attr attr;
	uintptr_t page_mask;
	bool reading;
	pthread_mutex_t lock;
	struct cache_table table;
	struct cache_entry *failed;
};

/* Deregisters. What fails is tried again with the next miss, or by trim. */
static void cache_free(struct mlx5ep_mr_cache *cache,
		       struct cache_entry *doomed)
{
	struct cache_entry *entry;

	while (doomed) {
		entry = doomed;
		doomed = entry->next;
		if (!mlx5ep_dereg_mr(&entry->mr)) {
			free(entry);
			continue;
		}
		pthread_mutex_lock(&cache->lock);
		entry->next = cache->failed;
		cache->failed = entry;
		cache->table.stats.regions++;
		cache->table.stats.bytes += entry->end - entry->start;
		pthread_mutex_unlock(&cache->lock);
	}
}

static void cache_retry_failed(struct mlx5ep_mr_cache *cache)
{
	struct cache_entry *failed, *entry;

	pthread_mutex_lock(&cache->lock);
	failed = cache->failed;
	cache->failed = NULL;
	for (entry = failed; entry; entry = entry->next) {
		cache->table.stats.regions--;
		cache->table.stats.bytes -= entry->end - entry->start;
	}
	pthread_mutex_unlock(&cache->lock);
	cache_free(cache, failed);
}

/* Drops the registration of a watch if it is stale. Called with the lock held. */
static bool cache_drop_stale(struct mlx5ep_mr_cache *cache, uint32_t slot,
			     uint64_t word, struct cache_entry **doomed)
{
	struct cache_entry *entry = cache_by_slot(&cache->table, slot, word);

	if (!entry || !cache_stale(entry))
		return false;
	cache->table.stats.stale++;
	cache_drop(&cache->table, entry, doomed);
	return true;
}

/* Looks which of @count watches are suspect. Called with the lock held. */
static unsigned int cache_suspects(struct mlx5ep_mr_cache *cache,
				   const struct mlx5_ep_event *events,
				   unsigned int count,
				   struct mlx5_ep_watch_ref *refs)
{
	struct cache_entry *entry;
	unsigned int i, n = 0;

	for (i = 0; i < count; i++) {
		entry = cache_by_slot(&cache->table, events[i].slot,
				      events[i].word);
		if (!entry || mlx5ep_mr_valid(&entry->mr))
			continue;
		refs[n++] = (struct mlx5_ep_watch_ref){
			.word = events[i].word,
			.slot = events[i].slot,
			.result = MLX5_EP_WATCH_SUSPECT,
		};
	}
	return n;
}

/* Handles events: one call verifies all suspect registrations among them. */
static int cache_handle(struct mlx5ep_mr_cache *cache,
			const struct mlx5_ep_event *events, unsigned int count)
{
	struct mlx5_ep_watch_ref refs[CACHE_EVENTS];
	struct cache_entry *doomed = NULL;
	unsigned int i, n;
	int dropped = 0;

	pthread_mutex_lock(&cache->lock);
	for (i = 0; i < count; i++)
		if (events[i].type == MLX5_EP_EVENT_WATCH)
			dropped += cache_drop_stale(cache, events[i].slot,
						    events[i].word, &doomed);
	n = cache_suspects(cache, events, count, refs);
	pthread_mutex_unlock(&cache->lock);

	if (n) {
		mlx5ep_watch_verify_refs(cache->notifier, refs, n);
		pthread_mutex_lock(&cache->lock);
		for (i = 0; i < n; i++) {
			dropped += cache_drop_stale(cache, refs[i].slot,
						    refs[i].word, &doomed);
			cache->table.stats.verified +=
				refs[i].result == MLX5_EP_WATCH_ARMED;
		}
		pthread_mutex_unlock(&cache->lock);
	}
	cache_free(cache, doomed);
	return dropped;
}

/*
 * Reads the events, and drops the registrations that are stale. Only one thread
 * does; the others need not wait, because what they find is checked by its word.
 * Returns the number of registrations that were dropped.
 */
static int cache_read_events(struct mlx5ep_mr_cache *cache)
{
	struct mlx5_ep_event events[CACHE_EVENTS];
	int dropped = 0, cancel;
	ssize_t got;

	if (cache->failed)
		cache_retry_failed(cache);
	if (!mlx5ep_notifier_page(cache->notifier)->watch_pending ||
	    __atomic_exchange_n(&cache->reading, true, __ATOMIC_ACQUIRE))
		return 0;
	/* A thread that is cancelled in read() would leave @reading set. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	while (mlx5ep_notifier_page(cache->notifier)->watch_pending) {
		got = mlx5ep_notifier_read(cache->notifier, events,
					   CACHE_EVENTS);
		if (got <= 0)
			break;
		dropped += cache_handle(cache, events, got);
	}
	__atomic_store_n(&cache->reading, false, __ATOMIC_RELEASE);
	pthread_setcancelstate(cancel, NULL);
	return dropped;
}

/*
 * Finds a registration that covers the range. If it is suspect it is verified,
 * without the lock. Returns with the lock held if there is none.
 */
static struct cache_entry *cache_find(struct mlx5ep_mr_cache *cache,
				      uintptr_t start, uintptr_t end)
{
	struct cache_entry *entry, *doomed;
	int ret;

	for (;;) {
		doomed = NULL;
		pthread_mutex_lock(&cache->lock);
		entry = cache_covering(&cache->table, start, end);
		if (!entry)
			return NULL;
		cache_use(&cache->table, entry);
		pthread_mutex_unlock(&cache->lock);

		ret = mlx5ep_mr_valid(&entry->mr) ? 1 :
			mlx5ep_watch_verify(&entry->mr.watch);
		pthread_mutex_lock(&cache->lock);
		if (ret >= 0) {
			cache->table.stats.verified += !ret;
			cache->table.stats.hits++;
			pthread_mutex_unlock(&cache->lock);
			return entry;
		}
		if (entry->kept) {
			cache->table.stats.stale++;
			cache_drop(&cache->table, entry, &doomed);
		}
		cache_unuse(&cache->table, entry, &doomed);
		pthread_mutex_unlock(&cache->lock);
		cache_free(cache, doomed);
	}
}

static int cache_register(struct mlx5ep_mr_cache *cache, uintptr_t start,
			  uintptr_t end, struct cache_entry **out)
{
	struct cache_entry *entry;
	int ret;

	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	ret = mlx5ep_reg_mr(cache->notifier, cache->pd, (void *)start,
			    end - start, cache->attr.access, 0, &entry->mr);
	if (ret) {
		free(entry);
		return ret;
	}
	entry->pub.mr = entry->mr.mr;
	entry->start = start;
	entry->end = end;
	/* Load the page of its word now: with the lock held it must be there. */
	mlx5ep_mr_valid(&entry->mr);
	*out = entry;
	return 0;
}

/* Drops the registration that is used least recently. false if all are in use. */
static bool cache_make_room(struct mlx5ep_mr_cache *cache)
{
	struct cache_entry *doomed = NULL;
	bool any;

	pthread_mutex_lock(&cache->lock);
	any = cache->table.oldest;
	if (any) {
		cache->table.stats.evicted++;
		cache_drop(&cache->table, cache->table.oldest, &doomed);
	}
	pthread_mutex_unlock(&cache->lock);
	cache_free(cache, doomed);
	return any;
}

/* A get that is not a hit at once. */
static int cache_get_slowly(struct mlx5ep_mr_cache *cache, uintptr_t start,
			    uintptr_t end, struct cache_entry **out)
{
	uintptr_t wide_start = start, wide_end = end;
	struct cache_entry *entry, *doomed = NULL;
	bool merged;
	int ret;

	cache_read_events(cache);
	*out = cache_find(cache, start, end);
	if (*out)
		return 0;
	merged = cache_widen(&cache->table, &wide_start, &wide_end);
	pthread_mutex_unlock(&cache->lock);

	ret = cache_register(cache, wide_start, wide_end, &entry);
	if (ret && merged) {
		merged = false;
		ret = cache_register(cache, start, end, &entry);
	}
	/* The others may have all the memory that the process may lock. */
	while ((ret == -ENOMEM || ret == -ENOSPC) && cache_make_room(cache))
		ret = cache_register(cache, start, end, &entry);
	if (ret)
		return ret;

	pthread_mutex_lock(&cache->lock);
	cache_keep(&cache->table, entry, &doomed);
	cache->table.stats.merges += merged;
	pthread_mutex_unlock(&cache->lock);
	cache_free(cache, doomed);
	*out = entry;
	return 0;
}

MLX5EP_EXPORT int mlx5ep_mr_cache_get(struct mlx5ep_mr_cache *cache, void *addr,
				      size_t length,
				      struct mlx5ep_mr_cache_entry **out)
{
	uintptr_t first = (uintptr_t)addr, start, end;
	struct cache_entry *entry;
	int ret;

	start = first & cache->page_mask;
	end = (first + length + ~cache->page_mask) & cache->page_mask;
	if (!length || first + length < first || end <= start)
		return -EINVAL;
	if (!mlx5ep_notifier_usable(cache->notifier))
		return -EXDEV;

	pthread_mutex_lock(&cache->lock);
	entry = cache_covering(&cache->table, start, end);
	if (entry && mlx5ep_mr_valid(&entry->mr)) {
		cache_use(&cache->table, entry);
		cache->table.stats.hits++;
		pthread_mutex_unlock(&cache->lock);
		*out = &entry->pub;
		return 0;
	}
	pthread_mutex_unlock(&cache->lock);
	ret = cache_get_slowly(cache, start, end, &entry);
	if (!ret)
		*out = &entry->pub;
	return ret;
}

MLX5EP_EXPORT void mlx5ep_mr_cache_put(struct mlx5ep_mr_cache *cache,
				       struct mlx5ep_mr_cache_entry *pub)
{
	struct cache_entry *doomed = NULL;

	if (!mlx5ep_notifier_usable(cache->notifier))
		return;
	pthread_mutex_lock(&cache->lock);
	cache_unuse(&cache->table, (struct cache_entry *)pub, &doomed);
	cache_evict(&cache->table, &doomed);
	pthread_mutex_unlock(&cache->lock);
	cache_free(cache, doomed);
}

MLX5EP_EXPORT int mlx5ep_mr_cache_trim(struct mlx5ep_mr_cache *cache)
{
	int ret;

	if (!mlx5ep_notifier_usable(cache->notifier))
		return -EXDEV;
	ret = cache_read_events(cache);
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
	pthread_mutex_lock(&cache->lock);
	mlx5ep_answer(stats, size, &cache->table.stats,
		      sizeof(cache->table.stats));
	pthread_mutex_unlock(&cache->lock);
}

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

MLX5EP_EXPORT int
mlx5ep_mr_cache_create(struct ibv_pd *pd,
		       const struct mlx5ep_mr_cache_attr *attr,
		       struct mlx5ep_mr_cache **out)
{
	struct mlx5ep_mr_cache *cache;
	int ret;

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

	ret = mlx5ep_notifier_create(pd->context, cache->attr.max_regions +
				     CACHE_SPARE_WATCHES, &cache->notifier);
	if (ret)
		goto err_free;
	ret = cache_make_slots(cache);
	if (ret)
		goto err_notifier;
	if (fcntl(mlx5ep_notifier_fd(cache->notifier), F_SETFL, O_NONBLOCK)) {
		ret = -errno;
		goto err_notifier;
	}
	*out = cache;
	return 0;

err_notifier:
	mlx5ep_notifier_destroy(cache->notifier);
err_free:
	pthread_mutex_destroy(&cache->lock);
	free(cache->table.slots);
	free(cache);
	return ret;
}

MLX5EP_EXPORT int mlx5ep_mr_cache_destroy(struct mlx5ep_mr_cache *cache)
{
	struct cache_entry *entry, *doomed = NULL;
	uint64_t idle = 0;

	if (!cache)
		return 0;
	if (!mlx5ep_notifier_usable(cache->notifier))
		goto out_free;
	cache_retry_failed(cache);
	pthread_mutex_lock(&cache->lock);
	for (entry = cache->table.oldest; entry; entry = entry->newer)
		idle++;
	if (idle != cache->table.stats.regions) {
		pthread_mutex_unlock(&cache->lock);
		return -EBUSY;
	}
	while (cache->table.oldest)
		cache_drop(&cache->table, cache->table.oldest, &doomed);
	pthread_mutex_unlock(&cache->lock);
	cache_free(cache, doomed);
	if (cache->failed)
		return -EBUSY;

out_free:
	mlx5ep_notifier_destroy(cache->notifier);
	pthread_mutex_destroy(&cache->lock);
	free(cache->table.slots);
	free(cache);
	return 0;
}
