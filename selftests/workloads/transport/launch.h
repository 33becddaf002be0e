/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Starts the processes of a job on this machine, and opens a transport in each.
 * Every program of the transport has the options of launch_usage.
 */
#ifndef SELFTESTS_TRANSPORT_LAUNCH_H
#define SELFTESTS_TRANSPORT_LAUNCH_H

#include "transport.h"

#define LAUNCH_TOLD 3	/* exit status of a process that was told of a death */

/**
 * struct launch - a program
 * @options: its own options, as for getopt()
 * @usage: its own options, for people
 * @option: takes one of them; 0 or -EINVAL
 * @check: called once before the processes start; may be NULL
 * @run: what each process does; 0 or -errno
 */
struct launch {
	const char *name, *options, *usage;
	int (*option)(int c, const char *arg);
	int (*check)(void);
	int (*run)(struct transport *tp);
};

/*
 * Parse the options, run the program in each process of this machine, print what
 * the transport took. Return: exit status of the program.
 */
int launch(const struct launch *program, int argc, char **argv);

/* Of the job, once the options are known. */
unsigned int launch_processes(void);

#endif
