// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Looks for completions: whoever waits does, polling or asleep on the completion
 * channel, or a helper thread does. Whoever waits while nothing happens looks for the
 * other processes too.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "tp.h"

#define BATCH 16
#define PAUSE_MS 50
#define YIELD 8			/* looks without a completion, then others run */
#define ACK 64			/* events that are acknowledged together */

/* Send completions have the address of their slot, receives an odd number. */
static unsigned int receive_of(const struct ibv_wc *wc)
{
	return wc->wr_id >> 1;
}

static int received(struct transport *tp, const struct ibv_wc *wc)
{
	unsigned int index = receive_of(wc);
	struct tp_header head, *at = (void *)(tp->slab + index * tp->buf_len);
	int from, ret = 0;

	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		from = tp_long_written(tp, ntohl(wc->imm_data));
		if (from < 0)
			return from;
		head.kind = TP_MSG_DONE;
	} else {
		head = *at;
		from = head.from;
		if (wc->byte_len < sizeof(head) || from >= tp->processes ||
		    (head.kind != TP_MSG_OFFER &&
		     head.len > wc->byte_len - sizeof(head)))
			return -EBADMSG;
		tp->peers[from].credits += head.credits;
		ret = tp_message(tp, &head, at + 1);
	}
	if (!ret)
		ret = tp_receive(tp, index);
	if (head.kind != TP_MSG_CREDIT)
		tp_consumed(tp, from);
	return ret;
}

static void complete(struct transport *tp, const struct ibv_wc *wc)
{
	bool is_receive = wc->wr_id & 1;
	int ret;

	/* First why: what is done now fails with that error. */
	if (wc->status != IBV_WC_SUCCESS)
		tp_fail(tp, -EIO);
	if (!is_receive) {
		tp_sent(tp, (struct tp_slot *)(uintptr_t)wc->wr_id,
			tp->failed);
		return;
	}
	ret = tp->failed ? tp->failed : received(tp, wc);
	if (ret)
		tp_fail(tp, ret);
}

/* Return: completions that there were, or -errno. The lock is held. */
int tp_poll(struct transport *tp)
{
	struct ibv_wc wc[BATCH];
	int i, n;

	if (tp->failed)
		return tp->failed;
	n = ibv_poll_cq(tp->cq, BATCH, wc);
	if (n < 0)
		tp_fail(tp, -EIO);
	for (i = 0; i < n && !tp->failed; i++)
		complete(tp, &wc[i]);
	if (n > 0 && tp->progress)
		tp->progress(tp->progress_arg);
	if (n > 0)
		tp_flush(tp);
	else if (++tp->idle % YIELD == 0)
		tp_look(tp);
	return tp->failed ? tp->failed : n;
}

/*
 * Ask for an event: of any completion if somebody waits for the end of a send,
 * otherwise of receives and errors only, as each event costs more than a message does.
 * Nothing is asked for twice. -EIO if the device refuses.
 */
static int arm(struct transport *tp)
{
	enum tp_armed want = tp_awaits_sends(tp) ? TP_ARMED_ALL :
						   TP_ARMED_RECEIVES;

	if (tp->armed >= want)
		return 0;
	if (ibv_req_notify_cq(tp->cq, want == TP_ARMED_RECEIVES))
		return -EIO;
	tp->armed = want;
	return 0;
}

/* Whoever is asleep must be told of more now. -EIO if the device refuses. */
int tp_arm_more(struct transport *tp)
{
	return tp->armed ? arm(tp) : 0;
}

/* There is one event for each time that it was asked for. */
static bool get_event(struct transport *tp)
{
	struct ibv_cq *cq;
	void *context;

	return !ibv_get_cq_event(tp->channel, &cq, &context);
}

static void took_event(struct transport *tp)
{
	tp->armed = TP_ARMED_NOT;
	if (++tp->armed_events >= ACK) {
		ibv_ack_cq_events(tp->cq, tp->armed_events);
		tp->armed_events = 0;
	}
}

/*
 * Sleep until there is a completion, some milliseconds at most. The lock is held,
 * but not while this sleeps.
 */
static int sleep_on_channel(struct transport *tp)
{
	struct pollfd fd = { .fd = tp->channel->fd, .events = POLLIN };
	int n = tp_poll(tp);

	if (n)
		return n;
	/* A completion between the look and the request would be missed. */
	if (arm(tp))
		return -EIO;
	n = tp_poll(tp);
	if (n)
		return n;
	pthread_mutex_unlock(&tp->lock);
	poll(&fd, 1, PAUSE_MS);
	pthread_mutex_lock(&tp->lock);
	/* The channel of a device that is gone is always readable. */
	if (fd.revents && get_event(tp))
		took_event(tp);
	else
		tp_look(tp);
	return tp_poll(tp);
}

static int poll_and_yield(struct transport *tp)
{
	int n = tp_poll(tp);

	if (n || tp->idle % YIELD)
		return n;
	pthread_mutex_unlock(&tp->lock);
	sched_yield();
	pthread_mutex_lock(&tp->lock);
	return tp->failed;
}

static int wait_for_helper(struct transport *tp)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += PAUSE_MS * 1000000l;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	if (!tp->failed)
		pthread_cond_timedwait(&tp->changed, &tp->lock, &end);
	tp_look(tp);
	return tp->failed;
}

/*
 * Let something happen. Return: completions that the caller found itself, or
 * -errno. The lock is held once.
 */
int tp_pause_locked(struct transport *tp)
{
	switch (tp->attr.mode) {
	case TP_POLL:
		return poll_and_yield(tp);
	case TP_EVENT:
		return sleep_on_channel(tp);
	case TP_THREAD:
		return wait_for_helper(tp);
	}
	return -EINVAL;
}

/* Tell those who wait what was found. Return: as tp_poll() */
static int poll_and_tell(struct transport *tp)
{
	int n = tp_poll(tp);

	if (n)
		pthread_cond_broadcast(&tp->changed);
	return n;
}

/*
 * The channel of a helper blocks, so that it sleeps by one system call without a
 * timer. It does nothing else there, and may be cancelled.
 */
static void wait_for_event(struct transport *tp)
{
	bool found;
	int old;

	pthread_mutex_unlock(&tp->lock);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
	found = get_event(tp);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	pthread_mutex_lock(&tp->lock);
	if (found)
		took_event(tp);
	else if (errno != EINTR)
		tp_fail(tp, -EIO);
}

static void *helper(void *arg)
{
	struct transport *tp = arg;
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	pthread_mutex_lock(&tp->lock);
	while (!tp->failed) {
		poll_and_tell(tp);
		/* A completion between the look and the request would be missed. */
		if (arm(tp))
			tp_fail(tp, -EIO);
		else if (!poll_and_tell(tp))
			wait_for_event(tp);
	}
	pthread_mutex_unlock(&tp->lock);
	return NULL;
}

int tp_helper_start(struct transport *tp)
{
	int ret = pthread_create(&tp->helper, NULL, helper, tp);

	tp->has_helper = !ret;
	return -ret;
}

void tp_helper_stop(struct transport *tp)
{
	if (!tp->has_helper)
		return;
	pthread_cancel(tp->helper);
	pthread_join(tp->helper, NULL);
	tp->has_helper = false;
}
