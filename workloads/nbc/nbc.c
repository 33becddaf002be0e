// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs schedules; see nbc.h. Whenever the transport has found something, all
 * requests go on as far as they can, with the lock of the transport held.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"

#define TAGS 0x80000000u	/* of collectives; then the group, then which one */

struct nbc_req {
	struct nbc *nbc;
	struct nbc_schedule *schedule;
	char *bufs[NBC_BUFS];
	uint32_t tag;
	unsigned int round, first;	/* and its first step */
	unsigned int next_move;		/* the first that may not be done */
	int state;			/* 0, then 1 or -errno */
	struct nbc_req *next;		/* under way */
	struct tp_req moves[];		/* by step */
};

static bool in_round(const struct nbc_req *r, unsigned int i)
{
	return i < r->schedule->n && r->schedule->steps[i].round == r->round;
}

static int begin_move(struct nbc_req *r, unsigned int i)
{
	const struct nbc_step *step = &r->schedule->steps[i];
	struct transport *tp = r->nbc->job->tp;
	unsigned int peer = r->nbc->members[step->peer];
	void *at = r->bufs[step->buf] + step->at;

	if (step->what == NBC_SEND)
		return tp_isend(tp, peer, r->tag, at, step->len, &r->moves[i]);
	return tp_irecv(tp, peer, r->tag, at, step->len, &r->moves[i]);
}

/* A round may have no step here. */
static int begin_round(struct nbc_req *r)
{
	unsigned int i;
	int ret = 0;

	for (i = r->first; in_round(r, i) && !ret; i++)
		if (r->schedule->steps[i].what <= NBC_RECV)
			ret = begin_move(r, i);
	r->next_move = r->first;
	return ret;
}

/* Return: 1 if all messages of the round are done, 0 or -errno. */
static int moved(struct nbc_req *r)
{
	unsigned int i;

	for (i = r->next_move; in_round(r, i); i++) {
		if (r->schedule->steps[i].what > NBC_RECV)
			continue;
		r->next_move = i;
		if (r->moves[i].status)
			return r->moves[i].status == -EINPROGRESS ?
				0 : r->moves[i].status;
	}
	return 1;
}

/* What comes after the messages of a round; then the next one is current. */
static void end_round(struct nbc_req *r)
{
	const struct nbc_schedule *s = r->schedule;
	const struct nbc_step *step;
	char *to, *from;

	for (; in_round(r, r->first); r->first++) {
		step = &s->steps[r->first];
		if (step->what <= NBC_RECV)
			continue;
		to = r->bufs[step->buf] + step->at;
		from = r->bufs[step->from] + step->from_at;
		if (step->what == NBC_COPY)
			memcpy(to, from, step->len);
		else
			nbc_compute(s->key.type, s->key.op, to, from,
				    step->len);
	}
	r->round++;
}

/* Go on as far as this is possible now. */
static void go_on(struct nbc_req *r)
{
	int ret = 1;

	while (!r->state && r->round < r->schedule->rounds) {
		ret = moved(r);
		if (!ret)
			return;
		if (ret > 0) {
			end_round(r);
			ret = begin_round(r);
		}
		if (ret < 0)
			r->state = ret;
	}
	if (!r->state)
		r->state = 1;
}

/* The transport has found something. */
static void all_go_on(void *arg)
{
	struct nbc_job *job = arg;
	struct nbc_req **at = &job->under_way, *r;

	while ((r = *at)) {
		go_on(r);
		if (r->state)
			*at = r->next;
		else
			at = &r->next;
	}
}

static struct nbc_req *req_alloc(const struct nbc_schedule *s)
{
	struct nbc_req *r = malloc(sizeof(*r) + s->n * sizeof(*r->moves));

	if (!r)
		return NULL;
	r->bufs[NBC_TMP] = malloc(s->tmp + 1);
	if (!r->bufs[NBC_TMP]) {
		free(r);
		return NULL;
	}
	return r;
}

void nbc_req_free(struct nbc_req *r)
{
	if (r)
		free(r->bufs[NBC_TMP]);
	free(r);
}

/*
 * A request that is done is kept for the next one of its schedule, and its memory
 * stays registered. What a failed transport may still move is not freed. The lock of
 * the transport is held.
 */
static void put(struct nbc_req *r)
{
	struct nbc_schedule *s = r->schedule;
	struct nbc *nbc = r->nbc;

	s->users--;
	if (s->idle)
		nbc_req_free(r);
	else
		s->idle = r;
	nbc_trim(nbc);
}

struct begin {
	struct nbc *nbc;
	const struct nbc_key *key;
	const void *in;
	void *out;
	struct nbc_req *req;
	int ret;
};

/* With the lock, as others may go on meanwhile. */
static bool begin_locked(void *arg)
{
	struct begin *b = arg;
	struct nbc *nbc = b->nbc;
	struct nbc_schedule *s = nbc_find(nbc, b->key);
	struct nbc_req *r = s ? s->idle : NULL;

	if (r)
		s->idle = NULL;
	else if (s)
		r = req_alloc(s);
	if (!r) {
		b->ret = -ENOMEM;
		return true;
	}
	s->users++;
	r->nbc = nbc;
	r->schedule = s;
	r->tag = TAGS | nbc->id << 16 | (nbc->begun++ & 0xffff);
	r->bufs[NBC_IN] = (char *)b->in;
	r->bufs[NBC_OUT] = b->out;
	r->round = 0;
	r->first = 0;
	r->state = begin_round(r);
	go_on(r);
	if (!r->state) {
		r->next = nbc->job->under_way;
		nbc->job->under_way = r;
	}
	b->req = r;
	return true;
}

int nbc_begin(struct nbc *nbc, const struct nbc_key *key, const void *in,
	      void *out, struct nbc_req **req)
{
	struct begin b = { .nbc = nbc, .key = key, .in = in, .out = out };
	int ret = tp_wait_until(nbc->job->tp, begin_locked, &b);

	*req = b.req;
	return ret ? ret : b.ret;
}

/* Once it is done, the request is not looked at again: another thread may have it. */
struct look {
	struct nbc_req *req;
	int state;
};

static bool is_over(void *arg)
{
	struct look *l = arg;

	l->state = l->req->state;
	if (l->state > 0)
		put(l->req);
	return l->state;
}

int nbc_wait(struct nbc_req *r)
{
	struct look l = { .req = r };
	int ret = tp_wait_until(r->nbc->job->tp, is_over, &l);

	return ret ? ret : l.state < 0 ? l.state : 0;
}

static bool look(void *arg)
{
	is_over(arg);
	return true;
}

int nbc_test(struct nbc_req *r)
{
	struct look l = { .req = r };
	struct transport *tp = r->nbc->job->tp;
	int ret;

	tp_wait_until(tp, look, &l);
	if (l.state)
		return l.state;
	ret = tp_progress(tp);
	if (ret > 0)
		tp_wait_until(tp, look, &l);
	return ret < 0 && !l.state ? ret : l.state;
}

int nbc_open(struct nbc **out, struct transport *tp)
{
	struct nbc_job *job = calloc(1, sizeof(*job));
	unsigned int i, n = tp_processes(tp);
	struct nbc *nbc;

	if (!job)
		return -ENOMEM;
	nbc = nbc_new(job, n);
	if (!nbc) {
		free(job);
		return -ENOMEM;
	}
	job->tp = tp;
	job->next_id = 1;
	job->world = nbc;
	nbc->rank = tp_rank(tp);
	for (i = 0; i < n; i++)
		nbc->members[i] = i;
	tp_set_progress(tp, all_go_on, job);
	*out = nbc;
	return 0;
}

/* Requests of the group do not go on. What they have begun may still be moving. */
static bool close_locked(void *arg)
{
	struct nbc *nbc = arg;
	struct nbc_req **at = &nbc->job->under_way;

	while (*at)
		if ((*at)->nbc == nbc)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	nbc_free(nbc);
	return true;
}

void nbc_close(struct nbc *nbc)
{
	struct nbc_job *job = nbc ? nbc->job : NULL;
	bool is_world = job && job->world == nbc;

	if (!job)
		return;
	if (is_world)
		tp_set_progress(job->tp, NULL, NULL);
	/* A helper thread may be in the progress of all groups. */
	tp_wait_until(job->tp, close_locked, nbc);
	if (is_world)
		free(job);
}
