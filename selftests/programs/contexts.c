// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * contexts - a plain verbs program: several contexts, in a parent and its child
 *
 * It knows nothing of uUARs, policies or mlx5. The parent opens contexts with
 * QPs, and has traffic on each; a child that it forks (without exec) does the
 * same. While all of it exists, the parent runs a shell command. Exit status 0
 * means that all data was right and the command succeeded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs.h"

#define CONTEXTS 3
#define QPS 4

struct all {
	struct verbs_setup setup[CONTEXTS];
	struct verbs_endpoint endpoints[CONTEXTS][QPS];
};

static int open_one(struct verbs_setup *setup, struct verbs_endpoint *endpoints)
{
	int i, ret;

	ret = verbs_open(setup, NULL, QPS);
	for (i = 0; !ret && i < QPS; i++)
		ret = verbs_endpoint_create(setup, &endpoints[i], IBV_QPT_RC);
	return ret ? ret : verbs_traffic_all(endpoints, QPS, 2);
}

static int open_all(struct all *all)
{
	int i, ret = 0;

	for (i = 0; !ret && i < CONTEXTS; i++)
		ret = open_one(&all->setup[i], all->endpoints[i]);
	if (ret)
		fprintf(stderr, "context %d: %s\n", i, strerror(-ret));
	return ret;
}

/* Says that all is there, and waits until the parent has ended or closed. */
static int contexts_child(struct all *all, int ready, int end)
{
	char byte;

	if (open_all(all) || write(ready, "", 1) != 1)
		return 1;
	return read(end, &byte, 1) ? 1 : 0;
}

int main(int argc, char **argv)
{
	int ready[2], end[2], status, ret;
	struct all all = {};
	char byte;
	pid_t pid;

	if (argc != 2 || pipe(ready) || pipe(end))
		return 2;
	pid = fork();
	if (!pid) {
		close(end[1]);
		close(ready[0]);
		return contexts_child(&all, ready[1], end[0]);
	}
	close(ready[1]);
	ret = open_all(&all);
	if (!ret && read(ready[0], &byte, 1) == 1)
		ret = system(argv[1]);
	else
		ret = 1;
	close(end[1]);
	return waitpid(pid, &status, 0) != pid || status || ret;
}
