// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * nbc_events [-r ROUNDS] [-f] [-x] [-w FILE] [OPTION...] - collectives while
 * something happens
 *
 * A round is an alltoall, an allreduce and a broadcast of long messages. All results
 * are checked, but not that of an alltoall whose bytes process 0 unmaps. See
 * transport/events.h for what happens, and transport/options.c for the other options.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbc/plan.h"
#include "transport/checked.h"
#include "transport/events.h"
#include "transport/launch.h"

#define COUNT	6000u		/* numbers of 64 bits in a part */
#define N	3u

struct job {
	struct events events;	/* bufs: N inputs, then N outputs */
	struct nbc *nbc;
	struct plan_place place;
	struct plan_item items[N];
	struct nbc_req *reqs[N];
	struct tally tally;
};

static void *in(struct job *j, unsigned int i)
{
	return j->events.bufs[i].at;
}

static void *out(struct job *j, unsigned int i)
{
	return j->events.bufs[N + i].at;
}

static void prepare(struct job *j, unsigned int round)
{
	static const enum nbc_kind kinds[N] = {
		NBC_ALLTOALL, NBC_ALLREDUCE, NBC_BCAST
	};
	unsigned int i;

	for (i = 0; i < N; i++) {
		j->items[i] = (struct plan_item){
			.id = round * N + i,
			.kind = kinds[i],
			.type = NBC_UINT64,
			.op = NBC_SUM,
			.count = COUNT,
			.pick = round,
		};
		plan_in(&j->items[i], j->place, in(j, i));
		plan_before(&j->items[i], j->place, out(j, i));
	}
}

static int begin(void *arg, unsigned int round)
{
	size_t len = COUNT * sizeof(uint64_t);
	struct job *j = arg;
	int ret;

	prepare(j, round);
	ret = nbc_ialltoall(j->nbc, in(j, 0), len, out(j, 0), &j->reqs[0]);
	if (!ret)
		ret = nbc_iallreduce(j->nbc, in(j, 1), out(j, 1), COUNT,
				     NBC_UINT64, NBC_SUM, &j->reqs[1]);
	if (!ret)
		ret = nbc_ibcast(j->nbc, out(j, 2), len,
				 plan_root(&j->items[2], j->place.n),
				 &j->reqs[2]);
	return ret;
}

static void check_one(struct job *j, unsigned int i)
{
	size_t len = plan_out_len(&j->items[i], j->place);
	void *right = malloc(len);

	if (!right)
		abort();
	plan_after(&j->items[i], j->place, right);
	tally_expect(&j->tally, !memcmp(right, out(j, i), len));
	free(right);
}

/* All get a part of the alltoall from process 0. */
static int end(void *arg)
{
	struct job *j = arg;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < N && !ret; i++) {
		ret = nbc_wait(j->reqs[i]);
		if (!ret && (i || !events_unmaps(0)))
			check_one(j, i);
	}
	return ret;
}

static int nbc_events_run(struct transport *tp)
{
	struct job j = {
		.events = {
			.name = "nbc_events",
			.tp = tp,
			.n = 2 * N,
			.begin = begin,
			.end = end,
			.arg = &j,
		},
		.place = { tp_rank(tp), tp_processes(tp) },
	};
	unsigned int i;
	int ret = nbc_open(&j.nbc, tp);

	for (i = 0; i < 2 * N; i++)
		j.events.bufs[i].len = j.place.n * COUNT * sizeof(uint64_t);
	if (!ret)
		ret = events_run(&j.events);
	if (!ret)
		ret = tally_report(tp, "nbc_events:", &j.tally);
	nbc_close(j.nbc);
	return ret;
}

static int check(void)
{
	return launch_processes() <= PLAN_PROCESSES ? events_check() : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "nbc_events",
		.options = EVENTS_OPTIONS,
		.usage = EVENTS_USAGE,
		.option = events_option,
		.check = check,
		.run = nbc_events_run,
		.has_middle = true,
	};

	return launch(&program, argc, argv);
}
