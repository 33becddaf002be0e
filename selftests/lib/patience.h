/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A limit is for what never comes: it must not tell a slow machine from a fast
 * one. Limits are said for a machine that does nothing else and a stock kernel,
 * and are so many times that.
 */
#ifndef SELFTESTS_PATIENCE_H
#define SELFTESTS_PATIENCE_H

#include <stdlib.h>

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

#endif
