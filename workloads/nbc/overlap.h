/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How much of the time of a collective is free for computation, after the benchmark
 * of Hoefler and Lumsdaine (2008), for any library of collectives.
 *
 * The time of a collective is what it takes where the caller begins it and waits.
 * The overhead is the processor time of the caller in the calls where it does
 * something else meanwhile. The share that is free is 1 - overhead / time; where the
 * time of all threads of the process counts as overhead, it is free_all.
 *
 * There are two ways to do something else. A caller that sleeps leaves the processor to
 * the other processes of the guest. So the time of a collective alone holds the work of
 * all of them, and a share of 1 - 1 / processes is free without any overlap. A caller
 * that computes for as long as the collective takes, on a processor of its own, has as
 * overhead what the computation takes longer beside a collective. That is the honest
 * share: a helper thread, interrupts and the kernel take the processor from it, too.
 *
 * A caller that sleeps does so for 1.5 times as long as the collective takes then, and
 * for 2 ms between two tests at least.
 *
 * In a guest whose instructions QEMU counts, a nanosecond is an instruction. The clock
 * of such a guest is slower than that of the cable while somebody polls, and as fast while
 * all sleep. So a collective alone may be waited for asleep.
 */
#ifndef SELFTESTS_NBC_OVERLAP_H
#define SELFTESTS_NBC_OVERLAP_H

#include <stdbool.h>

#include "plan.h"

#define OVERLAP_TESTS 9u		/* that overlap_run() can make at most */
#define OVERLAP_SAMPLES 15u		/* likewise */
#define OVERLAP_LENS 8u			/* likewise */
#define OVERLAP_BYTES (1u << 20)	/* of a part, likewise */

/**
 * struct overlap_how - what the caller does beside a collective
 * @tests: in each collective, while the caller does something else
 * @samples: of each figure, whose median counts; 0 for 15 where it computes, else 5
 * @computes: it computes, and does not sleep
 * @waits_asleep: who has nothing else to do looks every 100 microseconds
 * @lens: bytes of a part, multiples of 8; 64, 64 KiB and 256 KiB where there are none
 * @n_lens: how many of them
 */
struct overlap_how {
	unsigned int tests, samples;
	bool computes, waits_asleep;
	size_t lens[OVERLAP_LENS];
	unsigned int n_lens;
};

/* Lengths from a list with commas. Return: 0, or -EINVAL after a message on stderr. */
int overlap_lens(const char *list, struct overlap_how *how);

/**
 * struct overlap_lib - a library of collectives; functions return 0 or -errno
 * @begin: begin one of all processes; @item has numbers of 64 bits
 * @test: look at it, which lets it go on; 1 if it is done
 * @wait: wait for it, if @test has not said that it is done
 * @meet: comes back when all have called it
 * @sum: add up numbers of all processes
 */
struct overlap_lib {
	const char *name;
	struct plan_place place;
	int (*begin)(const struct plan_item *item, const void *in, void *out);
	int (*test)(void);
	int (*wait)(void);
	int (*meet)(void);
	int (*sum)(double *v, unsigned int n);
};

/*
 * Measure and print a line for each collective and length. -ENOSPC if processes compute
 * and there is no processor for each. Another -errno.
 */
int overlap_run(const struct overlap_lib *lib, struct overlap_how how);

#endif
