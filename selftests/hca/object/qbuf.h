/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The guest memory of a queue: pages that the command named, and the doorbell
 * record.
 *
 * Invariants
 * - Offsets are checked against the size fixed at creation, whatever the guest
 *   wrote since.
 * - A piece that qbuf_ptr() returns never crosses a page.
 * - The guard knows pages and doorbell record from qbuf_init() and qbuf_dbr()
 *   until qbuf_fini().
 */
#ifndef SIMHCA_QBUF_H
#define SIMHCA_QBUF_H

#include "object/objects.h"

#define DB_RECORD 8u	/* bytes: receive (or CQ consumer), send (or CQ arm) */

struct qbuf {
	uint64_t *pas;
	size_t npages;
	uint8_t log_page;
	uint64_t offset;	/* of the queue in its first page */
	uint64_t size;
	struct obj *umem;	/* held, where the memory is a UMEM's */
	struct obj *dbr_umem;	/* held, where the doorbell record is */
	struct hca *hca;	/* whose guard knows the pages; NULL: none */
	struct hca *dbr_hca;	/* whose guard knows the record; NULL: none */
	uint64_t dbr;
};

int qbuf_attach(struct hca *hca, struct qbuf *q);
int qbuf_dbr(struct hca *hca, struct qbuf *q, uint64_t dbr);
int qbuf_init(struct hca *hca, struct qbuf *q, uint8_t log_page,
	      uint32_t page_offset, uint64_t size, const uint8_t *pas,
	      size_t pas_len);
void qbuf_fini(struct qbuf *q);
void *qbuf_ptr(struct hca *hca, const struct qbuf *q, uint64_t off, size_t len,
	       bool write);
int qbuf_read(struct hca *hca, const struct qbuf *q, uint64_t off, void *to,
	      size_t len);

int db_read(struct hca *hca, uint64_t addr, uint32_t *value);

#endif
