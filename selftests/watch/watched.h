/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory that is registered and watched, and the comparison of what the HCA
 * reads there with what the process reads.
 */
#ifndef SELFTESTS_WATCHED_H
#define SELFTESTS_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mlx5ep/mr_watch.h>

#include "verbs.h"

#define WATCHED_SAMPLE 64u	/* bytes compared of each page */

struct watched_setup {
	struct verbs_setup verbs;
	struct verbs_endpoint endpoint;
	struct mlx5ep_notifier *notifier;
	void *pair;	/* of iwarp_pairs */
};

/*
 * How a pair of QPs is connected on an iWARP device, where none can connect to itself.
 * Functions return 0 or -errno.
 */
struct watched_pairs {
	int (*open)(struct watched_setup *setup);
	void (*close)(struct watched_setup *setup);
	/* waits until what was written has arrived, so many seconds at most */
	int (*placed)(struct watched_setup *setup, unsigned int seconds);
};

/*
 * In notify/iwarp.c. A program that is not linked to it is refused on such a device:
 * -EOPNOTSUPP.
 */
extern const struct watched_pairs iwarp_pairs __attribute__((weak));

/* Return: 0 or -errno; a setup that failed is closed. */
int watched_open(struct watched_setup *setup, uint32_t watches);
void watched_close(struct watched_setup *setup);

/*
 * For a child: makes a notifier of its own, with a watch, and sends its file over
 * @sock. Both stay until the process ends. Return: 0 or -errno.
 */
int watched_give_notifier(int sock);

/* Fill the range so that each page differs from each other and other seeds. */
void watched_fill(void *addr, size_t len, unsigned int seed);

/* What the HCA reads at @addr through @mr, WATCHED_SAMPLE bytes. 0 or -errno. */
int watched_hca_read(struct watched_setup *setup, const struct ibv_mr *mr,
		     const void *addr, void *out);

/**
 * watched_differs() - do HCA and process disagree about any page?
 *
 * First a new pattern is written through the process's mapping, where it is
 * writable, so that pages which merely have the same content are told apart.
 *
 * Return: 1 if they do, or a page is not mapped; 0; -errno.
 */
int watched_differs(struct watched_setup *setup, const struct ibv_mr *mr,
		    void *addr, size_t len);

#endif
