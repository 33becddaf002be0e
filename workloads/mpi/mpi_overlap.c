// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mpi_overlap [-b] [-a] [-z BYTES,...] NAME TESTS - how much of the time of each
 * non-blocking collective of an MPI is free for computation, see nbc/overlap.h. The
 * options are those of nbc_overlap.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Return: 0, and what is behind the options begins at optind; -1 */
static int options(int argc, char **argv, struct overlap_how *how)
{
	int c;

	while ((c = getopt(argc, argv, "baz:")) != -1) {
		if (c == 'b')
			how->computes = true;
		else if (c == 'a')
			how->waits_asleep = true;
		else if (c != 'z' || overlap_lens(optarg, how))
			return -1;
	}
	return optind == argc - 2 ? 0 : -1;
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
	struct overlap_how how = {};
	int rank, n, ret;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (options(argc, argv, &how))
		MPI_Abort(MPI_COMM_WORLD, 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	lib.name = argv[optind];
	lib.place = (struct plan_place){ rank, n };
	how.tests = atoi(argv[optind + 1]);
	ret = overlap_run(&lib, how);
	if (ret) {
		fprintf(stderr, "mpi_overlap: process %d: error %d\n", rank,
			ret);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Finalize();
	return 0;
}
