// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Computation beside a collective; see compute.h. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "compute.h"

#define TRIAL 200000ul		/* steps */

static volatile uint64_t result;

double compute_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int compute_pin(unsigned int rank, unsigned int processes)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	cpu_set_t set;
	int ret = 0;

	if (!tasks)
		return -errno;
	if (sysconf(_SC_NPROCESSORS_ONLN) < processes)
		ret = -ENOSPC;
	CPU_ZERO(&set);
	CPU_SET(rank, &set);
	while (!ret && (task = readdir(tasks)))
		if (task->d_name[0] != '.' &&
		    sched_setaffinity(atoi(task->d_name), sizeof(set), &set))
			ret = -errno;
	closedir(tasks);
	return ret;
}

void compute_steps(unsigned long steps)
{
	uint64_t x = result + 1;

	while (steps--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	result = x;
}

double compute_rate(void)
{
	double since = compute_now();

	compute_steps(TRIAL);
	return TRIAL / (compute_now() - since);
}
