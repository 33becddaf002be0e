// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rounds in which something happens; see events.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checked.h"
#include "events.h"
#include "launch.h"
#include "option.h"

#define TAG	0x7fffffffu	/* of what process 0 says after a round */
#define MIDDLE	2u		/* the round of launch_middle() */

static unsigned int rounds = 6;
static bool forks, unmaps;
static const char *file;

bool events_unmaps(unsigned int rank)
{
	return unmaps && !rank;
}

static int map_all(struct events *e)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < e->n && !ret; i++)
		if (!e->bufs[i].stays)
			ret = checked_map(&e->bufs[i].at, e->bufs[i].len);
	return ret;
}

/* The child has a copy of the memory. */
static int fork_and_write(struct events *e)
{
	unsigned int i;
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		for (i = 0; i < e->n; i++)
			memset(e->bufs[i].at, 0x55, e->bufs[i].len);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return -ECHILD;
	return 0;
}

static int happen(struct events *e, unsigned int round)
{
	int ret = round == MIDDLE ? launch_middle() : 0;

	if (ret)
		return ret;
	if (events_unmaps(tp_rank(e->tp)))
		return checked_map(&e->bufs[0].at, e->bufs[0].len);
	return forks ? fork_and_write(e) : 0;
}

static int one_round(struct events *e, unsigned int round)
{
	int ret = map_all(e);

	if (!ret)
		ret = e->begin(e->arg, round);
	if (!ret)
		ret = happen(e, round);
	return ret ? ret : e->end(e->arg);
}

/* Process 0 looks, and tells all. Return: 1 if it is the last round, 0 or -errno. */
static int is_last(struct events *e, unsigned int *left)
{
	uint8_t there = !file || !access(file, F_OK);
	unsigned int i;
	int ret = 0;

	if (tp_rank(e->tp))
		ret = tp_recv(e->tp, 0, TAG, &there, sizeof(there));
	else
		for (i = 1; i < tp_processes(e->tp) && !ret; i++)
			ret = tp_send(e->tp, i, TAG, &there, sizeof(there));
	if (ret || !there)
		return ret;
	return !--*left;
}

int events_run(struct events *e)
{
	unsigned int round, left = rounds;
	int ret = 0;

	for (round = 0; !ret; round++) {
		ret = one_round(e, round);
		if (!ret)
			ret = is_last(e, &left);
		if (!round && !tp_rank(e->tp)) {
			printf("%s: under way\n", e->name);
			fflush(stdout);
		}
	}
	return ret < 0 ? ret : 0;
}

int events_check(void)
{
	char text[12];

	/* A file that is there already ends the job after @rounds, too. */
	if (!launch_asks_middle() || rounds > MIDDLE)
		return 0;
	snprintf(text, sizeof(text), "%u", rounds);
	return launch_refuse('r', text, "3 or more, which -k, -S and -E need");
}

int events_option(int c, const char *arg)
{
	switch (c) {
	case 'r':
		return option_number(c, arg, 1, INT_MAX, &rounds);
	case 'f':
		forks = true;
		return 0;
	case 'x':
		unmaps = true;
		return 0;
	case 'w':
		file = arg;
		return 0;
	default:
		return -EINVAL;
	}
}
