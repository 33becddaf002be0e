// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * splitc_programs [-o PROGRAM] [OPTION...] - programs of the study of active
 * messages on Split-C: sample sort, radix sort, matrix multiply, EM3D
 *
 * Each compares its result with that of a serial run. With -o only one of them
 * runs. See transport/options.c for the other options.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "programs/programs.h"
#include "transport/launch.h"

#define DEPTH	8u
#define N	4u

static const struct {
	const char *name;
	int (*run)(struct sc *sc, uint64_t *wrong);
} programs[N] = {
	{ "sample_sort", sample_sort },
	{ "radix_sort", radix_sort },
	{ "matrix_multiply", matrix_multiply },
	{ "em3d", em3d },
};

static const char *only;

static bool chosen(unsigned int p)
{
	return !only || !strcmp(only, programs[p].name);
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

static int report(struct transport *tp, const uint64_t *mine,
		  const uint64_t *us)
{
	uint64_t all[TP_PROCESSES][N], sums[N] = {}, wrong = 0;
	unsigned int i, p;
	int ret = tp_share(tp, mine, N * sizeof(*mine), all);

	if (ret)
		return ret;
	for (p = 0; p < N; p++) {
		for (i = 0; i < tp_processes(tp); i++)
			sums[p] += all[i][p];
		wrong += sums[p];
		if (!tp_rank(tp) && chosen(p))
			printf("splitc_programs: program=%s processes=%u us=%ju wrong=%ju\n",
			       programs[p].name, tp_processes(tp),
			       (uintmax_t)us[p], (uintmax_t)sums[p]);
	}
	return wrong ? -EBADMSG : 0;
}

static int splitc_programs_run(struct transport *tp)
{
	uint64_t wrong[N] = {}, us[N] = {};
	unsigned int p;
	struct sc *sc;
	int ret, error;

	ret = sc_open(&sc, tp, PROGRAMS_MEMORY, DEPTH);
	if (ret)
		return ret;
	for (p = 0; p < N && !ret; p++) {
		if (!chosen(p))
			continue;
		us[p] = now_us();
		ret = programs[p].run(sc, &wrong[p]);
		us[p] = now_us() - us[p];
	}
	if (ret)
		tp_abort(tp, ret);
	error = sc_close(sc);
	ret = ret ? ret : error;
	return ret ? ret : report(tp, wrong, us);
}

static int option(int c, const char *arg)
{
	unsigned int p;

	only = arg;
	for (p = 0; p < N; p++)
		if (chosen(p))
			return 0;
	return launch_refuse(c, arg, "one of the programs");
}

static int check(void)
{
	return launch_processes() <= PROGRAMS_PROCESSES ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "splitc_programs",
		.options = "o:",
		.usage = "  -o PROGRAM   one only, as sample_sort\n",
		.option = option,
		.check = check,
		.run = splitc_programs_run,
	};

	return launch(&program, argc, argv);
}
