/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A limit is for what never comes: it must not tell a slow machine from a fast
 * one. Limits are said for a machine that does nothing else and a stock kernel,
 * and are so many times that.
 */
#ifndef SELFTESTS_PATIENCE_H
#define SELFTESTS_PATIENCE_H

#include <stdlib.h>
#include <string.h>

#define PATIENCE 4

/**
 * patience_factor() - how much longer than on a stock kernel work takes on this
 *
 * Return: 4 on the kernel debug, 6 on kcsan, as selftests/run has it (factor()); 1
 * on others and outside of a guest.
 */
static inline int patience_factor(void)
{
	const char *kernel = getenv("MLX5_EP_KERNEL");

	if (kernel && !strcmp(kernel, "debug"))
		return 4;
	if (kernel && !strcmp(kernel, "kcsan"))
		return 6;
	return 1;
}

#endif
