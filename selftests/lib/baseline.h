/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What exists in the HCA and in the module, to be compared after a test. */
#ifndef SELFTESTS_BASELINE_H
#define SELFTESTS_BASELINE_H

#include <stdint.h>

#define BASELINE_KINDS 8

struct baseline {
	int64_t alive[BASELINE_KINDS];
	long uar_in_use;
};

/**
 * baseline_take() - remember what is there now
 *
 * First opens, uses and closes a context, so that what the driver makes once
 * for good (its UMR queue pair) is there. Memory keys are not compared: the
 * driver caches them.
 *
 * Return: 0 or -errno.
 */
int baseline_take(struct baseline *base);

/* Objects of a kind that were alive then; -1 where there is no such kind. */
int64_t baseline_alive(const struct baseline *base, const char *kind);

/**
 * baseline_restored() - is all as it was?
 * @seconds: that it may take, with PATIENCE
 *
 * Return: 0; -EBUSY, and what differs is printed; another -errno.
 */
int baseline_restored(const struct baseline *base, unsigned int seconds);

#endif
