// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * nbc_events [-r ROUNDS] [-k RANK] [-f] [-x] [-w FILE] [OPTION...] - collectives
 * while something happens
 *
 * A round is an alltoall, an allreduce and a broadcast of long messages, in memory
 * that is unmapped and mapped anew after each round. All results are checked. In
 * the middle of each round
 *	-k: the process with this rank is killed, in the third round
 *	-f: each process forks, and the child writes to all buffers
 *	-x: process 0 unmaps what it sends by the alltoall, and maps other memory
 *	    there; the result of this alltoall is not checked
 * With -w there are rounds until FILE exists, and ROUNDS more: the caller changes
 * something meanwhile. See transport/launch.c for the other options.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nbc/plan.h"
#include "transport/launch.h"

#define COUNT	6000u		/* numbers of 64 bits in a part */
#define N	3u

static unsigned int rounds = 6;
static int victim = -1;
static bool forks, unmaps;
static const char *file;

struct job {
	struct transport *tp;
	struct nbc *nbc;
	struct plan_place place;
	struct plan_item items[N];
	void *in[N], *out[N];
	size_t len;			/* of each buffer */
	struct nbc_req *reqs[N];
	uint64_t wrong, checks;
};

/* At the address where there was memory before, if there was. */
static int map_anew(void **at, size_t len)
{
	void *new;

	if (*at && munmap(*at, len))
		return -errno;
	new = mmap(*at, len, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		   MAP_ANONYMOUS | (*at ? MAP_FIXED : 0), -1, 0);
	if (new == MAP_FAILED)
		return -errno;
	*at = new;
	return 0;
}

static int prepare(struct job *j, unsigned int round)
{
	static const enum nbc_kind kinds[N] = {
		NBC_ALLTOALL, NBC_ALLREDUCE, NBC_BCAST
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < N && !ret; i++) {
		j->items[i] = (struct plan_item){
			.id = round * N + i,
			.kind = kinds[i],
			.type = NBC_UINT64,
			.op = NBC_SUM,
			.count = COUNT,
			.pick = round,
		};
		ret = map_anew(&j->in[i], j->len);
		if (!ret)
			ret = map_anew(&j->out[i], j->len);
		if (ret)
			break;
		plan_in(&j->items[i], j->place, j->in[i]);
		plan_before(&j->items[i], j->place, j->out[i]);
	}
	return ret;
}

static int begin(struct job *j)
{
	size_t len = COUNT * sizeof(uint64_t);
	int ret;

	ret = nbc_ialltoall(j->nbc, j->in[0], len, j->out[0], &j->reqs[0]);
	if (!ret)
		ret = nbc_iallreduce(j->nbc, j->in[1], j->out[1], COUNT,
				     NBC_UINT64, NBC_SUM, &j->reqs[1]);
	if (!ret)
		ret = nbc_ibcast(j->nbc, j->out[2], len,
				 plan_root(&j->items[2], j->place.n),
				 &j->reqs[2]);
	return ret;
}

/* The child has a copy of the memory. */
static int fork_and_write(struct job *j)
{
	unsigned int i;
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		for (i = 0; i < N; i++) {
			memset(j->in[i], 0x55, j->len);
			memset(j->out[i], 0x55, j->len);
		}
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return -ECHILD;
	return 0;
}

static int event(struct job *j, unsigned int round)
{
	if (victim == (int)j->place.rank && round == 2)
		kill(getpid(), SIGKILL);
	if (unmaps && !j->place.rank)
		return map_anew(&j->in[0], j->len);
	return forks ? fork_and_write(j) : 0;
}

static void check_one(struct job *j, unsigned int i)
{
	size_t len = plan_out_len(&j->items[i], j->place);
	void *right = malloc(len);

	if (!right)
		abort();
	plan_after(&j->items[i], j->place, right);
	j->checks++;
	j->wrong += memcmp(right, j->out[i], len) != 0;
	free(right);
}

static int one_round(struct job *j, unsigned int round)
{
	unsigned int i;
	int ret = prepare(j, round);

	if (!ret)
		ret = begin(j);
	if (!ret)
		ret = event(j, round);
	for (i = 0; i < N && !ret; i++) {
		ret = nbc_wait(j->reqs[i]);
		if (!ret && (i || !unmaps))
			check_one(j, i);
	}
	return ret;
}

/* Process 0 looks, and tells all. Return: 1 if it is the last round, 0 or -errno. */
static int is_last(struct job *j, unsigned int *left)
{
	uint8_t there = !file || !access(file, F_OK);
	struct nbc_req *req;
	int ret = nbc_ibcast(j->nbc, &there, sizeof(there), 0, &req);

	if (!ret)
		ret = nbc_wait(req);
	if (ret || !there)
		return ret;
	return !--*left;
}

static int all_rounds(struct job *j)
{
	unsigned int round, left = rounds;
	int ret = 0;

	for (round = 0; !ret; round++) {
		ret = one_round(j, round);
		if (!ret)
			ret = is_last(j, &left);
		if (!round && !j->place.rank) {
			printf("nbc_events: under way\n");
			fflush(stdout);
		}
	}
	return ret < 0 ? ret : 0;
}

static int report(struct job *j)
{
	uint64_t mine[2] = { j->checks, j->wrong }, all[TP_PROCESSES][2];
	uint64_t checks = 0, wrong = 0;
	unsigned int i;
	int ret = tp_share(j->tp, mine, sizeof(mine), all);

	for (i = 0; i < j->place.n && !ret; i++) {
		checks += all[i][0];
		wrong += all[i][1];
	}
	if (!ret && !j->place.rank)
		printf("nbc_events: processes=%u checks=%ju wrong=%ju\n",
		       j->place.n, (uintmax_t)checks, (uintmax_t)wrong);
	return ret ? ret : wrong ? -EBADMSG : 0;
}

static int run(struct transport *tp)
{
	struct job j = { .tp = tp, .place = { tp_rank(tp), tp_processes(tp) } };
	int ret = nbc_open(&j.nbc, tp);

	j.len = j.place.n * COUNT * sizeof(uint64_t);
	if (!ret)
		ret = all_rounds(&j);
	if (!ret)
		ret = report(&j);
	nbc_close(j.nbc);
	return ret;
}

static int option(int c, const char *arg)
{
	switch (c) {
	case 'r':
		rounds = atoi(arg);
		return 0;
	case 'k':
		victim = atoi(arg);
		return 0;
	case 'f':
		forks = true;
		return 0;
	case 'x':
		unmaps = true;
		return 0;
	default:
		file = arg;
		return 0;
	}
}

static int check(void)
{
	return rounds && launch_processes() <= PLAN_PROCESSES ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "nbc_events",
		.options = "r:k:fxw:",
		.usage = "  -r ROUNDS    at least (6)\n"
			 "  -k RANK      is killed in the third round\n"
			 "  -f           fork in each round\n"
			 "  -x           unmap a buffer that is sent, in each round\n"
			 "  -w FILE      rounds until it exists, and ROUNDS more\n",
		.option = option,
		.check = check,
		.run = run,
	};

	return launch(&program, argc, argv);
}
