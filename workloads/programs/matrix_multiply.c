// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Matrix multiply: the rows of all three matrices go around the processes. Each
 * reads all of the second one in bulk, and computes its rows of the third one. Then
 * it reads rows of others, and compares them.
 */
#include <errno.h>
#include <stdlib.h>

#include "programs.h"

#define ROWS	45u		/* and columns; not a multiple of the processes */

typedef int64_t row[ROWS];

static int64_t input(unsigned int matrix, unsigned int i, unsigned int j)
{
	return (int32_t)programs_random(3 + matrix, i * ROWS + j) >> 8;
}

static void fill(struct sc *sc, const struct sc_spread *m, unsigned int matrix)
{
	unsigned int i, j;
	int64_t *at;

	for (i = sc_rank(sc); i < ROWS; i += sc_processes(sc)) {
		at = sc_local(sc, sc_element(m, i).at);
		for (j = 0; j < ROWS; j++)
			at[j] = input(matrix, i, j);
	}
}

static int read_all(struct sc *sc, const struct sc_spread *m, row *to)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ROWS && !ret; i++)
		ret = sc_bulk_get(sc, to[i], sc_element(m, i), sizeof(row));
	return ret ? ret : sc_sync(sc);
}

static void compute(struct sc *sc, const struct sc_spread *m, const row *b)
{
	const int64_t *first;
	unsigned int i, j, k;
	int64_t *product;

	for (i = sc_rank(sc); i < ROWS; i += sc_processes(sc)) {
		first = sc_local(sc, sc_element(&m[0], i).at);
		product = sc_local(sc, sc_element(&m[2], i).at);
		for (j = 0; j < ROWS; j++) {
			product[j] = 0;
			for (k = 0; k < ROWS; k++)
				product[j] += first[k] * b[k][j];
		}
	}
}

/* One column of the result for each row, another one in each process. */
static uint64_t check(struct sc *sc, const row *product)
{
	unsigned int i, j, k;
	uint64_t wrong = 0;
	int64_t sum;

	for (i = 0; i < ROWS; i++) {
		for (j = sc_rank(sc); j < ROWS; j += sc_processes(sc)) {
			for (sum = 0, k = 0; k < ROWS; k++)
				sum += input(0, i, k) * input(1, k, j);
			wrong += product[i][j] != sum;
		}
	}
	return wrong;
}

int matrix_multiply(struct sc *sc, uint64_t *wrong)
{
	row *all = calloc(ROWS, sizeof(*all));
	struct sc_spread m[3];
	unsigned int i;
	int ret = all ? 0 : -ENOMEM;

	for (i = 0; i < 3 && !ret; i++)
		ret = sc_spread_alloc(sc, ROWS, sizeof(row), &m[i]);
	if (!ret) {
		fill(sc, &m[0], 0);
		fill(sc, &m[1], 1);
		ret = sc_barrier(sc);
	}
	if (!ret)
		ret = read_all(sc, &m[1], all);
	if (!ret) {
		compute(sc, m, (const row *)all);
		ret = sc_barrier(sc);
	}
	if (!ret)
		ret = read_all(sc, &m[2], all);
	if (!ret)
		*wrong += check(sc, (const row *)all);
	/* After an error nothing is freed: it may still be moving. */
	if (!ret)
		free(all);
	return ret;
}
