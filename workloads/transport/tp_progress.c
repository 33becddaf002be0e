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
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tp.h"

#define BATCH 16
#define PAUSE_MS 50
#define YIELD 8			/* looks without a completion, then others run */
#define STOP_SIGNAL SIGUSR1	/* to the helper thread */
#define STOP_MS 10
#define ACK 64			/* events that are acknowledged together */

enum { CHANNEL, WAKE };		/* what a sleeper polls */

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
	if (n > 0) {
		if (tp->progress)
			tp->progress(tp->progress_arg);
		tp_flush(tp);
		pthread_cond_broadcast(&tp->changed);
	} else if (++tp->idle % YIELD == 0) {
		tp_look(tp);
	}
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

/* What poll() found, with the lock held. Return: was it an event? */
static bool look_at(struct transport *tp, const struct pollfd *fds)
{
	uint64_t times;

	if (fds[WAKE].revents)
		read(tp->wake, &times, sizeof(times));
	if (!fds[CHANNEL].revents)
		return false;
	errno = 0;
	if (get_event(tp)) {
		took_event(tp);
		return true;
	}
	/* The channel of a device that is gone is always readable. */
	if (errno != EAGAIN && errno != EINTR)
		tp_fail(tp, -EIO);
	return false;
}

/*
 * Sleep until there is an event or tp_wake(). The lock is held, but not while this
 * sleeps. One thread sleeps on the channel, and the others wait until it tells them
 * that it is awake: it may have what they wait for, or leave. Return: was it an event?
 */
static bool sleep_on_channel(struct transport *tp, int ms)
{
	struct pollfd fds[] = {
		[CHANNEL] = { .fd = tp->channel->fd, .events = POLLIN },
		[WAKE] = { .fd = tp->wake, .events = POLLIN },
	};

	tp->asleep = true;
	pthread_mutex_unlock(&tp->lock);
	if (poll(fds, 2, ms) < 0)
		fds[CHANNEL].revents = fds[WAKE].revents = 0;
	pthread_mutex_lock(&tp->lock);
	tp->asleep = false;
	pthread_cond_broadcast(&tp->changed);
	return look_at(tp, fds);
}

/* Wait until another thread has found something, some milliseconds at most. */
static int wait_for_other(struct transport *tp)
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

static int poll_and_sleep(struct transport *tp)
{
	int n = tp_poll(tp);

	if (n)
		return n;
	if (tp->asleep)
		return wait_for_other(tp);
	/* A completion between the look and the request would be missed. */
	if (arm(tp))
		tp_fail(tp, -EIO);
	n = tp_poll(tp);
	if (n)
		return n;
	if (!sleep_on_channel(tp, PAUSE_MS))
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
		return poll_and_sleep(tp);
	case TP_THREAD:
		return wait_for_other(tp);
	}
	return -EINVAL;
}

/* Whoever is asleep looks again: what it waits for came without a completion. */
void tp_wake(struct transport *tp)
{
	uint64_t once = 1;

	pthread_cond_broadcast(&tp->changed);
	if (tp->asleep && tp->attr.mode == TP_EVENT)
		write(tp->wake, &once, sizeof(once));
}

/*
 * Sleep in one read() of the channel, with the lock given up: an event or a signal ends
 * it, or the end of the device. What tp_wake() tells, the helper does not wait for.
 */
static void read_channel(struct transport *tp)
{
	bool event;
	int error;

	pthread_mutex_unlock(&tp->lock);
	errno = 0;
	event = get_event(tp);
	error = errno;
	pthread_mutex_lock(&tp->lock);
	if (event)
		took_event(tp);
	else if (error != EINTR)
		tp_fail(tp, -EIO);
}

/* The caller may have blocked the signal, and a thread begins with its mask. */
static void let_stop(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, STOP_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void *helper(void *arg)
{
	struct transport *tp = arg;

	let_stop();
	pthread_mutex_lock(&tp->lock);
	while (!tp->failed && !tp->stops) {
		tp_poll(tp);
		/* A completion between the look and the request would be missed. */
		if (arm(tp))
			tp_fail(tp, -EIO);
		else if (!tp_poll(tp))
			read_channel(tp);
	}
	pthread_mutex_unlock(&tp->lock);
	return NULL;
}

static void end_read(int signal)
{
}

/* The signal ends the read(), which would go on after it with SA_RESTART. */
int tp_helper_start(struct transport *tp)
{
	struct sigaction action = { .sa_handler = end_read };
	int ret;

	if (sigaction(STOP_SIGNAL, &action, NULL))
		return -errno;
	ret = pthread_create(&tp->helper, NULL, helper, tp);
	tp->has_helper = !ret;
	return -ret;
}

/* Return: has the helper ended? */
static bool join_helper(struct transport *tp)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += STOP_MS * 1000000l;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	return !pthread_timedjoin_np(tp->helper, NULL, &end);
}

void tp_helper_stop(struct transport *tp)
{
	if (!tp->has_helper)
		return;
	pthread_mutex_lock(&tp->lock);
	tp->stops = true;
	pthread_mutex_unlock(&tp->lock);
	/* A signal that comes before the read() ends nothing. */
	do
		pthread_kill(tp->helper, STOP_SIGNAL);
	while (!join_helper(tp));
	tp->has_helper = false;
}
