// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What both sorts use, and their check. */
#include <stdlib.h>

#include "programs.h"

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void programs_sort_keys(uint32_t *keys, size_t n)
{
	qsort(keys, n, sizeof(*keys), by_value);
}

uint64_t programs_check_keys(const uint32_t *keys, size_t n, size_t first,
			     uint32_t seed, uint32_t mask, size_t all)
{
	uint32_t *serial = malloc(all * sizeof(*serial));
	uint64_t wrong = 0;
	size_t i;

	if (!serial || first + n > all) {
		free(serial);
		return n + 1;
	}
	for (i = 0; i < all; i++)
		serial[i] = programs_random(seed, i) & mask;
	programs_sort_keys(serial, all);
	for (i = 0; i < n; i++)
		wrong += keys[i] != serial[first + i];
	free(serial);
	return wrong;
}

int programs_store_all(struct sc *sc, size_t at, const void *bytes, size_t len)
{
	struct sc_global to = { .at = at };
	int ret = 0;

	for (; to.process < sc_processes(sc) && !ret; to.process++)
		ret = sc_bulk_store(sc, to, bytes, len);
	return ret;
}
