/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Forks by another thread, at each step of a call, in tests that have the library in them:
 * a step is what a fake calls, and what the library does with a lock. The library is
 * included with pthread_mutex_lock and pthread_mutex_unlock defined as those here.
 */
#ifndef SELFTESTS_STEPS_H
#define SELFTESTS_STEPS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

/**
 * struct steps - the children of the steps
 * @on: there is a child of each step
 * @wrong: what a child does; 0: all is as it should be
 * @children: there were
 * @bad: of them, those that were wrong, crashed, or waited for ever
 */
static struct steps {
	bool on;
	int (*wrong)(void);
	int children, bad;
} steps;

static void step(void)
{
	int status = 0;
	pid_t pid;

	if (!steps.on)
		return;
	steps.children++;
	pid = fork();
	if (!pid) {
		steps.on = false;
		alarm(5);
		_exit(steps.wrong());
	}
	waitpid(pid, &status, 0);
	steps.bad += !!status;
}

/* A call of another library, which may be a cancellation point too. */
static void step_outside(void)
{
	step();
	pthread_testcancel();
}

static int step_lock(pthread_mutex_t *lock)
{
	int ret;

	step();
	ret = pthread_mutex_lock(lock);
	step();
	return ret;
}

static int step_unlock(pthread_mutex_t *lock)
{
	int ret;

	step();
	ret = pthread_mutex_unlock(lock);
	step();
	return ret;
}

#endif
