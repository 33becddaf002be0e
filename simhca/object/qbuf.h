/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The guest memory of a queue: its buffer, which is a list of pages, and its
 * doorbell record.
 *
 * Invariants
 * - Offsets are checked against the size of the queue at creation. Nothing that
 *   the guest writes later changes this size.
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
	uint64_t offset;	/* where the queue starts in its first page */
	uint64_t size;
	struct obj *umem;	/* UMEM of the buffer, held; NULL: none */
	struct obj *dbr_umem;	/* UMEM of the record, held; NULL: none */
	struct hca *hca;	/* its guard has the pages; NULL: not yet */
	struct hca *dbr_hca;	/* its guard has the record; NULL: not yet */
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
