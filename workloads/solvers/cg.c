// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Conjugate gradients for the Laplace operator of a square grid, whose rows are
 * shared out. Each step needs the rows of both neighbours, which are under way while
 * the other rows are computed, and two sums over all processes, of which one is
 * under way while the solution is advanced.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers.h"

#define STEPS	8u		/* for each row of the grid, at most */
#define ENOUGH	1e-24		/* of the square of the first residual */
#define CLOSE	1e-8

/* Vectors have a row of each neighbour around the own ones. */
struct cg {
	struct solver *s;
	struct nbc *nbc;		/* NULL: a serial run */
	unsigned int side, rank, n, first, rows;
	double *x, *r, *p, *q;
};

/* What is to be found. */
static double solution(unsigned int i)
{
	return (double)(i * 2654435761u >> 20) / 4096 - 0.5;
}

static unsigned int rows_of(const struct cg *c, unsigned int rank)
{
	return solver_part(c->side, rank + 1, c->n) -
		solver_part(c->side, rank, c->n);
}

static void apply_row(const struct cg *c, const double *p, double *q,
		      unsigned int row)
{
	unsigned int i, side = c->side;
	const double *at = p + row * side, *above = at - side;

	for (i = 0; i < side; i++)
		q[row * side + i] = 4 * at[i] - above[i] - at[i + side] -
			(i ? at[i - 1] : 0) - (i + 1 < side ? at[i + 1] : 0);
}

/* The own rows at the edges to the neighbours, and theirs around the own ones. */
static int begin_edges(struct cg *c, double *p, struct nbc_req **req)
{
	size_t v[NBC_VECS][SOLVERS_PROCESSES] = {}, row = c->side * sizeof(*p);
	const size_t *vec[NBC_VECS] = { v[0], v[1], v[2], v[3] };

	if (c->rank) {
		v[NBC_IN_LENS][c->rank - 1] = row;
		v[NBC_IN_AT][c->rank - 1] = row;
		v[NBC_OUT_LENS][c->rank - 1] = row;
	}
	if (c->rank + 1 < c->n) {
		v[NBC_IN_LENS][c->rank + 1] = row;
		v[NBC_IN_AT][c->rank + 1] = c->rows * row;
		v[NBC_OUT_LENS][c->rank + 1] = row;
		v[NBC_OUT_AT][c->rank + 1] = (c->rows + 1) * row;
	}
	return solver_alltoallv(c->s, p, p, vec, req);
}

/* q = A p */
static int apply(struct cg *c, double *p, double *q)
{
	struct nbc_req *req = NULL;
	unsigned int row;
	int ret = 0;

	if (c->nbc)
		ret = begin_edges(c, p, &req);
	for (row = 2; row < c->rows && !ret; row++)
		apply_row(c, p, q, row);
	if (req && !ret)
		ret = solver_wait(c->s, req);
	if (ret)
		return ret;
	apply_row(c, p, q, 1);
	if (c->rows > 1)
		apply_row(c, p, q, c->rows);
	return 0;
}

static double dot(const struct cg *c, const double *a, const double *b)
{
	unsigned int i;
	double sum = 0;

	for (i = c->side; i < (c->rows + 1) * c->side; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Of all processes. @req: set where it is under way, and @sum not valid yet */
static int begin_sum(struct cg *c, double mine, double *in, double *sum,
		     struct nbc_req **req)
{
	*req = NULL;
	*in = mine;
	*sum = mine;
	return c->nbc ? solver_sum(c->s, in, sum, req) : 0;
}

static int sum_all(struct cg *c, double mine, double *sum)
{
	struct nbc_req *req;
	double in;
	int ret = begin_sum(c, mine, &in, sum, &req);

	return ret || !req ? ret : solver_wait(c->s, req);
}

/* Return: 1 if there is nothing left to do, 0 or -errno. */
static int step(struct cg *c, double *rr, double enough)
{
	double pq, alpha, beta, in, next;
	struct nbc_req *req;
	unsigned int i, end = (c->rows + 1) * c->side;
	int ret = apply(c, c->p, c->q);

	if (!ret)
		ret = sum_all(c, dot(c, c->p, c->q), &pq);
	if (ret)
		return ret;
	alpha = *rr / pq;
	for (i = c->side; i < end; i++)
		c->r[i] -= alpha * c->q[i];
	ret = begin_sum(c, dot(c, c->r, c->r), &in, &next, &req);
	for (i = c->side; i < end && !ret; i++)
		c->x[i] += alpha * c->p[i];
	if (!ret && req)
		ret = solver_wait(c->s, req);
	if (ret)
		return ret;
	beta = next / *rr;
	*rr = next;
	for (i = c->side; i < end; i++)
		c->p[i] = c->r[i] + beta * c->p[i];
	return next < enough;
}

static int solve(struct cg *c)
{
	double rr, first;
	unsigned int i;
	int ret;

	/* The right side is what the solution gives. */
	for (i = c->side; i < (c->rows + 1) * c->side; i++)
		c->p[i] = solution(c->first * c->side + i - c->side);
	ret = apply(c, c->p, c->r);
	if (!ret)
		ret = sum_all(c, dot(c, c->r, c->r), &first);
	memcpy(c->p + c->side, c->r + c->side, c->rows * c->side * sizeof(*c->p));
	rr = first;
	for (i = 0; i < STEPS * c->side && !ret; i++)
		ret = step(c, &rr, ENOUGH * first);
	return ret < 0 ? ret : 0;
}

static int open_cg(struct cg *c, struct solver *s, struct nbc *nbc)
{
	size_t n;

	*c = (struct cg){ .s = s, .nbc = nbc, .side = s->side, .n = 1 };
	if (nbc) {
		c->n = nbc_processes(nbc);
		c->rank = nbc_rank(nbc);
	}
	c->first = solver_part(c->side, c->rank, c->n);
	c->rows = rows_of(c, c->rank);
	n = (c->rows + 2) * c->side;
	c->x = calloc(n, sizeof(double));
	c->r = calloc(n, sizeof(double));
	c->p = calloc(n, sizeof(double));
	c->q = calloc(n, sizeof(double));
	return c->x && c->r && c->p && c->q ? 0 : -ENOMEM;
}

static void close_cg(struct cg *c)
{
	free(c->x);
	free(c->r);
	free(c->p);
	free(c->q);
}

static int compare(struct cg *c)
{
	struct cg serial;
	unsigned int i, at;
	int ret = open_cg(&serial, c->s, NULL);

	if (!ret)
		ret = solve(&serial);
	for (i = c->side; i < (c->rows + 1) * c->side && !ret; i++) {
		at = c->first * c->side + i - c->side;
		if (!(fabs(c->x[i] - serial.x[at + c->side]) < CLOSE) ||
		    !(fabs(c->x[i] - solution(at)) < CLOSE))
			c->s->wrong++;
	}
	close_cg(&serial);
	return ret;
}

/* After an error memory is not freed: it may still be moving. */
int solver_cg(struct solver *s)
{
	uint64_t since;
	struct cg c;
	int ret = open_cg(&c, s, s->nbc);

	since = solver_now();
	if (!ret)
		ret = solve(&c);
	s->whole = solver_now() - since;
	if (!ret)
		ret = compare(&c);
	if (!ret)
		close_cg(&c);
	return ret;
}
