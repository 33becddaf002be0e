/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The event loop of the process: file descriptors and timers.
 *
 * Invariants
 * - Callbacks run one at a time, never inside the call that caused them, so a
 *   handler may arm its own timer for "soon" (0 ns) to go on later.
 * - A callback may remove or arm any descriptor or timer, its own too.
 * - Timers fire in the order of their deadlines; equal ones in the order of
 *   arming. A loaded descriptor cannot starve timers, nor they it.
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
 * @fd: the descriptor, -1 when there is none
 * @events: epoll events that are watched
 * @ready: called with the epoll events that came
 */
struct sim_fd {
	int fd;
	uint32_t events;
	void (*ready)(struct sim_fd *sfd, uint32_t events);
};

/**
 * struct sim_timer - a one-shot timer, embedded in its owner
 * @fire: called once when the time has come; the timer is idle by then
 * @deadline: loop_now() at which to fire
 * @seq: order among equal deadlines
 * @slot: place in the heap plus 1, 0 while idle; zero the struct to init
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

void timer_arm(struct sim_timer *timer, uint64_t ns);
void timer_cancel(struct sim_timer *timer);

static inline bool timer_armed(const struct sim_timer *timer)
{
	return timer->slot != 0;
}

#endif
