// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The registrations of a cache.
 *
 * A new registration has its whole range in the tree. The ranges of older ones
 * that overlap it are cut back there; an older one without a rest is dropped. So
 * two registrations can share a page, and a search for a range looks at each node
 * that overlaps it until one covers it.
 */
#include <stddef.h>

#include "mr_cache_table.h"

/*
 * A registration may be larger than what was asked for, to replace older ones
 * that overlap it: so many times as large, and so many bytes. So walking through a
 * buffer in steps registers each byte a constant number of times, and one change
 * of memory never makes a very large registration stale.
 */
#define MERGE_FACTOR	4
#define MERGE_BYTES	(16ul << 20)

static struct cache_entry *node_entry(struct mr_tree_node *node)
{
	return (void *)((char *)node - offsetof(struct cache_entry, node));
}

static void list_add(struct cache_table *table, struct cache_entry *entry)
{
	entry->newer = NULL;
	entry->older = table->newest;
	if (table->newest)
		table->newest->newer = entry;
	else
		table->oldest = entry;
	table->newest = entry;
	table->kept++;
}

static void list_remove(struct cache_table *table, struct cache_entry *entry)
{
	if (entry->newer)
		entry->newer->older = entry->older;
	else
		table->newest = entry->older;
	if (entry->older)
		entry->older->newer = entry->newer;
	else
		table->oldest = entry->newer;
	table->kept--;
}

/**
 * cache_doom() - forget a registration that has neither users nor is kept
 * @entry: is the caller's
 * @doomed: gets @entry
 */
void cache_doom(struct cache_table *table, struct cache_entry *entry,
		struct cache_entry **doomed)
{
	if (table->slots[entry->mr.watch.slot] == entry)
		table->slots[entry->mr.watch.slot] = NULL;
	table->stats.regions--;
	table->stats.bytes -= entry->end - entry->start;
	entry->next = *doomed;
	*doomed = entry;
}

/**
 * cache_covering() - find a kept registration of a kind that covers [@start, @end)
 *
 * Return: the registration, which may be stale, or NULL.
 */
struct cache_entry *cache_covering(struct cache_table *table,
				   const struct mr_kind *kind, uintptr_t start,
				   uintptr_t end)
{
	struct mr_tree_node *node;
	struct cache_entry *entry;
	uintptr_t at = start;

	while (at < end && (node = mr_tree_first(table->root, kind, at, end))) {
		entry = node_entry(node);
		if (entry->start <= start && entry->end >= end)
			return entry;
		at = node->end;
	}
	return NULL;
}

/**
 * cache_by_slot() - find the registration of an event
 * @word: the armed word of the watch; it tells apart watches that had one slot
 *
 * Return: the kept registration or NULL.
 */
struct cache_entry *cache_by_slot(const struct cache_table *table,
				  uint32_t slot, uint64_t word)
{
	struct cache_entry *entry;

	entry = slot < table->capacity ? table->slots[slot] : NULL;
	return entry && cache_ref_kept(&entry->refs) &&
			       entry->mr.watch.armed == word ?
		       entry :
		       NULL;
}

/**
 * cache_widen() - extend a range by the valid registrations of its kind that it
 *	overlaps
 *
 * A range that overlaps them by half or less stays as it is: neighbours that share
 * a page are registered separately.
 *
 * Return: true if [*@start, *@end) was extended.
 */
bool cache_widen(struct cache_table *table, const struct mr_kind *kind,
		 uintptr_t *start, uintptr_t *end)
{
	uintptr_t first = *start, last = *end, at = *start, from, to;
	struct mr_tree_node *node;
	struct cache_entry *entry;
	uintptr_t overlap = 0;

	while (at < *end &&
	       (node = mr_tree_first(table->root, kind, at, *end))) {
		at = node->end;
		entry = node_entry(node);
		if (!mlx5ep_mr_valid(&entry->mr))
			continue;
		from = node->start > *start ? node->start : *start;
		to = node->end < *end ? node->end : *end;
		overlap += to - from;
		if (entry->start < first)
			first = entry->start;
		if (entry->end > last)
			last = entry->end;
	}
	if (overlap <= (*end - *start) / 2 || last - first > MERGE_BYTES ||
	    last - first > MERGE_FACTOR * (*end - *start) ||
	    (first == *start && last == *end))
		return false;
	*start = first;
	*end = last;
	return true;
}

static void forget(struct cache_table *table, struct cache_entry *entry)
{
	mr_tree_erase(&table->root, &entry->node);
	list_remove(table, entry);
}

/**
 * cache_drop() - remove a registration from the tree
 * @doomed: gets @entry, unless it has users
 */
void cache_drop(struct cache_table *table, struct cache_entry *entry,
		struct cache_entry **doomed)
{
	forget(table, entry);
	if (cache_ref_drop(&entry->refs))
		cache_doom(table, entry, doomed);
}

/**
 * cache_drop_oldest() - drop a registration that was not used for long
 * @doomed: gets it
 *
 * One that was used since it was looked at last gets a second chance, behind all
 * others. So a hit need not change the list.
 *
 * Return: false if all are in use.
 */
bool cache_drop_oldest(struct cache_table *table, struct cache_entry **doomed)
{
	uint64_t looks = 2 * table->kept;
	struct cache_entry *entry;

	while (looks--) {
		entry = table->oldest;
		if (!__atomic_exchange_n(&entry->touched, false,
					 __ATOMIC_RELAXED) &&
		    cache_ref_drop_idle(&entry->refs)) {
			forget(table, entry);
			cache_doom(table, entry, doomed);
			table->stats.evicted++;
			return true;
		}
		list_remove(table, entry);
		list_add(table, entry);
	}
	return false;
}

static bool exceeds(const struct cache_table *table)
{
	return table->stats.regions > table->max_regions ||
	       (table->max_bytes && table->stats.bytes > table->max_bytes);
}

/**
 * cache_evict() - drop registrations without users, down to the maximum
 *
 * @over is set before the users are looked at, and a put ends its use before it
 * reads @over. So either the registration is seen idle here, or the put sees @over
 * and calls this function.
 */
void cache_evict(struct cache_table *table, struct cache_entry **doomed)
{
	while (exceeds(table)) {
		__atomic_store_n(&table->over, true, __ATOMIC_SEQ_CST);
		if (!cache_drop_oldest(table, doomed))
			return;
	}
	__atomic_store_n(&table->over, false, __ATOMIC_RELAXED);
}

/* Cuts what is in the tree back to what is outside of [start, end). */
static bool cut(struct mr_tree_node *node, uintptr_t start, uintptr_t end)
{
	if (node->start < start)
		node->end = start;
	else if (node->end > end)
		node->start = end;
	else
		return false;
	return true;
}

/**
 * cache_keep() - add a new registration, with one user
 * @doomed: gets registrations that it replaces
 *
 * The caller counts it as a miss.
 */
void cache_keep(struct cache_table *table, struct cache_entry *entry,
		struct cache_entry **doomed)
{
	struct mr_tree_node *node;
	uintptr_t at = entry->start;
	bool kept;

	while ((node = mr_tree_first(table->root, &entry->kind, at,
				     entry->end))) {
		at = node->end;
		if (entry->start <= node_entry(node)->start &&
		    entry->end >= node_entry(node)->end)
			cache_drop(table, node_entry(node), doomed);
		else if (!cut(node, entry->start, entry->end))
			cache_drop(table, node_entry(node), doomed);
		if (at >= entry->end)
			break;
	}
	entry->node.kind = entry->kind;
	entry->node.start = entry->start;
	entry->node.end = entry->end;
	entry->touched = false;
	/*
	 * Its event may have been read before it could be found. Nobody would verify
	 * it, and if it is stale what it pins would stay, so it goes with its user. So
	 * does one of memory that cannot be watched, whose slot may be another's by now.
	 */
	kept = mlx5ep_mr_valid(&entry->mr);
	if (kept) {
		table->slots[entry->mr.watch.slot] = entry;
		mr_tree_insert(&table->root, &entry->node);
		list_add(table, entry);
	}
	cache_ref_init(&entry->refs, kept);
	table->stats.misses++;
	table->stats.regions++;
	table->stats.bytes += entry->end - entry->start;
	cache_evict(table, doomed);
}

/**
 * cache_hits() - count the gets that found a registration
 */
uint64_t cache_hits(const struct cache_table *table)
{
	const struct cache_entry *entry;
	uint64_t hits = 0;

	for (entry = table->pool; entry; entry = entry->pool_next)
		hits += __atomic_load_n(&entry->hits, __ATOMIC_RELAXED);
	return hits;
}
