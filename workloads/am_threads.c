// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * am_threads [-t THREADS] [-r ROUNDS] [OPTION...] - several threads of each process
 * use its transport at once
 *
 * In each round a thread exchanges messages with the thread of its number in each
 * other process, sends active messages to all processes and its own, and takes part
 * in collectives: one of a group that it has for itself, and one of a group that all
 * threads begin collectives of in turns. All bytes and results are checked. What -k,
 * -S and -E do, the first thread does. See transport/options.c for the other options.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "am/am.h"
#include "nbc/nbc.h"
#include "option.h"
#include "transport/checked.h"
#include "transport/launch.h"

#define THREADS	16u
#define LONG	20000u
#define NUMBERS	700u
#define DEPTH	2u
#define REPLY	64u

enum { ASK, ANSWER, N_HANDLERS };

static unsigned int n_threads = 4, rounds = 6;

struct job;

struct thread {
	struct job *job;
	pthread_t id;
	unsigned int number;
	struct nbc *own;		/* a group */
	char *out, *in;			/* LONG bytes for each process */
	struct tp_req *reqs;
	uint64_t asked, answered;	/* under the lock of the transport */
	struct tally tally;
	int ret;
};

struct job {
	struct transport *tp;
	unsigned int rank, n;
	struct am *am;
	struct nbc *all, *shared;
	struct thread threads[THREADS];
	uint64_t wrong;			/* found by handlers, under the lock */

	pthread_mutex_t lock;
	pthread_cond_t passed;
	unsigned int turn;		/* collectives that were begun */
	bool failed;			/* a thread has an error, and begins none */
};

static unsigned int seed_of(unsigned int round, unsigned int thread,
			    unsigned int from, unsigned int to)
{
	return (round << 20) ^ (thread << 14) ^ (from << 7) ^ to;
}

/* @args: the thread that asks, the seed of the bytes */
static void ask(struct am_token *token, const uint64_t *args, const void *body,
		size_t len)
{
	struct job *j = am_arg(token->am);
	char bytes[REPLY];

	j->wrong += !len || checked_wrong(body, len, args[1]);
	checked_fill(bytes, sizeof(bytes), args[1] + 1);
	j->wrong += !!am_reply(token, ANSWER, args, bytes, sizeof(bytes));
}

static void answer(struct am_token *token, const uint64_t *args,
		   const void *body, size_t len)
{
	struct job *j = am_arg(token->am);

	j->wrong += len != REPLY || checked_wrong(body, len, args[1] + 1);
	j->threads[args[0]].answered++;
}

/* Short messages and long ones, to the thread of the same number. */
static int messages(struct thread *t, unsigned int round)
{
	struct job *j = t->job;
	size_t len = (round + t->number) % 2 ? LONG : 300 + round;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < j->n && !ret; i++) {
		t->reqs[2 * i] = t->reqs[2 * i + 1] = (struct tp_req){};
		if (i == j->rank)
			continue;
		checked_fill(t->out + i * LONG, len,
			     seed_of(round, t->number, j->rank, i));
		ret = tp_irecv(j->tp, i, t->number, t->in + i * LONG, LONG,
			       &t->reqs[2 * i]);
		if (!ret)
			ret = tp_isend(j->tp, i, t->number, t->out + i * LONG,
				       len, &t->reqs[2 * i + 1]);
	}
	if (!ret)
		ret = tp_wait_all(j->tp, t->reqs, 2 * j->n);
	for (i = 0; i < j->n && !ret; i++)
		if (i != j->rank)
			tally_expect(&t->tally, t->reqs[2 * i].len == len &&
				     !checked_wrong(t->in + i * LONG, len,
					seed_of(round, t->number, i, j->rank)));
	return ret;
}

static bool all_answered(void *arg)
{
	struct thread *t = arg;

	return t->answered == t->asked;
}

static int requests(struct thread *t, unsigned int round)
{
	struct job *j = t->job;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 2 * j->n && !ret; i++) {
		unsigned int to = i % j->n;
		uint64_t args[AM_ARGS] = {
			t->number, seed_of(round, t->number, j->rank, i),
		};
		size_t len = 1 + args[1] % 1500;

		checked_fill(t->out, len, args[1]);
		t->asked++;
		ret = am_request(j->am, to, ASK, args, t->out, len);
	}
	return ret ? ret : tp_wait_until(j->tp, all_answered, t);
}

/* Of each process: its rank, the number of the thread, and where it stands. */
static int64_t value(const struct thread *t, unsigned int round,
		     unsigned int rank, unsigned int i)
{
	return (int64_t)(i % 7) - 3 + 1000 * rank + 100000 * t->number +
		(int64_t)round * 10000000;
}

static void fill(const struct thread *t, unsigned int round, int64_t *at)
{
	unsigned int i;

	for (i = 0; i < NUMBERS; i++)
		at[i] = value(t, round, t->job->rank, i);
}

static bool is_sum(const struct thread *t, unsigned int round,
		   const int64_t *at)
{
	unsigned int i, rank;
	int64_t sum;

	for (i = 0; i < NUMBERS; i++) {
		sum = 0;
		for (rank = 0; rank < t->job->n; rank++)
			sum += value(t, round, rank, i);
		if (at[i] != sum)
			return false;
	}
	return true;
}

static int own_sum(struct thread *t, unsigned int round)
{
	int64_t *in = (int64_t *)t->out, *out = (int64_t *)t->in;
	struct nbc_req *req;
	int ret;

	fill(t, round, in);
	ret = nbc_iallreduce(t->own, in, out, NUMBERS, NBC_INT64, NBC_SUM,
			     &req);
	if (!ret)
		ret = nbc_wait(req);
	if (!ret)
		tally_expect(&t->tally, is_sum(t, round, out));
	return ret;
}

/* The threads begin in the same order in all processes, and wait at any time. */
static int begin_in_turn(struct thread *t, unsigned int round, const void *in,
			 void *out, struct nbc_req **req)
{
	struct job *j = t->job;
	int ret = -ECANCELED;

	pthread_mutex_lock(&j->lock);
	while (!j->failed && j->turn != round * n_threads + t->number)
		pthread_cond_wait(&j->passed, &j->lock);
	if (!j->failed)
		ret = nbc_iallreduce(j->shared, in, out, NUMBERS, NBC_INT64,
				     NBC_SUM, req);
	j->turn++;
	pthread_cond_broadcast(&j->passed);
	pthread_mutex_unlock(&j->lock);
	return ret;
}

static int shared_sum(struct thread *t, unsigned int round)
{
	int64_t *in = (int64_t *)t->out, *out = (int64_t *)t->in;
	struct nbc_req *req = NULL;
	int ret;

	fill(t, round, in);
	ret = begin_in_turn(t, round, in, out, &req);
	if (!ret && round % 2)
		ret = nbc_wait(req) ?: 1;
	while (!ret && !(ret = nbc_test(req)))
		ret = tp_pause(t->job->tp);
	if (ret > 0)
		tally_expect(&t->tally, is_sum(t, round, out));
	return ret < 0 ? ret : 0;
}

/* In the first thread, in the middle. */
static int happen(const struct thread *t, unsigned int round)
{
	return t->number || round != rounds / 2 ? 0 : launch_middle();
}

/* No other thread may wait for what this one does not begin. */
static void give_up(struct thread *t)
{
	struct job *j = t->job;

	tp_abort(j->tp, t->ret);
	pthread_mutex_lock(&j->lock);
	j->failed = true;
	pthread_cond_broadcast(&j->passed);
	pthread_mutex_unlock(&j->lock);
}

static void *thread(void *arg)
{
	struct thread *t = arg;
	unsigned int round;

	for (round = 0; round < rounds && !t->ret; round++) {
		t->ret = messages(t, round);
		if (!t->ret)
			t->ret = happen(t, round);
		if (!t->ret)
			t->ret = requests(t, round);
		if (!t->ret)
			t->ret = own_sum(t, round);
		if (!t->ret)
			t->ret = shared_sum(t, round);
	}
	if (t->ret)
		give_up(t);
	return NULL;
}

static int open_thread(struct job *j, unsigned int number)
{
	struct thread *t = &j->threads[number];

	t->job = j;
	t->number = number;
	t->out = calloc(j->n, LONG);
	t->in = calloc(j->n, LONG);
	t->reqs = calloc(2 * j->n, sizeof(*t->reqs));
	if (!t->out || !t->in || !t->reqs)
		return -ENOMEM;
	return nbc_split(j->all, 0, j->rank, &t->own);
}

static int open_all(struct job *j)
{
	static const am_handler handlers[] = { ask, answer };
	unsigned int i;
	int ret = am_open(&j->am, j->tp, DEPTH, handlers, N_HANDLERS, j);

	if (!ret)
		ret = nbc_open(&j->all, j->tp);
	if (!ret)
		ret = nbc_split(j->all, 0, j->rank, &j->shared);
	for (i = 0; i < n_threads && !ret; i++)
		ret = open_thread(j, i);
	return ret;
}

/* Other threads are still in calls where one could not be started. */
static int run_threads(struct job *j)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < n_threads; i++)
		if (pthread_create(&j->threads[i].id, NULL, thread,
				   &j->threads[i]))
			abort();
	for (i = 0; i < n_threads; i++) {
		pthread_join(j->threads[i].id, NULL);
		ret = ret ? ret : j->threads[i].ret;
	}
	return ret;
}

/* Once all are here, no handler runs any more. */
static int report(struct job *j)
{
	char text[96], all[TP_PROCESSES], mine = 0;
	struct tally sum = {};
	unsigned int i;
	int ret = tp_share(j->tp, &mine, sizeof(mine), all);

	if (ret)
		return ret;
	sum.wrong = j->wrong;
	for (i = 0; i < n_threads; i++) {
		sum.checks += j->threads[i].tally.checks;
		sum.wrong += j->threads[i].tally.wrong;
	}
	snprintf(text, sizeof(text),
		 "am_threads: processes=%u threads=%u rounds=%u", j->n,
		 n_threads, rounds);
	return tally_report(j->tp, text, &sum);
}

static int close_all(struct job *j)
{
	unsigned int i;
	int ret = am_close(j->am);

	for (i = 0; i < n_threads; i++) {
		nbc_close(j->threads[i].own);
		free(j->threads[i].out);
		free(j->threads[i].in);
		free(j->threads[i].reqs);
	}
	nbc_close(j->shared);
	nbc_close(j->all);
	return ret;
}

/* After an error nothing is freed: it may still be moving. */
static int am_threads_run(struct transport *tp)
{
	struct job *j = calloc(1, sizeof(*j));
	int ret;

	if (!j)
		return -ENOMEM;
	j->tp = tp;
	j->rank = tp_rank(tp);
	j->n = tp_processes(tp);
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->passed, NULL);
	ret = open_all(j);
	if (!ret)
		ret = run_threads(j);
	if (!ret)
		ret = report(j);
	if (ret)
		return ret;
	ret = close_all(j);
	free(j);
	return ret;
}

static int option(int c, const char *arg)
{
	if (c == 't')
		return option_number(c, arg, 1, THREADS, &n_threads);
	return option_number(c, arg, 1, INT_MAX, &rounds);
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "am_threads",
		.options = "t:r:",
		.usage = "  -t THREADS   of each process (4)\n"
			 "  -r ROUNDS    of messages and collectives (6)\n",
		.option = option,
		.run = am_threads_run,
		.has_middle = true,
	};

	return launch(&program, argc, argv);
}
