/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Schedules of collectives: what to send, receive and compute, in rounds. */
#ifndef SELFTESTS_NBC_SCHEDULE_H
#define SELFTESTS_NBC_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#include "nbc.h"

enum nbc_kind {
	NBC_BARRIER, NBC_BCAST, NBC_SCATTER, NBC_GATHER, NBC_GATHERV,
	NBC_ALLGATHER, NBC_ALLTOALL, NBC_ALLTOALLV, NBC_ALLREDUCE, NBC_REDUCE,
	NBC_SCAN
};

/**
 * struct nbc_key - which collective
 * @len: bytes of the part of a process, or of all that is summed up
 * @vec: lengths and places of parts, @n_vec numbers, or NULL
 */
struct nbc_key {
	enum nbc_kind kind;
	enum nbc_type type;
	enum nbc_op op;
	unsigned int root;
	size_t len;
	const size_t *vec;
	unsigned int n_vec;
};

/* Whose memory: the caller's, or one of the request. */
enum nbc_buf { NBC_IN, NBC_OUT, NBC_TMP, NBC_BUFS };

/*
 * Sends and receives of a round begin together. Copies and folds of a round come
 * after them.
 */
enum nbc_what { NBC_SEND, NBC_RECV, NBC_COPY, NBC_FOLD };

/* @peer: rank in the group. @at, @len: bytes. @from, @from_at: of the last two */
struct nbc_step {
	enum nbc_what what;
	unsigned int round, peer;
	enum nbc_buf buf, from;
	size_t at, from_at, len;
};

struct nbc_schedule {
	struct nbc_schedule *next;
	struct nbc_key key;
	unsigned int rank, processes;	/* in the group */
	size_t few, segment;		/* see nbc_tune() */

	unsigned int n, rounds, size;
	size_t tmp;			/* bytes of NBC_TMP */
	bool failed;			/* no memory for a step */
	struct nbc_step *steps;
	struct nbc_req *idle;		/* one that can be used again */
	unsigned int users;		/* requests under way, or not waited for */
};

/* Build the schedule of @s->key for @s->rank. */
void nbc_build(struct nbc_schedule *s);

/* What schedules are built with. */
void nbc_send(struct nbc_schedule *s, unsigned int peer, enum nbc_buf buf,
	      size_t at, size_t len);
void nbc_recv(struct nbc_schedule *s, unsigned int peer, enum nbc_buf buf,
	      size_t at, size_t len);
void nbc_copy(struct nbc_schedule *s, enum nbc_buf buf, size_t at,
	      enum nbc_buf from, size_t from_at, size_t len);
void nbc_fold(struct nbc_schedule *s, enum nbc_buf buf, size_t at,
	      enum nbc_buf from, size_t from_at, size_t len);
void nbc_round(struct nbc_schedule *s);

/* Ranks that are counted from the root on, and back. */
static inline unsigned int nbc_virtual(const struct nbc_schedule *s)
{
	return (s->rank + s->processes - s->key.root) % s->processes;
}

static inline unsigned int nbc_real(const struct nbc_schedule *s,
				    unsigned int v)
{
	return (v + s->key.root) % s->processes;
}

/* build_tree.c: binomial trees, with ranks counted from the root on */
void nbc_tree_bcast(struct nbc_schedule *s);
void nbc_tree_scatter(struct nbc_schedule *s);
void nbc_tree_gather(struct nbc_schedule *s);
void nbc_tree_reduce(struct nbc_schedule *s);

/* build_steps.c: rounds whose distance doubles */
void nbc_dissemination_barrier(struct nbc_schedule *s);
void nbc_dissemination_scan(struct nbc_schedule *s);
void nbc_bruck_allgather(struct nbc_schedule *s);
void nbc_bruck_alltoall(struct nbc_schedule *s);
void nbc_doubling_allreduce(struct nbc_schedule *s);

/* build_ring.c: from neighbour to neighbour */
void nbc_ring_allgather(struct nbc_schedule *s);
void nbc_ring_allreduce(struct nbc_schedule *s);
void nbc_pipe_bcast(struct nbc_schedule *s);
void nbc_pipe_reduce(struct nbc_schedule *s);

/* build_direct.c: all in one round */
void nbc_direct_scatter(struct nbc_schedule *s);
void nbc_direct_gather(struct nbc_schedule *s);
void nbc_direct_gatherv(struct nbc_schedule *s);
void nbc_direct_alltoall(struct nbc_schedule *s);
void nbc_direct_alltoallv(struct nbc_schedule *s);

/* fold.c: @to = @from and @to, element by element */
void nbc_compute(enum nbc_type type, enum nbc_op op, void *to,
		 const void *from, size_t len);

#endif
