// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A transport: opened, waited for, closed. See transport.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patience.h"
#include "tp.h"

#define CREDITS 8
#define EAGER 4096
#define DEPTH 64

static int check(struct tp_attr *attr)
{
	if (!attr->credits)
		attr->credits = CREDITS;
	if (!attr->eager)
		attr->eager = EAGER;
	if (!attr->depth)
		attr->depth = DEPTH;
	if (!attr->meet || !attr->domain || !attr->nodes || !attr->ppn ||
	    attr->nodes > TP_NODES || attr->ppn > TP_PROCESSES ||
	    attr->nodes * attr->ppn > TP_PROCESSES ||
	    attr->nodes * attr->ppn < 2 ||
	    attr->rank >= attr->nodes * attr->ppn ||
	    attr->credits > TP_CREDITS_MAX || attr->eager < TP_EAGER_MIN ||
	    attr->eager > TP_EAGER_MAX || attr->depth > TP_DEPTH_MAX ||
	    attr->mode > TP_THREAD || attr->long_by > TP_WRITE)
		return -EINVAL;
	return 0;
}

static int init(struct transport *tp)
{
	pthread_mutexattr_t attr;
	pthread_condattr_t clock;
	unsigned int i;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&tp->lock, &attr);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&tp->changed, &clock);
	tp->processes = tp->attr.nodes * tp->attr.ppn;
	tp->node = tp->attr.rank / tp->attr.ppn;
	tp->dead = MEET_ALL_HERE;
	tp->wake = -1;
	tp->wanted_last = &tp->wanted;
	tp->early_last = &tp->early;
	tp->info.qps_expected = tp->attr.ppn * 2 *
		(tp->attr.nodes - (tp->attr.ppn == 1));
	tp->links = calloc(tp->attr.nodes, sizeof(*tp->links));
	tp->peers = calloc(tp->processes, sizeof(*tp->peers));
	for (i = 0; tp->peers && i < tp->processes; i++)
		tp->peers[i].last = &tp->peers[i].first;
	return tp->links && tp->peers ? 0 : -ENOMEM;
}

/* Free everything, whatever state it is in. */
static int fini(struct transport *tp)
{
	int ret;

	tp_helper_stop(tp);
	tp_exchange_free(tp);
	tp_reg_free(tp);
	ret = tp_objects_close(tp);
	tp_send_free(tp);
	tp_message_free(tp);
	meet_close(tp->meet);
	pthread_cond_destroy(&tp->changed);
	pthread_mutex_destroy(&tp->lock);
	free(tp->links);
	free(tp->peers);
	free(tp);
	return ret;
}

int tp_open(struct transport **out, const struct tp_attr *attr)
{
	struct transport *tp = calloc(1, sizeof(*tp));
	int ret;

	if (!tp)
		return -ENOMEM;
	tp->attr = *attr;
	ret = check(&tp->attr);
	if (ret) {
		free(tp);
		return ret;
	}
	ret = init(tp);
	if (!ret)
		ret = meet_open(&tp->meet, attr->meet, attr->rank,
				tp->processes);
	if (!ret)
		ret = tp_objects_open(tp);
	if (!ret) {
		tp_reach(tp, TP_STEP_OPEN);
		ret = tp_wire_up(tp);
	}
	tp->open = !ret;
	if (!ret && attr->mode == TP_THREAD)
		ret = tp_helper_start(tp);
	if (ret) {
		fini(tp);
		return ret;
	}
	*out = tp;
	return 0;
}

/* Send what is left, and serve the others until they have done the same. */
static int leave_round(struct transport *tp)
{
	char all[TP_PROCESSES], mine = 0;
	int ret = tp->failed;

	while (ret >= 0 && !tp_idle(tp))
		ret = tp_pause_locked(tp);
	if (ret >= 0)
		ret = meet_begin(tp->meet, &mine, sizeof(mine));
	while (!ret) {
		ret = tp_pause_locked(tp);
		if (ret >= 0)
			ret = meet_test(tp->meet, all);
	}
	return ret < 0 ? ret : 0;
}

/*
 * After the first round nobody needs a credit any more. After the second one
 * nothing is on its way, and who is gone has left and is not dead.
 */
static int leave(struct transport *tp)
{
	int ret;

	tp_reach(tp, TP_STEP_CLOSE);
	tp->leaving = true;
	ret = tp->failed ? 0 : tp_arm_more(tp);
	if (!ret)
		ret = leave_round(tp);
	if (ret)
		return ret;
	tp->open = false;
	tp_reach(tp, TP_STEP_LEAVE);
	return leave_round(tp);
}

void tp_abort(struct transport *tp, int error)
{
	pthread_mutex_lock(&tp->lock);
	if (!tp->failed)
		tp->failed = error;
	tp_wake(tp);
	pthread_mutex_unlock(&tp->lock);
}

int tp_close(struct transport *tp)
{
	int ret, error;

	if (!tp)
		return 0;
	pthread_mutex_lock(&tp->lock);
	ret = leave(tp);
	if (ret)
		meet_give_up(tp->meet);
	pthread_mutex_unlock(&tp->lock);
	error = fini(tp);
	return ret ? ret : error;
}

void tp_query(struct transport *tp, struct tp_info *info)
{
	struct mlx5ep_mr_cache_stats stats;

	pthread_mutex_lock(&tp->lock);
	*info = tp->info;
	mlx5ep_mr_cache_query(tp->cache, &stats);
	pthread_mutex_unlock(&tp->lock);
	info->qps_node = tp->qps_node;
	info->hits = stats.hits;
	info->misses = stats.misses;
	info->stale = stats.stale;
}

unsigned int tp_rank(const struct transport *tp)
{
	return tp->attr.rank;
}

unsigned int tp_processes(const struct transport *tp)
{
	return tp->processes;
}

int tp_dead(struct transport *tp)
{
	int dead;

	pthread_mutex_lock(&tp->lock);
	dead = tp->dead;
	pthread_mutex_unlock(&tp->lock);
	return dead < 0 ? -1 : dead;
}

static int share(struct transport *tp, const void *mine, size_t len, void *all)
{
	int ret = tp->failed;

	tp_reach(tp, TP_STEP_SHARE);
	if (!ret)
		ret = meet_begin(tp->meet, mine, len);
	while (!ret) {
		ret = meet_test(tp->meet, all);
		if (!ret)
			ret = tp_pause_locked(tp);
		else if (ret < 0)
			tp_fail(tp, ret);
		else
			break;
		if (ret > 0)
			ret = 0;
	}
	return ret < 0 ? ret : 0;
}

int tp_share(struct transport *tp, const void *mine, size_t len, void *all)
{
	int ret = -EBUSY;

	pthread_mutex_lock(&tp->lock);
	if (!tp->meeting) {
		tp->meeting = true;
		ret = share(tp, mine, len, all);
		tp->meeting = false;
	}
	pthread_mutex_unlock(&tp->lock);
	return ret;
}

/* The helper does not look for the other processes. */
static int look_once(struct transport *tp)
{
	if (tp->attr.mode != TP_THREAD)
		return tp_poll(tp);
	tp_look(tp);
	return tp->failed;
}

int tp_progress(struct transport *tp)
{
	int ret;

	pthread_mutex_lock(&tp->lock);
	ret = look_once(tp);
	pthread_mutex_unlock(&tp->lock);
	return ret;
}

int tp_pause(struct transport *tp)
{
	int ret;

	pthread_mutex_lock(&tp->lock);
	ret = tp_pause_locked(tp);
	pthread_mutex_unlock(&tp->lock);
	return ret < 0 ? ret : 0;
}

int tp_wait_until(struct transport *tp, bool (*done)(void *arg), void *arg)
{
	int ret = 0;

	pthread_mutex_lock(&tp->lock);
	while (ret >= 0 && !done(arg))
		ret = tp->failed ? tp->failed : tp_pause_locked(tp);
	pthread_mutex_unlock(&tp->lock);
	return ret < 0 ? ret : 0;
}

static int state_of(const struct transport *tp, const struct tp_req *req)
{
	if (req->status == -EINPROGRESS)
		return tp->failed;
	return req->status ? req->status : 1;
}

int tp_test(struct transport *tp, struct tp_req *req)
{
	int ret;

	pthread_mutex_lock(&tp->lock);
	ret = state_of(tp, req);
	if (!ret) {
		look_once(tp);
		ret = state_of(tp, req);
	}
	pthread_mutex_unlock(&tp->lock);
	return ret;
}

int tp_wait(struct transport *tp, struct tp_req *req)
{
	int ret;

	pthread_mutex_lock(&tp->lock);
	while (!(ret = state_of(tp, req)))
		tp_pause_locked(tp);
	pthread_mutex_unlock(&tp->lock);
	return ret < 0 ? ret : 0;
}

int tp_wait_all(struct transport *tp, struct tp_req *reqs, unsigned int n)
{
	unsigned int i;
	int ret = 0, one;

	for (i = 0; i < n; i++) {
		one = tp_wait(tp, &reqs[i]);
		ret = ret ? ret : one;
	}
	return ret;
}

int tp_send(struct transport *tp, unsigned int to, uint32_t tag,
	    const void *buf, size_t len)
{
	struct tp_req req;
	int ret = tp_isend(tp, to, tag, buf, len, &req);

	return ret ? ret : tp_wait(tp, &req);
}

int tp_recv(struct transport *tp, int from, uint32_t tag, void *buf,
	    size_t len)
{
	struct tp_req req;
	int ret = tp_irecv(tp, from, tag, buf, len, &req);

	return ret ? ret : tp_wait(tp, &req);
}
