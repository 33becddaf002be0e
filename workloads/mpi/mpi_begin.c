// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Begins the collectives of a plan with an MPI. */
#include <stdlib.h>

#include "mpi_begin.h"

static MPI_Datatype type_of(const struct plan_item *p)
{
	switch (p->type) {
	case NBC_UINT8:
		return MPI_UINT8_T;
	case NBC_INT32:
		return MPI_INT32_T;
	case NBC_INT64:
		return MPI_INT64_T;
	case NBC_UINT64:
		return MPI_UINT64_T;
	case NBC_FLOAT:
		return MPI_FLOAT;
	default:
		return MPI_DOUBLE;
	}
}

static MPI_Op op_of(const struct plan_item *p)
{
	switch (p->op) {
	case NBC_SUM:
		return MPI_SUM;
	case NBC_PROD:
		return MPI_PROD;
	case NBC_MIN:
		return MPI_MIN;
	case NBC_MAX:
		return MPI_MAX;
	case NBC_BAND:
		return MPI_BAND;
	case NBC_BOR:
		return MPI_BOR;
	default:
		return MPI_BXOR;
	}
}

static int *ints(const size_t *v, unsigned int n)
{
	int *at = malloc(n * sizeof(*at));
	unsigned int i;

	for (i = 0; at && i < n; i++)
		at[i] = v[i];
	if (!at)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return at;
}

/* The arrays live until the process ends, as those of a request must. */
static int begin_parts(MPI_Comm comm, const struct plan_item *item,
		       struct plan_place place, const void *in, void *out,
		       MPI_Request *req)
{
	size_t lens[PLAN_PROCESSES], at[PLAN_PROCESSES + 1];
	MPI_Datatype type = type_of(item);
	int *out_lens, *out_at;

	plan_parts(item, place, true, lens, at);
	out_lens = ints(lens, place.n);
	out_at = ints(at, place.n);
	if (item->kind == NBC_GATHERV)
		return MPI_Igatherv(in, out_lens[place.rank], type, out,
				    out_lens, out_at, type,
				    plan_root(item, place.n), comm, req);
	plan_parts(item, place, false, lens, at);
	return MPI_Ialltoallv(in, ints(lens, place.n), ints(at, place.n), type,
			      out, out_lens, out_at, type, comm, req);
}

int mpi_begin(MPI_Comm comm, const struct plan_item *p, const void *in,
	      void *out, MPI_Request *req)
{
	MPI_Datatype type = type_of(p);
	int rank, size, root, n = p->count;
	MPI_Op op = op_of(p);

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	root = plan_root(p, size);
	switch (p->kind) {
	case NBC_BARRIER:
		return MPI_Ibarrier(comm, req);
	case NBC_BCAST:
		return MPI_Ibcast(out, n, type, root, comm, req);
	case NBC_SCATTER:
		return MPI_Iscatter(in, n, type, out, n, type, root, comm, req);
	case NBC_GATHER:
		return MPI_Igather(in, n, type, out, n, type, root, comm, req);
	case NBC_ALLGATHER:
		return MPI_Iallgather(in, n, type, out, n, type, comm, req);
	case NBC_ALLTOALL:
		return MPI_Ialltoall(in, n, type, out, n, type, comm, req);
	case NBC_ALLREDUCE:
		return MPI_Iallreduce(in, out, n, type, op, comm, req);
	case NBC_REDUCE:
		return MPI_Ireduce(in, out, n, type, op, root, comm, req);
	case NBC_SCAN:
		return MPI_Iscan(in, out, n, type, op, comm, req);
	default:
		return begin_parts(comm, p, (struct plan_place){ rank, size },
				   in, out, req);
	}
}
