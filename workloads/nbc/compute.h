/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Computation that a benchmark does beside a collective. */
#ifndef SELFTESTS_NBC_COMPUTE_H
#define SELFTESTS_NBC_COMPUTE_H

/* Nanoseconds of a monotonic clock. */
double compute_now(void);

/*
 * Bind all threads of this process to the CPU of its number. -ENOSPC if there are fewer
 * than @processes CPUs, or -errno.
 */
int compute_pin(unsigned int rank, unsigned int processes);

/* Compute, and nothing else. Steps take the same time each. */
void compute_steps(unsigned long steps);

/* Steps a nanosecond, on this CPU now. */
double compute_rate(void);

#endif
