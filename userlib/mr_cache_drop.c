// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What leaves a registration cache: the entries, the registrations to be
 * deregistered, and the events that name stale ones. No function here is called
 * with the lock held, if it does not say so.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <mlx5ep/mr_watch.h>

#include "internal.h"
#include "mr_cache_internal.h"

#define CACHE_EVENTS	32

/**
 * cache_entry_alloc() - get an entry without a registration
 *
 * Return: the entry, which is the caller's, or NULL.
 */
struct cache_entry *cache_entry_alloc(struct mlx5ep_mr_cache *cache)
{
	struct cache_table *table = &cache->table;
	struct cache_entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = table->unused;
	if (entry)
		table->unused = entry->next;
	pthread_mutex_unlock(&cache->lock);
	if (entry)
		return entry;
	entry = aligned_alloc(_Alignof(struct cache_entry), sizeof(*entry));
	if (!entry)
		return NULL;
	memset(entry, 0, sizeof(*entry));
	pthread_mutex_lock(&cache->lock);
	entry->pool_next = table->pool;
	table->pool = entry;
	pthread_mutex_unlock(&cache->lock);
	return entry;
}

/**
 * cache_entry_free() - give an entry back that has no registration
 */
void cache_entry_free(struct mlx5ep_mr_cache *cache, struct cache_entry *entry)
{
	pthread_mutex_lock(&cache->lock);
	entry->next = cache->table.unused;
	cache->table.unused = entry;
	pthread_mutex_unlock(&cache->lock);
}

/**
 * cache_free() - deregister
 * @doomed: list of entries that are the caller's
 *
 * What fails is tried again with the next miss, or by trim.
 */
void cache_free(struct mlx5ep_mr_cache *cache, struct cache_entry *doomed)
{
	struct cache_entry *entry;

	while (doomed) {
		entry = doomed;
		doomed = entry->next;
		if (!mlx5ep_dereg_mr(&entry->mr)) {
			cache_entry_free(cache, entry);
			continue;
		}
		pthread_mutex_lock(&cache->lock);
		entry->next = cache->failed;
		__atomic_store_n(&cache->failed, entry, __ATOMIC_RELAXED);
		cache->table.stats.regions++;
		cache->table.stats.bytes += entry->end - entry->start;
		pthread_mutex_unlock(&cache->lock);
	}
}

/**
 * cache_retry_failed() - deregister what could not be deregistered before
 */
void cache_retry_failed(struct mlx5ep_mr_cache *cache)
{
	struct cache_entry *failed, *entry;

	pthread_mutex_lock(&cache->lock);
	failed = cache->failed;
	__atomic_store_n(&cache->failed, NULL, __ATOMIC_RELAXED);
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
			.result = MLX5_EP_WATCH_STATE_SUSPECT,
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
				refs[i].result == MLX5_EP_WATCH_STATE_ARMED;
		}
		pthread_mutex_unlock(&cache->lock);
	}
	cache_free(cache, doomed);
	return dropped;
}

static uint64_t cache_pending(const struct mlx5ep_mr_cache *cache)
{
	return __atomic_load_n(&cache->notifier->page->watch_pending,
			       __ATOMIC_RELAXED);
}

/* Read the events that there are, for all caches of the notifier. */
static int cache_read_pending(struct mlx5ep_mr_cache *cache)
{
	struct mlx5_ep_event events[CACHE_EVENTS];
	struct mlx5ep_mr_cache *each;
	uint64_t left;
	int dropped = 0;
	ssize_t got;

	for (left = cache_pending(cache); left; left -= got) {
		got = mlx5ep_notifier_read(cache->notifier, events,
					   left < CACHE_EVENTS ?
					   left : CACHE_EVENTS);
		if (got <= 0)
			break;
		/* A cache passes over the watches of others: their words are not its. */
		for (each = cache->notifier->caches; each; each = each->next)
			dropped += cache_handle(each, events, got);
	}
	return dropped;
}

/**
 * cache_read_events() - read the events, and drop the registrations that are stale
 *
 * Only one thread does; the others need not wait, because what they find is checked
 * by its word. It reads no more events than there are when it begins: others may make
 * them as fast as it reads.
 *
 * Return: number of registrations that were dropped, of all caches of the notifier.
 */
int cache_read_events(struct mlx5ep_mr_cache *cache)
{
	int dropped = 0, cancel;

	if (__atomic_load_n(&cache->failed, __ATOMIC_RELAXED))
		cache_retry_failed(cache);
	if (!cache_pending(cache))
		return 0;
	/* A thread that is cancelled in read() would leave the lock held. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (!pthread_mutex_trylock(&cache->notifier->reading)) {
		dropped = cache_read_pending(cache);
		pthread_mutex_unlock(&cache->notifier->reading);
	}
	pthread_setcancelstate(cancel, NULL);
	return dropped;
}

