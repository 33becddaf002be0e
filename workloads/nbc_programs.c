// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * nbc_programs [-s SIDE] [OPTION...] - a 3-D FFT and a conjugate gradient solver, which
 * wait for each collective, and which compute meanwhile
 *
 * Each compares its result with that of a serial run, and prints which part of its
 * time is lost in collectives. See transport/options.c for the other options.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "option.h"
#include "solvers/solvers.h"
#include "timeline/mark.h"
#include "transport/launch.h"

static const struct {
	const char *name;
	int (*run)(struct solver *s);
} programs[] = {
	{ "fft", solver_fft },
	{ "cg", solver_cg },
};

static unsigned int side = SOLVERS_SIDE;

#define N (sizeof(programs) / sizeof(*programs))

/* Sums over all processes. */
static int report(struct transport *tp, const char *name, struct solver *s)
{
	uint64_t mine[] = { s->lost, s->whole, s->wrong };
	uint64_t all[TP_PROCESSES][3], sums[3] = {};
	unsigned int i, k, n = tp_processes(tp);
	int ret = tp_share(tp, mine, sizeof(mine), all);

	for (i = 0; i < n && !ret; i++)
		for (k = 0; k < 3; k++)
			sums[k] += all[i][k];
	if (!ret && !tp_rank(tp))
		printf("nbc_programs: program=%s form=%s processes=%u us=%ju lost_us=%ju lost=%.3f wrong=%ju\n",
		       name, s->computes ? "non-blocking" : "blocking", n,
		       (uintmax_t)(sums[1] / n / 1000),
		       (uintmax_t)(sums[0] / n / 1000),
		       (double)sums[0] / sums[1], (uintmax_t)sums[2]);
	return ret ? ret : sums[2] ? -EBADMSG : 0;
}

static int run_one(struct transport *tp, struct nbc *nbc, unsigned int p)
{
	struct solver s;
	int form, ret = 0;

	for (form = 0; form < 2 && !ret; form++) {
		s = (struct solver){ .nbc = nbc, .side = side, .computes = form };
		mark_begin("%s %s", programs[p].name,
			   form ? "non-blocking" : "blocking");
		ret = programs[p].run(&s);
		mark_end();
		if (!ret)
			ret = report(tp, programs[p].name, &s);
	}
	return ret;
}

static int nbc_programs_run(struct transport *tp)
{
	struct nbc *nbc;
	unsigned int p;
	int ret = nbc_open(&nbc, tp);

	mark_open(tp_rank(tp));
	for (p = 0; p < N && !ret; p++)
		ret = run_one(tp, nbc, p);
	nbc_close(nbc);
	return ret;
}

static int option(int c, const char *arg)
{
	return option_number(c, arg, SOLVERS_PROCESSES, 512, &side);
}

static int check(void)
{
	return launch_processes() <= SOLVERS_PROCESSES ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "nbc_programs",
		.options = "s:",
		.usage = "  -s SIDE      of the square grid of the solver, 16 to 512 (48)\n",
		.option = option,
		.check = check,
		.run = nbc_programs_run,
	};

	return launch(&program, argc, argv);
}
