// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * stencil - 5-point stencil, processes x threads
 *
 *	stencil [-c CATEGORY] [-P PROCESSES] [-t THREADS] [-n COLUMNS] [-r ROWS]
 *		[-i ITERATIONS] [-R ROUNDS]
 *
 * Each thread owns ROWS rows of a grid. After each iteration it writes its first
 * and last row by RDMA into the halo of its neighbours, which may be in another
 * process, waits for the completions and meets the others at a barrier. The grid
 * lies in shared memory so that the halo of any thread can be reached; values
 * cross block borders by RDMA only. The result is compared, bit by bit, with
 * that of one thread.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job_program.h"

#define MAX_PROCESSES 64
#define BARRIER_SECONDS 60

static struct {
	unsigned int procs, threads, columns, rows, iterations;
} opt = { 2, 2, 64, 8, 10 };

static const struct job_option options[] = {
	{ 'P', "PROCESSES", &opt.procs, 1, MAX_PROCESSES },
	{ 't', "THREADS", &opt.threads, 1, 256 },
	{ 'n', "COLUMNS", &opt.columns, 3, 4096 },
	{ 'r', "ROWS", &opt.rows, 1, 4096 },
	{ 'i', "ITERATIONS", &opt.iterations, 1, 1000000 },
	{}
};

/* Seen by all processes */
struct common {
	atomic_uint waiting, round;
	atomic_int failed;
	double start, end;
	struct mlx5ep_endpoints_info info[MAX_PROCESSES];
};

static struct common *common;
static double *grid;		/* blocks x 2 x (rows + 2) x columns */
static struct job_mem mem;
static unsigned int process;

static unsigned int blocks(void)
{
	return opt.procs * opt.threads;
}

static size_t grid_bytes(void)
{
	return sizeof(double) * blocks() * 2 * (opt.rows + 2) * opt.columns;
}

static double *row(unsigned int block, unsigned int buf, unsigned int r)
{
	return grid + (((size_t)block * 2 + buf) * (opt.rows + 2) + r) *
		opt.columns;
}

static double initial(unsigned int r, unsigned int c)
{
	return (double)((r * 37 + c * 11) % 101);
}

/* Row @r of a block, from 0 = its upper halo, as a row of the whole grid */
static unsigned int global_row(unsigned int block, unsigned int r)
{
	return block * opt.rows + r;
}

static void update(double *new, const double *up, const double *mid,
		   const double *down)
{
	unsigned int c;

	new[0] = mid[0];
	for (c = 1; c + 1 < opt.columns; c++)
		new[c] = 0.2 * (mid[c] + up[c] + down[c] + mid[c - 1] +
				mid[c + 1]);
	new[opt.columns - 1] = mid[opt.columns - 1];
}

static int barrier(void)
{
	unsigned int round = atomic_load(&common->round);
	double end = job_now() + BARRIER_SECONDS;

	if (atomic_fetch_add(&common->waiting, 1) + 1 == blocks()) {
		atomic_store(&common->waiting, 0);
		atomic_fetch_add(&common->round, 1);
		return 0;
	}
	while (atomic_load(&common->round) == round) {
		if (atomic_load(&common->failed))
			return -ECANCELED;
		if (job_now() > end)
			return -ETIMEDOUT;
		sched_yield();
	}
	return 0;
}

static int send_row(struct job_thread *t, double *from, double *to)
{
	return job_rdma(t, IBV_WR_RDMA_WRITE, &mem, from, &mem, to,
			opt.columns * sizeof(double));
}

static int iterate(struct job_thread *t, unsigned int block, unsigned int cur)
{
	unsigned int new = !cur;
	unsigned int r;
	int ret = 0;

	for (r = 1; r <= opt.rows; r++)
		update(row(block, new, r), row(block, cur, r - 1),
		       row(block, cur, r), row(block, cur, r + 1));
	if (block > 0)
		ret = send_row(t, row(block, new, 1),
			       row(block - 1, new, opt.rows + 1));
	if (!ret && block + 1 < blocks())
		ret = send_row(t, row(block, new, opt.rows),
			       row(block + 1, new, 0));
	if (!ret)
		ret = job_wait(t);
	return ret ? ret : barrier();
}

static int stencil_run(struct job_thread *t)
{
	unsigned int block = process * opt.threads + t->id;
	unsigned int i;
	int none = 0, ret;

	ret = barrier();
	if (!block)
		common->start = job_now();
	for (i = 0; i < opt.iterations && !ret; i++)
		ret = iterate(t, block, i & 1);
	if (!block)
		common->end = job_now();
	if (ret)
		atomic_compare_exchange_strong(&common->failed, &none, ret);
	return ret;
}

static int stencil_child(unsigned int category)
{
	struct job job;
	int none = 0, ret;

	job_pin_from(process * opt.threads);
	ret = job_open(&job, category, opt.threads, 4, 0);
	if (!ret) {
		common->info[process] = job.info;
		ret = job_mem_reg(&job, &mem, grid, grid_bytes());
		if (!ret)
			ret = job_run(&job, stencil_run);
		job_mem_dereg(&mem);
		job_close(&job);
	}
	if (ret)
		atomic_compare_exchange_strong(&common->failed, &none, ret);
	return ret ? 1 : 0;
}

static void grid_init(void)
{
	unsigned int b, r, c, buf;

	for (b = 0; b < blocks(); b++)
		for (buf = 0; buf < 2; buf++)
			for (r = 0; r < opt.rows + 2; r++)
				for (c = 0; c < opt.columns; c++)
					row(b, buf, r)[c] =
						initial(global_row(b, r), c);
}

static int stencil_check(void)
{
	size_t n = (size_t)blocks() * opt.rows + 2, i;
	size_t len = n * opt.columns;
	double *buf[2] = { calloc(len, sizeof(double)),
			   calloc(len, sizeof(double)) };
	unsigned int it, b, r;
	int ret = buf[0] && buf[1] ? 0 : -ENOMEM;

	for (i = 0; i < len && !ret; i++)
		buf[0][i] = buf[1][i] = initial(i / opt.columns,
						i % opt.columns);
	for (it = 0; it < opt.iterations && !ret; it++)
		for (i = 1; i + 1 < n; i++)
			update(buf[!(it & 1)] + i * opt.columns,
			       buf[it & 1] + (i - 1) * opt.columns,
			       buf[it & 1] + i * opt.columns,
			       buf[it & 1] + (i + 1) * opt.columns);
	for (b = 0; b < blocks() && !ret; b++)
		for (r = 1; r <= opt.rows && !ret; r++)
			if (memcmp(row(b, opt.iterations & 1, r),
				   buf[opt.iterations & 1] +
				   (size_t)global_row(b, r) * opt.columns,
				   opt.columns * sizeof(double)))
				ret = -EBADMSG;
	free(buf[0]);
	free(buf[1]);
	return ret;
}

static void add_info(struct mlx5ep_endpoints_info *sum,
		     const struct mlx5ep_endpoints_info *info)
{
	unsigned int i;

	sum->uar_pages += info->uar_pages;
	sum->uuars += info->uuars;
	sum->qps += info->qps;
	sum->cqs += info->cqs;
	sum->bytes += info->bytes;
	for (i = 1; i < 5; i++)
		sum->level[i] += info->level[i];
}

static int stencil_measure(unsigned int category, double *rate,
			   struct mlx5ep_endpoints_info *info)
{
	pid_t pids[MAX_PROCESSES];
	unsigned int i, started = 0;
	int status, ret = 0;

	memset(common, 0, sizeof(*common));
	memset(info, 0, sizeof(*info));
	grid_init();
	for (process = 0; process < opt.procs; process++) {
		pids[process] = fork();
		if (!pids[process])
			_exit(stencil_child(category));
		if (pids[process] < 0) {
			ret = -errno;
			atomic_store(&common->failed, ret);
			break;
		}
		started++;
	}
	for (i = 0; i < started; i++) {
		if (waitpid(pids[i], &status, 0) < 0)
			ret = ret ? ret : -errno;
		else if (!ret && (!WIFEXITED(status) || WEXITSTATUS(status)))
			ret = -ECHILD;
		add_info(info, &common->info[i]);
	}
	if (atomic_load(&common->failed))
		ret = atomic_load(&common->failed);
	*rate = (double)blocks() * opt.rows * opt.columns * opt.iterations /
		(common->end - common->start);
	return ret ? ret : stencil_check();
}

static void *shared(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int main(int argc, char **argv)
{
	struct job_program program;
	int ret;

	ret = job_options(argc, argv, &program, options);
	if (ret)
		return ret;
	grid = shared(grid_bytes());
	common = shared(sizeof(*common));
	if (!grid || !common)
		return 1;
	job_say(&program, "stencil: processes=%u threads=%u columns=%u rows=%u iterations=%u\n",
		opt.procs, opt.threads, opt.columns, opt.rows, opt.iterations);
	ret = job_compare("stencil", "cells/s", &program, stencil_measure);
	if (!ret)
		job_say(&program, "stencil: every cell is right\n");
	return ret;
}
