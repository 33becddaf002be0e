// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * spin_waits.so - preloaded into a program, counts its spinlocks: how often one was
 * taken, and how often a thread found it taken and had to wait
 *
 * libmlx5 takes a spinlock around a uUAR that QPs share. A line on stderr tells the
 * counts when the program ends.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static unsigned long taken, waited;

int pthread_spin_lock(pthread_spinlock_t *lock)
{
	__atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED);
	if (!pthread_spin_trylock(lock))
		return 0;
	__atomic_add_fetch(&waited, 1, __ATOMIC_RELAXED);
	while (pthread_spin_trylock(lock))
		sched_yield();
	return 0;
}

static void __attribute__((destructor)) tell(void)
{
	fprintf(stderr, "spin_waits: taken=%lu waited=%lu\n", taken, waited);
}
