// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The time of one message by the guest's clock; see clock.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define QUIET_NS 500000u		/* polled without anything, ... */
#define QUIET_US 20000		/* ... then asleep: the message is done */
#define WAIT_S	10

static double clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* Look at both ends until nothing happens for a while. @last: when something did */
static int poll_ends(const struct logp_sides *s, double *last)
{
	double since = clock_ns(), now;
	int n;

	do {
		n = s->look(s->arg, 1);
		if (n >= 0)
			n += s->look(s->arg, 0);
		now = clock_ns();
		if (n > 0)
			*last = since = now;
	} while (n >= 0 && now - since < QUIET_NS);
	return n < 0 ? n : 0;
}

/* A busy machine has a slow adapter: what comes after a sleep belongs to it too. */
static int time_message(const struct logp_sides *s, logp_send send, double *ns)
{
	double since = clock_ns(), last = since, seen;
	int ret = send(s->arg);

	do {
		seen = last;
		if (!ret)
			ret = poll_ends(s, &last);
		usleep(QUIET_US);
		if (!ret)
			ret = poll_ends(s, &last);
	} while (!ret && (last > seen || last == since) &&
		 clock_ns() - since < WAIT_S * 1e9);
	*ns = last - since;
	return ret || !s->finish ? ret : s->finish(s->arg);
}

int logp_time(const struct logp_sides *s, logp_send send,
	      struct logp_time *time)
{
	double ns[LOGP_TIMES], one;
	int i, ret = 0;

	for (i = -1; i < LOGP_TIMES && !ret; i++) {
		ret = time_message(s, send, &one);
		if (i >= 0)
			ns[i] = one;
	}
	if (ret)
		return ret;
	time->ns = logp_median(ns, LOGP_TIMES);
	time->low = ns[0];
	time->high = ns[LOGP_TIMES - 1];
	return time->low > 0 ? 0 : -ETIMEDOUT;
}
