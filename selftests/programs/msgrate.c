// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * msgrate - rate of small RDMA writes over each category of endpoints
 *
 *	msgrate [-c CATEGORY] [-t THREADS] [-n MESSAGES] [-s BYTES]
 *		[-p POSTLIST] [-q SIGNAL_EVERY] [-I] [-B] [-L] [-R ROUNDS]
 *
 * After Zambre et al. 2018: each thread posts lists of POSTLIST writes from and
 * to cache-aligned buffers of its own, every SIGNAL_EVERYth signaled; with 1 none is
 * unsignaled. -I: data not inline; -B: no BlueFlame. With POSTLIST 1 and inline data, libmlx5 writes
 * the whole message through the BlueFlame register. The last message must have
 * arrived in the end. -L: each thread waits for each message; printed is the time
 * of one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_program.h"

#define LINE 64
#define MAX_LIST 64

static struct {
	unsigned int threads, messages, size, list, every;
	unsigned int plain, doorbells;	/* not inline; no BlueFlame */
	unsigned int latency;		/* one message at a time */
} opt = { 4, 1024, 2, 32, 64, 0, 0, 0 };

static const struct job_option options[] = {
	{ 't', "THREADS", &opt.threads, 1, 1024 },
	{ 'n', "MESSAGES", &opt.messages, 1, 1u << 30 },
	{ 's', "BYTES", &opt.size, 1, LINE },
	{ 'p', "POSTLIST", &opt.list, 1, MAX_LIST },
	{ 'q', "SIGNAL_EVERY", &opt.every, 1, 1024 },
	{ 'I', "data not inline", &opt.plain, 0, 0 },
	{ 'B', "no BlueFlame", &opt.doorbells, 0, 0 },
	{ 'L', "one message at a time, and its time", &opt.latency, 0, 0 },
	{}
};

/* What a thread writes from and to, on lines of its own */
struct buffers {
	_Alignas(LINE) uint8_t src[MAX_LIST][LINE];
	uint8_t dst[LINE];
};

static struct buffers *buffers;
static struct job_mem mem;

static void msgrate_fill(uint8_t *p, unsigned int id, unsigned int seq)
{
	unsigned int i;

	for (i = 0; i < opt.size; i++)
		p[i] = seq * 31 + id * 7 + i + 1;
}

static int post_list(struct job_thread *t, unsigned int first, unsigned int n)
{
	struct buffers *buf = &buffers[t->id];
	struct ibv_send_wr wr[MAX_LIST] = {};
	struct ibv_sge sge[MAX_LIST];
	struct ibv_send_wr *bad;
	unsigned int i, seq;
	int ret;

	for (i = 0; i < n; i++) {
		seq = first + i;
		msgrate_fill(buf->src[i], t->id, seq);
		sge[i].addr = (uintptr_t)buf->src[i];
		sge[i].length = opt.size;
		sge[i].lkey = mem.mrs[t->id]->lkey;
		wr[i].wr_id = t->id;
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].send_flags = opt.plain ? 0 : IBV_SEND_INLINE;
		wr[i].wr.rdma.remote_addr = (uintptr_t)buf->dst;
		wr[i].wr.rdma.rkey = mem.mrs[t->id]->rkey;
		if (seq % opt.every == opt.every - 1 ||
		    seq == opt.messages - 1) {
			wr[i].send_flags |= IBV_SEND_SIGNALED;
			t->signaled++;
		}
	}
	ret = ibv_post_send(t->endpoint.qp, wr, &bad);
	return -ret;
}

/* Messages that may be under way before the completions are waited for */
static unsigned int window(void)
{
	return opt.every > opt.list ? opt.every : opt.list;
}

static int msgrate_run(struct job_thread *t)
{
	unsigned int seq, n, room = window();
	int ret = 0;

	for (seq = 0; seq < opt.messages && !ret; seq += n) {
		n = opt.messages - seq < opt.list ? opt.messages - seq :
			opt.list;
		if (n > room || opt.plain || opt.latency) {
			ret = job_wait(t);
			room = window();
			if (ret)
				break;
		}
		ret = post_list(t, seq, n);
		room = room > n ? room - n : 0;
	}
	return ret ? ret : job_wait(t);
}

static int msgrate_check(void)
{
	uint8_t want[LINE];
	unsigned int i;

	for (i = 0; i < opt.threads; i++) {
		msgrate_fill(want, i, opt.messages - 1);
		if (memcmp(want, buffers[i].dst, opt.size))
			return -EBADMSG;
	}
	return 0;
}

static int msgrate_measure(unsigned int category, double *rate,
			   struct mlx5ep_endpoints_info *info)
{
	struct job job;
	double start, spent;
	int ret;

	ret = job_open(&job, category, opt.threads,
		       2 * window() + 2 * opt.list, opt.plain ? 0 : opt.size);
	if (ret)
		return ret;
	*info = job.info;
	memset(buffers, 0, opt.threads * sizeof(*buffers));
	ret = job_mem_reg(&job, &mem, buffers,
			  opt.threads * sizeof(*buffers));
	start = job_now();
	if (!ret)
		ret = job_run(&job, msgrate_run);
	spent = job_now() - start;
	*rate = opt.latency ? spent * 1e6 / opt.messages :
			      opt.threads * (double)opt.messages / spent;
	job_mem_dereg(&mem);
	job_close(&job);
	return ret ? ret : msgrate_check();
}

int main(int argc, char **argv)
{
	struct job_program program;
	int ret;

	ret = job_options(argc, argv, &program, options);
	if (ret)
		return ret;
	if (opt.latency)
		opt.list = opt.every = 1;
	/* libmlx5 reads it as a context is opened */
	if (opt.doorbells)
		setenv("MLX5_SHUT_UP_BF", "1", 1);
	buffers = aligned_alloc(LINE, opt.threads * sizeof(*buffers));
	if (!buffers)
		return 1;
	job_say(&program, "msgrate: threads=%u messages=%u size=%u postlist=%u every=%u inline=%u blueflame=%u\n",
		opt.threads, opt.messages, opt.size, opt.list, opt.every,
		!opt.plain, !opt.doorbells);
	ret = job_compare("msgrate", opt.latency ? "us" : "msg/s", &program,
			  msgrate_measure);
	free(buffers);
	return ret;
}
