// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The calls of collectives, see nbc.h. */
#include <errno.h>
#include <string.h>

#include "group.h"

int nbc_ibarrier(struct nbc *nbc, struct nbc_req **req)
{
	struct nbc_key key = { .kind = NBC_BARRIER };

	return nbc_begin(nbc, &key, NULL, NULL, req);
}

static int rooted(struct nbc *nbc, enum nbc_kind kind, const void *in,
		  size_t len, void *out, unsigned int root,
		  struct nbc_req **req)
{
	struct nbc_key key = { .kind = kind, .len = len, .root = root };

	return root < nbc->n ? nbc_begin(nbc, &key, in, out, req) : -EINVAL;
}

int nbc_ibcast(struct nbc *nbc, void *buf, size_t len, unsigned int root,
	       struct nbc_req **req)
{
	return rooted(nbc, NBC_BCAST, NULL, len, buf, root, req);
}

int nbc_iscatter(struct nbc *nbc, const void *in, size_t len, void *out,
		 unsigned int root, struct nbc_req **req)
{
	return rooted(nbc, NBC_SCATTER, in, len, out, root, req);
}

int nbc_igather(struct nbc *nbc, const void *in, size_t len, void *out,
		unsigned int root, struct nbc_req **req)
{
	return rooted(nbc, NBC_GATHER, in, len, out, root, req);
}

int nbc_igatherv(struct nbc *nbc, const void *in, size_t len, void *out,
		 const size_t *lens, const size_t *at, unsigned int root,
		 struct nbc_req **req)
{
	struct nbc_key key = { .kind = NBC_GATHERV, .len = len, .root = root };
	size_t vec[2 * TP_PROCESSES];

	if (root >= nbc->n)
		return -EINVAL;
	if (root == nbc->rank) {
		if (lens[root] != len)
			return -EINVAL;
		memcpy(vec, lens, nbc->n * sizeof(*vec));
		memcpy(vec + nbc->n, at, nbc->n * sizeof(*vec));
		key.vec = vec;
		key.n_vec = 2 * nbc->n;
	}
	return nbc_begin(nbc, &key, in, out, req);
}

int nbc_iallgather(struct nbc *nbc, const void *in, size_t len, void *out,
		   struct nbc_req **req)
{
	return rooted(nbc, NBC_ALLGATHER, in, len, out, 0, req);
}

int nbc_ialltoall(struct nbc *nbc, const void *in, size_t len, void *out,
		  struct nbc_req **req)
{
	return rooted(nbc, NBC_ALLTOALL, in, len, out, 0, req);
}

int nbc_ialltoallv(struct nbc *nbc, const void *in, void *out,
		   const size_t *const *vecs, struct nbc_req **req)
{
	struct nbc_key key = { .kind = NBC_ALLTOALLV };
	size_t vec[NBC_VECS * TP_PROCESSES];
	unsigned int i;

	for (i = 0; i < NBC_VECS; i++)
		memcpy(vec + i * nbc->n, vecs[i], nbc->n * sizeof(*vec));
	key.vec = vec;
	key.n_vec = NBC_VECS * nbc->n;
	if (vecs[NBC_IN_LENS][nbc->rank] != vecs[NBC_OUT_LENS][nbc->rank])
		return -EINVAL;
	return nbc_begin(nbc, &key, in, out, req);
}

static int summed(struct nbc *nbc, struct nbc_key key, const void *in,
		  void *out, size_t n, struct nbc_req **req)
{
	if (key.type >= NBC_TYPES || key.op >= NBC_OPS ||
	    !nbc_has_op(key.type, key.op) || key.root >= nbc->n ||
	    (n && in == out))
		return -EINVAL;
	key.len = n * nbc_size(key.type);
	return nbc_begin(nbc, &key, in, out, req);
}

int nbc_iallreduce(struct nbc *nbc, const void *in, void *out, size_t n,
		   enum nbc_type type, enum nbc_op op, struct nbc_req **req)
{
	return summed(nbc, (struct nbc_key){ .kind = NBC_ALLREDUCE,
					     .type = type, .op = op },
		      in, out, n, req);
}

int nbc_ireduce(struct nbc *nbc, const void *in, void *out, size_t n,
		enum nbc_type type, enum nbc_op op, unsigned int root,
		struct nbc_req **req)
{
	return summed(nbc, (struct nbc_key){ .kind = NBC_REDUCE, .type = type,
					     .op = op, .root = root },
		      in, out, n, req);
}

int nbc_iscan(struct nbc *nbc, const void *in, void *out, size_t n,
	      enum nbc_type type, enum nbc_op op, struct nbc_req **req)
{
	return summed(nbc, (struct nbc_key){ .kind = NBC_SCAN, .type = type,
					     .op = op },
		      in, out, n, req);
}
