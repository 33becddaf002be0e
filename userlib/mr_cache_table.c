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

static void idle_add(struct cache_table *table, struct cache_entry *entry)
{
	entry->newer = NULL;
	entry->older = table->newest;
	if (table->newest)
		table->newest->newer = entry;
	else
		table->oldest = entry;
	table->newest = entry;
}

static void idle_remove(struct cache_table *table, struct cache_entry *entry)
{
	if (entry->newer)
		entry->newer->older = entry->older;
	else
		table->newest = entry->older;
	if (entry->older)
		entry->older->newer = entry->newer;
	else
		table->oldest = entry->newer;
}

static void doom(struct cache_table *table, struct cache_entry *entry,
		 struct cache_entry **doomed)
{
	table->slots[entry->mr.watch.slot] = NULL;
	table->stats.regions--;
	table->stats.bytes -= entry->end - entry->start;
	entry->next = *doomed;
	*doomed = entry;
}

/* A multiplicative hash: its upper bits depend on all bits of the address. */
static unsigned int recent_index(uintptr_t start)
{
	return (start >> 12) * 0x9e3779b97f4a7c15ull >>
	       (64 - CACHE_RECENT_SHIFT);
}

/**
 * cache_covering() - find a kept registration that covers [@start, @end)
 *
 * Return: the registration, which may be stale, or NULL.
 */
struct cache_entry *cache_covering(struct cache_table *table, uintptr_t start,
				   uintptr_t end)
{
	struct mr_tree_node *node;
	struct cache_entry *entry;
	uint32_t *recent = &table->recent[recent_index(start)];
	uintptr_t at = start;

	entry = table->slots[*recent];
	if (entry && entry->kept && entry->start <= start && entry->end >= end)
		return entry;
	while (at < end && (node = mr_tree_first(table->root, at, end))) {
		entry = node_entry(node);
		if (entry->start <= start && entry->end >= end) {
			*recent = entry->mr.watch.slot;
			return entry;
		}
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
	return entry && entry->kept && entry->mr.watch.armed == word ? entry :
								       NULL;
}

/**
 * cache_widen() - extend a range by the valid registrations that it overlaps
 *
 * A range that overlaps them by half or less stays as it is: neighbours that share
 * a page are registered separately.
 *
 * Return: true if [*@start, *@end) was extended.
 */
bool cache_widen(struct cache_table *table, uintptr_t *start, uintptr_t *end)
{
	uintptr_t first = *start, last = *end, at = *start, from, to;
	struct mr_tree_node *node;
	struct cache_entry *entry;
	uintptr_t overlap = 0;

	while (at < *end && (node = mr_tree_first(table->root, at, *end))) {
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

/**
 * cache_drop() - remove a registration from the tree
 * @doomed: gets @entry, unless it has users
 */
void cache_drop(struct cache_table *table, struct cache_entry *entry,
		struct cache_entry **doomed)
{
	mr_tree_erase(&table->root, &entry->node);
	entry->kept = false;
	if (entry->users)
		return;
	idle_remove(table, entry);
	doom(table, entry, doomed);
}

/**
 * cache_evict() - drop those that are used least recently, down to the maximum
 */
void cache_evict(struct cache_table *table, struct cache_entry **doomed)
{
	while (table->oldest &&
	       (table->stats.regions > table->max_regions ||
		(table->max_bytes &&
		 table->stats.bytes > table->max_bytes))) {
		table->stats.evicted++;
		cache_drop(table, table->oldest, doomed);
	}
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

	while ((node = mr_tree_first(table->root, at, entry->end))) {
		at = node->end;
		if (entry->start <= node_entry(node)->start &&
		    entry->end >= node_entry(node)->end)
			cache_drop(table, node_entry(node), doomed);
		else if (!cut(node, entry->start, entry->end))
			cache_drop(table, node_entry(node), doomed);
		if (at >= entry->end)
			break;
	}
	entry->node.start = entry->start;
	entry->node.end = entry->end;
	table->slots[entry->mr.watch.slot] = entry;
	/* Its event may have been read before it could be found. */
	if (!cache_stale(entry)) {
		mr_tree_insert(&table->root, &entry->node);
		entry->kept = true;
	}
	entry->users = 1;
	table->stats.misses++;
	table->stats.regions++;
	table->stats.bytes += entry->end - entry->start;
	cache_evict(table, doomed);
}

/**
 * cache_use() - count a user
 */
void cache_use(struct cache_table *table, struct cache_entry *entry)
{
	if (!entry->users++ && entry->kept)
		idle_remove(table, entry);
}

/**
 * cache_unuse() - end a use
 * @doomed: gets @entry if it was dropped and this was its last user
 */
void cache_unuse(struct cache_table *table, struct cache_entry *entry,
		 struct cache_entry **doomed)
{
	if (--entry->users)
		return;
	if (entry->kept)
		idle_add(table, entry);
	else
		doom(table, entry, doomed);
}
