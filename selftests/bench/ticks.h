/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A counter of the processor that programs may read. On x86 it is the time stamp
 * counter, which in a guest whose instructions QEMU counts advances by one with each.
 */
#ifndef SELFTESTS_TICKS_H
#define SELFTESTS_TICKS_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>

static inline uint64_t ticks_now(void)
{
	return __rdtsc();
}
#elif defined(__aarch64__)
static inline uint64_t ticks_now(void)
{
	uint64_t ticks;

	asm volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}
#endif

#endif
