// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * nbc_check [-r ROUNDS] [-f] [OPTION...] - non-blocking collectives between all
 * processes of a job, all under way at once, with results that are checked
 *
 * In each round and for each length a barrier, a broadcast of every root, an
 * allgather, an alltoall and an allreduce begin; they are waited for in the reverse
 * order. From the second round on no schedule is built. With -f the results are
 * looked at before the end, which shows that the checks see it. See
 * transport/launch.c for the other options.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nbc/nbc.h"
#include "transport/launch.h"

#define WORDS_MAX 8193u		/* 64 KiB and 8 bytes */
#define PROCESSES 8u
#define LATE_US 3000

static unsigned int rounds = 2;
static bool waits = true;

enum { GATHER = 1, EACH, SUM, ROOT, STAMP };

struct job {
	struct transport *tp;
	struct nbc *nbc;
	unsigned int rank, n, words, round;
	uint64_t *window;
	uint64_t *in, *each, *gathered, *exchanged, *sums;
	uint64_t *roots[PROCESSES];
	struct nbc_req *reqs[4 + PROCESSES];
	unsigned int n_reqs;
	uint64_t wrong, checks;
};

static uint64_t value(const struct job *j, unsigned int what, unsigned int from,
		      unsigned int to, unsigned int i)
{
	return ((what * 64 + from) * 64 + to) * 0x9e3779b97f4a7c15ull +
		i * 0xbf58476d1ce4e5b9ull + j->round;
}

static void expect(struct job *j, bool holds)
{
	j->checks++;
	j->wrong += !holds;
}

static int begin(struct job *j)
{
	size_t len = j->words * sizeof(uint64_t);
	struct nbc_req **req = j->reqs;
	unsigned int root;
	int ret;

	ret = nbc_iallgather(j->nbc, j->in, len, j->gathered, req++);
	if (!ret)
		ret = nbc_ialltoall(j->nbc, j->each, len, j->exchanged, req++);
	if (!ret)
		ret = nbc_iallreduce(j->nbc, j->in, j->words, j->sums, req++);
	for (root = 0; root < j->n && !ret; root++)
		ret = nbc_ibcast(j->nbc, j->roots[root], len, root, req++);
	j->n_reqs = req - j->reqs;
	return ret;
}

static void fill(struct job *j)
{
	unsigned int i, p;

	for (i = 0; i < j->words; i++)
		j->in[i] = value(j, GATHER, j->rank, 0, i);
	for (p = 0; p < j->n; p++)
		for (i = 0; i < j->words; i++) {
			j->each[p * j->words + i] =
				value(j, EACH, j->rank, p, i);
			j->roots[p][i] = p == j->rank ?
				value(j, ROOT, p, 0, i) : 0;
		}
}

static void check_all(struct job *j)
{
	unsigned int i, p;
	uint64_t sum;

	for (i = 0; i < j->words; i++) {
		for (sum = 0, p = 0; p < j->n; p++) {
			sum += value(j, GATHER, p, 0, i);
			expect(j, j->gathered[p * j->words + i] ==
				  value(j, GATHER, p, 0, i));
			expect(j, j->exchanged[p * j->words + i] ==
				  value(j, EACH, p, j->rank, i));
			expect(j, j->roots[p][i] == value(j, ROOT, p, 0, i));
		}
		expect(j, j->sums[i] == sum);
	}
}

/* One process comes late and tells all; after the barrier all are told. */
static int barrier(struct job *j)
{
	uint64_t stamp = value(j, STAMP, j->rank, 0, j->words);
	struct tp_req put;
	struct nbc_req *req;
	unsigned int p;
	int ret = 0;

	if (j->rank == j->round % j->n)
		usleep(LATE_US);
	for (p = 0; p < j->n && !ret; p++) {
		ret = tp_put(j->tp, p, j->rank * sizeof(stamp), &stamp,
			     sizeof(stamp), &put);
		if (!ret)
			ret = tp_wait(j->tp, &put);
	}
	if (!ret)
		ret = nbc_ibarrier(j->nbc, &req);
	if (!ret && waits)
		ret = nbc_wait(req);
	for (p = 0; p < j->n; p++)
		expect(j, j->window[p] == value(j, STAMP, p, 0, j->words));
	return ret || waits ? ret : nbc_wait(req);
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

static int one_length(struct job *j, unsigned int words)
{
	unsigned int i;
	int ret;

	j->words = words;
	fill(j);
	ret = begin(j);
	if (!ret && !waits)
		check_all(j);
	for (i = j->n_reqs; i-- && !ret;)
		ret = i % 2 ? nbc_wait(j->reqs[i]) :
			      test_until_done(j, j->reqs[i]);
	if (!ret)
		check_all(j);
	return ret ? ret : barrier(j);
}

static int all_rounds(struct job *j)
{
	static const unsigned int lengths[] = { 1, 512, 513, WORDS_MAX };
	unsigned int i, built = 0;
	int ret = 0;

	for (j->round = 0; j->round < rounds && !ret; j->round++) {
		for (i = 0; i < sizeof(lengths) / sizeof(*lengths) && !ret; i++)
			ret = one_length(j, lengths[i]);
		if (j->round)
			expect(j, nbc_schedules(j->nbc) == built);
		built = nbc_schedules(j->nbc);
	}
	return ret;
}

static bool alloc(struct job *j)
{
	size_t n = (size_t)WORDS_MAX * sizeof(uint64_t);
	unsigned int p;

	j->in = malloc(n);
	j->sums = malloc(n);
	j->each = malloc(j->n * n);
	j->gathered = malloc(j->n * n);
	j->exchanged = malloc(j->n * n);
	for (p = 0; p < j->n; p++) {
		j->roots[p] = malloc(n);
		if (!j->roots[p])
			return false;
	}
	return j->in && j->sums && j->each && j->gathered && j->exchanged;
}

static int report(struct job *j)
{
	uint64_t mine[2] = { j->checks, j->wrong }, all[TP_PROCESSES][2];
	uint64_t checks = 0, wrong = 0;
	unsigned int i;
	int ret = tp_share(j->tp, mine, sizeof(mine), all);

	for (i = 0; i < j->n && !ret; i++) {
		checks += all[i][0];
		wrong += all[i][1];
	}
	if (!ret && !j->rank)
		printf("nbc_check: processes=%u rounds=%u schedules=%u checks=%ju wrong=%ju\n",
		       j->n, rounds, nbc_schedules(j->nbc), (uintmax_t)checks,
		       (uintmax_t)wrong);
	return ret ? ret : wrong ? -EBADMSG : 0;
}

/* The process ends afterwards, so nothing is freed: it may still be moving. */
static int run(struct transport *tp)
{
	struct job j = { .tp = tp, .rank = tp_rank(tp),
			 .n = tp_processes(tp) };
	void *window;
	int ret = alloc(&j) ? 0 : -ENOMEM;

	if (!ret)
		ret = tp_window(tp, PROCESSES * sizeof(uint64_t), &window);
	if (!ret) {
		j.window = window;
		ret = nbc_open(&j.nbc, tp);
	}
	if (!ret)
		ret = all_rounds(&j);
	if (!ret)
		ret = report(&j);
	nbc_close(j.nbc);
	return ret;
}

static int option(int c, const char *arg)
{
	if (c == 'r')
		rounds = atoi(arg);
	else
		waits = false;
	return 0;
}

static int check(void)
{
	return rounds && launch_processes() <= PROCESSES ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "nbc_check",
		.options = "r:f",
		.usage = "  -r ROUNDS    of all collectives (2)\n"
			 "  -f           look at the results before the end\n",
		.option = option,
		.check = check,
		.run = run,
	};

	return launch(&program, argc, argv);
}
