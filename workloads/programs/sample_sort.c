// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sample sort: all processes see a sample of all keys, and cut the keys into as
 * many ranges as there are processes. Each stores its keys of a range, all at once,
 * in the process of that range, which sorts them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "programs.h"

#define KEYS	2000u		/* of each process */
#define SAMPLE	16u
#define SEED	1u

struct sorter {
	struct sc *sc;
	unsigned int n, rank;
	size_t sample, counts, keys;	/* in the memory of each process */
	uint32_t mine[KEYS];		/* sorted */
	uint32_t count[PROGRAMS_PROCESSES];	/* of mine, by range */
};

static int alloc(struct sorter *s)
{
	int ret;

	ret = sc_alloc(s->sc, s->n * SAMPLE * sizeof(uint32_t), &s->sample);
	if (!ret)
		ret = sc_alloc(s->sc, s->n * s->n * sizeof(uint32_t),
			       &s->counts);
	if (!ret)
		ret = sc_alloc(s->sc, s->n * KEYS * sizeof(uint32_t),
			       &s->keys);
	return ret;
}

/* Tell all a sample of the keys. */
static int tell_sample(struct sorter *s)
{
	uint32_t sample[SAMPLE];
	unsigned int i;
	int ret;

	for (i = 0; i < SAMPLE; i++)
		sample[i] = s->mine[i * KEYS / SAMPLE];
	ret = programs_store_all(s->sc, s->sample + s->rank * sizeof(sample),
				 sample, sizeof(sample));
	return ret ? ret : sc_all_store_sync(s->sc);
}

/* Count the keys of each range, and tell all. */
static int tell_counts(struct sorter *s)
{
	uint32_t *sample = sc_local(s->sc, s->sample);
	unsigned int i, range = 0;
	int ret;

	programs_sort_keys(sample, s->n * SAMPLE);
	for (i = 0; i < KEYS; i++) {
		while (range < s->n - 1 &&
		       s->mine[i] >= sample[(range + 1) * SAMPLE])
			range++;
		s->count[range]++;
	}
	ret = programs_store_all(s->sc, s->counts +
				 s->rank * s->n * sizeof(uint32_t),
				 s->count, s->n * sizeof(uint32_t));
	return ret ? ret : sc_all_store_sync(s->sc);
}

/* Keys of a range in the processes before @rank. */
static size_t before(struct sorter *s, unsigned int rank, unsigned int range)
{
	uint32_t *counts = sc_local(s->sc, s->counts);
	unsigned int i;
	size_t sum = 0;

	for (i = 0; i < rank; i++)
		sum += counts[i * s->n + range];
	return sum;
}

static int move_keys(struct sorter *s)
{
	const uint32_t *from = s->mine;
	struct sc_global to;
	unsigned int range;
	int ret = 0;

	for (range = 0; range < s->n && !ret; range++) {
		to.process = range;
		to.at = s->keys + before(s, s->rank, range) * sizeof(*from);
		ret = sc_bulk_store(s->sc, to, from,
				    s->count[range] * sizeof(*from));
		from += s->count[range];
	}
	return ret ? ret : sc_all_store_sync(s->sc);
}

/* Sort the range. Return: how many keys of it are wrong, or that some are lost. */
static uint64_t finish(struct sorter *s)
{
	size_t all = (size_t)s->n * KEYS, sum = 0, first = 0, n;
	uint32_t *keys = sc_local(s->sc, s->keys);
	unsigned int range;

	for (range = 0; range < s->n; range++) {
		if (range == s->rank)
			first = sum;
		n = before(s, s->n, range);
		sum += n;
	}
	if (sum != all)
		return all;
	n = before(s, s->n, s->rank);
	programs_sort_keys(keys, n);
	return programs_check_keys(keys, n, first, SEED, ~0u, all);
}

int sample_sort(struct sc *sc, uint64_t *wrong)
{
	struct sorter *s = calloc(1, sizeof(*s));
	unsigned int i;
	int ret;

	if (!s)
		return -ENOMEM;
	s->sc = sc;
	s->n = sc_processes(sc);
	s->rank = sc_rank(sc);
	for (i = 0; i < KEYS; i++)
		s->mine[i] = programs_random(SEED, s->rank * KEYS + i);
	programs_sort_keys(s->mine, KEYS);
	ret = alloc(s);
	if (!ret)
		ret = tell_sample(s);
	if (!ret)
		ret = tell_counts(s);
	if (!ret)
		ret = move_keys(s);
	if (!ret)
		*wrong += finish(s);
	/* After an error nothing is freed: it may still be moving. */
	if (!ret)
		free(s);
	return ret;
}
