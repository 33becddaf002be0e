/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The registrations of a cache, by address and by the slot of their watch. The
 * caller holds the lock of the cache. No function here makes a system call.
 */
#ifndef MLX5EP_MR_CACHE_TABLE_H
#define MLX5EP_MR_CACHE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <mlx5ep/mr_cache.h>
#include <mlx5ep/mr_watch.h>

#include "mr_tree.h"

/**
 * struct cache_entry - one registration
 * @pub: what the user sees
 * @node: in the tree, while @kept; its range can be shorter than the registration
 * @start: first address of the registration
 * @end: address behind the last one
 * @users: gets without a put
 * @kept: in the tree; if not, the last put deregisters
 * @older: in the list of those without users
 * @newer: likewise
 * @next: in a list of those to be deregistered
 */
struct cache_entry {
	struct mlx5ep_mr_cache_entry pub;
	struct mr_tree_node node;
	struct mlx5ep_mr mr;
	uintptr_t start;
	uintptr_t end;
	uint64_t users;
	bool kept;
	struct cache_entry *older;
	struct cache_entry *newer;
	struct cache_entry *next;
};

#define CACHE_RECENT_SHIFT 10
#define CACHE_RECENT (1 << CACHE_RECENT_SHIFT)

/**
 * struct cache_table - the registrations of a cache
 * @root: kept registrations; their ranges in the tree are disjoint
 * @slots: registrations by the slot of their watch
 * @capacity: length of @slots
 * @recent: slots of registrations that were found, by a hash of the start of the
 *	range that was looked for; an entry can be out of date
 * @oldest: kept registrations without users, in the order of their last use
 * @newest: likewise
 * @max_regions: maximum number of registrations
 * @max_bytes: maximum number of registered bytes; 0: none
 * @stats: counters
 */
struct cache_table {
	struct mr_tree_node *root;
	struct cache_entry **slots;
	uint32_t capacity;
	uint32_t recent[CACHE_RECENT];
	struct cache_entry *oldest;
	struct cache_entry *newest;
	uint64_t max_regions;
	uint64_t max_bytes;
	struct mlx5ep_mr_cache_stats stats;
};

static inline bool cache_stale(const struct cache_entry *entry)
{
	uint64_t word = __atomic_load_n(entry->mr.watch.word, __ATOMIC_ACQUIRE);

	return (word & MLX5_EP_WATCH_STATE_MASK) == MLX5_EP_WATCH_STALE;
}

struct cache_entry *cache_covering(struct cache_table *table, uintptr_t start,
				   uintptr_t end);
struct cache_entry *cache_by_slot(const struct cache_table *table,
				  uint32_t slot, uint64_t word);
bool cache_widen(struct cache_table *table, uintptr_t *start, uintptr_t *end);
void cache_keep(struct cache_table *table, struct cache_entry *entry,
		struct cache_entry **doomed);
void cache_drop(struct cache_table *table, struct cache_entry *entry,
		struct cache_entry **doomed);
void cache_evict(struct cache_table *table, struct cache_entry **doomed);
void cache_use(struct cache_table *table, struct cache_entry *entry);
void cache_unuse(struct cache_table *table, struct cache_entry *entry,
		 struct cache_entry **doomed);

#endif
