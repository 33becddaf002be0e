/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Non-blocking collectives, after Hoefler and Lumsdaine (2008): each is a schedule
 * of rounds of messages. A schedule is built once for its arguments without the
 * buffers, and kept. Long messages are driven by their receivers, as the transport
 * does it.
 *
 * All processes of a group begin the same collectives in the same order. Several
 * may be under way, in one group and in several. Threads of a process therefore have
 * groups of their own, or agree on the order; any thread may test or wait for any
 * request, one thread at a time. nbc_open(), nbc_split() and nbc_close() are called by
 * one thread of a process at a time. Whoever looks for completions
 * begins the next rounds: the caller in any call of the transport or of this file,
 * or the helper thread. Buffers stay as they are until the end, and input and
 * output do not overlap. Lengths are in bytes, counts in elements.
 *
 * Functions return 0 or -errno.
 */
#ifndef SELFTESTS_NBC_H
#define SELFTESTS_NBC_H

#include "transport/transport.h"

struct nbc;
struct nbc_req;

/*
 * What is summed up, and how. Sums and products of whole numbers wrap around, those
 * with a sign too. Bits are those of whole numbers only. The smaller one of -0 and +0
 * is -0, and the smaller and the larger one of a NaN and anything is a NaN, always the
 * same one: minimum() and maximum() of IEEE 754-2019. So the result does not depend on
 * the order, and is the same in all processes.
 */
enum nbc_type {
	NBC_UINT8, NBC_INT32, NBC_INT64, NBC_UINT64, NBC_FLOAT, NBC_DOUBLE,
	NBC_TYPES
};

enum nbc_op {
	NBC_SUM, NBC_PROD, NBC_MIN, NBC_MAX, NBC_BAND, NBC_BOR, NBC_BXOR,
	NBC_OPS
};

#define NBC_DEFAULT SIZE_MAX

size_t nbc_size(enum nbc_type type);

/* Has the type such an operation? */
bool nbc_has_op(enum nbc_type type, enum nbc_op op);

/* Collectives of all processes of a transport. One in each process. */
int nbc_open(struct nbc **nbc, struct transport *tp);

/**
 * nbc_split() - make groups of the processes of a group
 * @color: processes of one color are a group; negative: this one is in none
 * @key: ranks in the group follow it; where it is the same, the old ranks
 * @out: NULL where it is in none
 *
 * All processes of the group call it, and wait in it.
 */
int nbc_split(struct nbc *nbc, int color, int key, struct nbc **out);

/* All requests are done; that of nbc_open() is closed last. NULL is allowed. */
void nbc_close(struct nbc *nbc);

unsigned int nbc_rank(const struct nbc *nbc);
unsigned int nbc_processes(const struct nbc *nbc);

/**
 * nbc_tune() - choose schedules at other lengths
 * @few: parts up to it get the schedule with few rounds, longer ones that with few
 *	bytes; NBC_DEFAULT: a length for each collective
 * @segment: of pipelines, a multiple of 8; NBC_DEFAULT: 64 KiB
 *
 * The same in all processes of the group, before its first collective.
 */
void nbc_tune(struct nbc *nbc, size_t few, size_t segment);

/*
 * How many schedules the group keeps (64), with a request of each and its memory. The
 * one that was not used for longest goes first; those in use stay. Before the first
 * collective.
 */
void nbc_keep(struct nbc *nbc, unsigned int most);

/* Schedules that are there, and that were built so far. Nothing is under way. */
unsigned int nbc_schedules(const struct nbc *nbc);
unsigned int nbc_built(const struct nbc *nbc);

/* Dissemination. */
int nbc_ibarrier(struct nbc *nbc, struct nbc_req **req);

/* @len bytes of process @root to all: a binomial tree, or a pipeline. */
int nbc_ibcast(struct nbc *nbc, void *buf, size_t len, unsigned int root,
	       struct nbc_req **req);

/*
 * A part of @len bytes from @root to each, by rank, or from each to @root: a
 * binomial tree, or all in one round. The buffer of all counts at the root only.
 */
int nbc_iscatter(struct nbc *nbc, const void *in, size_t len, void *out,
		 unsigned int root, struct nbc_req **req);
int nbc_igather(struct nbc *nbc, const void *in, size_t len, void *out,
		unsigned int root, struct nbc_req **req);

/* Parts of @lens[rank] bytes, which come to @at[rank]; both of the root only. */
int nbc_igatherv(struct nbc *nbc, const void *in, size_t len, void *out,
		 const size_t *lens, const size_t *at, unsigned int root,
		 struct nbc_req **req);

/* @len bytes of each process to all, by rank: Bruck, or a ring. */
int nbc_iallgather(struct nbc *nbc, const void *in, size_t len, void *out,
		   struct nbc_req **req);

/* @len bytes of each process to each, by rank: Bruck, or one round. */
int nbc_ialltoall(struct nbc *nbc, const void *in, size_t len, void *out,
		  struct nbc_req **req);

/* Parts of any length: one round. @vec: NBC_VECS arrays, an entry a process */
enum { NBC_IN_LENS, NBC_IN_AT, NBC_OUT_LENS, NBC_OUT_AT, NBC_VECS };
int nbc_ialltoallv(struct nbc *nbc, const void *in, void *out,
		   const size_t *const *vec, struct nbc_req **req);

/*
 * @n elements of all processes in one: recursive doubling, or a ring. Here and below
 * @in and @out are not the same memory: -EINVAL.
 */
int nbc_iallreduce(struct nbc *nbc, const void *in, void *out, size_t n,
		   enum nbc_type type, enum nbc_op op, struct nbc_req **req);

/* The result at @root only: a binomial tree, or a pipeline. */
int nbc_ireduce(struct nbc *nbc, const void *in, void *out, size_t n,
		enum nbc_type type, enum nbc_op op, unsigned int root,
		struct nbc_req **req);

/* Of the ranks up to the own one: dissemination. */
int nbc_iscan(struct nbc *nbc, const void *in, void *out, size_t n,
	      enum nbc_type type, enum nbc_op op, struct nbc_req **req);

/* Is it done? 1 and @req is gone, 0, or -errno, for good. */
int nbc_test(struct nbc_req *req);

/* Wait until it is done; then @req is gone. */
int nbc_wait(struct nbc_req *req);

#endif
