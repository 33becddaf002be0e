/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A group of processes, and its schedules. */
#ifndef SELFTESTS_NBC_GROUP_H
#define SELFTESTS_NBC_GROUP_H

#include "schedule.h"

#define NBC_GROUPS 0x7fffu	/* in a job, one after the other */

/* What all groups of a process share, under the lock of the transport. */
struct nbc_job {
	struct transport *tp;
	struct nbc *world;
	unsigned int next_id;		/* no group here has it or a higher one */
	struct nbc_req *under_way;
};

/* @members: ranks in the transport, by rank in the group */
struct nbc {
	struct nbc_job *job;
	unsigned int id, rank, n, *members;
	struct nbc_schedule *schedules;	/* the one that was used last first */
	unsigned int n_schedules, keep, built;
	size_t few, segment;
	unsigned int begun;		/* collectives */
};

/* group.c. NULL without memory. */
struct nbc *nbc_new(struct nbc_job *job, unsigned int n);
void nbc_free(struct nbc *nbc);
struct nbc_schedule *nbc_find(struct nbc *nbc, const struct nbc_key *key);
void nbc_trim(struct nbc *nbc);

/* nbc.c */
int nbc_begin(struct nbc *nbc, const struct nbc_key *key, const void *in,
	      void *out, struct nbc_req **req);
void nbc_req_free(struct nbc_req *r);

#endif
