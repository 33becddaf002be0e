// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See qbuf.h for the model.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/dma.h"
#include "object/qbuf.h"

#define LOG_ADAPTER_PAGE 12
#define PAGE_OFFSET_UNITS 6	/* page_offset counts 64ths of a page */
#define LOG_PAGE_MAX 31u

/* The part of page @i that the queue is in. */
static uint64_t qbuf_part(const struct qbuf *q, size_t i, uint64_t *addr)
{
	uint64_t page = 1ull << q->log_page, from = i * page, to = from + page;

	if (from < q->offset)
		from = q->offset;
	if (to > q->offset + q->size)
		to = q->offset + q->size;
	*addr = q->pas[i] + (from & (page - 1));
	return from < to ? to - from : 0;
}

static void qbuf_detach(struct hca *hca, struct qbuf *q, size_t n)
{
	uint64_t addr, len;

	while (n--) {
		len = qbuf_part(q, n, &addr);
		if (len)
			dma_queue_remove(hca, addr, len);
	}
}

/**
 * qbuf_attach() - tell the guard that these pages are a queue's
 * @q: the queue memory, with its pages
 *
 * Return: 0 or -ENOMEM
 */
int qbuf_attach(struct hca *hca, struct qbuf *q)
{
	uint64_t addr, len;
	size_t i;

	for (i = 0; i < q->npages; i++) {
		len = qbuf_part(q, i, &addr);
		if (len && dma_queue_add(hca, addr, len)) {
			qbuf_detach(hca, q, i);
			return -ENOMEM;
		}
	}
	q->hca = hca;
	return 0;
}

/**
 * qbuf_dbr() - tell the guard where the doorbell record of a queue is
 * @q: the queue memory
 * @dbr: address of the record
 *
 * Return: 0 or -ENOMEM
 */
int qbuf_dbr(struct hca *hca, struct qbuf *q, uint64_t dbr)
{
	if (dma_queue_add(hca, dbr, DB_RECORD))
		return -ENOMEM;
	q->dbr_hca = hca;
	q->dbr = dbr;
	return 0;
}

/**
 * qbuf_init() - take the page list of a command
 * @hca: the adapter whose guard is told of the pages; NULL: none yet
 * @q: set on success; empty, or with the UMEM of its doorbell record
 * @log_page: log_page_size of the context: above 4 KiB, up to LOG_PAGE_MAX
 * @page_offset: of the context, in 64ths of a page
 * @size: bytes of the queue
 * @pas: the command's list of big-endian addresses
 * @pas_len: bytes of @pas that the command has
 *
 * Return: 0, -EINVAL where the list does not cover the queue, -ENOMEM
 */
int qbuf_init(struct hca *hca, struct qbuf *q, uint8_t log_page,
	      uint32_t page_offset, uint64_t size, const uint8_t *pas,
	      size_t pas_len)
{
	uint64_t page, be;
	size_t i, n;

	/* Contexts of shared queues have a bit more than others, and no adapter such pages. */
	if (log_page > LOG_PAGE_MAX)
		return -EINVAL;
	log_page += LOG_ADAPTER_PAGE;
	page = 1ull << log_page;
	q->log_page = log_page;
	q->size = size;
	q->offset = (page >> PAGE_OFFSET_UNITS) * page_offset;
	if (q->offset >= page || !size)
		return -EINVAL;
	n = (q->offset + size + page - 1) >> log_page;
	if (n > pas_len / sizeof(be))
		return -EINVAL;
	q->pas = malloc(n * sizeof(*q->pas));
	if (!q->pas)
		return -ENOMEM;
	q->npages = n;
	for (i = 0; i < n; i++) {
		memcpy(&be, pas + i * sizeof(be), sizeof(be));
		q->pas[i] = be64toh(be) & ~(uint64_t)(SIM_PAGE - 1);
	}
	return hca ? qbuf_attach(hca, q) : 0;
}

/**
 * qbuf_fini() - forget the pages, let go of user memory
 * @q: the queue memory
 */
void qbuf_fini(struct qbuf *q)
{
	if (q->hca)
		qbuf_detach(q->hca, q, q->npages);
	if (q->dbr_hca)
		dma_queue_remove(q->dbr_hca, q->dbr, DB_RECORD);
	free(q->pas);
	if (q->umem)
		obj_release(q->umem);
	if (q->dbr_umem)
		obj_release(q->dbr_umem);
	*q = (struct qbuf){ 0 };
}

/**
 * qbuf_ptr() - host address of a piece of a queue
 * @q: the queue memory
 * @off: bytes from the start of the queue
 * @len: bytes
 * @write: will it be written?
 *
 * Return: the address; NULL where the piece is not inside the queue, crosses a
 * page, or is not mapped
 */
void *qbuf_ptr(struct hca *hca, const struct qbuf *q, uint64_t off, size_t len,
	       bool write)
{
	uint64_t at = q->offset + off, in_page;

	if (off > q->size || len > q->size - off)
		return NULL;
	in_page = at & ((1ull << q->log_page) - 1);
	if (in_page + len > 1ull << q->log_page)
		return NULL;
	return dma_queue_ptr(hca, q->pas[at >> q->log_page] + in_page, len, write);
}

/**
 * qbuf_read() - copy out of a queue, across its pages
 * @q: the queue memory
 * @off: bytes from the start of the queue
 * @len: bytes
 *
 * Return: 0 or -EFAULT
 */
int qbuf_read(struct hca *hca, const struct qbuf *q, uint64_t off, void *to,
	      size_t len)
{
	uint64_t page = q->pas ? 1ull << q->log_page : 0;
	size_t piece;
	void *p;

	while (len) {
		piece = page - ((q->offset + off) & (page - 1));
		if (piece > len)
			piece = len;
		p = qbuf_ptr(hca, q, off, piece, false);
		if (!p)
			return -EFAULT;
		memcpy(to, p, piece);
		to = (char *)to + piece;
		off += piece;
		len -= piece;
	}
	return 0;
}

/**
 * db_read() - read one counter of a doorbell record
 * @addr: of the counter, 4-byte aligned
 * @value: set on success
 *
 * What the guest wrote before the counter is visible after.
 *
 * Return: 0 or -EFAULT
 */
int db_read(struct hca *hca, uint64_t addr, uint32_t *value)
{
	uint32_t *p = dma_queue_ptr(hca, addr, sizeof(*p), false);

	if (!p)
		return -EFAULT;
	*value = be32toh(__atomic_load_n(p, __ATOMIC_ACQUIRE));
	return 0;
}
