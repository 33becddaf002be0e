// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Runs schedules; see nbc.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nbc.h"
#include "schedule.h"

#define TAG 0x4e000000u		/* of the first collective */

struct nbc {
	struct transport *tp;
	struct nbc_schedule *schedules;
	unsigned int n;			/* collectives that were begun */
};

struct nbc_req {
	struct nbc *nbc;
	const struct nbc_schedule *schedule;
	char *bufs[NBC_BUFS];
	uint32_t tag;
	unsigned int round, first;	/* and its first operation */
	int failed;
	struct tp_req *moves;		/* by operation */
};

static bool in_round(const struct nbc_req *r, unsigned int i)
{
	return i < r->schedule->n && r->schedule->ops[i].round == r->round;
}

static bool is_move(const struct nbc_op *op)
{
	return op->what == NBC_SEND || op->what == NBC_RECV;
}

static int begin_move(struct nbc_req *r, unsigned int i)
{
	const struct nbc_op *op = &r->schedule->ops[i];
	void *at = r->bufs[op->buf] + op->at;

	if (op->what == NBC_SEND)
		return tp_isend(r->nbc->tp, op->peer, r->tag, at, op->len,
				&r->moves[i]);
	return tp_irecv(r->nbc->tp, op->peer, r->tag, at, op->len,
			&r->moves[i]);
}

/* A round may have no operation here. */
static int begin_round(struct nbc_req *r)
{
	unsigned int i;
	int ret = 0;

	for (i = r->first; in_round(r, i) && !ret; i++)
		if (is_move(&r->schedule->ops[i]))
			ret = begin_move(r, i);
	return ret;
}

static int test_round(struct nbc_req *r)
{
	unsigned int i;
	int ret = 1;

	for (i = r->first; in_round(r, i) && ret > 0; i++)
		if (is_move(&r->schedule->ops[i]))
			ret = tp_test(r->nbc->tp, &r->moves[i]);
	return ret;
}

static void sum(uint64_t *to, const uint64_t *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] += from[i];
}

/* What comes after the messages of a round; then the next one is current. */
static void end_round(struct nbc_req *r)
{
	const struct nbc_op *op;

	for (; in_round(r, r->first); r->first++) {
		op = &r->schedule->ops[r->first];
		if (op->what == NBC_COPY)
			memcpy(r->bufs[op->buf] + op->at,
			       r->bufs[op->from] + op->from_at, op->len);
		else if (op->what == NBC_SUM)
			sum((uint64_t *)(r->bufs[op->buf] + op->at),
			    (const uint64_t *)(r->bufs[op->from] +
					       op->from_at),
			    op->len / sizeof(uint64_t));
	}
	r->round++;
}

/* Return: 1 if all rounds are over, 0 or -errno. */
static int go_on(struct nbc_req *r)
{
	int ret = r->failed;

	while (!ret && r->round < r->schedule->rounds) {
		ret = test_round(r);
		if (ret <= 0)
			return ret;
		end_round(r);
		ret = begin_round(r);
	}
	return ret ? ret : 1;
}

static void req_free(struct nbc_req *r)
{
	free(r->bufs[NBC_TMP]);
	free(r->moves);
	free(r);
}

int nbc_test(struct nbc_req *r)
{
	int ret = go_on(r);

	/* A failed transport may still move bytes of the request. */
	if (ret > 0)
		req_free(r);
	return ret;
}

struct wait {
	struct nbc_req *req;
	int ret;
};

static bool is_over(void *arg)
{
	struct wait *w = arg;

	w->ret = go_on(w->req);
	return w->ret;
}

int nbc_wait(struct nbc_req *r)
{
	struct wait w = { .req = r };
	int ret = tp_wait_until(r->nbc->tp, is_over, &w);

	if (!ret && w.ret > 0)
		req_free(r);
	return ret ? ret : w.ret < 0 ? w.ret : 0;
}

static const struct nbc_schedule *find(struct nbc *nbc, enum nbc_kind kind,
				       size_t len, unsigned int root)
{
	struct nbc_schedule *s;

	for (s = nbc->schedules; s; s = s->next)
		if (s->kind == kind && s->len == len && s->root == root)
			return s;
	s = nbc_build(kind, len, root, tp_rank(nbc->tp),
		      tp_processes(nbc->tp));
	if (!s)
		return NULL;
	s->next = nbc->schedules;
	nbc->schedules = s;
	return s;
}

static int begin(struct nbc *nbc, enum nbc_kind kind, const void *in,
		 void *out, size_t len, unsigned int root,
		 struct nbc_req **req)
{
	const struct nbc_schedule *s = find(nbc, kind, len, root);
	struct nbc_req *r = s ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return -ENOMEM;
	r->nbc = nbc;
	r->schedule = s;
	r->tag = TAG + nbc->n++;
	r->bufs[NBC_IN] = (char *)in;
	r->bufs[NBC_OUT] = out;
	r->bufs[NBC_TMP] = malloc(s->tmp + 1);
	r->moves = calloc(s->n + 1, sizeof(*r->moves));
	if (!r->bufs[NBC_TMP] || !r->moves) {
		req_free(r);
		return -ENOMEM;
	}
	r->failed = begin_round(r);
	*req = r;
	return 0;
}

int nbc_ibarrier(struct nbc *nbc, struct nbc_req **req)
{
	return begin(nbc, NBC_BARRIER, NULL, NULL, 0, 0, req);
}

int nbc_ibcast(struct nbc *nbc, void *buf, size_t len, unsigned int root,
	       struct nbc_req **req)
{
	if (root >= tp_processes(nbc->tp))
		return -EINVAL;
	return begin(nbc, NBC_BCAST, NULL, buf, len, root, req);
}

int nbc_iallgather(struct nbc *nbc, const void *in, size_t len, void *out,
		   struct nbc_req **req)
{
	return begin(nbc, NBC_ALLGATHER, in, out, len, 0, req);
}

int nbc_ialltoall(struct nbc *nbc, const void *in, size_t len, void *out,
		  struct nbc_req **req)
{
	return begin(nbc, NBC_ALLTOALL, in, out, len, 0, req);
}

int nbc_iallreduce(struct nbc *nbc, const uint64_t *in, size_t n,
		   uint64_t *out, struct nbc_req **req)
{
	return begin(nbc, NBC_ALLREDUCE, in, out, n * sizeof(*in), 0, req);
}

unsigned int nbc_schedules(const struct nbc *nbc)
{
	const struct nbc_schedule *s;
	unsigned int n = 0;

	for (s = nbc->schedules; s; s = s->next)
		n++;
	return n;
}

int nbc_open(struct nbc **out, struct transport *tp)
{
	struct nbc *nbc = calloc(1, sizeof(*nbc));

	if (!nbc)
		return -ENOMEM;
	nbc->tp = tp;
	*out = nbc;
	return 0;
}

void nbc_close(struct nbc *nbc)
{
	struct nbc_schedule *s;

	while (nbc && (s = nbc->schedules)) {
		nbc->schedules = s->next;
		nbc_schedule_free(s);
	}
	free(nbc);
}
