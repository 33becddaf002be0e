/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A limit ends a wait for something that never happens. Limits are written for
 * an idle machine and a stock kernel. They are multiplied by these factors, so
 * that a slow machine does not fail a test.
 */
#ifndef SELFTESTS_PATIENCE_H
#define SELFTESTS_PATIENCE_H

#include <stdlib.h>
#include <time.h>

#define PATIENCE 4

/**
 * patience_factor() - how much longer than on a stock kernel work takes on this
 *
 * Return: as slowness_of() in slowness.sh has it; 1 outside of a guest.
 */
static inline int patience_factor(void)
{
	const char *slowness = getenv("MLX5_EP_SLOWNESS");

	return slowness ? atoi(slowness) : 1;
}

/* Seconds on the clock for limits, which nobody can set. */
static inline time_t patience_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/*
 * Milliseconds to wait for an event that the adapter or the kernel has caused
 * already. An event that is lost costs a second on a stock kernel.
 */
#define EVENT_MS (250 * PATIENCE * patience_factor())

#endif
