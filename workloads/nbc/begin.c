// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Begins the collectives of a plan. */
#include "begin.h"

static void scaled(size_t *v, unsigned int n, size_t size)
{
	while (n--)
		v[n] *= size;
}

static int begin_parts(struct nbc *nbc, const struct plan_item *item,
		       struct plan_place place, const void *in, void *out,
		       struct nbc_req **req)
{
	size_t v[NBC_VECS][PLAN_PROCESSES + 1];
	const size_t *vec[NBC_VECS] = { v[0], v[1], v[2], v[3] };
	unsigned int i;

	plan_parts(item, place, false, v[NBC_IN_LENS], v[NBC_IN_AT]);
	plan_parts(item, place, true, v[NBC_OUT_LENS], v[NBC_OUT_AT]);
	for (i = 0; i < NBC_VECS; i++)
		scaled(v[i], place.n, nbc_size(item->type));
	if (item->kind == NBC_ALLTOALLV)
		return nbc_ialltoallv(nbc, in, out, vec, req);
	return nbc_igatherv(nbc, in, v[NBC_OUT_LENS][place.rank], out,
			    vec[NBC_OUT_LENS], vec[NBC_OUT_AT],
			    plan_root(item, place.n), req);
}

int plan_begin(struct nbc *nbc, const struct plan_item *p, const void *in,
	       void *out, struct nbc_req **req)
{
	struct plan_place place = { nbc_rank(nbc), nbc_processes(nbc) };
	unsigned int root = plan_root(p, place.n);
	size_t len = p->count * nbc_size(p->type);

	switch (p->kind) {
	case NBC_BARRIER:
		return nbc_ibarrier(nbc, req);
	case NBC_BCAST:
		return nbc_ibcast(nbc, out, len, root, req);
	case NBC_SCATTER:
		return nbc_iscatter(nbc, in, len, out, root, req);
	case NBC_GATHER:
		return nbc_igather(nbc, in, len, out, root, req);
	case NBC_ALLGATHER:
		return nbc_iallgather(nbc, in, len, out, req);
	case NBC_ALLTOALL:
		return nbc_ialltoall(nbc, in, len, out, req);
	case NBC_ALLREDUCE:
		return nbc_iallreduce(nbc, in, out, p->count, p->type, p->op,
				      req);
	case NBC_REDUCE:
		return nbc_ireduce(nbc, in, out, p->count, p->type, p->op,
				   root, req);
	case NBC_SCAN:
		return nbc_iscan(nbc, in, out, p->count, p->type, p->op, req);
	default:
		return begin_parts(nbc, p, place, in, out, req);
	}
}
