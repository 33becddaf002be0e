// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Options and report of the programs in selftests/workloads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job_program.h"

#define MAX_LETTERS 64

static bool is_switch(const struct job_option *option)
{
	return !option->max;
}

static int usage(const char *program, const struct job_option *options)
{
	const struct job_option *o;

	fprintf(stderr, "usage: %s [-c CATEGORY]", program);
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
	fputc('\n', stderr);
	return 2;
}

static bool take_number(const struct job_option *option, const char *text)
{
	unsigned long number;
	char *end;

	number = strtoul(text, &end, 0);
	if (!*text || *end || number < option->min || number > option->max)
		return false;
	*option->value = number;
	return true;
}

static bool take(int letter, int *category, const struct job_option *options)
{
	const struct job_option *o;

	if (letter == 'c') {
		*category = mlx5ep_category_parse(optarg);
		return *category >= 0 && *category != MLX5EP_AUTO;
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

int job_options(int argc, char **argv, int *category,
		const struct job_option *options)
{
	char letters[MAX_LETTERS] = "c:", *at = letters + 2;
	const struct job_option *o;
	int c;

	for (o = options; o->letter && at < letters + MAX_LETTERS - 2; o++) {
		*at++ = o->letter;
		if (!is_switch(o))
			*at++ = ':';
	}
	*category = -1;
	while ((c = getopt(argc, argv, letters)) != -1)
		if (!take(c, category, options))
			return usage(argv[0], options);
	return optind == argc ? 0 : usage(argv[0], options);
}

static void print_row(unsigned int category, double rate, double base,
		      const struct mlx5ep_endpoints_info *info)
{
	printf("%-15s %10.0f %8.1f%% %6u %6u %5u %5u %9.1f  %u/%u/%u/%u\n",
	       mlx5ep_category_name(category), rate, 100 * rate / base,
	       info->uar_pages, info->uuars, info->qps, info->cqs,
	       info->bytes / 1024.0, info->level[1], info->level[2],
	       info->level[3], info->level[4]);
	fflush(stdout);
}

int job_compare(const char *name, const char *unit, int only,
		int (*measure)(unsigned int category, double *rate,
			       struct mlx5ep_endpoints_info *info))
{
	struct mlx5ep_endpoints_info info;
	double rate, base = 0;
	unsigned int c;
	int ret;

	printf("%-15s %10s %9s %6s %6s %5s %5s %9s  %s\n", "category", unit,
	       "relative", "pages", "uUARs", "QPs", "CQs", "KiB",
	       "level 1/2/3/4");
	for (c = 0; c < MLX5EP_AUTO; c++) {
		/* mpi-everywhere always runs: the rest is relative to it */
		if (c && only >= 0 && c != (unsigned int)only)
			continue;
		ret = measure(c, &rate, &info);
		if (ret) {
			fprintf(stderr, "%s: %s: %s\n", name,
				mlx5ep_category_name(c), strerror(-ret));
			return 1;
		}
		if (!c)
			base = rate;
		print_row(c, rate, base, &info);
	}
	return 0;
}
