/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Programs in which something happens in the middle. A round begins what moves, in
 * memory that is mapped anew before each round, and ends with checks. Between both
 *	-k, -S, -E: what launch_middle() does to one process, in the third round
 *	-f: each process forks, and the child writes to all buffers
 *	-x: process 0 unmaps its first buffer, and maps other memory there
 * With -w there are rounds until a file exists, and -r more: the caller changes
 * something meanwhile.
 */
#ifndef SELFTESTS_TRANSPORT_EVENTS_H
#define SELFTESTS_TRANSPORT_EVENTS_H

#include "transport.h"

#define EVENTS_BUFS	8u
#define EVENTS_OPTIONS	"r:fxw:"
#define EVENTS_USAGE						\
	"  -r ROUNDS    at least (6)\n"				\
	"  -f           fork in each round\n"			\
	"  -x           process 0 unmaps what it sends, in each round\n"	\
	"  -w FILE      rounds until it exists, and ROUNDS more\n"

/* @stays: it is the caller's, and is not mapped anew */
struct events_buf {
	void *at;
	size_t len;
	bool stays;
};

/**
 * struct events - a program
 * @name: printed when the first round is over
 * @n: buffers
 * @begin: the first part of a round; the buffers are filled with zeros
 * @end: wait for what was begun, and check it
 *
 * Both return 0 or -errno.
 */
struct events {
	const char *name;
	struct transport *tp;
	struct events_buf bufs[EVENTS_BUFS];
	unsigned int n;
	int (*begin)(void *arg, unsigned int round);
	int (*end)(void *arg);
	void *arg;
};

/* As struct launch has them; the program has_middle. */
int events_option(int c, const char *arg);
int events_check(void);

/* Does process @rank unmap its first buffer while that is sent? */
bool events_unmaps(unsigned int rank);

/* All rounds. All processes call it. 0 or -errno */
int events_run(struct events *e);

#endif
