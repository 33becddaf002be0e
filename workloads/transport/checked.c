// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory whose bytes are checked; see checked.h. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "checked.h"

int checked_map(void **at, size_t len)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (*at ? MAP_FIXED : 0);
	void *new;

	if (*at && munmap(*at, len))
		return -errno;
	new = mmap(*at, len, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (new == MAP_FAILED)
		return -errno;
	*at = new;
	return 0;
}

static uint32_t first(uint32_t seed)
{
	return seed * 2654435761u + 1;
}

static uint32_t next(uint32_t x)
{
	return x * 1664525u + 1013904223u;
}

void checked_fill(void *at, size_t len, uint32_t seed)
{
	unsigned char *bytes = at;
	uint32_t x = first(seed);
	size_t i;

	for (i = 0; i < len; i++) {
		x = next(x);
		bytes[i] = x >> 24;
	}
}

uint64_t checked_wrong(const void *at, size_t len, uint32_t seed)
{
	const unsigned char *bytes = at;
	uint32_t x = first(seed);
	uint64_t wrong = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		x = next(x);
		wrong += bytes[i] != x >> 24;
	}
	return wrong;
}

int tally_report(struct transport *tp, const char *text,
		 const struct tally *mine)
{
	struct tally all[TP_PROCESSES], sum = {};
	unsigned int i;
	int ret = tp_share(tp, mine, sizeof(*mine), all);

	if (ret)
		return ret;
	for (i = 0; i < tp_processes(tp); i++) {
		sum.checks += all[i].checks;
		sum.wrong += all[i].wrong;
	}
	if (!tp_rank(tp))
		printf("%s checks=%ju wrong=%ju\n", text,
		       (uintmax_t)sum.checks, (uintmax_t)sum.wrong);
	return sum.wrong ? -EBADMSG : 0;
}
