/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The registrations of a cache, by address and by the slot of their watch. The
 * caller holds the lock of the cache, except for cache_hint(). No function here makes
 * a system call.
 */
#ifndef MLX5EP_MR_CACHE_TABLE_H
#define MLX5EP_MR_CACHE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <mlx5ep/mr_cache.h>
#include <mlx5ep/mr_watch.h>

#include "mr_cache_ref.h"
#include "mr_tree.h"

/**
 * struct cache_entry - one registration
 * @pub: what the user sees
 * @refs: whether it is kept, and how many users it has; see mr_cache_ref.h
 * @hits: gets that found it, or a registration that had this memory before
 * @touched: used since cache_drop_oldest() looked last
 * @kind: its access flags, and where it is in I/O virtual addresses
 * @start: first address of the registration
 * @end: address behind the last one
 * @node: in the tree, while kept; its range can be shorter than the registration
 * @older: in the list of kept ones
 * @newer: likewise
 * @next: in a list of those to be deregistered, or of unused ones
 * @pool_next: in the list of all that were allocated
 *
 * An entry has cache lines of its own: a hit of one writes no line of another.
 */
struct cache_entry {
	struct mlx5ep_mr_cache_entry pub;
	uint64_t refs;
	uint64_t hits;
	bool touched;
	struct mr_kind kind;
	uintptr_t start;
	uintptr_t end;
	struct mlx5ep_mr mr;
	struct mr_tree_node node;
	struct cache_entry *older;
	struct cache_entry *newer;
	struct cache_entry *next;
	struct cache_entry *pool_next;
} __attribute__((aligned(64)));

_Static_assert(sizeof(void *) != 8 || sizeof(struct cache_entry) == 256,
	       "the size is in mlx5ep_mr_cache(3), \"own memory\"");

#define CACHE_HINT_SHIFT 12
#define CACHE_HINTS (1 << CACHE_HINT_SHIFT)

/**
 * struct cache_table - the registrations of a cache
 * @hints: entries that were found, by a hash of the start of the range that was
 *	looked for; read and written without the lock; a hint can be out of date
 * @over: there is more than the maximum; read without the lock
 * @root: kept registrations; those of one kind are disjoint in the tree
 * @slots: registrations by the slot of their watch
 * @capacity: length of @slots
 * @oldest: kept registrations; those used again move on when one is to be dropped
 * @newest: likewise
 * @kept: their number
 * @unused: entries without a registration
 * @pool: all entries
 * @max_regions: maximum number of registrations
 * @max_bytes: maximum number of registered bytes; 0: none
 * @stats: counters, but for the hits
 */
struct cache_table {
	struct cache_entry *hints[CACHE_HINTS];
	bool over;
	struct mr_tree_node *root;
	struct cache_entry **slots;
	uint32_t capacity;
	struct cache_entry *oldest;
	struct cache_entry *newest;
	uint64_t kept;
	struct cache_entry *unused;
	struct cache_entry *pool;
	uint64_t max_regions;
	uint64_t max_bytes;
	struct mlx5ep_mr_cache_stats stats;
};

/* A multiplicative hash: its upper bits depend on all bits of the address. */
static inline struct cache_entry **cache_hint(struct cache_table *table,
					      uintptr_t start)
{
	return &table->hints[(start >> 12) * 0x9e3779b97f4a7c15ull >>
			     (64 - CACHE_HINT_SHIFT)];
}

static inline bool cache_stale(const struct cache_entry *entry)
{
	uint64_t word = __atomic_load_n(entry->mr.watch.word, __ATOMIC_ACQUIRE);

	return (word & MLX5_EP_WATCH_STATE_MASK) == MLX5_EP_WATCH_STATE_STALE;
}

struct cache_entry *cache_covering(struct cache_table *table,
				   const struct mr_kind *kind, uintptr_t start,
				   uintptr_t end);
struct cache_entry *cache_by_slot(const struct cache_table *table,
				  uint32_t slot, uint64_t word);
bool cache_widen(struct cache_table *table, const struct mr_kind *kind,
		 uintptr_t *start, uintptr_t *end);
void cache_keep(struct cache_table *table, struct cache_entry *entry,
		struct cache_entry **doomed);
void cache_drop(struct cache_table *table, struct cache_entry *entry,
		struct cache_entry **doomed);
bool cache_drop_oldest(struct cache_table *table, struct cache_entry **doomed);
void cache_evict(struct cache_table *table, struct cache_entry **doomed);
void cache_doom(struct cache_table *table, struct cache_entry *entry,
		struct cache_entry **doomed);
uint64_t cache_hits(const struct cache_table *table);

#endif
