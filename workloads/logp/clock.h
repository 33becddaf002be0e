/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The time of one message by the guest's clock: from the call until the last thing
 * that happens at either end.
 *
 * In a guest whose instructions QEMU counts, an instruction takes a nanosecond of this
 * clock. Both ends are polled, so the clock goes on while the simulated adapter works.
 * That part depends on the machine. The shortest time is that of an adapter which has
 * done its work when the guest's processor goes on after the doorbell.
 */
#ifndef SELFTESTS_LOGP_CLOCK_H
#define SELFTESTS_LOGP_CLOCK_H

#include "sides.h"

#define LOGP_TIMES 21		/* messages whose time is taken */

/**
 * struct logp_time - of one message
 * @ns: the median, in nanoseconds
 * @low: the shortest time
 * @high: the longest time
 */
struct logp_time {
	double ns, low, high;
};

/*
 * Sends LOGP_TIMES + 1 messages; the first one warms up. -ETIMEDOUT if nothing happened
 * at either end, or -errno of what was called
 */
int logp_time(const struct logp_sides *sides, logp_send send,
	      struct logp_time *time);

#endif
