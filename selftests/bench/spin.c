// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A thread that keeps the CPU from halting; see spin.h. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "instr.h"
#include "spin.h"

#define PER_TURN 2

static uint64_t turns;	/* written by the spinner alone */

#ifdef __x86_64__

static void *spin(void *arg)
{
	struct sched_param param = {};

	if (pthread_setschedparam(pthread_self(), SCHED_IDLE, &param))
		exit(1);
	asm volatile("1: incq %0\n\tjmp 1b" : "+m" (turns));
	return NULL;
}

int spin_start(void)
{
	pthread_t spinner;

	return -pthread_create(&spinner, NULL, spin, NULL);
}
#else
/* Elsewhere a turn has another number of instructions. */
int spin_start(void)
{
	return -ENOTSUP;
}
#endif

uint64_t spin_now(void)
{
	return instr_now() -
		PER_TURN * __atomic_load_n(&turns, __ATOMIC_RELAXED);
}
