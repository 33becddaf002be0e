// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * 3-D FFT. A process has some planes of constant z. It transforms each plane in x
 * and y, and sends its rows to the processes of those rows, all z of which it then
 * transforms. The exchange of a plane is under way while the next plane is computed.
 */
#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers.h"

#define SIDE	32u		/* a power of two */
#define PLANE	(SIDE * SIDE)
#define POINTS	5		/* that are compared with the definition */

typedef double complex point;

struct fft {
	struct solver *s;
	unsigned int rank, n;
	unsigned int planes;		/* of the process that has most */
	point *in, *rows;		/* own planes; own rows of all planes */
	struct nbc_req *reqs[SIDE];
};

/* exp(-2 i pi k / SIDE) */
static point roots[SIDE];

static void make_roots(void)
{
	unsigned int k;

	for (k = 0; k < SIDE; k++)
		roots[k] = cexp(-2 * I * M_PI * k / SIDE);
}

static point input(unsigned int i)
{
	uint32_t x = i * 2654435761u;

	x ^= x >> 15;
	x *= 2246822519u;
	return (double)(x >> 20) / 4096 + I * ((double)(x & 4095) / 4096);
}

/* Bit by bit in place; @step between the points. */
static void line(point *v, unsigned int step)
{
	unsigned int i, j, bit, half, k;
	point t, w;

	for (i = 1, j = 0; i < SIDE; i++) {
		for (bit = SIDE / 2; j & bit; bit /= 2)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			t = v[i * step];
			v[i * step] = v[j * step];
			v[j * step] = t;
		}
	}
	for (half = 1; half < SIDE; half *= 2)
		for (k = 0; k < half; k++) {
			w = roots[k * (SIDE / 2) / half];
			for (i = k; i < SIDE; i += 2 * half) {
				t = w * v[(i + half) * step];
				v[(i + half) * step] = v[i * step] - t;
				v[i * step] += t;
			}
		}
}

static void plane(point *v)
{
	unsigned int i;

	for (i = 0; i < SIDE; i++)
		line(v + i * SIDE, 1);
	for (i = 0; i < SIDE; i++)
		line(v + i, SIDE);
}

/* Rows of plane k of each process to the processes of these rows. */
static int exchange(struct fft *f, unsigned int k)
{
	unsigned int first = solver_part(SIDE, f->rank, f->n), p, z, has, rows;
	unsigned int mine = solver_part(SIDE, f->rank + 1, f->n) - first;
	size_t v[NBC_VECS][SOLVERS_PROCESSES];
	const size_t *vec[NBC_VECS] = { v[0], v[1], v[2], v[3] };

	for (p = 0; p < f->n; p++) {
		z = solver_part(SIDE, p, f->n);
		has = z + k < solver_part(SIDE, p + 1, f->n);
		rows = solver_part(SIDE, p + 1, f->n) - z;
		v[NBC_IN_LENS][p] = k < mine ? rows * SIDE * sizeof(point) : 0;
		v[NBC_IN_AT][p] = z * SIDE * sizeof(point);
		v[NBC_OUT_LENS][p] = has ? mine * SIDE * sizeof(point) : 0;
		v[NBC_OUT_AT][p] = has ? (z + k) * mine * SIDE * sizeof(point) :
					 0;
	}
	return solver_alltoallv(f->s, f->in + (k < mine ? k * PLANE : 0),
				f->rows, vec, &f->reqs[k]);
}

static int transform(struct fft *f)
{
	unsigned int first = solver_part(SIDE, f->rank, f->n), k, i;
	unsigned int mine = solver_part(SIDE, f->rank + 1, f->n) - first;
	int ret = 0;

	for (k = 0; k < f->planes && !ret; k++) {
		if (k < mine)
			plane(f->in + k * PLANE);
		ret = exchange(f, k);
		if (!ret && f->s->computes)
			ret = solver_test(f->s, f->reqs, k + 1);
	}
	for (k = 0; k < f->planes && !ret; k++)
		if (f->reqs[k])
			ret = solver_wait(f->s, f->reqs[k]);
	for (i = 0; i < mine * SIDE && !ret; i++)
		line(f->rows + i, mine * SIDE);
	return ret;
}

/* The definition, at some points. Return: how many differ. */
static unsigned int undefined(const point *all)
{
	unsigned int i, j, k, x, y, z, wrong = 0;
	point sum;

	for (i = 0; i < POINTS; i++) {
		k = i * 7919 % (PLANE * SIDE);
		x = k % SIDE;
		y = k / SIDE % SIDE;
		z = k / PLANE;
		for (sum = 0, j = 0; j < PLANE * SIDE; j++)
			sum += input(j) * roots[(x * (j % SIDE) +
						 y * (j / SIDE % SIDE) +
						 z * (j / PLANE)) % SIDE];
		wrong += cabs(sum - all[k]) > 1e-6;
	}
	return wrong;
}

static int compare(struct fft *f)
{
	unsigned int first = solver_part(SIDE, f->rank, f->n), z, y, x;
	unsigned int mine = solver_part(SIDE, f->rank + 1, f->n) - first;
	point *all = malloc(PLANE * SIDE * sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (x = 0; x < PLANE * SIDE; x++)
		all[x] = input(x);
	for (z = 0; z < SIDE; z++)
		plane(all + z * PLANE);
	for (x = 0; x < PLANE; x++)
		line(all + x, PLANE);
	for (z = 0; z < SIDE; z++)
		for (y = 0; y < mine; y++)
			for (x = 0; x < SIDE; x++)
				f->s->wrong += f->rows[(z * mine + y) * SIDE + x] !=
					all[z * PLANE + (first + y) * SIDE + x];
	if (!f->rank)
		f->s->wrong += undefined(all);
	free(all);
	return 0;
}

/* After an error memory is not freed: it may still be moving. */
int solver_fft(struct solver *s)
{
	struct fft f = { .s = s, .rank = nbc_rank(s->nbc),
			 .n = nbc_processes(s->nbc) };
	unsigned int first = solver_part(SIDE, f.rank, f.n), p, i, mine;
	uint64_t since;
	int ret;

	make_roots();
	for (p = 0; p < f.n; p++) {
		mine = solver_part(SIDE, p + 1, f.n) - solver_part(SIDE, p, f.n);
		f.planes = mine > f.planes ? mine : f.planes;
	}
	mine = solver_part(SIDE, f.rank + 1, f.n) - first;
	f.in = malloc((mine + 1) * PLANE * sizeof(*f.in));
	f.rows = malloc((mine + 1) * PLANE * sizeof(*f.rows));
	if (!f.in || !f.rows)
		return -ENOMEM;
	for (i = 0; i < mine * PLANE; i++)
		f.in[i] = input(first * PLANE + i);
	since = solver_now();
	ret = transform(&f);
	s->whole = solver_now() - since;
	if (ret)
		return ret;
	ret = compare(&f);
	free(f.in);
	free(f.rows);
	return ret;
}
