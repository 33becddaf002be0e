// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Options and report of the programs in selftests/programs. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job_program.h"
#include "option.h"

#define MAX_LETTERS 64
#define FIRST MLX5EP_CATEGORY_MPI_EVERYWHERE
#define CATEGORIES (MLX5EP_CATEGORY_MPI_THREADS + 1)

static bool is_switch(const struct job_option *option)
{
	return !option->max;
}

static int usage(const char *program, const struct job_option *options)
{
	const struct job_option *o;

	fprintf(stderr, "usage: %s [-c CATEGORY] [-R ROUNDS] [-j] [-a]", program);
	for (o = options; o->letter; o++)
		if (is_switch(o))
			fprintf(stderr, " [-%c]", o->letter);
		else
			fprintf(stderr, " [-%c %s]", o->letter, o->meaning);
	for (o = options; o->letter; o++)
		if (is_switch(o))
			fprintf(stderr, "\n  -%c  %s", o->letter, o->meaning);
		else
			fprintf(stderr, "\n  -%c  %s, %u to %u (%u)", o->letter,
				o->meaning, o->min, o->max, *o->value);
	fputs("\n  -j  a JSON object a line\n  -a  pin each thread to a CPU\n",
	      stderr);
	return 2;
}

static bool take_number(const struct job_option *option, const char *text)
{
	return !option_number(option->letter, text, option->min, option->max,
			      option->value);
}

static bool take(int letter, struct job_program *program,
		 const struct job_option *options)
{
	const struct job_option rounds = {
		'R', "ROUNDS", &program->rounds, 1, JOB_MAX_ROUNDS
	};
	const struct job_option *o;

	if (letter == 'R')
		return take_number(&rounds, optarg);
	if (letter == 'c') {
		program->category = mlx5ep_category_parse(optarg);
		return program->category >= 0 &&
		       program->category != MLX5EP_CATEGORY_AUTO;
	}
	if (letter == 'j')
		return program->json = true;
	if (letter == 'a') {
		job_pin_threads();
		return true;
	}
	for (o = options; o->letter; o++) {
		if (o->letter != letter)
			continue;
		if (!is_switch(o))
			return take_number(o, optarg);
		*o->value = 1;
		return true;
	}
	return false;
}

int job_options(int argc, char **argv, struct job_program *program,
		const struct job_option *options)
{
	char letters[MAX_LETTERS] = "c:R:ja", *at = letters + 6;
	const struct job_option *o;
	int c;

	for (o = options; o->letter && at < letters + MAX_LETTERS - 2; o++) {
		*at++ = o->letter;
		if (!is_switch(o))
			*at++ = ':';
	}
	*program = (struct job_program){ .category = -1, .rounds = 3 };
	while ((c = getopt(argc, argv, letters)) != -1)
		if (!take(c, program, options))
			return usage(argv[0], options);
	return optind == argc ? 0 : usage(argv[0], options);
}

void job_say(const struct job_program *program, const char *fmt, ...)
{
	va_list args;

	if (program->json)
		return;
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
}

static int job_program_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values, unsigned int count)
{
	double sorted[JOB_MAX_ROUNDS];

	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), job_program_by_value);
	return sorted[count / 2];
}

/* What each round found, by category */
static double rates[CATEGORIES][JOB_MAX_ROUNDS];

/* mpi-everywhere always runs, because the others are relative to it */
static bool left_out(const struct job_program *program, unsigned int c)
{
	return c != FIRST && program->category >= 0 &&
	       c != (unsigned int)program->category;
}

static void print_row(unsigned int c, unsigned int rounds,
		      const struct mlx5ep_endpoints_info *info)
{
	double relative[JOB_MAX_ROUNDS];
	unsigned int i;

	for (i = 0; i < rounds; i++)
		relative[i] = 100 * rates[c][i] / rates[FIRST][i];
	printf("%-15s %10.0f %8.1f%% %6u %6u %5u %5u %9.1f  %u/%u/%u/%u\n",
	       mlx5ep_category_name(c), median(rates[c], rounds),
	       median(relative, rounds), info->uar_pages, info->uuars,
	       info->qps, info->cqs, info->bytes / 1024.0, info->level[1],
	       info->level[2], info->level[3], info->level[4]);
}

static void print_json(const char *unit, unsigned int c, unsigned int rounds,
		       const struct mlx5ep_endpoints_info *info)
{
	printf("{\"name\":\"%s\",\"unit\":\"%s\",\"value\":%.3f,\"pages\":%u,\"uuars\":%u}\n",
	       mlx5ep_category_name(c), unit, median(rates[c], rounds),
	       info->uar_pages, info->uuars);
}

static void print_table(const struct job_program *program, const char *unit,
			const struct mlx5ep_endpoints_info *infos)
{
	unsigned int c;

	for (c = FIRST; c < CATEGORIES && program->json; c++)
		if (!left_out(program, c))
			print_json(unit, c, program->rounds, &infos[c]);
	if (program->json)
		return;
	printf("%-15s %10s %9s %6s %6s %5s %5s %9s  %s\n", "category", unit,
	       "relative", "pages", "uUARs", "QPs", "CQs", "KiB",
	       "level 1/2/3/4");
	for (c = FIRST; c < CATEGORIES; c++)
		if (!left_out(program, c))
			print_row(c, program->rounds, &infos[c]);
}

int job_compare(const char *name, const char *unit,
		const struct job_program *program,
		int (*measure)(unsigned int category, double *rate,
			       struct mlx5ep_endpoints_info *info))
{
	struct mlx5ep_endpoints_info infos[CATEGORIES];
	unsigned int c = FIRST + 1, round;
	int ret = 0;

	/*
	 * The first pass does not count: code and pages are not in the caches
	 * yet.
	 */
	if (program->rounds > 1)
		ret = measure(FIRST, &rates[FIRST][0], &infos[FIRST]);
	for (round = 0; round < program->rounds && !ret; round++)
		for (c = FIRST; c < CATEGORIES && !ret; c++)
			if (!left_out(program, c))
				ret = measure(c, &rates[c][round], &infos[c]);
	if (!ret) {
		print_table(program, unit, infos);
		return 0;
	}
	fprintf(stderr, "%s: %s: %s\n", name, mlx5ep_category_name(c - 1),
		strerror(-ret));
	return 1;
}
