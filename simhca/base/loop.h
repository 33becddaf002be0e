/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The event loop of the process: file descriptors and timers.
 *
 * Invariants
 * - Callbacks run one at a time, and never inside the call that caused them. A
 *   handler that wants to continue later may arm its own timer with 0 ns.
 * - A callback may remove or arm any descriptor or timer, including its own.
 * - Timers fire in the order of their deadlines. Timers with equal deadlines
 *   fire in the order in which they were armed. A busy descriptor cannot starve
 *   timers, and timers cannot starve a descriptor.
 */
#ifndef SIMHCA_LOOP_H
#define SIMHCA_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define NSEC_PER_USEC 1000ull
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_SEC 1000000000ull

/**
 * struct sim_fd - a watched descriptor, embedded in its owner
 * @fd: -1 if there is none
 * @events: epoll events that are watched
 * @ready: called with the epoll events that occurred
 */
struct sim_fd {
	int fd;
	uint32_t events;
	void (*ready)(struct sim_fd *sfd, uint32_t events);
};

/**
 * struct sim_timer - a one-shot timer, embedded in its owner
 * @fire: called once at the deadline; the timer is idle before the call
 * @deadline: loop_now() at which to fire
 * @seq: order among equal deadlines
 * @slot: index in the heap plus 1; 0 while idle. A zeroed struct is idle.
 */
struct sim_timer {
	void (*fire)(struct sim_timer *timer);
	uint64_t deadline;
	uint64_t seq;
	size_t slot;
};

int loop_init(void);
void loop_fini(void);
int loop_run(void);
void loop_stop(void);
uint64_t loop_now(void);
void loop_simulate_time(void);

int loop_add(struct sim_fd *sfd);
int loop_modify(struct sim_fd *sfd, uint32_t events);
void loop_remove(struct sim_fd *sfd);

void timer_arm_at(struct sim_timer *timer, uint64_t deadline);
void timer_arm(struct sim_timer *timer, uint64_t ns);
void timer_cancel(struct sim_timer *timer);

static inline bool timer_armed(const struct sim_timer *timer)
{
	return timer->slot != 0;
}

#endif
