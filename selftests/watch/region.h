/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of every kind, to be registered and changed. */
#ifndef SELFTESTS_REGION_H
#define SELFTESTS_REGION_H

#include <stddef.h>

#include "page.h"

#define REGION_PAGE	page_bytes()
#define REGION_LEN	(16 * REGION_PAGE)
#define REGION_HUGE	(2ul << 20)
#define REGION_GIGA	(1ul << 30)

enum region_memory { ANON, SHM, SYSV, BRK, THP, HUGETLB, HUGETLB_SHARED };

/**
 * struct region - the memory of a case
 * @addr: of what is registered
 * @len: its length; REGION_LEN, or REGION_HUGE of huge pages
 * @map: all of it; the last REGION_HUGE of it is reserved and empty
 * @map_len: three huge pages; of HUGETLB_SHARED REGION_GIGA
 * @fd: of shared memory, else -1
 */
struct region {
	void *addr;
	size_t len;
	void *map;
	size_t map_len;
	int fd;
};

/* Return: 0 or -errno. */
int region_map(struct region *r, enum region_memory memory);

#endif
