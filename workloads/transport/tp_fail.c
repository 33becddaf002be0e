// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A transport fails once, for good: a process died, or a QP is in error. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "tp.h"

#define LOOK_MS 100		/* between two looks at the other processes */
#define TRIES 50		/* to learn who died, after a QP failed */
#define TRY_US 10000

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

static void look_for_dead(struct transport *tp)
{
	if (tp->open && tp->dead == MEET_ALL_HERE)
		tp->dead = meet_dead(tp->meet);
}

/*
 * A QP fails because its peer has died, as a rule: the adapter says so before the
 * meeting does.
 */
void tp_fail(struct transport *tp, int error)
{
	int i;

	if (tp->failed)
		return;
	for (i = 0; tp->open && tp->dead == MEET_ALL_HERE && i < TRIES; i++) {
		look_for_dead(tp);
		if (tp->dead == MEET_ALL_HERE)
			usleep(TRY_US);
	}
	tp->failed = tp->dead == MEET_ALL_HERE ? error : -ECONNRESET;
	pthread_cond_broadcast(&tp->changed);
}

/* Has the device, the CQ or the SRQ failed? It may never complete anything then. */
static bool device_failed(struct transport *tp)
{
	struct ibv_async_event event;
	bool failed = false;

	/* the descriptor does not block */
	while (!ibv_get_async_event(tp->ctx, &event)) {
		failed |= event.event_type == IBV_EVENT_DEVICE_FATAL ||
			  event.event_type == IBV_EVENT_CQ_ERR ||
			  event.event_type == IBV_EVENT_SRQ_ERR;
		ibv_ack_async_event(&event);
	}
	return failed;
}

/* Has somebody died? Asked for each time that nothing happens. */
void tp_look(struct transport *tp)
{
	uint64_t now = now_ms();

	if (tp->failed || now < tp->looked_ms + LOOK_MS)
		return;
	tp->looked_ms = now;
	look_for_dead(tp);
	if (tp->dead != MEET_ALL_HERE)
		tp_fail(tp, -ECONNRESET);
	else if (device_failed(tp))
		tp_fail(tp, -EIO);
}
