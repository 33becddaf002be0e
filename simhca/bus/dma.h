/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Guest memory, as the VMM maps it for this adapter (vfio-user DMA_MAP).
 */
#ifndef SIMHCA_DMA_H
#define SIMHCA_DMA_H

#include "hca.h"

struct dma *dma_create(void);
void dma_destroy(struct dma *dma);
int dma_map(struct dma *dma, uint64_t iova, uint64_t size, int fd,
	    uint64_t offset, bool write);
int dma_unmap(struct dma *dma, uint64_t iova, uint64_t size);
void dma_unmap_all(struct dma *dma);
void dma_set_master(struct dma *dma, bool on);

void *dma_ptr(struct hca *hca, uint64_t iova, size_t len, bool write);
void *dma_queue_ptr(struct hca *hca, uint64_t iova, size_t len, bool write);

/* Called when a command creates a queue in this memory, and when it ends. */
int dma_queue_add(struct hca *hca, uint64_t iova, uint64_t len);
void dma_queue_remove(struct hca *hca, uint64_t iova, uint64_t len);
int dma_queue_read(struct hca *hca, uint64_t iova, void *dst, size_t len);

#endif
