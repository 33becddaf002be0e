/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Programs of the study of active messages and Split-C, on Split-C. Each process
 * knows the input of all, so it compares its part of the result with that of a
 * serial run.
 *
 * Return: 0 or -errno. @wrong: values that differ, added up.
 */
#ifndef SELFTESTS_PROGRAMS_H
#define SELFTESTS_PROGRAMS_H

#include "splitc/splitc.h"

#define PROGRAMS_MEMORY (1u << 20)	/* that they take at most, all together */
#define PROGRAMS_PROCESSES 16u

int sample_sort(struct sc *sc, uint64_t *wrong);
int radix_sort(struct sc *sc, uint64_t *wrong);
int matrix_multiply(struct sc *sc, uint64_t *wrong);
int em3d(struct sc *sc, uint64_t *wrong);

/* The same numbers in all processes. */
static inline uint32_t programs_random(uint32_t seed, uint32_t i)
{
	uint64_t x = ((uint64_t)seed << 32 | i) + 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x >> 32;
}

/* programs_sort.c */
void programs_sort_keys(uint32_t *keys, size_t n);

/* How many of @n keys are not those from @first on of all keys, sorted. */
uint64_t programs_check_keys(const uint32_t *keys, size_t n, size_t first,
			     uint32_t seed, uint32_t mask, size_t all);

/* Store @len bytes at the same place in all processes. */
int programs_store_all(struct sc *sc, size_t at, const void *bytes, size_t len);

#endif
