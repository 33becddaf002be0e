/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The options of every program of the transport, parsed; see launch.h. */
#ifndef SELFTESTS_TRANSPORT_OPTIONS_H
#define SELFTESTS_TRANSPORT_OPTIONS_H

#include <limits.h>

#include "launch.h"

#define OPTIONS_NONE UINT_MAX	/* no node, no rank */

/**
 * struct options - of a job
 * @attr: of its transport, but for the rank and what only launch() knows
 * @only: the node whose processes are started, or OPTIONS_NONE for all nodes
 * @killed: rank of the process that is killed, or OPTIONS_NONE
 * @stopped: that stops itself
 * @erring: that has an error of its own
 * @in_middle: @killed is killed where the program calls launch_middle()
 * @step: where it is killed otherwise
 */
struct options {
	struct tp_attr attr;
	unsigned int only;
	unsigned int killed, stopped, erring;
	bool in_middle;
	enum tp_step step;
};

/* 0, or -EINVAL after a message on stderr. */
int options_parse(const struct launch *program, int argc, char **argv,
		  struct options *options);

/* Print the options of the program and those of every program, on stderr. */
void options_usage(const struct launch *program);

#endif
