// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * messages [-r ROUNDS] [-s BYTES] [OPTION...] - all processes of a job send each other
 * messages of many lengths, and check every byte
 *
 * In each round a process sends one message to each other process and receives
 * one of each, of all lengths in turn: empty, short, as long as is copied, one
 * byte more, long. Its buffers are unmapped after the round and mapped anew at the
 * same address. Then it writes into the windows of all and reads them back, hands
 * messages to their handlers, and a number goes around. See transport/options.c for
 * the other options.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option.h"
#include "transport/checked.h"
#include "transport/launch.h"

#define WINDOW (64u << 10)
#define POSTS 20u		/* to each other process */

static unsigned int rounds = 6;
static size_t longest = 256 << 10;

struct job {
	struct transport *tp;
	unsigned int rank, n;
	void *out, *in;		/* longest bytes for each process */
	struct tp_req *reqs;
	uint64_t wrong;
	unsigned int posts;	/* of handlers, under the lock of the transport */
};

static size_t length_of(unsigned int round, unsigned int from,
			unsigned int to)
{
	const size_t lengths[] = {
		0, 1, 64, 4096, 4097, 65536, longest, 24, longest - 1,
	};

	return lengths[(round + 3 * from + to) %
		       (sizeof(lengths) / sizeof(*lengths))];
}

static unsigned int seed_of(unsigned int round, unsigned int from,
			    unsigned int to)
{
	return (round << 16) ^ (from << 8) ^ to;
}

static int start(struct job *j, unsigned int round)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < j->n && !ret; i++) {
		if (i == j->rank)
			continue;
		checked_fill(j->out + i * longest,
			     length_of(round, j->rank, i),
			     seed_of(round, j->rank, i));
		ret = tp_irecv(j->tp, i, round % 3, j->in + i * longest,
			       longest, &j->reqs[i]);
		if (!ret)
			ret = tp_isend(j->tp, i, round % 3,
				       j->out + i * longest,
				       length_of(round, j->rank, i),
				       &j->reqs[j->n + i]);
	}
	return ret;
}

static int finish(struct job *j, unsigned int round)
{
	unsigned int i;
	size_t len;
	int ret;

	ret = tp_wait_all(j->tp, j->reqs, 2 * j->n);
	if (ret)
		return ret;
	for (i = 0; i < j->n; i++) {
		if (i == j->rank)
			continue;
		len = length_of(round, i, j->rank);
		j->wrong += j->reqs[i].len != len;
		j->wrong += checked_wrong(j->in + i * longest, len,
					  seed_of(round, i, j->rank));
	}
	return 0;
}

static int exchange(struct job *j)
{
	unsigned int round;
	int ret = 0;

	for (round = 0; round < rounds && !ret; round++) {
		ret = checked_map(&j->out, j->n * longest);
		if (!ret)
			ret = checked_map(&j->in, j->n * longest);
		if (!ret)
			ret = start(j, round);
		if (!ret && round == rounds / 2)
			ret = launch_middle();
		if (!ret)
			ret = finish(j, round);
	}
	return ret;
}

/* Each writes a part of everybody's window, then reads a part of everybody's. */
static int windows(struct job *j)
{
	size_t part = WINDOW / j->n & ~63ul, at;
	unsigned int i;
	void *window;
	char all[TP_PROCESSES], mine = 0;
	int ret = tp_window(j->tp, WINDOW, &window);

	for (i = 0; i < j->n && !ret; i++) {
		if (i == j->rank)
			continue;
		checked_fill(j->out, part, seed_of(77, j->rank, i));
		ret = tp_put(j->tp, i, j->rank * part, j->out, part,
			     j->reqs);
		if (!ret)
			ret = tp_wait(j->tp, j->reqs);
	}
	if (!ret)
		ret = tp_share(j->tp, &mine, sizeof(mine), all);
	for (i = 0; i < j->n && !ret; i++) {
		if (i == j->rank)
			continue;
		j->wrong += checked_wrong(window + i * part, part,
					  seed_of(77, i, j->rank));
		at = j->rank * part;
		ret = tp_get(j->tp, i, at, j->in, part, j->reqs);
		while (!ret)
			ret = tp_test(j->tp, j->reqs);
		ret = ret < 0 ? ret : 0;
		j->wrong += checked_wrong(j->in, part,
					  seed_of(77, j->rank, i));
	}
	return ret;
}

static void count_post(void *arg, unsigned int from, const void *msg,
		       size_t len)
{
	struct job *j = arg;
	uint32_t sum;

	memcpy(&sum, msg, sizeof(sum));
	j->wrong += sum != from || len < sizeof(sum);
	j->wrong += checked_wrong(msg + sizeof(sum), len - sizeof(sum), from);
	j->posts++;
}

static bool all_posts(void *arg)
{
	const struct job *j = arg;

	return j->posts == POSTS * (j->n - 1);
}

/* Each hands messages of all lengths over to each other process. */
static int posts(struct job *j)
{
	size_t max = tp_post_max(j->tp) - sizeof(uint32_t), len;
	char all[TP_PROCESSES], mine = 0;
	uint32_t head = j->rank;
	unsigned int i, n;
	int ret;

	tp_set_handler(j->tp, count_post, j);
	ret = tp_share(j->tp, &mine, sizeof(mine), all);
	checked_fill(j->out, max, j->rank);
	/* Too long, also where the sum of both lengths is not. */
	j->wrong += tp_post(j->tp, (j->rank + 1) % j->n, &head, sizeof(head),
			    j->out, max + 1) != -EINVAL;
	j->wrong += tp_post(j->tp, (j->rank + 1) % j->n, &head, sizeof(head),
			    j->out, SIZE_MAX - 2) != -EINVAL;
	for (n = 0; n < POSTS && !ret; n++)
		for (i = 0; i < j->n && !ret; i++) {
			len = max * n / (POSTS - 1);
			if (i != j->rank)
				ret = tp_post(j->tp, i, &head, sizeof(head),
					      j->out, len);
		}
	return ret ? ret : tp_wait_until(j->tp, all_posts, j);
}

/* A number goes around, and each process adds one. */
static int ring(struct job *j)
{
	unsigned int next = (j->rank + 1) % j->n;
	uint32_t number = 0;
	int ret = 0;

	if (j->rank)
		ret = tp_recv(j->tp, TP_ANY, 9, &number, sizeof(number));
	number++;
	if (!ret)
		ret = tp_send(j->tp, next, 9, &number, sizeof(number));
	if (!ret && !j->rank) {
		ret = tp_recv(j->tp, j->n - 1, 9, &number, sizeof(number));
		j->wrong += number != j->n;
	}
	return ret;
}

static int messages_run(struct transport *tp)
{
	struct job j = { .tp = tp, .rank = tp_rank(tp),
			 .n = tp_processes(tp) };
	uint64_t all[TP_PROCESSES], wrong = 0;
	unsigned int i;
	int ret;

	j.reqs = calloc(2 * j.n, sizeof(*j.reqs));
	if (!j.reqs)
		return -ENOMEM;
	ret = exchange(&j);
	if (!ret)
		ret = windows(&j);
	if (!ret)
		ret = posts(&j);
	if (!ret)
		ret = ring(&j);
	if (!ret)
		ret = tp_share(tp, &j.wrong, sizeof(j.wrong), all);
	for (i = 0; i < j.n && !ret; i++)
		wrong += all[i];
	if (!ret && !j.rank)
		printf("messages: processes=%u rounds=%u sent=%u wrong=%ju\n",
		       j.n, rounds, rounds * j.n * (j.n - 1),
		       (uintmax_t)wrong);
	/* A failed transport may still move bytes of the requests. */
	if (!ret)
		free(j.reqs);
	return ret ? ret : wrong ? -EBADMSG : 0;
}

static int option(int c, const char *arg)
{
	unsigned int bytes;
	int ret;

	if (c == 'r')
		return option_number(c, arg, 1, INT_MAX, &rounds);
	ret = option_number(c, arg, 4098, 64u << 20, &bytes);
	if (!ret)
		longest = bytes;
	return ret;
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "messages",
		.options = "r:s:",
		.usage = "  -r ROUNDS    of messages to all (6)\n"
			 "  -s BYTES     of the longest message (262144)\n",
		.option = option,
		.run = messages_run,
		.has_middle = true,
	};

	return launch(&program, argc, argv);
}
