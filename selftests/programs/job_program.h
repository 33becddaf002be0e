/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The options and the report of the programs in selftests/programs. */
#ifndef SELFTESTS_JOB_PROGRAM_H
#define SELFTESTS_JOB_PROGRAM_H

#include "job.h"

/**
 * struct job_option - an option with a number
 * @letter: as in -t
 * @meaning: one word, for the usage
 * @value: its default, and what was said
 * @min: smallest and
 * @max: largest; both 0 for a switch without a number, which sets 1
 */
struct job_option {
	char letter;
	const char *meaning;
	unsigned int *value;
	unsigned int min, max;
};

#define JOB_MAX_ROUNDS 101

/**
 * struct job_program - what every program is told
 * @category: the category alone that was asked for, -1 for all
 * @rounds: how often each is measured
 * @json: print a JSON object a line in place of the table
 */
struct job_program {
	int category;
	unsigned int rounds;
	bool json;
};

/**
 * job_options() - parse -c CATEGORY, -R ROUNDS, -j, -a and @options, or say how to
 * use them
 * @options: ends with an empty one
 *
 * Return: 0; 2, an exit status, where they are wrong.
 */
int job_options(int argc, char **argv, struct job_program *program,
		const struct job_option *options);

/* Prints what people read and programs do not: nothing with -j. */
void job_say(const struct job_program *program, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * job_compare() - measure and print every category, or one beside mpi-everywhere
 *
 * A round measures each of them once, so that what disturbs the machine disturbs
 * all. Printed are the median of the rates, and the median of the ratios to
 * mpi-everywhere in the same round. A first pass that does not count warms up,
 * unless there is only one round.
 *
 * Return: 0, or 1 where one failed (and which is printed).
 */
int job_compare(const char *name, const char *unit,
		const struct job_program *program,
		int (*measure)(unsigned int category, double *rate,
			       struct mlx5ep_endpoints_info *info));

#endif
