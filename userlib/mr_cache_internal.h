/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The registration cache, for its own files. */
#ifndef MLX5EP_MR_CACHE_INTERNAL_H
#define MLX5EP_MR_CACHE_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mr_cache_table.h"
#include "notifier.h"

/**
 * struct mlx5ep_mr_cache - a cache
 * @page_mask: mask of the bits of an address above those within a page
 * @dmabufs: device number of the file system of dma-bufs; 0 before the first one is
 *	registered; read and written without the lock
 * @next: of the caches that have their watches with the same notifier
 * @own: nobody else has the notifier
 * @lock: protects what follows
 * @failed: dropped registrations that ibv_dereg_mr() did not deregister; NULL or
 *	not is looked at without the lock
 */
struct mlx5ep_mr_cache {
	struct ibv_pd *pd;
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_mr_cache_attr attr;
	uintptr_t page_mask;
	dev_t dmabufs;
	struct mlx5ep_mr_cache *next;
	bool own;
	pthread_mutex_t lock;
	struct cache_table table;
	struct cache_entry *failed;
};

struct cache_entry *cache_entry_alloc(struct mlx5ep_mr_cache *cache);
void cache_entry_free(struct mlx5ep_mr_cache *cache, struct cache_entry *entry);
void cache_free(struct mlx5ep_mr_cache *cache, struct cache_entry *doomed);
void cache_retry_failed(struct mlx5ep_mr_cache *cache);
int cache_read_events(struct mlx5ep_mr_cache *cache);

#endif
