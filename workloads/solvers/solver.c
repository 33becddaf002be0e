// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Collectives of the programs, whose time is counted. */
#include <time.h>

#include "solvers.h"
#include "timeline/mark.h"

uint64_t solver_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

int solver_wait(struct solver *s, struct nbc_req *req)
{
	uint64_t since = solver_now();
	int ret;

	mark_begin("wait");
	ret = nbc_wait(req);
	mark_end();
	s->lost += solver_now() - since;
	return ret;
}

/* Let all go on; those that are done become NULL. */
int solver_test(struct solver *s, struct nbc_req **reqs, unsigned int n)
{
	uint64_t since = solver_now();
	unsigned int i;
	int ret = 0;

	mark_begin("test");
	for (i = 0; i < n && ret >= 0; i++) {
		if (!reqs[i])
			continue;
		ret = nbc_test(reqs[i]);
		if (ret > 0)
			reqs[i] = NULL;
	}
	mark_end();
	s->lost += solver_now() - since;
	return ret < 0 ? ret : 0;
}

/* A program that does not compute meanwhile waits at once, and has no request. */
static int begun(struct solver *s, int ret, uint64_t since,
		 struct nbc_req **req)
{
	s->lost += solver_now() - since;
	if (ret || s->computes)
		return ret;
	ret = solver_wait(s, *req);
	*req = NULL;
	return ret;
}

int solver_alltoallv(struct solver *s, const void *in, void *out,
		     const size_t *const *vec, struct nbc_req **req)
{
	uint64_t since = solver_now();

	return begun(s, nbc_ialltoallv(s->nbc, in, out, vec, req), since, req);
}

int solver_sum(struct solver *s, const double *in, double *out,
	       struct nbc_req **req)
{
	uint64_t since = solver_now();

	return begun(s, nbc_iallreduce(s->nbc, in, out, 1, NBC_DOUBLE, NBC_SUM,
				       req), since, req);
}
