// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The guard knows the pages of guest memory that belong to a queue, an event
 * queue, a doorbell record or the command queue.
 *
 * Invariants
 * - A page belongs to a queue from the command that names the page to the one
 *   that destroys the queue. Several queues may share a page: they are counted.
 * - A queue accesses these pages only, because dma_queue_ptr() asks the guard.
 */
#include <errno.h>
#include <stdlib.h>

#include "bus/guard.h"

#define BUCKETS 4096u
#define LOG_PAGE 12

struct guarded {
	struct guarded *next;
	uint64_t page;
	uint64_t users;
};

struct guard {
	struct guarded *buckets[BUCKETS];
};

/**
 * guard_create() - create a guard that knows no page
 *
 * Return: the guard, NULL without memory
 */
struct guard *guard_create(void)
{
	return calloc(1, sizeof(struct guard));
}

/**
 * guard_destroy() - forget all pages
 * @guard: may be NULL
 */
void guard_destroy(struct guard *guard)
{
	struct guarded *g;
	unsigned int i;

	for (i = 0; guard && i < BUCKETS; i++)
		while ((g = guard->buckets[i])) {
			guard->buckets[i] = g->next;
			free(g);
		}
	free(guard);
}

/* The link to the entry of a page, or to where the entry must be inserted. */
static struct guarded **guard_find(struct guard *guard, uint64_t page)
{
	struct guarded **at = &guard->buckets[page % BUCKETS];

	while (*at && (*at)->page != page)
		at = &(*at)->next;
	return at;
}

static uint64_t last_page(uint64_t addr, uint64_t len)
{
	return (addr + (len ? len - 1 : 0)) >> LOG_PAGE;
}

/**
 * guard_remove() - undo one guard_add()
 * @len: bytes, as they were added
 */
void guard_remove(struct guard *guard, uint64_t addr, uint64_t len)
{
	uint64_t page = addr >> LOG_PAGE, last = last_page(addr, len);
	struct guarded **at, *g;

	for (; page <= last; page++) {
		at = guard_find(guard, page);
		g = *at;
		if (!g || --g->users)
			continue;
		*at = g->next;
		free(g);
	}
}

/**
 * guard_add() - record that a queue uses this memory
 * @len: bytes
 *
 * Return: 0, or -ENOMEM with nothing added
 */
int guard_add(struct guard *guard, uint64_t addr, uint64_t len)
{
	uint64_t page = addr >> LOG_PAGE, last = last_page(addr, len);
	struct guarded **at;

	for (; page <= last; page++) {
		at = guard_find(guard, page);
		if (!*at)
			*at = calloc(1, sizeof(**at));
		if (!*at) {
			if (page > addr >> LOG_PAGE)
				guard_remove(guard, addr,
						(page << LOG_PAGE) - addr);
			return -ENOMEM;
		}
		(*at)->page = page;
		(*at)->users++;
	}
	return 0;
}

/**
 * guard_covers() - does this memory belong to queues?
 * @len: bytes
 *
 * Return: true if all of it does
 */
bool guard_covers(struct guard *guard, uint64_t addr, uint64_t len)
{
	uint64_t page = addr >> LOG_PAGE, last = last_page(addr, len);

	for (; page <= last; page++)
		if (!*guard_find(guard, page))
			return false;
	return true;
}
