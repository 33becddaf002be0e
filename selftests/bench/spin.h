/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Instructions of calls that wait for the HCA, in a guest whose instructions QEMU
 * counts. A CPU that halts would let the time stamp counter jump, so a thread of
 * the lowest class spins meanwhile, two instructions a turn, and its turns are
 * subtracted.
 */
#ifndef SELFTESTS_SPIN_H
#define SELFTESTS_SPIN_H

#include <stdint.h>

/* Start the thread, which runs until the process ends. 0 or -errno. */
int spin_start(void);

/* Instructions so far, without those turns. */
uint64_t spin_now(void);

#endif
