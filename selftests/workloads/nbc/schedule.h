/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Schedules of collectives: what to send, receive and compute, in rounds. */
#ifndef SELFTESTS_NBC_SCHEDULE_H
#define SELFTESTS_NBC_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

enum nbc_kind {
	NBC_BARRIER, NBC_BCAST, NBC_ALLGATHER, NBC_ALLTOALL, NBC_ALLREDUCE
};

/* Whose memory: the caller's, or one of the request. */
enum nbc_buf { NBC_IN, NBC_OUT, NBC_TMP, NBC_BUFS };

/*
 * Sends and receives of a round begin together. Copies and sums of a round come
 * after them.
 */
enum nbc_what { NBC_SEND, NBC_RECV, NBC_COPY, NBC_SUM };

/* @at, @len: bytes. @from, @from_at: of NBC_COPY and NBC_SUM */
struct nbc_op {
	enum nbc_what what;
	unsigned int round, peer;
	enum nbc_buf buf, from;
	size_t at, from_at, len;
};

struct nbc_schedule {
	struct nbc_schedule *next;
	enum nbc_kind kind;
	size_t len;
	unsigned int root;

	unsigned int n, rounds, size;
	size_t tmp;			/* bytes of NBC_TMP */
	bool failed;			/* no memory for an operation */
	struct nbc_op *ops;
};

/* Build one for process @rank of @processes. NULL without memory. */
struct nbc_schedule *nbc_build(enum nbc_kind kind, size_t len,
			       unsigned int root, unsigned int rank,
			       unsigned int processes);
void nbc_schedule_free(struct nbc_schedule *s);

#endif
