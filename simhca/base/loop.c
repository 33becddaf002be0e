// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See loop.h for the model. Timers are in a binary heap, descriptors in epoll.
 * If a callback removes a descriptor, its events of the same epoll_wait() are
 * dropped.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"

#define LOOP_BATCH 16

/* The process has one loop, so that no caller needs to pass it. */
static struct {
	int epfd;
	bool stop;
	bool simulated;
	uint64_t clock;
	struct sim_timer **heap;
	size_t timers;
	size_t room;
	uint64_t seq;
	struct epoll_event batch[LOOP_BATCH];
	int batch_len;
} loop = { .epfd = -1 };

/**
 * loop_init() - make the loop ready
 *
 * Return: 0 or -errno
 */
int loop_init(void)
{
	loop.epfd = epoll_create1(EPOLL_CLOEXEC);
	loop.stop = false;
	return loop.epfd < 0 ? -errno : 0;
}

/**
 * loop_fini() - free the loop; owners have removed their descriptors
 */
void loop_fini(void)
{
	close(loop.epfd);
	loop.epfd = -1;
	free(loop.heap);
	loop.heap = NULL;
	loop.timers = 0;
	loop.room = 0;
}

/**
 * loop_now() - the loop's clock
 *
 * Return: monotonic time in ns
 */
uint64_t loop_now(void)
{
	struct timespec ts;

	if (loop.simulated)
		return loop.clock;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/**
 * loop_simulate_time() - use a simulated clock from now on
 *
 * The loop then does not wait for a timer. It sets the clock to the deadline of
 * the timer, so that the figures of a test do not depend on the machine.
 */
void loop_simulate_time(void)
{
	loop.simulated = true;
}

static int loop_ctl(int op, struct sim_fd *sfd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = sfd };

	sfd->events = events;
	return epoll_ctl(loop.epfd, op, sfd->fd, &ev) ? -errno : 0;
}

/**
 * loop_add() - watch @sfd->fd for @sfd->events
 * @sfd: stays where it is until loop_remove()
 *
 * Return: 0 or -errno
 */
int loop_add(struct sim_fd *sfd)
{
	return loop_ctl(EPOLL_CTL_ADD, sfd, sfd->events);
}

/**
 * loop_modify() - watch for other events
 * @sfd: a watched descriptor
 * @events: epoll events
 *
 * Return: 0 or -errno
 */
int loop_modify(struct sim_fd *sfd, uint32_t events)
{
	return loop_ctl(EPOLL_CTL_MOD, sfd, events);
}

/**
 * loop_remove() - stop watching, and drop events that are pending
 * @sfd: a watched descriptor, which the caller then closes
 */
void loop_remove(struct sim_fd *sfd)
{
	int i;

	epoll_ctl(loop.epfd, EPOLL_CTL_DEL, sfd->fd, NULL);
	for (i = 0; i < loop.batch_len; i++)
		if (loop.batch[i].data.ptr == sfd)
			loop.batch[i].data.ptr = NULL;
}

static bool timer_before(const struct sim_timer *a, const struct sim_timer *b)
{
	return a->deadline != b->deadline ? a->deadline < b->deadline :
					    a->seq < b->seq;
}

static void timer_place(struct sim_timer *timer, size_t i)
{
	loop.heap[i] = timer;
	timer->slot = i + 1;
}

static void timer_sift(struct sim_timer *timer, size_t i)
{
	size_t child;

	while (i && timer_before(timer, loop.heap[(i - 1) / 2])) {
		timer_place(loop.heap[(i - 1) / 2], i);
		i = (i - 1) / 2;
	}
	while ((child = 2 * i + 1) < loop.timers) {
		if (child + 1 < loop.timers &&
		    timer_before(loop.heap[child + 1], loop.heap[child]))
			child++;
		if (!timer_before(loop.heap[child], timer))
			break;
		timer_place(loop.heap[child], i);
		i = child;
	}
	timer_place(timer, i);
}

/**
 * timer_arm_at() - set the deadline of a timer, which may be armed already
 * @timer: with @fire set
 * @deadline: by loop_now(); if it is over, as soon as the current callback has returned
 */
void timer_arm_at(struct sim_timer *timer, uint64_t deadline)
{
	timer_cancel(timer);
	if (loop.timers == loop.room) {
		size_t room = loop.room ? 2 * loop.room : 64;
		void *heap = realloc(loop.heap, room * sizeof(*loop.heap));

		if (!heap)
			abort();
		loop.heap = heap;
		loop.room = room;
	}
	timer->deadline = deadline;
	timer->seq = loop.seq++;
	timer_sift(timer, loop.timers++);
}

/**
 * timer_arm() - set the deadline of a timer, which may be armed already
 * @timer: with @fire set
 * @ns: from now; 0: as soon as the current callback has returned
 */
void timer_arm(struct sim_timer *timer, uint64_t ns)
{
	timer_arm_at(timer, loop_now() + ns);
}

/**
 * timer_cancel() - make a timer idle, if it is not
 * @timer: any timer
 */
void timer_cancel(struct sim_timer *timer)
{
	struct sim_timer *last;
	size_t i;

	if (!timer->slot)
		return;
	i = timer->slot - 1;
	timer->slot = 0;
	last = loop.heap[--loop.timers];
	if (last != timer)
		timer_sift(last, i);
}

/* Fire the timers that are due, except those armed by a callback here. */
static void loop_timers(void)
{
	uint64_t seq = loop.seq;
	struct sim_timer *timer;
	uint64_t now;

	if (!loop.timers)
		return;
	now = loop_now();
	while (loop.timers) {
		timer = loop.heap[0];
		if (timer->deadline > now || timer->seq >= seq)
			break;
		timer_cancel(timer);
		timer->fire(timer);
	}
}

/* Time until the next timer, NULL (for ever) when there is none. */
static struct timespec *loop_timeout(struct timespec *ts)
{
	uint64_t now, left;

	if (!loop.timers)
		return NULL;
	now = loop_now();
	left = loop.heap[0]->deadline > now ? loop.heap[0]->deadline - now : 0;
	if (loop.simulated)
		left = 0;
	ts->tv_sec = left / NSEC_PER_SEC;
	ts->tv_nsec = left % NSEC_PER_SEC;
	return ts;
}

/* With simulated time, set the clock to the deadline of the next timer. */
static void loop_skip_wait(void)
{
	if (loop.timers && loop.heap[0]->deadline > loop.clock)
		loop.clock = loop.heap[0]->deadline;
}

/**
 * loop_run() - serve until loop_stop()
 *
 * Return: 0 or -errno
 */
int loop_run(void)
{
	struct timespec ts;
	struct sim_fd *sfd;
	int i;

	while (!loop.stop) {
		loop.batch_len = epoll_pwait2(loop.epfd, loop.batch, LOOP_BATCH,
					      loop_timeout(&ts), NULL);
		if (loop.batch_len < 0) {
			loop.batch_len = 0;
			if (errno != EINTR)
				return -errno;
		}
		for (i = 0; i < loop.batch_len; i++) {
			sfd = loop.batch[i].data.ptr;
			if (sfd)
				sfd->ready(sfd, loop.batch[i].events);
		}
		if (loop.simulated && !loop.batch_len)
			loop_skip_wait();
		loop.batch_len = 0;
		loop_timers();
	}
	loop.stop = false;
	return 0;
}

/**
 * loop_stop() - make loop_run() return
 */
void loop_stop(void)
{
	loop.stop = true;
}
