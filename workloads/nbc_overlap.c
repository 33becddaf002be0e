// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * nbc_overlap [-t TESTS] [-r SAMPLES] [-b] [-a] [-z BYTES,...] [OPTION...] -
 * how much of the time of each non-blocking collective is free for computation, see
 * nbc/overlap.h
 *
 * Where no helper thread looks for completions (-g thread), a collective goes on
 * only when the caller tests it. See transport/options.c for the other options.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "nbc/begin.h"
#include "nbc/overlap.h"
#include "option.h"
#include "transport/launch.h"

static struct overlap_how how = { .tests = 8 };
static struct nbc *nbc;
static struct nbc_req *req;

static int begin(const struct plan_item *item, const void *in, void *out)
{
	return plan_begin(nbc, item, in, out, &req);
}

static int test(void)
{
	return nbc_test(req);
}

static int wait_for_it(void)
{
	return nbc_wait(req);
}

static int meet(void)
{
	struct nbc_req *barrier;
	int ret = nbc_ibarrier(nbc, &barrier);

	return ret ? ret : nbc_wait(barrier);
}

static int sum(double *v, unsigned int n)
{
	double mine[n];
	struct nbc_req *all;
	unsigned int i;
	int ret;

	for (i = 0; i < n; i++)
		mine[i] = v[i];
	ret = nbc_iallreduce(nbc, mine, v, n, NBC_DOUBLE, NBC_SUM, &all);
	return ret ? ret : nbc_wait(all);
}

static int nbc_overlap_run(struct transport *tp)
{
	struct overlap_lib lib = {
		.name = "nbc",
		.begin = begin,
		.test = test,
		.wait = wait_for_it,
		.meet = meet,
		.sum = sum,
	};
	int ret = nbc_open(&nbc, tp);

	lib.place = (struct plan_place){ tp_rank(tp), tp_processes(tp) };
	if (!ret)
		ret = overlap_run(&lib, how);
	nbc_close(nbc);
	return ret;
}

static int option(int c, const char *arg)
{
	switch (c) {
	case 't':
		return option_number(c, arg, 0, OVERLAP_TESTS, &how.tests);
	case 'r':
		return option_number(c, arg, 1, OVERLAP_SAMPLES, &how.samples);
	case 'b':
		how.computes = true;
		return 0;
	case 'a':
		how.waits_asleep = true;
		return 0;
	case 'z':
		return overlap_lens(arg, &how);
	default:
		return -EINVAL;
	}
}

static int check(void)
{
	return launch_processes() <= PLAN_PROCESSES ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "nbc_overlap",
		.options = "t:r:baz:",
		.usage = "  -t TESTS     in each collective, at most 9 (8)\n"
			 "  -r SAMPLES   of each figure, at most 15 (5, with -b 15)\n"
			 "  -b           busy: compute meanwhile, on a CPU for each process,\n"
			 "               in place of sleeping\n"
			 "  -a           asleep: wait for a collective alone asleep, too\n"
			 "  -z BYTES,... lengths, at most 8 (64,65536,262144)\n",
		.option = option,
		.check = check,
		.run = nbc_overlap_run,
	};

	return launch(&program, argc, argv);
}
