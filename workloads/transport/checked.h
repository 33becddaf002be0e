/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory whose bytes are checked, and what all processes of a job have found. */
#ifndef SELFTESTS_TRANSPORT_CHECKED_H
#define SELFTESTS_TRANSPORT_CHECKED_H

#include "transport.h"

/**
 * checked_map() - map memory at the address where there was memory before
 * @at: NULL before the first call; the mapping there is replaced
 *
 * What was registered at this address is not this memory any more.
 */
int checked_map(void **at, size_t len);

/* Fill memory with bytes that depend on @seed; count those that are not so. */
void checked_fill(void *at, size_t len, uint32_t seed);
uint64_t checked_wrong(const void *at, size_t len, uint32_t seed);

/* What a process has checked. */
struct tally {
	uint64_t checks, wrong;
};

static inline void tally_expect(struct tally *t, bool holds)
{
	t->checks++;
	t->wrong += !holds;
}

/**
 * tally_report() - add up the tallies of all processes, which all call it
 * @text: process 0 prints it, and behind it " checks=N wrong=N"
 *
 * Return: 0, -EBADMSG if something was wrong, or what tp_share() returned.
 */
int tally_report(struct transport *tp, const char *text,
		 const struct tally *mine);

#endif
