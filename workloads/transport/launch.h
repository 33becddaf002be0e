/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Starts the processes of a job on this machine, and opens a transport in each.
 * Every program of the transport has the options of options.c.
 */
#ifndef SELFTESTS_TRANSPORT_LAUNCH_H
#define SELFTESTS_TRANSPORT_LAUNCH_H

#include "transport.h"

#define LAUNCH_TOLD 3	/* exit status of a process that was told of a death */

/**
 * struct launch - a program
 * @options: its own options, as for getopt()
 * @usage: its own options, for people
 * @option: takes one of them; 0, or -EINVAL after a message on stderr
 * @check: called once before the processes start; may be NULL
 * @run: what each process does; 0 or -errno
 * @has_middle: @run calls launch_middle(), so there are -k, -K, -S and -E
 */
struct launch {
	const char *name, *options, *usage;
	int (*option)(int c, const char *arg);
	int (*check)(void);
	int (*run)(struct transport *tp);
	bool has_middle;
};

/*
 * Parse the options, run the program in each process of this machine, print what
 * the transport took. Return: exit status of the program.
 */
int launch(const struct launch *program, int argc, char **argv);

/* Say on stderr that the text of option -@c is not @what. Return: -EINVAL */
int launch_refuse(int c, const char *text, const char *what);

/*
 * Each process calls it once in the middle of its work: here one is killed (-k), stops
 * (-S) or has an error (-E). Return: 0, or -ECANCELED for the error.
 */
int launch_middle(void);

/* Of the job, once the options are known. */
unsigned int launch_processes(void);

/* Does launch_middle() do something to a process? Known with the options, too. */
bool launch_asks_middle(void);

#endif
