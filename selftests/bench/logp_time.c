// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The time of one message by the guest's clock; see logp_time.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "logp_time.h"
#include "verbs.h"

#define QUIET_NS 500000u		/* polled without anything, ... */
#define QUIET_US 20000		/* ... then asleep: the message is done */
#define WAIT_S	10
#define LEN	8u

static double clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* A raw RDMA write between a QP and itself. */
struct reference {
	struct verbs_setup setup;
	struct verbs_endpoint endpoint;
};

static int open_reference(struct reference *r)
{
	int ret = verbs_open(&r->setup, NULL, 1);

	if (ret)
		return ret;
	ret = verbs_endpoint_create(&r->setup, &r->endpoint, IBV_QPT_RC);
	if (ret)
		verbs_close(&r->setup);
	return ret;
}

static void close_reference(struct reference *r)
{
	verbs_endpoint_destroy(&r->endpoint);
	verbs_close(&r->setup);
}

static int time_reference(struct reference *r, double *ns)
{
	const struct verbs_endpoint *e = &r->endpoint;
	double since = clock_ns();
	int ret = verbs_write(e->qp, r->setup.cq, e->src, r->setup.mr->lkey,
			      e->dst, r->setup.mr->rkey, LEN, WAIT_S);

	*ns = clock_ns() - since;
	return ret;
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

static int time_all(const struct logp_sides *s, logp_send send,
		    struct reference *r, struct logp_time *time)
{
	double ns[LOGP_TIMES], raw[LOGP_TIMES], one, write;
	int i, ret = 0;

	for (i = -1; i < LOGP_TIMES && !ret; i++) {
		ret = time_reference(r, &write);
		if (!ret)
			ret = time_message(s, send, &one);
		if (i < 0)
			continue;
		ns[i] = one;
		raw[i] = write;
	}
	if (ret)
		return ret;
	time->ns = logp_median(ns, LOGP_TIMES);
	time->low = ns[0];
	time->high = ns[LOGP_TIMES - 1];
	logp_median(raw, LOGP_TIMES);
	time->ratio = time->low / raw[0];
	return time->low > 0 ? 0 : -ETIMEDOUT;
}

int logp_time(const struct logp_sides *s, logp_send send,
	      struct logp_time *time)
{
	struct reference r;
	int ret = open_reference(&r);

	if (ret)
		return ret;
	ret = time_all(s, send, &r, time);
	close_reference(&r);
	return ret;
}
