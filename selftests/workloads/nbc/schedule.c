// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Builds the schedules of collectives; see nbc.h for which is which. */
#include <stdlib.h>

#include "schedule.h"

static void add(struct nbc_schedule *s, struct nbc_op op)
{
	unsigned int size = s->size ? 2 * s->size : 16;
	struct nbc_op *ops;

	if (s->n == s->size) {
		ops = realloc(s->ops, size * sizeof(*ops));
		if (!ops) {
			s->failed = true;
			return;
		}
		s->ops = ops;
		s->size = size;
	}
	op.round = s->rounds;
	s->ops[s->n++] = op;
}

static void move(struct nbc_schedule *s, enum nbc_what what, unsigned int peer,
		 enum nbc_buf buf, size_t at, size_t len)
{
	add(s, (struct nbc_op){ .what = what, .peer = peer, .buf = buf,
				.at = at, .len = len });
}

static void compute(struct nbc_schedule *s, enum nbc_what what,
		    enum nbc_buf buf, size_t at, enum nbc_buf from,
		    size_t from_at, size_t len)
{
	add(s, (struct nbc_op){ .what = what, .buf = buf, .at = at,
				.from = from, .from_at = from_at,
				.len = len });
}

static void next_round(struct nbc_schedule *s)
{
	s->rounds++;
}

static void barrier(struct nbc_schedule *s, unsigned int rank, unsigned int n)
{
	unsigned int step;

	for (step = 1; step < n; step *= 2) {
		move(s, NBC_SEND, (rank + step) % n, NBC_TMP, 0, 0);
		move(s, NBC_RECV, (rank + n - step) % n, NBC_TMP, 0, 0);
		next_round(s);
	}
}

/*
 * With ranks counted from the root on, process v gets the bytes of v without its
 * lowest bit, and passes them on to v + 1, v + 2, v + 4 ... below that bit.
 */
static void bcast(struct nbc_schedule *s, unsigned int rank, unsigned int n,
		  enum nbc_buf buf)
{
	unsigned int v = (rank + n - s->root) % n, bit;

	for (bit = 1; bit < n && !(v & bit); bit *= 2)
		;
	if (v) {
		move(s, NBC_RECV, (v - bit + s->root) % n, buf, 0, s->len);
		next_round(s);
	}
	for (bit /= 2; bit; bit /= 2)
		if (v + bit < n)
			move(s, NBC_SEND, (v + bit + s->root) % n, buf, 0,
			     s->len);
	next_round(s);
}

/* The same tree, upwards. Bytes of others come to NBC_TMP. */
static void reduce(struct nbc_schedule *s, unsigned int rank, unsigned int n)
{
	unsigned int bit;

	compute(s, NBC_COPY, NBC_OUT, 0, NBC_IN, 0, s->len);
	next_round(s);
	for (bit = 1; bit < n && !(rank & bit); bit *= 2) {
		if (rank + bit >= n)
			continue;
		move(s, NBC_RECV, rank + bit, NBC_TMP, 0, s->len);
		compute(s, NBC_SUM, NBC_OUT, 0, NBC_TMP, 0, s->len);
		next_round(s);
	}
	if (rank) {
		move(s, NBC_SEND, rank - bit, NBC_OUT, 0, s->len);
		next_round(s);
	}
	s->tmp = s->len;
}

static void allgather(struct nbc_schedule *s, unsigned int rank,
		      unsigned int n)
{
	unsigned int i;

	compute(s, NBC_COPY, NBC_OUT, rank * s->len, NBC_IN, 0, s->len);
	next_round(s);
	for (i = 0; i < n - 1; i++) {
		move(s, NBC_SEND, (rank + 1) % n, NBC_OUT,
		     (rank + n - i) % n * s->len, s->len);
		move(s, NBC_RECV, (rank + n - 1) % n, NBC_OUT,
		     (rank + n - 1 - i) % n * s->len, s->len);
		next_round(s);
	}
}

static void alltoall(struct nbc_schedule *s, unsigned int rank,
		     unsigned int n)
{
	unsigned int i, peer;

	for (i = 1; i < n; i++) {
		peer = (rank + n - i) % n;
		move(s, NBC_RECV, peer, NBC_OUT, peer * s->len, s->len);
		peer = (rank + i) % n;
		move(s, NBC_SEND, peer, NBC_IN, peer * s->len, s->len);
	}
	compute(s, NBC_COPY, NBC_OUT, rank * s->len, NBC_IN, rank * s->len,
		s->len);
	next_round(s);
}

struct nbc_schedule *nbc_build(enum nbc_kind kind, size_t len,
			       unsigned int root, unsigned int rank,
			       unsigned int processes)
{
	struct nbc_schedule *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->kind = kind;
	s->len = len;
	s->root = root;
	switch (kind) {
	case NBC_BARRIER:
		barrier(s, rank, processes);
		break;
	case NBC_BCAST:
		bcast(s, rank, processes, NBC_OUT);
		break;
	case NBC_ALLGATHER:
		allgather(s, rank, processes);
		break;
	case NBC_ALLTOALL:
		alltoall(s, rank, processes);
		break;
	case NBC_ALLREDUCE:
		reduce(s, rank, processes);
		bcast(s, rank, processes, NBC_OUT);
		break;
	}
	if (s->failed) {
		nbc_schedule_free(s);
		return NULL;
	}
	return s;
}

void nbc_schedule_free(struct nbc_schedule *s)
{
	free(s->ops);
	free(s);
}
