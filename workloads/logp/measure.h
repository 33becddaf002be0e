/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Measures what a message costs at both ends, which one thread drives in turns. */
#ifndef SELFTESTS_LOGP_MEASURE_H
#define SELFTESTS_LOGP_MEASURE_H

#include "sides.h"
#include "table.h"

#define LOGP_BURST	12u	/* messages of a sample */
#define LOGP_SAMPLES	7
/* Messages that logp_measure() sends. */
#define LOGP_MESSAGES	((LOGP_SAMPLES + 1) * LOGP_BURST + LOGP_TIMES + 1)

/*
 * The median of samples of bursts, of which the first one warms up, then the time of
 * messages alone. -ETIMEDOUT if nothing happened at either end, or -errno of what was
 * called
 */
int logp_measure(const struct logp_sides *sides, logp_send send,
		 struct logp_cost *cost);

/* Look at both ends until nothing happens any more, and add up what that costs. */
void logp_pump(const struct logp_sides *sides, struct logp_cost *cost);

#endif
