/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * User memory (DevX UMEM): a list of pages. The command that creates a queue
 * can name a UMEM in place of a list of its own.
 *
 * Invariants
 * - A queue has a copy of its part of the list. Until it is destroyed it holds
 *   the UMEM of its buffer and the UMEM of its doorbell record.
 */
#ifndef SIMHCA_UMEM_H
#define SIMHCA_UMEM_H

#include "object/objects.h"
#include "object/qbuf.h"

struct cmd;

struct umem {
	struct obj obj;
	struct qbuf buf;
	unsigned int rights;	/* MTT_* rights that every page has */
};

int umem_queue(struct hca *hca, struct qbuf *q, uint32_t id, uint16_t uid,
	       uint64_t offset, uint64_t size, unsigned int rights);
int umem_dbr(struct hca *hca, struct qbuf *q, uint32_t id, uint16_t uid,
	     uint64_t *dbr);
int umem_wq(struct cmd *cmd, struct qbuf *q, const uint8_t *wq, uint64_t size,
	    uint64_t *dbr);
void umem_free(struct umem *umem);

#endif
