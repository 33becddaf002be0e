/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * User memory (DevX UMEM): page lists that queues can name instead of bringing
 * their own.
 *
 * Invariants
 * - A queue copies what it needs of the list, and holds the UMEM as long as it
 *   lives, as it does the UMEM of its doorbell record.
 */
#ifndef SIMHCA_UMEM_H
#define SIMHCA_UMEM_H

#include "object/objects.h"
#include "object/qbuf.h"

struct umem {
	struct obj obj;
	struct qbuf buf;
	unsigned int rights;	/* MTT_*, that all of its pages have */
};

int umem_queue(struct hca *hca, struct qbuf *q, uint32_t id, uint16_t uid,
	       uint64_t offset, uint64_t size, unsigned int rights);
int umem_dbr(struct hca *hca, struct qbuf *q, uint32_t id, uint16_t uid,
	     uint64_t *dbr);
void umem_free(struct umem *umem);

#endif
