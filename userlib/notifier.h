/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_NOTIFIER_INTERNAL_H
#define MLX5EP_NOTIFIER_INTERNAL_H

#include <pthread.h>
#include <stdlib.h>

#include <mlx5ep/notifier.h>

#include "process.h"

/**
 * struct mlx5ep_notifier - a notifier
 * @context: of its device; NULL: none
 * @fd: its file; -1 once it is destroyed
 * @users: registrations that name it, and 1 until it is destroyed; the last
 *	one frees it
 * @page: start of the mapping of @fd
 * @words: the words of the watches in that mapping, by slot
 * @map: that mapping
 * @memory: of the process that created it
 * @reading: held by whoever reads the events for the caches, and while a cache comes or
 *	goes; a registration's cache is locked inside
 * @caches: those that have their watches here
 * @promised: watches that they may have
 */
struct mlx5ep_notifier {
	struct ibv_context *context;
	int fd;
	unsigned int users;
	const volatile struct mlx5_ep_notifier_page *page;
	const uint64_t *words;
	struct process_map map;
	uint64_t memory;
	pthread_mutex_t reading;
	struct mlx5ep_mr_cache *caches;
	uint64_t promised;
};

/* As mlx5ep_notifier_usable(), without a call. */
static inline bool notifier_usable(const struct mlx5ep_notifier *notifier)
{
	return process_same(notifier->memory);
}

/* Keeps the memory of a notifier for a registration. */
static inline void notifier_get(struct mlx5ep_notifier *notifier)
{
	__atomic_add_fetch(&notifier->users, 1, __ATOMIC_RELAXED);
}

/* Undoes notifier_get(). The notifier may be destroyed already. */
static inline void notifier_put(struct mlx5ep_notifier *notifier)
{
	if (__atomic_sub_fetch(&notifier->users, 1, __ATOMIC_ACQ_REL))
		return;
	pthread_mutex_destroy(&notifier->reading);
	free(notifier);
}

int mlx5ep_notifier_any(struct ibv_context *context, uint32_t watches,
			struct mlx5ep_notifier **out);
int mlx5ep_watch_verify_refs(const struct mlx5ep_notifier *notifier,
			     struct mlx5_ep_watch_ref *refs,
			     unsigned int count);

#endif
