// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The registration cache, reference consumer of watches.
 *
 * Kept registrations are disjoint ranges of whole pages in a tree. A get that a
 * kept one covers is a hit if its watch is valid. A get that is not covered
 * registers the range together with the kept ranges that it overlaps, and
 * replaces those; users of the replaced ones keep them until put. Ranges that
 * only touch are left alone, or walking through a buffer would register it over
 * and over.
 *
 * @lock protects the tree, the list and the counts. Nothing that may wait for
 * the kernel or the adapter is called under it but the non-blocking read of
 * events. An event finds its entry by address and is checked by its word, so it
 * may come late.
 *
 * Only the memory of a cache is a forked child's own: registrations and watches
 * are the parent's, and the lock may be held there for good.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <mlx5ep/mr_cache.h>
#include <mlx5ep/mr_watch.h>

#include "internal.h"
#include "mr_tree.h"
#include "notifier.h"

#define CACHE_DEFAULT_REGIONS	4096
#define CACHE_EVENTS		16

/* Watches beyond the bound: registrations in use, and those about to go. */
#define CACHE_SPARE_WATCHES	4096

/**
 * struct cache_entry - one registration
 * @pub: what the user sees
 * @node: in the tree, while @kept
 * @mr: registration and watch
 * @users: gets without put
 * @kept: in the tree; a registration that is not goes with its last user
 * @older: in the list of those without users, NULL at its end
 * @newer: likewise
 * @next: in a list of those to be freed
 */
struct cache_entry {
	struct mlx5ep_mr_cache_entry pub;
	struct mr_tree_node node;
	struct mlx5ep_mr mr;
	uint64_t users;
	bool kept;
	struct cache_entry *older;
	struct cache_entry *newer;
	struct cache_entry *next;
};

/**
 * struct mlx5ep_mr_cache - a cache
 * @pd: of all registrations
 * @notifier: its own
 * @attr: bounds
 * @page_mask: of the bits of an address within a page
 * @lock: protects what follows
 * @root: kept registrations
 * @oldest: kept registrations without users, by last use
 * @newest: likewise
 * @stats: what happened
 */
struct mlx5ep_mr_cache {
	struct ibv_pd *pd;
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_mr_cache_attr attr;
	uintptr_t page_mask;
	pthread_mutex_t lock;
	struct mr_tree_node *root;
	struct cache_entry *oldest;
	struct cache_entry *newest;
	struct mlx5ep_mr_cache_stats stats;
};

static struct cache_entry *node_entry(struct mr_tree_node *node)
{
	return (void *)((char *)node - offsetof(struct cache_entry, node));
}

static void idle_add(struct mlx5ep_mr_cache *cache, struct cache_entry *entry)
{
	entry->newer = NULL;
	entry->older = cache->newest;
	if (cache->newest)
		cache->newest->newer = entry;
	else
		cache->oldest = entry;
	cache->newest = entry;
}

static void idle_remove(struct mlx5ep_mr_cache *cache,
			struct cache_entry *entry)
{
	if (entry->newer)
		entry->newer->older = entry->older;
	else
		cache->newest = entry->older;
	if (entry->older)
		entry->older->newer = entry->newer;
	else
		cache->oldest = entry->newer;
}

static void cache_doom(struct mlx5ep_mr_cache *cache, struct cache_entry *entry,
		       struct cache_entry **doomed)
{
	cache->stats.regions--;
	cache->stats.bytes -= entry->node.end - entry->node.start;
	entry->next = *doomed;
	*doomed = entry;
}

/* The registration is found no more; it goes to @doomed unless it has users. */
static void cache_drop(struct mlx5ep_mr_cache *cache, struct cache_entry *entry,
		       struct cache_entry **doomed)
{
	mr_tree_erase(&cache->root, &entry->node);
	entry->kept = false;
	if (entry->users)
		return;
	idle_remove(cache, entry);
	cache_doom(cache, entry, doomed);
}

static void cache_evict(struct mlx5ep_mr_cache *cache,
			struct cache_entry **doomed)
{
	while (cache->oldest &&
	       (cache->stats.regions > cache->attr.max_regions ||
		(cache->attr.max_bytes &&
		 cache->stats.bytes > cache->attr.max_bytes))) {
		cache->stats.evicted++;
		cache_drop(cache, cache->oldest, doomed);
	}
}

static bool entry_stale(const struct cache_entry *entry)
{
	uint64_t word = __atomic_load_n(entry->mr.watch.word, __ATOMIC_ACQUIRE);

	return (word & MLX5_EP_WATCH_STATE_MASK) == MLX5_EP_WATCH_STALE;
}

static struct cache_entry *event_entry(struct mlx5ep_mr_cache *cache,
				       const struct mlx5_ep_event *event)
{
	struct mr_tree_node *node;

	if (event->type != MLX5_EP_EVENT_WATCH)
		return NULL;
	node = mr_tree_first(cache->root, event->start, event->start + 1);
	if (!node || node_entry(node)->mr.watch.armed != event->word)
		return NULL;
	return node_entry(node);
}

/* Reads what happened; stale registrations are dropped. */
static int cache_read_events(struct mlx5ep_mr_cache *cache,
			     struct cache_entry **doomed)
{
	struct mlx5_ep_event events[CACHE_EVENTS];
	struct cache_entry *entry;
	int dropped = 0, cancel;
	ssize_t i, got;

	while (mlx5ep_notifier_page(cache->notifier)->watch_pending) {
		/* A thread that ended in read() would keep the lock. */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
		got = mlx5ep_notifier_read(cache->notifier, events,
					   CACHE_EVENTS);
		pthread_setcancelstate(cancel, NULL);
		if (got <= 0)
			break;
		for (i = 0; i < got; i++) {
			entry = event_entry(cache, &events[i]);
			if (!entry || !entry_stale(entry))
				continue;
			cache->stats.stale++;
			cache_drop(cache, entry, doomed);
			dropped++;
		}
	}
	return dropped;
}

static void cache_unlock(struct mlx5ep_mr_cache *cache,
			 struct cache_entry *doomed)
{
	struct cache_entry *entry;

	pthread_mutex_unlock(&cache->lock);
	while (doomed) {
		entry = doomed;
		doomed = entry->next;
		mlx5ep_dereg_mr(&entry->mr);
		free(entry);
	}
}

static void entry_use(struct mlx5ep_mr_cache *cache, struct cache_entry *entry)
{
	if (!entry->users++)
		idle_remove(cache, entry);
}

static void entry_unuse(struct mlx5ep_mr_cache *cache,
			struct cache_entry *entry, struct cache_entry **doomed)
{
	if (--entry->users)
		return;
	if (entry->kept) {
		idle_add(cache, entry);
		return;
	}
	cache_doom(cache, entry, doomed);
}

/*
 * Finds a kept registration that covers the range and is valid, and uses it.
 * Called and returns with the lock held, which it lets go to verify.
 */
static struct cache_entry *cache_find(struct mlx5ep_mr_cache *cache,
				      uintptr_t start, uintptr_t end,
				      struct cache_entry **doomed)
{
	struct mr_tree_node *node;
	struct cache_entry *entry;
	int ret;

	for (;;) {
		node = mr_tree_first(cache->root, start, end);
		if (!node || node->start > start || node->end < end)
			return NULL;
		entry = node_entry(node);
		entry_use(cache, entry);
		if (mlx5ep_mr_valid(&entry->mr))
			return entry;

		pthread_mutex_unlock(&cache->lock);
		ret = mlx5ep_watch_verify(&entry->mr.watch);
		pthread_mutex_lock(&cache->lock);
		if (!ret) {
			cache->stats.verified++;
			return entry;
		}
		if (entry->kept) {
			cache->stats.stale++;
			cache_drop(cache, entry, doomed);
		}
		entry_unuse(cache, entry, doomed);
	}
}

/* Grows the range by the valid registrations that it overlaps. */
static bool cache_widen(struct mlx5ep_mr_cache *cache, uintptr_t *start,
			uintptr_t *end)
{
	uintptr_t at = *start, last = *end;
	struct mr_tree_node *node;
	bool wider = false;

	while ((node = mr_tree_first(cache->root, at, last))) {
		at = node->end;
		if (!mlx5ep_mr_valid(&node_entry(node)->mr))
			continue;
		if (node->start < *start)
			*start = node->start;
		if (node->end > *end)
			*end = node->end;
		wider = true;
	}
	return wider;
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
	entry->node.start = start;
	entry->node.end = end;
	*out = entry;
	return 0;
}

/* Lets go of what nobody has used for longest; false where all is in use. */
static bool cache_make_room(struct mlx5ep_mr_cache *cache)
{
	struct cache_entry *doomed = NULL;
	bool any;

	pthread_mutex_lock(&cache->lock);
	any = cache->oldest;
	if (any) {
		cache->stats.evicted++;
		cache_drop(cache, cache->oldest, &doomed);
	}
	cache_unlock(cache, doomed);
	return any;
}

/* Puts a new registration in the place of those that it overlaps. */
static void cache_keep(struct mlx5ep_mr_cache *cache, struct cache_entry *entry,
		       bool merged, struct cache_entry **doomed)
{
	struct mr_tree_node *node;

	while ((node = mr_tree_first(cache->root, entry->node.start,
				     entry->node.end)))
		cache_drop(cache, node_entry(node), doomed);
	/* Its event may have been read before it was to be found. */
	if (!entry_stale(entry)) {
		mr_tree_insert(&cache->root, &entry->node);
		entry->kept = true;
	}
	entry->users = 1;
	cache->stats.misses++;
	cache->stats.merges += merged;
	cache->stats.regions++;
	cache->stats.bytes += entry->node.end - entry->node.start;
	cache_evict(cache, doomed);
}

MLX5EP_EXPORT int mlx5ep_mr_cache_get(struct mlx5ep_mr_cache *cache, void *addr,
				      size_t length,
				      struct mlx5ep_mr_cache_entry **out)
{
	uintptr_t first = (uintptr_t)addr, start, end, wide_start, wide_end;
	struct cache_entry *entry, *doomed = NULL;
	bool merged;
	int ret;

	start = first & cache->page_mask;
	end = (first + length + ~cache->page_mask) & cache->page_mask;
	if (!length || first + length < first || end <= start)
		return -EINVAL;
	if (!mlx5ep_notifier_usable(cache->notifier))
		return -EXDEV;

	pthread_mutex_lock(&cache->lock);
	cache_read_events(cache, &doomed);
	entry = cache_find(cache, start, end, &doomed);
	if (entry) {
		cache->stats.hits++;
		*out = &entry->pub;
		cache_unlock(cache, doomed);
		return 0;
	}
	wide_start = start;
	wide_end = end;
	merged = cache_widen(cache, &wide_start, &wide_end);
	cache_unlock(cache, doomed);

	doomed = NULL;
	ret = cache_register(cache, wide_start, wide_end, &entry);
	if (ret && merged) {
		merged = false;
		ret = cache_register(cache, start, end, &entry);
	}
	/* What is kept may be all that the limit of locked memory allows. */
	while ((ret == -ENOMEM || ret == -ENOSPC) && cache_make_room(cache))
		ret = cache_register(cache, start, end, &entry);
	if (ret)
		return ret;

	pthread_mutex_lock(&cache->lock);
	cache_keep(cache, entry, merged, &doomed);
	*out = &entry->pub;
	cache_unlock(cache, doomed);
	return 0;
}

MLX5EP_EXPORT void mlx5ep_mr_cache_put(struct mlx5ep_mr_cache *cache,
				       struct mlx5ep_mr_cache_entry *pub)
{
	struct cache_entry *doomed = NULL;

	if (!mlx5ep_notifier_usable(cache->notifier))
		return;
	pthread_mutex_lock(&cache->lock);
	entry_unuse(cache, (struct cache_entry *)pub, &doomed);
	cache_evict(cache, &doomed);
	cache_unlock(cache, doomed);
}

MLX5EP_EXPORT int mlx5ep_mr_cache_trim(struct mlx5ep_mr_cache *cache)
{
	struct cache_entry *doomed = NULL;
	int ret;

	if (!mlx5ep_notifier_usable(cache->notifier))
		return -EXDEV;
	pthread_mutex_lock(&cache->lock);
	ret = cache_read_events(cache, &doomed);
	if (!ret && mlx5ep_notifier_page(cache->notifier)->flags &
		    MLX5_EP_NOTIFIER_PAGE_DEAD)
		ret = -EIO;
	cache_unlock(cache, doomed);
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
	mlx5ep_answer(stats, size, &cache->stats, sizeof(cache->stats));
	pthread_mutex_unlock(&cache->lock);
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

	ret = mlx5ep_notifier_create(pd->context, cache->attr.max_regions +
				     CACHE_SPARE_WATCHES, &cache->notifier);
	if (ret)
		goto err_free;
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
	free(cache);
	return ret;
}

MLX5EP_EXPORT int mlx5ep_mr_cache_destroy(struct mlx5ep_mr_cache *cache)
{
	struct cache_entry *doomed = NULL;
	uint64_t idle = 0;
	struct cache_entry *entry;

	if (!cache)
		return 0;
	if (!mlx5ep_notifier_usable(cache->notifier))
		goto out_free;
	pthread_mutex_lock(&cache->lock);
	for (entry = cache->oldest; entry; entry = entry->newer)
		idle++;
	if (idle != cache->stats.regions) {
		pthread_mutex_unlock(&cache->lock);
		return -EBUSY;
	}
	while (cache->oldest)
		cache_drop(cache, cache->oldest, &doomed);
	cache_unlock(cache, doomed);

out_free:
	mlx5ep_notifier_destroy(cache->notifier);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
	return 0;
}
