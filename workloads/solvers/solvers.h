/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Programs that use non-blocking collectives: a 3-D FFT and a conjugate gradient
 * solver. Each runs in two forms, of which one waits for each collective where it
 * begins, and the other computes meanwhile. Each process compares its part of the
 * result with that of a serial run.
 */
#ifndef SELFTESTS_SOLVERS_H
#define SELFTESTS_SOLVERS_H

#include "nbc/nbc.h"

#define SOLVERS_PROCESSES 16u
#define SOLVERS_SIDE	48u	/* of the grid of the solver, where none is named */

/**
 * struct solver - a run of a program
 * @side: of the grid of the solver, which has as many rows as columns
 * @computes: while collectives are under way
 * @lost: nanoseconds in calls of collectives: to begin them, to test, to wait
 * @whole: nanoseconds of the program, without its serial run
 * @wrong: values that are not those of the serial run
 */
struct solver {
	struct nbc *nbc;
	unsigned int side;
	bool computes;
	uint64_t lost, whole, wrong;
};

/* Return: 0 or -errno. */
int solver_fft(struct solver *s);
int solver_cg(struct solver *s);

/* solver.c: nanoseconds, and what is counted as lost */
uint64_t solver_now(void);
int solver_wait(struct solver *s, struct nbc_req *req);
int solver_test(struct solver *s, struct nbc_req **reqs, unsigned int n);
int solver_alltoallv(struct solver *s, const void *in, void *out,
		     const size_t *const *vec, struct nbc_req **req);
int solver_sum(struct solver *s, const double *in, double *out,
	       struct nbc_req **req);

/* Where the part of process @rank begins, of @all pieces. */
static inline unsigned int solver_part(unsigned int all, unsigned int rank,
				       unsigned int n)
{
	return all * rank / n;
}

#endif
