/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Non-blocking collectives, after Hoefler and Lumsdaine (2008): each is a schedule
 * of rounds of messages. A schedule is built once for a kind, length and root, and
 * kept. Long messages are driven by their receivers, as the transport does it.
 *
 * All processes begin the same collectives in the same order. Several may be under
 * way. The next round begins in nbc_test() and nbc_wait(). Buffers stay as they are
 * until then. Functions return 0 or -errno.
 */
#ifndef SELFTESTS_NBC_H
#define SELFTESTS_NBC_H

#include "transport/transport.h"

struct nbc;
struct nbc_req;

/* Many collectives over a transport, one thread in each process. */
int nbc_open(struct nbc **nbc, struct transport *tp);

/* All requests are done. NULL is allowed. */
void nbc_close(struct nbc *nbc);

/* Schedules that were built so far. */
unsigned int nbc_schedules(const struct nbc *nbc);

/* Dissemination. */
int nbc_ibarrier(struct nbc *nbc, struct nbc_req **req);

/* @len bytes of process @root to all: a binomial tree. */
int nbc_ibcast(struct nbc *nbc, void *buf, size_t len, unsigned int root,
	       struct nbc_req **req);

/* @len bytes of each process to all, by rank: a ring. */
int nbc_iallgather(struct nbc *nbc, const void *in, size_t len, void *out,
		   struct nbc_req **req);

/* @len bytes of each process to each, by rank: one round. */
int nbc_ialltoall(struct nbc *nbc, const void *in, size_t len, void *out,
		  struct nbc_req **req);

/* Sums of @n numbers over all processes: a binomial tree up, and one down. */
int nbc_iallreduce(struct nbc *nbc, const uint64_t *in, size_t n,
		   uint64_t *out, struct nbc_req **req);

/* Go on. Return: 1 and @req is gone, 0, or -errno, for good. */
int nbc_test(struct nbc_req *req);

/* Wait until it is done; then @req is gone. */
int nbc_wait(struct nbc_req *req);

#endif
