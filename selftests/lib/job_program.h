/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the programs in selftests/workloads share: their options, their report. */
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

/**
 * job_options() - parse -c CATEGORY and @options, or say how to use them
 * @options: ends with an empty one
 * @category: the category alone that was asked for, -1 for all
 *
 * Return: 0; 2, an exit status, where they are wrong.
 */
int job_options(int argc, char **argv, int *category,
		const struct job_option *options);

/**
 * job_compare() - measure and print every category, or @only one beside
 * mpi-everywhere
 *
 * Return: 0, or 1 where one failed (and which is printed).
 */
int job_compare(const char *name, const char *unit, int only,
		int (*measure)(unsigned int category, double *rate,
			       struct mlx5ep_endpoints_info *info));

#endif
