// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mpi_overlap NAME TESTS [busy] - how much of the time of each non-blocking collective
 * of an MPI is free for computation, see nbc/overlap.h
 */
#include <stdio.h>
#include <stdlib.h>

#include "mpi_begin.h"
#include "nbc/overlap.h"

static MPI_Request req;

static int begin(const struct plan_item *item, const void *in, void *out)
{
	return mpi_begin(MPI_COMM_WORLD, item, in, out, &req);
}

static int test(void)
{
	int done;

	MPI_Test(&req, &done, MPI_STATUS_IGNORE);
	return done;
}

static int wait_for_it(void)
{
	return MPI_Wait(&req, MPI_STATUS_IGNORE);
}

static int meet(void)
{
	return MPI_Barrier(MPI_COMM_WORLD);
}

static int sum(double *v, unsigned int n)
{
	return MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_DOUBLE, MPI_SUM,
			     MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	struct overlap_lib lib = {
		.begin = begin,
		.test = test,
		.wait = wait_for_it,
		.meet = meet,
		.sum = sum,
	};
	struct overlap_how how = { .computes = argc == 4 };
	int rank, n, ret;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (argc != 3 && argc != 4)
		MPI_Abort(MPI_COMM_WORLD, 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	lib.name = argv[1];
	lib.place = (struct plan_place){ rank, n };
	how.tests = atoi(argv[2]);
	ret = overlap_run(&lib, how);
	if (ret) {
		fprintf(stderr, "mpi_overlap: process %d: error %d\n", rank,
			ret);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Finalize();
	return 0;
}
