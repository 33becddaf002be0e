/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Measures what a message costs at both ends, which one thread drives in turns. */
#ifndef SELFTESTS_LOGP_MEASURE_H
#define SELFTESTS_LOGP_MEASURE_H

#include "logp_table.h"

#define LOGP_BURST	12u	/* messages of a sample */
#define LOGP_SAMPLES	7

/**
 * struct logp_sides - both ends of a connection; end 0 sends
 * @look: look once for what happened at an end; above 0 if something did
 * @finish: once all is done, before the next sample; may be NULL. 0 or -errno
 */
struct logp_sides {
	void *arg;
	int (*look)(void *arg, unsigned int end);
	int (*finish)(void *arg);
};

/* Begins to send a message. 0 or -errno */
typedef int (*logp_send)(void *arg);

/*
 * The median of samples of bursts; the first one warms up. -ETIMEDOUT if nothing
 * happened at either end, or -errno of what was called
 */
int logp_measure(const struct logp_sides *sides, logp_send send,
		 struct logp_cost *cost);

/* Look at both ends until nothing happens any more, and add up what that costs. */
void logp_pump(const struct logp_sides *sides, struct logp_cost *cost);

/* Of LOGP_SAMPLES numbers, which are sorted. */
double logp_median(double *v);

#endif
