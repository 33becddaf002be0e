// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The guard: which pages of guest memory a driver has lent to the adapter, for a
 * queue, an event queue, a doorbell record or the command queue.
 *
 * Invariants
 * - A page is lent from the command that names it to the one that ends what it
 *   was named for, as often as it is named.
 * - Nothing but lent pages is reached by way of a queue, whatever the queue
 *   itself believes: dma_ptr() asks here.
 */
#include <errno.h>
#include <stdlib.h>

#include "bus/guard.h"

#define BUCKETS 4096u
#define LOG_PAGE 12

struct lent {
	struct lent *next;
	uint64_t page;
	uint64_t times;
};

struct guard {
	struct lent *buckets[BUCKETS];
};

/**
 * guard_create() - nothing is lent
 *
 * Return: the guard, NULL without memory
 */
struct guard *guard_create(void)
{
	return calloc(1, sizeof(struct guard));
}

/**
 * guard_destroy() - forget what is lent
 * @guard: may be NULL
 */
void guard_destroy(struct guard *guard)
{
	struct lent *lent;
	unsigned int i;

	for (i = 0; guard && i < BUCKETS; i++)
		while ((lent = guard->buckets[i])) {
			guard->buckets[i] = lent->next;
			free(lent);
		}
	free(guard);
}

/* Where the page is, or where it would be. */
static struct lent **guard_find(struct guard *guard, uint64_t page)
{
	struct lent **at = &guard->buckets[page % BUCKETS];

	while (*at && (*at)->page != page)
		at = &(*at)->next;
	return at;
}

static uint64_t last_page(uint64_t addr, uint64_t len)
{
	return (addr + (len ? len - 1 : 0)) >> LOG_PAGE;
}

/**
 * guard_take_back() - the driver has memory back
 * @guard: the guard
 * @addr: where
 * @len: bytes, as they were lent
 */
void guard_take_back(struct guard *guard, uint64_t addr, uint64_t len)
{
	uint64_t page = addr >> LOG_PAGE, last = last_page(addr, len);
	struct lent **at, *lent;

	for (; page <= last; page++) {
		at = guard_find(guard, page);
		lent = *at;
		if (!lent || --lent->times)
			continue;
		*at = lent->next;
		free(lent);
	}
}

/**
 * guard_lend() - a command names memory
 * @guard: the guard
 * @addr: where
 * @len: bytes
 *
 * Return: 0 or -ENOMEM, with nothing lent
 */
int guard_lend(struct guard *guard, uint64_t addr, uint64_t len)
{
	uint64_t page = addr >> LOG_PAGE, last = last_page(addr, len);
	struct lent **at;

	for (; page <= last; page++) {
		at = guard_find(guard, page);
		if (!*at)
			*at = calloc(1, sizeof(**at));
		if (!*at) {
			if (page > addr >> LOG_PAGE)
				guard_take_back(guard, addr,
						(page << LOG_PAGE) - addr);
			return -ENOMEM;
		}
		(*at)->page = page;
		(*at)->times++;
	}
	return 0;
}

/**
 * guard_lent() - may the adapter reach that memory now?
 * @guard: the guard
 * @addr: where
 * @len: bytes
 *
 * Return: true where all of it is lent
 */
bool guard_lent(struct guard *guard, uint64_t addr, uint64_t len)
{
	uint64_t page = addr >> LOG_PAGE, last = last_page(addr, len);

	for (; page <= last; page++)
		if (!*guard_find(guard, page))
			return false;
	return true;
}
