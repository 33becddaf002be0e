/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The table of am_logp, as text or as JSON. */
#ifndef SELFTESTS_LOGP_TABLE_H
#define SELFTESTS_LOGP_TABLE_H

#include <stdbool.h>

#include "clock.h"

/* The primitive that the times of the others are compared with. */
#define LOGP_REFERENCE "verbs RDMA write"

/*
 * Instructions a message: in the call, in the receiver, in the sender after it; and
 * the time of a message that is alone.
 */
struct logp_cost {
	double send, recv, done;
	struct logp_time time;
};

static inline double logp_whole(const struct logp_cost *c)
{
	return c->send + c->recv + c->done;
}

/* One more row: a primitive with messages of @len bytes. @name stays. */
void logp_row(const char *name, unsigned int len, const struct logp_cost *cost);

/*
 * One more line below: what something adds, in instructions and in nanoseconds of the
 * guest's clock. @name and @of stay.
 */
void logp_add(const char *name, const char *of, double instructions, double ns);

/*
 * One more line below for each primitive with rows of two lengths: what a byte adds (G).
 */
void logp_per_byte(void);

/* One more row of the table of policies and categories. Both names stay. */
void logp_placement(const char *policy, const char *category,
		    const struct logp_cost *cost);

void logp_print(bool json);

#endif
