/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What munmap() costs where somebody watches, in guest instructions: in a guest
 * with one CPU whose instructions QEMU counts, the time stamp counter advances by
 * one with each. The same ranges for whoever watches, so that figures of several
 * monitors stand beside each other.
 */
#ifndef SELFTESTS_INSTR_H
#define SELFTESTS_INSTR_H

#include <stddef.h>
#include <stdint.h>

/*
 * A counter of the processor that programs may read. On x86 it is the time stamp
 * counter, which in a guest whose instructions QEMU counts advances by one with each.
 */
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>

static inline uint64_t ticks_now(void)
{
	return __rdtsc();
}
#elif defined(__aarch64__)
static inline uint64_t ticks_now(void)
{
	uint64_t ticks;

	asm volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}
#endif

#define INSTR_SAMPLES	51
#define INSTR_WATCHES	1000	/* of INSTR_MANY, a page each */
#define INSTR_ADDR	0x600040000000ul	/* where all is mapped */

/*
 * What is unmapped at once, all of it touched. INSTR_2M and INSTR_MANY are shared
 * memory, whose pages stay: what freeing so many costs differs by 30000 from one
 * time to the next, and hides what a monitor adds.
 */
enum instr_range { INSTR_2M, INSTR_HUGE, INSTR_4K, INSTR_MANY };

/**
 * struct instr_monitor - who watches
 * @watch: begin to watch a range, whole pages that are mapped
 * @unwatch: after munmap(), which may have told already
 *
 * Return: 0 or -errno.
 */
struct instr_monitor {
	int (*watch)(void *addr, size_t len);
	int (*unwatch)(void *addr, size_t len);
};

static inline uint64_t instr_now(void)
{
	return ticks_now();
}

/**
 * instr_munmap() - cost of munmap(), INSTR_SAMPLES times
 * @range: what is unmapped
 * @monitor: watches it, for INSTR_MANY page by page; NULL: nobody does
 * @samples: written
 *
 * The address is always the same, and a page 16 MiB further on stays, or freeing
 * page tables would come and go in the figures.
 *
 * Return: 0; -ENOTSUP where a huge page cannot be had; another -errno.
 */
int instr_munmap(enum instr_range range, const struct instr_monitor *monitor,
		 uint64_t *samples);

/* Sorts @n samples, the smallest first. */
void instr_sort(uint64_t *samples, size_t n);
/* The median; sorts them. */
uint64_t instr_median(uint64_t *samples);

/* Prints "NAME V V ...": each sample less @base, divided by @by. */
void instr_print(const char *name, const uint64_t *samples, uint64_t base,
		 double by);

#endif
