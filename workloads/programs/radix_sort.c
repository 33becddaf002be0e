// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Radix sort: in each pass all processes tell how many keys they have of each
 * digit, so each knows where its keys belong, and stores them there one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "programs.h"

#define KEYS	200u		/* of each process */
#define BITS	6u
#define DIGITS	(1u << BITS)
#define PASSES	2u
#define MASK	((1u << BITS * PASSES) - 1)
#define SEED	2u

struct sorter {
	struct sc *sc;
	unsigned int n, rank;
	size_t counts, keys[2];		/* in the memory of each process */
	size_t place[DIGITS];		/* of the next key, among all */
};

static unsigned int digit_of(uint32_t key, unsigned int pass)
{
	return key >> BITS * pass & (DIGITS - 1);
}

/* Where the first key of each digit belongs that is here. */
static void find_places(struct sorter *s)
{
	const uint32_t *counts = sc_local(s->sc, s->counts);
	unsigned int digit, rank;
	size_t sum = 0;

	for (digit = 0; digit < DIGITS; digit++)
		for (rank = 0; rank < s->n; rank++) {
			if (rank == s->rank)
				s->place[digit] = sum;
			sum += counts[rank * DIGITS + digit];
		}
}

static int tell_counts(struct sorter *s, unsigned int pass)
{
	const uint32_t *keys = sc_local(s->sc, s->keys[pass & 1]);
	uint32_t count[DIGITS] = {};
	unsigned int i;
	int ret;

	for (i = 0; i < KEYS; i++)
		count[digit_of(keys[i], pass)]++;
	ret = programs_store_all(s->sc, s->counts + s->rank * sizeof(count),
				 count, sizeof(count));
	return ret ? ret : sc_all_store_sync(s->sc);
}

static int move_keys(struct sorter *s, unsigned int pass)
{
	const uint32_t *keys = sc_local(s->sc, s->keys[pass & 1]);
	struct sc_global to;
	unsigned int i;
	size_t place;
	int ret = 0;

	for (i = 0; i < KEYS && !ret; i++) {
		place = s->place[digit_of(keys[i], pass)]++;
		to.process = place / KEYS;
		to.at = s->keys[!(pass & 1)] + place % KEYS * sizeof(*keys);
		ret = sc_store(s->sc, to, &keys[i], sizeof(*keys));
	}
	return ret ? ret : sc_all_store_sync(s->sc);
}

int radix_sort(struct sc *sc, uint64_t *wrong)
{
	struct sorter s = { .sc = sc, .n = sc_processes(sc),
			    .rank = sc_rank(sc) };
	unsigned int i, pass;
	uint32_t *keys;
	int ret;

	ret = sc_alloc(sc, s.n * DIGITS * sizeof(uint32_t), &s.counts);
	for (i = 0; i < 2 && !ret; i++)
		ret = sc_alloc(sc, KEYS * sizeof(uint32_t), &s.keys[i]);
	if (ret)
		return ret;
	keys = sc_local(sc, s.keys[0]);
	for (i = 0; i < KEYS; i++)
		keys[i] = programs_random(SEED, s.rank * KEYS + i) & MASK;
	for (pass = 0; pass < PASSES && !ret; pass++) {
		ret = tell_counts(&s, pass);
		find_places(&s);
		if (!ret)
			ret = move_keys(&s, pass);
	}
	if (!ret)
		*wrong += programs_check_keys(sc_local(sc, s.keys[PASSES & 1]),
					      KEYS, s.rank * KEYS, SEED, MASK,
					      (size_t)s.n * KEYS);
	return ret;
}
