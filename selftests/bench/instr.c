// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What munmap() costs where somebody watches, in guest instructions. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "instr.h"

#define PAGE	4096ul
#define HUGE	(2ul << 20)
#define BASE	((void *)INSTR_ADDR)
#define APART	(16ul << 20)
#define WARM_UP	10

/* @fd: of the memory, or -1 for anonymous memory. */
static void *map_at(void *addr, size_t len, int fd)
{
	return mmap(addr, len, PROT_READ | PROT_WRITE, MAP_FIXED |
		    (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), fd, 0);
}

/* The file of those ranges that have many pages; it is made once. */
static int shared_memory(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("instr", MFD_CLOEXEC);
	return fd < 0 || ftruncate(fd, 2 * HUGE) ? -errno : fd;
}

/* Is there a huge page at @addr? */
static int check_huge(void *addr)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	unsigned long start, kib = 0;
	int here = 0;
	char line[256];

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-", &start) == 1 &&
		    strchr(line, '-') && strchr(line, '-') < strchr(line, ' '))
			here = start == (uintptr_t)addr;
		if (here && sscanf(line, "AnonHugePages: %lu", &kib) == 1)
			break;
	}
	fclose(file);
	return kib ? 0 : -ENOTSUP;
}

static int map_range(enum instr_range range, size_t len)
{
	bool shared = range == INSTR_2M || range == INSTR_MANY;
	int fd = shared ? shared_memory() : -1;
	size_t at;

	if (shared && fd < 0)
		return fd;
	if (map_at(BASE, len, fd) != BASE)
		return -errno;
	if (madvise(BASE, len, range == INSTR_HUGE ? MADV_HUGEPAGE :
						     MADV_NOHUGEPAGE))
		return -errno;
	for (at = 0; at < len; at += PAGE)
		*(volatile char *)(BASE + at) = 1;
	return range == INSTR_HUGE ? check_huge(BASE) : 0;
}

static int for_watches(enum instr_range range, size_t len,
		       int (*call)(void *addr, size_t len))
{
	size_t step = range == INSTR_MANY ? PAGE : len, at;
	int ret = 0;

	for (at = 0; at < len && !ret; at += step)
		ret = call(BASE + at, step);
	return ret;
}

static int sample(enum instr_range range, size_t len,
		  const struct instr_monitor *monitor, uint64_t *cost)
{
	uint64_t before;
	int ret;

	ret = map_range(range, len);
	if (!ret && monitor)
		ret = for_watches(range, len, monitor->watch);
	if (ret)
		return ret;
	before = instr_now();
	ret = munmap(BASE, len);
	*cost = instr_now() - before;
	if (ret)
		return -errno;
	return monitor ? for_watches(range, len, monitor->unwatch) : 0;
}

int instr_munmap(enum instr_range range, const struct instr_monitor *monitor,
		 uint64_t *samples)
{
	static const size_t lens[] = {
		[INSTR_2M] = HUGE, [INSTR_HUGE] = HUGE, [INSTR_4K] = PAGE,
		[INSTR_MANY] = INSTR_WATCHES * PAGE,
	};
	char *sentinel = map_at(BASE + APART, PAGE, -1);
	uint64_t cost;
	int i, ret = 0;

	if (sentinel == MAP_FAILED)
		return -errno;
	*sentinel = 1;
	for (i = -WARM_UP; i < INSTR_SAMPLES && !ret; i++) {
		ret = sample(range, lens[range], monitor, &cost);
		if (i >= 0)
			samples[i] = cost;
	}
	return ret;
}

static int instr_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void instr_sort(uint64_t *samples, size_t n)
{
	qsort(samples, n, sizeof(*samples), instr_by_value);
}

uint64_t instr_median(uint64_t *samples)
{
	instr_sort(samples, INSTR_SAMPLES);
	return samples[INSTR_SAMPLES / 2];
}

void instr_print(const char *name, const uint64_t *samples, uint64_t base,
		 double by)
{
	int i;

	printf("%s", name);
	for (i = 0; i < INSTR_SAMPLES; i++)
		printf(" %.2f", ((double)samples[i] - (double)base) / by);
	putchar('\n');
}
