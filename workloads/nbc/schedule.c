// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Steps of schedules, and which schedule a collective gets. */
#include <stdlib.h>

#include "schedule.h"

static void add(struct nbc_schedule *s, struct nbc_step step)
{
	unsigned int size = s->size ? 2 * s->size : 16;
	struct nbc_step *steps;

	if (s->n == s->size) {
		steps = realloc(s->steps, size * sizeof(*steps));
		if (!steps) {
			s->failed = true;
			return;
		}
		s->steps = steps;
		s->size = size;
	}
	step.round = s->rounds;
	s->steps[s->n++] = step;
}

/* A message of a barrier has no bytes; of others, one without bytes is none. */
static void move(struct nbc_schedule *s, enum nbc_what what, unsigned int peer,
		 enum nbc_buf buf, size_t at, size_t len)
{
	if (len || s->key.kind == NBC_BARRIER)
		add(s, (struct nbc_step){ .what = what, .peer = peer,
					  .buf = buf, .at = at, .len = len });
}

void nbc_send(struct nbc_schedule *s, unsigned int peer, enum nbc_buf buf,
	      size_t at, size_t len)
{
	move(s, NBC_SEND, peer, buf, at, len);
}

void nbc_recv(struct nbc_schedule *s, unsigned int peer, enum nbc_buf buf,
	      size_t at, size_t len)
{
	move(s, NBC_RECV, peer, buf, at, len);
}

static void compute(struct nbc_schedule *s, enum nbc_what what,
		    enum nbc_buf buf, size_t at, enum nbc_buf from,
		    size_t from_at, size_t len)
{
	if (len)
		add(s, (struct nbc_step){ .what = what, .buf = buf, .at = at,
					  .from = from, .from_at = from_at,
					  .len = len });
}

void nbc_copy(struct nbc_schedule *s, enum nbc_buf buf, size_t at,
	      enum nbc_buf from, size_t from_at, size_t len)
{
	compute(s, NBC_COPY, buf, at, from, from_at, len);
}

void nbc_fold(struct nbc_schedule *s, enum nbc_buf buf, size_t at,
	      enum nbc_buf from, size_t from_at, size_t len)
{
	compute(s, NBC_FOLD, buf, at, from, from_at, len);
}

/* What is added from now on belongs to the next round. */
void nbc_round(struct nbc_schedule *s)
{
	s->rounds++;
}

typedef void (*build_fn)(struct nbc_schedule *s);

/*
 * Few rounds for short messages, few bytes for long ones. @few: length of a part up
 * to which it is the first, unless nbc_tune() says otherwise
 */
static const struct {
	build_fn few_rounds, few_bytes;
	size_t few;
} builders[] = {
	[NBC_BARRIER] = { nbc_dissemination_barrier,
			  nbc_dissemination_barrier },
	[NBC_BCAST] = { nbc_tree_bcast, nbc_pipe_bcast, 65536 },
	[NBC_SCATTER] = { nbc_tree_scatter, nbc_direct_scatter, 2048 },
	[NBC_GATHER] = { nbc_tree_gather, nbc_direct_gather, 2048 },
	[NBC_GATHERV] = { nbc_direct_gatherv, nbc_direct_gatherv },
	[NBC_ALLGATHER] = { nbc_bruck_allgather, nbc_ring_allgather, 2048 },
	[NBC_ALLTOALL] = { nbc_bruck_alltoall, nbc_direct_alltoall, 256 },
	[NBC_ALLTOALLV] = { nbc_direct_alltoallv, nbc_direct_alltoallv },
	[NBC_ALLREDUCE] = { nbc_doubling_allreduce, nbc_ring_allreduce,
			    131072 },
	[NBC_REDUCE] = { nbc_tree_reduce, nbc_pipe_reduce, 65536 },
	[NBC_SCAN] = { nbc_dissemination_scan, nbc_dissemination_scan },
};

/* An alltoall of up to so many processes has one round, where nothing is tuned. */
#define ONE_ROUND 4u

/*
 * Between two processes a tree is one message, and Bruck's schedules only copy
 * more. Between four an alltoall of Bruck's has two rounds, of which each wakes a
 * helper thread, and saves one message.
 */
void nbc_build(struct nbc_schedule *s)
{
	size_t most = s->few == NBC_DEFAULT ? builders[s->key.kind].few :
					      s->few;
	bool pair = s->processes == 2, few = s->key.len <= most;

	switch (s->key.kind) {
	case NBC_BCAST:
		few |= pair;
		break;
	case NBC_SCATTER:
	case NBC_GATHER:
	case NBC_ALLGATHER:
		few &= !pair;
		break;
	case NBC_ALLTOALL:
		few &= s->few == NBC_DEFAULT ? s->processes > ONE_ROUND : !pair;
		break;
	default:
		break;
	}
	(few ? builders[s->key.kind].few_rounds :
	       builders[s->key.kind].few_bytes)(s);
}
