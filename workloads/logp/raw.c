// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Raw verbs: a send and its receive, an RDMA write, and the completion channel.
 * Sends and receives have a CQ each, so that each looks for its own.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "bench/instr.h"
#include "raw.h"
#include "table.h"
#include "clock.h"
#include "verbs.h"

#define BURST	12
#define ROUNDS	8		/* the last one counts */
#define WAIT_US	20000
#define LEN	8u

struct raw {
	struct verbs_setup setup;
	struct ibv_comp_channel *channel;
	struct ibv_cq *recv_cq;
	struct ibv_qp *qp;
};

static int open_raw(struct raw *r)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 2 * BURST,
			.max_recv_wr = 2 * BURST,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = 64,
		},
	};
	int ret = verbs_open(&r->setup, NULL, 4);

	if (ret)
		return ret;
	r->channel = ibv_create_comp_channel(r->setup.ctx);
	r->recv_cq = r->channel ? ibv_create_cq(r->setup.ctx, 4 * BURST, NULL,
						r->channel, 0) : NULL;
	if (!r->recv_cq)
		return -errno;
	attr.send_cq = r->setup.cq;
	attr.recv_cq = r->recv_cq;
	r->qp = ibv_create_qp(r->setup.pd, &attr);
	if (!r->qp)
		return -errno;
	return verbs_qp_connect(r->qp, r->qp->qp_num, &r->setup.address);
}

static void close_raw(struct raw *r)
{
	if (r->qp)
		ibv_destroy_qp(r->qp);
	if (r->recv_cq)
		ibv_destroy_cq(r->recv_cq);
	if (r->channel)
		ibv_destroy_comp_channel(r->channel);
	verbs_close(&r->setup);
}

static int post_recv(struct raw *r)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->setup.buf + 64,
		.length = 64,
		.lkey = r->setup.mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	return -ibv_post_recv(r->qp, &wr, &bad);
}

static int post_send(struct raw *r, enum ibv_wr_opcode op)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->setup.buf,
		.length = LEN,
		.lkey = r->setup.mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
		.wr.rdma = {
			.remote_addr = (uintptr_t)r->setup.buf + 128,
			.rkey = r->setup.mr->rkey,
		},
	};

	return -ibv_post_send(r->qp, &wr, &bad);
}

/* Instructions of looking for so many completions. */
static int64_t look(struct raw *r, struct ibv_cq *cq, int n, bool receives)
{
	uint64_t before, sum = 0;
	struct ibv_wc wc[BURST];
	int got = 0, one, i, ret = 0;

	while (got < n && !ret) {
		before = instr_now();
		one = ibv_poll_cq(cq, BURST, wc);
		for (i = 0; i < one && !ret; i++)
			ret = wc[i].status ? -EIO :
			      receives ? post_recv(r) : 0;
		if (one > 0)
			sum += instr_now() - before;
		if (one < 0)
			return -EIO;
		got += one;
	}
	return ret ? ret : (int64_t)sum;
}

static int round_of(struct raw *r, enum ibv_wr_opcode op, struct logp_cost *c)
{
	bool sends = op == IBV_WR_SEND;
	int64_t done, recv = 0;
	uint64_t before = instr_now();
	int i, ret = 0;

	for (i = 0; i < BURST && !ret; i++)
		ret = post_send(r, op);
	c->send = (double)(instr_now() - before) / BURST;
	usleep(WAIT_US);
	if (ret)
		return ret;
	if (sends)
		recv = look(r, r->recv_cq, BURST, true);
	done = look(r, r->setup.cq, BURST, false);
	c->recv = (double)recv / BURST;
	c->done = (double)done / BURST;
	return recv < 0 ? recv : done < 0 ? done : 0;
}

/* To be told of a completion: asked for, waited for, taken, acknowledged. */
static int event(struct raw *r, double *cost)
{
	struct pollfd fd = { .fd = r->channel->fd, .events = POLLIN };
	uint64_t before = instr_now(), asked;
	struct ibv_cq *cq;
	void *context;
	int ret = -ibv_req_notify_cq(r->recv_cq, 0);

	asked = instr_now() - before;
	if (!ret)
		ret = post_send(r, IBV_WR_SEND);
	usleep(WAIT_US);
	before = instr_now();
	if (!ret && (poll(&fd, 1, -1) != 1 ||
		     ibv_get_cq_event(r->channel, &cq, &context)))
		ret = -EIO;
	if (!ret)
		ibv_ack_cq_events(cq, 1);
	*cost = instr_now() - before + asked;
	if (!ret && (look(r, r->recv_cq, 1, true) < 0 ||
		     look(r, r->setup.cq, 1, false) < 0))
		ret = -EIO;
	return ret;
}

static double empty_poll(struct raw *r)
{
	uint64_t before = instr_now();
	struct ibv_wc wc[BURST];
	int i;

	for (i = 0; i < BURST; i++)
		ibv_poll_cq(r->setup.cq, BURST, wc);
	return (double)(instr_now() - before) / BURST;
}

/* Return: completions that it found, and whose receives it posted again, or -errno. */
static int look_once(struct raw *r, struct ibv_cq *cq, bool receives)
{
	struct ibv_wc wc[BURST];
	int n = ibv_poll_cq(cq, BURST, wc), i, ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = wc[i].status ? -EIO : receives ? post_recv(r) : 0;
	return n < 0 ? -EIO : ret ? ret : n;
}

static int look_polled(void *arg, unsigned int end)
{
	struct raw *r = arg;

	return look_once(r, end ? r->recv_cq : r->setup.cq, end);
}

/* The receiver looks at its CQ once it has an event. */
static int look_told(void *arg, unsigned int end)
{
	struct raw *r = arg;
	struct pollfd fd = { .fd = r->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (end && !poll(&fd, 1, 0))
		return 0;
	if (end && ibv_get_cq_event(r->channel, &cq, &context))
		return -EIO;
	if (end)
		ibv_ack_cq_events(cq, 1);
	return look_polled(arg, end);
}

static int send_polled(void *arg)
{
	return post_send(arg, IBV_WR_SEND);
}

static int write_polled(void *arg)
{
	return post_send(arg, IBV_WR_RDMA_WRITE);
}

static int send_told(void *arg)
{
	struct raw *r = arg;
	int ret = -ibv_req_notify_cq(r->recv_cq, 0);

	return ret ? ret : send_polled(r);
}

/* The time of each, once all instructions are counted. @told: with an event */
static int times(struct raw *r, struct logp_time *send, struct logp_time *write,
		 struct logp_time *told)
{
	const struct logp_sides polled = { .arg = r, .look = look_polled };
	const struct logp_sides events = { .arg = r, .look = look_told };
	int ret = logp_time(&polled, send_polled, send);

	if (!ret)
		ret = logp_time(&polled, write_polled, write);
	return ret ? ret : logp_time(&events, send_told, told);
}

struct sleeper {
	struct raw *r;
	atomic_bool stops;
	int ret;
};

/* Sleeps until there is a message, and takes it. */
static void *take_messages(void *arg)
{
	struct sleeper *s = arg;
	struct ibv_cq *cq;
	void *context;

	while (!s->stops && !s->ret) {
		s->ret = -ibv_req_notify_cq(s->r->recv_cq, 0);
		if (!s->ret && ibv_get_cq_event(s->r->channel, &cq, &context))
			s->ret = -EIO;
		if (s->ret)
			break;
		ibv_ack_cq_events(cq, 1);
		if (look_once(s->r, s->r->recv_cq, true) < 0)
			s->ret = -EIO;
	}
	return NULL;
}

static double clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* A message, which the sleeper has taken when this returns. */
static int send_to_sleeper(struct raw *r)
{
	int ret = send_polled(r);

	usleep(WAIT_US);
	return ret ? ret : look_once(r, r->setup.cq, false) == 1 ? 0 : -EIO;
}

/* The processor time of a thread that sleeps, for each message, without its look. */
static int asleep(struct raw *r, double look_cost, double *cost)
{
	struct sleeper s = { .r = r };
	pthread_t thread;
	clockid_t clock;
	double since = 0;
	int i, ret = -pthread_create(&thread, NULL, take_messages, &s);

	if (ret)
		return ret;
	ret = -pthread_getcpuclockid(thread, &clock);
	usleep(WAIT_US);
	/* The first one warms up, the last one ends the thread. */
	for (i = 0; i < ROUNDS + 1 && !ret; i++) {
		if (i == 1)
			since = clock_ns(clock);
		ret = send_to_sleeper(r);
	}
	*cost = ret ? 0 : (clock_ns(clock) - since) / ROUNDS - look_cost;
	s.stops = true;
	i = send_to_sleeper(r);
	pthread_join(thread, NULL);
	return ret ? ret : s.ret ? s.ret : i;
}

int logp_raw(void)
{
	struct logp_cost send, write;
	struct logp_time with_event;
	struct raw r = {};
	double told = 0, idle, sleeps = 0;
	int i, ret = open_raw(&r);

	for (i = 0; i < 2 * BURST && !ret; i++)
		ret = post_recv(&r);
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = round_of(&r, IBV_WR_SEND, &send);
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = round_of(&r, IBV_WR_RDMA_WRITE, &write);
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = event(&r, &told);
	if (!ret)
		ret = times(&r, &send.time, &write.time, &with_event);
	if (!ret)
		ret = asleep(&r, send.recv, &sleeps);
	if (!ret) {
		logp_row("verbs send", LEN, &send);
		logp_row(LOGP_REFERENCE, LEN, &write);
		idle = empty_poll(&r);
		logp_add("polling", "a look that finds nothing", idle, idle);
		logp_add("event", "completion channel, a message", told,
			 with_event.low - send.time.low);
		logp_add("event, asleep", "a thread that sleeps in read()",
			 sleeps, sleeps);
	}
	close_raw(&r);
	return ret;
}
