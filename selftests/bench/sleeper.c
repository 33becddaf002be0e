// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "instr.h"
#include "sleeper.h"
#include "sysfs.h"

#define PHASES		16	/* more than any program has */
#define SLEEP_NS	9000	/* and up to as many more */
#define THROTTLE	"/proc/sys/kernel/sched_rt_runtime_us"

static struct {
	pthread_t thread;
	unsigned int phase;
	bool stop;
	uint64_t began_ns, began_instr, ns, instr;
	uint64_t late[PHASES];
	unsigned long times[PHASES];
} sleeper;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void *sleep_on(void *arg)
{
	unsigned int seed = 1, phase;
	struct timespec until;
	uint64_t wanted, now;

	while (!__atomic_load_n(&sleeper.stop, __ATOMIC_RELAXED)) {
		phase = __atomic_load_n(&sleeper.phase, __ATOMIC_RELAXED);
		seed = seed * 1103515245 + 12345;
		wanted = now_ns() + SLEEP_NS + (seed >> 8) % SLEEP_NS;
		until.tv_sec = wanted / 1000000000;
		until.tv_nsec = wanted % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		now = now_ns();
		if (phase != __atomic_load_n(&sleeper.phase, __ATOMIC_RELAXED))
			continue;
		sleeper.times[phase]++;
		if (now > wanted && now - wanted > sleeper.late[phase])
			sleeper.late[phase] = now - wanted;
	}
	return NULL;
}

int sleeper_start(void)
{
	struct sched_param param = { .sched_priority = 50 };
	pthread_attr_t attr;

	/* The thread takes most of the CPU while it measures. */
	if (file_write(THROTTLE, "-1"))
		return -EPERM;
	sleeper.began_ns = now_ns();
	sleeper.began_instr = instr_now();
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	return -pthread_create(&sleeper.thread, &attr, sleep_on, NULL);
}

void sleeper_phase(unsigned int phase)
{
	__atomic_store_n(&sleeper.phase, phase, __ATOMIC_RELAXED);
}

void sleeper_wait(void)
{
	uint64_t until = now_ns() + 4 * SLEEP_NS;

	while (now_ns() < until)
		;
}

void sleeper_stop(void)
{
	sleeper.ns = now_ns() - sleeper.began_ns;
	sleeper.instr = instr_now() - sleeper.began_instr;
	__atomic_store_n(&sleeper.stop, true, __ATOMIC_RELAXED);
	pthread_join(sleeper.thread, NULL);
}

void sleeper_print(const char *const *names, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		printf("%s %.0f %lu\n", names[i],
		       (double)sleeper.late[i] * sleeper.instr / sleeper.ns,
		       sleeper.times[i]);
}
