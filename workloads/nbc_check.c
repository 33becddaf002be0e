// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * nbc_check [-r ROUNDS] [-s SEED] [-a HOW] [-k MOST] [-o FOLDER] [-f] [OPTION...] -
 * non-blocking collectives between all processes of a job, with results that are
 * checked
 *
 * Each round has eight random collectives of several groups, types and lengths,
 * which are under way at once and are waited for in the reverse order; then the
 * same eight with other values, for which no schedule is built. Then there is a
 * barrier with a process that comes late. Each output is compared with that of a
 * serial run. With -k a group keeps so many schedules, and builds again what it did
 * not keep. With -o a line for each output goes to FOLDER/RANK, as mpi_nbc writes
 * them, and there are no numbers whose order MPI does not define. With -f the results are looked at before the end, which shows that the
 * checks see it. See transport/options.c for the other options.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nbc/begin.h"
#include "option.h"
#include "transport/checked.h"
#include "transport/launch.h"

#define SEGMENT 4096
#define LATE_US 3000

static unsigned int rounds = 12, seed = 1, keep = 64;
static size_t few = NBC_DEFAULT;
static const char *folder;
static bool waits = true;

struct job {
	struct transport *tp;
	struct nbc *groups[PLAN_GROUPS];	/* NULL: not in it */
	struct plan plan;
	uint64_t *window;
	FILE *file;
	struct tally tally;
};

/* A collective under way. */
struct item {
	struct plan_item *plan;
	struct plan_place place;
	struct nbc *nbc;
	char *in, *out;
	struct nbc_req *req;
};

static int prepare(struct job *j, struct item *it)
{
	it->nbc = j->groups[it->plan->group];
	it->req = NULL;
	if (!it->nbc)
		return 0;
	it->place = (struct plan_place){ nbc_rank(it->nbc),
					 nbc_processes(it->nbc) };
	it->in = malloc(plan_in_len(it->plan, it->place) + 1);
	it->out = malloc(plan_out_len(it->plan, it->place) + 1);
	if (!it->in || !it->out)
		return -ENOMEM;
	plan_in(it->plan, it->place, it->in);
	plan_before(it->plan, it->place, it->out);
	return 0;
}

static void look(struct job *j, const struct item *it)
{
	size_t len = plan_out_len(it->plan, it->place);
	void *right = malloc(len + 1);

	if (!right)
		abort();
	plan_after(it->plan, it->place, right);
	tally_expect(&j->tally, !memcmp(it->out, right, len));
	free(right);
	if (j->file)
		fprintf(j->file, "%u %u %u %u %u %zu %016jx\n", it->plan->id,
			it->plan->kind, it->plan->type, it->plan->op,
			it->plan->group, len,
			(uintmax_t)plan_digest(it->out, len));
}

/* As a program does that computes between two looks. */
static int test_until_done(struct job *j, struct nbc_req *req)
{
	int ret;

	while (!(ret = nbc_test(req))) {
		ret = tp_pause(j->tp);
		if (ret)
			return ret;
	}
	return ret < 0 ? ret : 0;
}

static int finish(struct job *j, struct item *it, bool waiting)
{
	int ret;

	if (!it->nbc)
		return 0;
	if (!waits)
		look(j, it);
	ret = waiting ? nbc_wait(it->req) : test_until_done(j, it->req);
	/* After an error nothing is freed: it may still be moving. */
	if (ret)
		return ret;
	if (waits)
		look(j, it);
	free(it->in);
	free(it->out);
	return 0;
}

/* Of all groups: schedules that there are, or that were built. */
static unsigned int sum(const struct job *j,
			unsigned int (*count)(const struct nbc *nbc))
{
	unsigned int i, n = 0;

	for (i = 0; i < PLAN_GROUPS; i++)
		if (j->groups[i])
			n += count(j->groups[i]);
	return n;
}

/* Nothing is under way: no group has more schedules than it may keep. */
static void look_at_schedules(struct job *j)
{
	unsigned int i;

	for (i = 0; i < PLAN_GROUPS; i++)
		if (j->groups[i])
			tally_expect(&j->tally,
				     nbc_schedules(j->groups[i]) <= keep);
}

static int batch(struct job *j, struct plan_item *plan)
{
	struct item items[PLAN_ITEMS];
	unsigned int i;
	int ret = 0;

	for (i = 0; i < PLAN_ITEMS && !ret; i++) {
		items[i].plan = &plan[i];
		ret = prepare(j, &items[i]);
	}
	for (i = 0; i < PLAN_ITEMS && !ret; i++)
		if (items[i].nbc)
			ret = plan_begin(items[i].nbc, items[i].plan,
					 items[i].in, items[i].out,
					 &items[i].req);
	for (i = PLAN_ITEMS; i-- && !ret;)
		ret = finish(j, &items[i], i % 2);
	return ret;
}

/* One process comes late and tells all; after the barrier all are told. */
static int barrier(struct job *j, unsigned int round)
{
	unsigned int p, n = tp_processes(j->tp), rank = tp_rank(j->tp);
	uint64_t stamp = round + 1;
	struct nbc_req *req;
	struct tp_req put;
	int ret = 0;

	if (rank == round % n)
		usleep(LATE_US);
	for (p = 0; p < n && !ret; p++) {
		ret = tp_put(j->tp, p, rank * sizeof(stamp), &stamp,
			     sizeof(stamp), &put);
		if (!ret)
			ret = tp_wait(j->tp, &put);
	}
	if (!ret)
		ret = nbc_ibarrier(j->groups[0], &req);
	if (!ret && waits)
		ret = nbc_wait(req);
	for (p = 0; p < n; p++)
		tally_expect(&j->tally, j->window[p] >= stamp);
	return ret || waits ? ret : nbc_wait(req);
}

static int all_rounds(struct job *j)
{
	struct plan_item items[PLAN_ITEMS];
	unsigned int round, built;
	int ret = 0;

	for (round = 0; round < rounds && !ret; round++) {
		plan_next(&j->plan, items, false);
		ret = batch(j, items);
		built = sum(j, nbc_built);
		plan_next(&j->plan, items, true);
		if (!ret)
			ret = batch(j, items);
		if (ret)
			break;
		tally_expect(&j->tally, keep < PLAN_ITEMS ||
					sum(j, nbc_built) == built);
		look_at_schedules(j);
		if (!ret)
			ret = barrier(j, round);
	}
	return ret;
}

static int report(struct job *j)
{
	char text[96];

	snprintf(text, sizeof(text),
		 "nbc_check: processes=%u rounds=%u seed=%u schedules=%u built=%u",
		 tp_processes(j->tp), rounds, seed, sum(j, nbc_schedules),
		 sum(j, nbc_built));
	return tally_report(j->tp, text, &j->tally);
}

static int open_groups(struct job *j)
{
	unsigned int i, rank = tp_rank(j->tp), n = tp_processes(j->tp);
	int color, key, ret = nbc_open(&j->groups[0], j->tp);

	for (i = 1; i < PLAN_GROUPS && !ret; i++) {
		plan_split(i, rank, n, &color, &key);
		ret = nbc_split(j->groups[0], color, key, &j->groups[i]);
	}
	for (i = 0; i < PLAN_GROUPS && !ret; i++)
		if (j->groups[i]) {
			nbc_tune(j->groups[i], few, SEGMENT);
			nbc_keep(j->groups[i], keep);
		}
	return ret;
}

static int open_file(struct job *j)
{
	char path[256];

	if (!folder)
		return 0;
	snprintf(path, sizeof(path), "%s/%u", folder, tp_rank(j->tp));
	j->file = fopen(path, "w");
	return j->file ? 0 : -errno;
}

static int nbc_check_run(struct transport *tp)
{
	struct job j = { .tp = tp, .plan = { .state = seed, .odd = !folder } };
	void *window;
	unsigned int i;
	int ret = tp_window(tp, PLAN_PROCESSES * sizeof(uint64_t), &window);

	j.window = window;
	if (!ret)
		ret = open_file(&j);
	if (!ret)
		ret = open_groups(&j);
	if (!ret)
		ret = all_rounds(&j);
	if (!ret)
		ret = report(&j);
	if (j.file && fclose(j.file))
		ret = ret ? ret : -errno;
	for (i = PLAN_GROUPS; i--;)
		nbc_close(j.groups[i]);
	return ret;
}

static int option(int c, const char *arg)
{
	switch (c) {
	case 'r':
		return option_number(c, arg, 1, INT_MAX, &rounds);
	case 's':
		return option_number(c, arg, 0, INT_MAX, &seed);
	case 'a':
		if (!strcmp(arg, "rounds"))
			few = NBC_DEFAULT - 1;
		else if (!strcmp(arg, "bytes"))
			few = 0;
		else
			return launch_refuse(c, arg, "rounds or bytes");
		return 0;
	case 'k':
		return option_number(c, arg, 1, INT_MAX, &keep);
	case 'o':
		folder = arg;
		return 0;
	default:
		waits = false;
		return 0;
	}
}

static int check(void)
{
	return launch_processes() <= PLAN_PROCESSES ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "nbc_check",
		.options = "r:s:a:k:o:f",
		.usage = "  -r ROUNDS    of sixteen collectives (12)\n"
			 "  -s SEED      of the plan (1)\n"
			 "  -a HOW       schedules with few rounds or few bytes\n"
			 "  -k MOST      schedules that a group keeps (64)\n"
			 "  -o FOLDER    a line for each output\n"
			 "  -f           look at the results before the end\n",
		.option = option,
		.check = check,
		.run = nbc_check_run,
	};

	return launch(&program, argc, argv);
}
