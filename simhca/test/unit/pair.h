/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two connected QPs, one on each adapter, with memory registered on both.
 */
#ifndef SIMHCA_UNIT_PAIR_H
#define SIMHCA_UNIT_PAIR_H

#include "test/unit/world.h"

#define PAIR_MEM (64u << 10)

struct pair {
	struct w_qp qp[W_HCAS];
	struct w_cq scq[W_HCAS];
	struct w_cq rcq[W_HCAS];
	uint64_t mem[W_HCAS];
	uint32_t key[W_HCAS];
	uint32_t pd[W_HCAS];
};

/* Create all of it. False, and the test has failed, if a command failed. */
bool pair_make(struct pair *p, const struct w_qp_attr *attr);
bool pair_connect(struct pair *p, const struct w_qp_attr *attr);
void pair_fill(struct pair *p, unsigned int hca, uint32_t len, uint8_t seed);
bool pair_same(struct pair *p, uint32_t len);

/* Wait for the next CQE of the first adapter; return its syndrome. */
uint8_t pair_syndrome(struct pair *p, unsigned int ms);

/* Take all CQEs of the first adapter's requests that are there; their number. */
unsigned int pair_done(struct pair *p);

/* Ring for three requests, of which the first is done at once, and the others later. */
void pair_ring_in_turns(struct pair *p);

/*
 * One RDMA operation between @len bytes of a key of the first adapter, from @va on, and
 * the start of the second side's memory; its syndrome.
 */
uint8_t pair_move(struct pair *p, uint8_t op, uint64_t va, uint32_t len,
		  uint32_t key);
void pair_send(struct pair *p, uint8_t op, uint8_t flags, uint32_t len);

#endif
