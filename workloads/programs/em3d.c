// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * EM3D: waves on a graph of two kinds of nodes. In each half step every node of a
 * kind gets the values of its neighbours, which are of the other kind and anywhere,
 * one by one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "programs.h"

#define NODES	30u		/* of each kind and process */
#define DEGREE	4u
#define STEPS	2u
#define ALL	(NODES * PROGRAMS_PROCESSES)

static uint64_t first_value(unsigned int kind, unsigned int node)
{
	return programs_random(5 + kind, node);
}

static unsigned int neighbour(unsigned int kind, unsigned int node,
			      unsigned int i, unsigned int all)
{
	return programs_random(7 + kind, node * DEGREE + i) % all;
}

static uint64_t next_value(uint64_t value, const uint64_t *near)
{
	unsigned int i;

	for (i = 0; i < DEGREE; i++)
		value -= near[i] * (2 * i + 3);
	return value;
}

/* The same by one process. */
static void serial(uint64_t (*values)[ALL], unsigned int all)
{
	unsigned int half, kind, node, i;
	uint64_t near[DEGREE];

	for (kind = 0; kind < 2; kind++)
		for (node = 0; node < all; node++)
			values[kind][node] = first_value(kind, node);
	for (half = 0; half < 2 * STEPS; half++)
		for (kind = half & 1, node = 0; node < all; node++) {
			for (i = 0; i < DEGREE; i++)
				near[i] = values[!kind][neighbour(kind, node, i,
								  all)];
			values[kind][node] = next_value(values[kind][node],
							near);
		}
}

static uint64_t *value_of(struct sc *sc, const struct sc_spread *array,
			  unsigned int node)
{
	return sc_local(sc, sc_element(array, node).at);
}

static int half_step(struct sc *sc, const struct sc_spread *arrays,
		     unsigned int kind, uint64_t (*near)[DEGREE])
{
	unsigned int n = sc_processes(sc), all = n * NODES, node, i, at;
	int ret = 0;

	for (node = sc_rank(sc); node < all; node += n)
		for (i = 0; i < DEGREE && !ret; i++) {
			at = neighbour(kind, node, i, all);
			ret = sc_get(sc, &near[node / n][i],
				     sc_element(&arrays[!kind], at),
				     sizeof(near[0][0]));
		}
	if (!ret)
		ret = sc_sync(sc);
	for (node = sc_rank(sc); node < all && !ret; node += n) {
		uint64_t *value = value_of(sc, &arrays[kind], node);

		*value = next_value(*value, near[node / n]);
	}
	return ret ? ret : sc_barrier(sc);
}

struct waves {
	uint64_t serial[2][ALL];
	uint64_t near[NODES][DEGREE];
};

static int em3d_run(struct sc *sc, struct waves *w, uint64_t *wrong)
{
	unsigned int n = sc_processes(sc), all = n * NODES, kind, node, half;
	struct sc_spread arrays[2];
	int ret = 0;

	for (kind = 0; kind < 2 && !ret; kind++) {
		ret = sc_spread_alloc(sc, all, sizeof(uint64_t),
				      &arrays[kind]);
		for (node = sc_rank(sc); node < all && !ret; node += n)
			*value_of(sc, &arrays[kind], node) =
				first_value(kind, node);
	}
	if (!ret)
		ret = sc_barrier(sc);
	for (half = 0; half < 2 * STEPS && !ret; half++)
		ret = half_step(sc, arrays, half & 1, w->near);
	if (ret)
		return ret;
	serial(w->serial, all);
	for (kind = 0; kind < 2; kind++)
		for (node = sc_rank(sc); node < all; node += n)
			*wrong += *value_of(sc, &arrays[kind], node) !=
				w->serial[kind][node];
	return 0;
}

int em3d(struct sc *sc, uint64_t *wrong)
{
	struct waves *w = malloc(sizeof(*w));
	int ret = w ? em3d_run(sc, w, wrong) : -ENOMEM;

	/* After an error nothing is freed: it may still be moving. */
	if (!ret)
		free(w);
	return ret;
}
