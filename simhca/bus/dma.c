// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Guest memory: the ranges that the VMM shares with this adapter.
 *
 * Invariants
 * - Ranges are sorted and never overlap. To map over a range fails, as in VFIO.
 * - A range lies wholly inside the file it maps, checked when it is mapped.
 * - A pointer from dma_queue_ptr() is valid until the handler returns to the
 *   loop: only messages of the VMM change the ranges.
 * - While the function is not a bus master, every access fails.
 * - A range without a file is ROM that the VMM does not share. It is recorded,
 *   so that it can be unmapped. Every access to it fails.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "bus/dma.h"
#include "bus/guard.h"

struct dma_range {
	uint64_t iova;
	uint64_t size;
	uint8_t *host;	/* NULL: no file */
	bool write;
};

struct dma {
	struct dma_range *ranges;
	size_t count;
	size_t room;
	size_t hit;	/* last range that was looked up */
	struct guard *guard;
	bool master;
};

/**
 * dma_create() - an address space without memory
 *
 * Return: the address space, NULL without memory
 */
struct dma *dma_create(void)
{
	struct dma *dma = calloc(1, sizeof(*dma));

	if (!dma)
		return NULL;
	dma->guard = guard_create();
	if (!dma->guard) {
		free(dma);
		return NULL;
	}
	return dma;
}

/**
 * dma_destroy() - unmap everything and free
 * @dma: may be NULL
 */
void dma_destroy(struct dma *dma)
{
	if (!dma)
		return;
	dma_unmap_all(dma);
	guard_destroy(dma->guard);
	free(dma->ranges);
	free(dma);
}

/* Index of the first range that ends after @iova. */
static size_t dma_find(const struct dma *dma, uint64_t iova)
{
	size_t lo = 0, hi = dma->count, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (dma->ranges[mid].iova + (dma->ranges[mid].size - 1) < iova)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int dma_file_covers(int fd, uint64_t offset, uint64_t size)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < offset ||
	    (uint64_t)st.st_size - offset < size)
		return -EINVAL;
	return 0;
}

/**
 * dma_map() - make guest memory reachable
 * @dma: the address space
 * @iova: guest address, page aligned
 * @size: bytes, a multiple of the page size
 * @fd: file behind it, -1 for none; stays the caller's
 * @offset: where in the file it starts
 * @write: the adapter may write
 *
 * Return: 0, -EINVAL for a bad range, -EEXIST over another one, -errno
 */
int dma_map(struct dma *dma, uint64_t iova, uint64_t size, int fd,
	    uint64_t offset, bool write)
{
	int prot = PROT_READ | (write ? PROT_WRITE : 0);
	struct dma_range *ranges;
	void *host = NULL;
	size_t i;
	int ret;

	if (!size || (iova | size | offset) % SIM_PAGE ||
	    iova + (size - 1) < iova)
		return -EINVAL;
	i = dma_find(dma, iova);
	if (i < dma->count && dma->ranges[i].iova <= iova + (size - 1))
		return -EEXIST;
	if (dma->count == dma->room) {
		ranges = realloc(dma->ranges,
				 (dma->room + 64) * sizeof(*ranges));
		if (!ranges)
			return -ENOMEM;
		dma->ranges = ranges;
		dma->room += 64;
	}
	if (fd >= 0) {
		ret = dma_file_covers(fd, offset, size);
		if (ret)
			return ret;
		host = mmap(NULL, size, prot, MAP_SHARED, fd, (off_t)offset);
		if (host == MAP_FAILED)
			return -errno;
	}
	memmove(&dma->ranges[i + 1], &dma->ranges[i],
		(dma->count - i) * sizeof(*dma->ranges));
	dma->ranges[i] = (struct dma_range){ iova, size, host, write };
	dma->count++;
	return 0;
}

static void dma_drop(struct dma *dma, size_t i)
{
	if (dma->ranges[i].host)
		munmap(dma->ranges[i].host, dma->ranges[i].size);
	dma->count--;
	memmove(&dma->ranges[i], &dma->ranges[i + 1],
		(dma->count - i) * sizeof(*dma->ranges));
}

/**
 * dma_unmap() - take guest memory away
 * @dma: the address space
 * @iova: guest address
 * @size: bytes; all ranges that lie wholly therein go
 *
 * Return: 0, -ENOENT when there is none, -EINVAL when one would have to be cut
 */
int dma_unmap(struct dma *dma, uint64_t iova, uint64_t size)
{
	uint64_t last = iova + (size - 1);
	size_t i = dma_find(dma, iova), end;

	if (!size || last < iova)
		return -EINVAL;
	for (end = i; end < dma->count && dma->ranges[end].iova <= last; end++)
		if (dma->ranges[end].iova < iova ||
		    dma->ranges[end].iova + (dma->ranges[end].size - 1) > last)
			return -EINVAL;
	if (end == i)
		return -ENOENT;
	while (end > i)
		dma_drop(dma, --end);
	return 0;
}

/**
 * dma_unmap_all() - take all guest memory away
 * @dma: the address space
 */
void dma_unmap_all(struct dma *dma)
{
	while (dma->count)
		dma_drop(dma, dma->count - 1);
}

/**
 * dma_set_master() - allow or forbid all access to guest memory
 * @dma: the address space
 * @on: the command register's bus master bit
 */
void dma_set_master(struct dma *dma, bool on)
{
	dma->master = on;
}

/* The range that contains @iova and allows this access; NULL if none does. */
static struct dma_range *dma_range(struct dma *dma, uint64_t iova, bool write)
{
	struct dma_range *range = NULL;

	if (!dma->master)
		return NULL;
	if (dma->hit < dma->count)
		range = &dma->ranges[dma->hit];
	if (!range || iova < range->iova || iova - range->iova >= range->size) {
		dma->hit = dma_find(dma, iova);
		if (dma->hit == dma->count)
			return NULL;
		range = &dma->ranges[dma->hit];
		if (iova < range->iova)
			return NULL;
	}
	return range->host && (range->write || !write) ? range : NULL;
}

/**
 * dma_queue_add() - record that a queue uses this memory
 * @iova: guest address
 * @len: bytes
 *
 * Return: 0 or -ENOMEM
 */
int dma_queue_add(struct hca *hca, uint64_t iova, uint64_t len)
{
	return guard_add(hca->dma->guard, iova, len);
}

/**
 * dma_queue_remove() - undo one dma_queue_add()
 * @iova: as it was added
 * @len: as it was added
 */
void dma_queue_remove(struct hca *hca, uint64_t iova, uint64_t len)
{
	guard_remove(hca->dma->guard, iova, len);
}

/**
 * dma_ptr() - host address of guest memory
 * @iova: guest address
 * @len: bytes
 * @write: they will be written
 *
 * For memory whose address the driver has just given: a mailbox of the command
 * that runs, a page that the command names, what a memory key translates to.
 *
 * Return: the address; NULL, and an error counted, where the bytes are not all
 * mapped in one piece, or are read-only and @write
 */
void *dma_ptr(struct hca *hca, uint64_t iova, size_t len, bool write)
{
	struct dma_range *range = dma_range(hca->dma, iova, write);

	if (range && range->size - (iova - range->iova) >= len)
		return range->host + (iova - range->iova);
	hca_error(hca, SIM_ERR_DMA_FAULT, "%s of %zu bytes at 0x%llx",
		  write ? "write" : "read", len, (unsigned long long)iova);
	return NULL;
}

/**
 * dma_queue_ptr() - host address of memory that a queue was made with
 * @iova: guest address
 * @len: bytes
 * @write: they will be written
 *
 * Return: as dma_ptr(); NULL also where no queue has this memory any more
 */
void *dma_queue_ptr(struct hca *hca, uint64_t iova, size_t len, bool write)
{
	if (guard_covers(hca->dma->guard, iova, len))
		return dma_ptr(hca, iova, len, write);
	hca_error(hca, SIM_ERR_DMA_GUARD,
		  "%s of %zu bytes at 0x%llx, which is no queue's",
		  write ? "write" : "read", len, (unsigned long long)iova);
	return NULL;
}

/**
 * dma_queue_read() - copy memory that a queue was made with
 * @iova: guest address
 * @dst: where to
 * @len: bytes
 *
 * Return: 0 or -EFAULT
 */
int dma_queue_read(struct hca *hca, uint64_t iova, void *dst, size_t len)
{
	struct dma_range *range;
	uint8_t *host;
	size_t n;

	/* up to the end of a range at a time */
	for (; len; len -= n, iova += n, dst = (uint8_t *)dst + n) {
		range = dma_range(hca->dma, iova, false);
		n = range ? range->size - (iova - range->iova) : len;
		if (n > len)
			n = len;
		host = dma_queue_ptr(hca, iova, n, false);
		if (!host)
			return -EFAULT;
		memcpy(dst, host, n);
	}
	return 0;
}
