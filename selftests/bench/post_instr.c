// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * post_instr CATEGORY - user-space instructions of one ibv_post_send()
 *
 * The program posts small inline RDMA writes over an endpoint of the category
 * while its parent single-steps it, and counts the steps between two signals. So
 * the figure is exact and the same on every run and machine with this libmlx5. A
 * second thread, idle, makes libmlx5 and libc take the locks that they take in a
 * program of several threads. A QP in a thread domain takes none.
 *
 * Prints the instructions per post, the cost of the measurement taken off.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

#define POSTS 32

static uint64_t words[2];
static struct job_mem mem;

static int post_instr_post(struct job_thread *t, unsigned int n)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)&words[0],
		.length = sizeof(words[0]),
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE,
		.wr.rdma = {
			.remote_addr = (uintptr_t)&words[1],
			.rkey = mem.mrs[0]->rkey,
		},
	};
	struct ibv_send_wr *bad;
	int ret = 0;

	while (n-- && !ret)
		ret = ibv_post_send(t->endpoint.qp, &wr, &bad);
	return -ret;
}

static int post_instr_child(unsigned int category)
{
	struct job job;
	int ret;

	ret = job_open(&job, category, 2, 4 * POSTS, sizeof(words[0]));
	if (ret)
		return ret;
	ret = job_mem_reg(&job, &mem, words, sizeof(words));
	/* the first post also binds symbols and fills caches */
	if (!ret)
		ret = post_instr_post(&job.threads[0], 1);
	if (!ret && ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		ret = -errno;
	if (!ret) {
		raise(SIGUSR1);
		ret = post_instr_post(&job.threads[0], 0);
		raise(SIGUSR1);
	}
	if (!ret) {
		raise(SIGUSR1);
		ret = post_instr_post(&job.threads[0], POSTS);
		raise(SIGUSR1);
	}
	if (!ret)
		ret = job_rdma(&job.threads[0], IBV_WR_RDMA_WRITE, &mem,
			       &words[0], &mem, &words[1], sizeof(words[0]));
	if (!ret)
		ret = job_wait(&job.threads[0]);
	job_mem_dereg(&mem);
	job_close(&job);
	return ret;
}

/* Run the child to its next signal, by single steps or freely */
static long post_instr_run(pid_t pid, bool steps)
{
	int request = steps ? PTRACE_SINGLESTEP : PTRACE_CONT;
	long n = 0;
	int status;

	for (;;) {
		if (ptrace(request, pid, NULL, NULL))
			return -errno;
		if (waitpid(pid, &status, 0) != pid)
			return -ECHILD;
		if (!WIFSTOPPED(status))
			return -ECHILD;
		if (WSTOPSIG(status) == SIGUSR1)
			return n;
		if (WSTOPSIG(status) != SIGTRAP)
			return -EINTR;
		n++;
	}
}

static int post_instr_count(pid_t pid, double *per_post)
{
	long empty, full;
	int status;

	/* stopped at the first signal */
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -ECHILD;
	empty = post_instr_run(pid, true);
	if (empty < 0 || post_instr_run(pid, false) < 0)
		return -EIO;
	full = post_instr_run(pid, true);
	if (full < 0)
		return -EIO;
	if (ptrace(PTRACE_CONT, pid, NULL, NULL) ||
	    waitpid(pid, &status, 0) != pid)
		return -errno;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return -EREMOTEIO;
	*per_post = (double)(full - empty) / POSTS;
	return 0;
}

static void *idle(void *arg)
{
	pause();
	return arg;
}

int main(int argc, char **argv)
{
	int category, ret;
	double per_post = 0;
	pthread_t id;
	pid_t pid;

	category = argc == 2 ? mlx5ep_category_parse(argv[1]) : -1;
	if (category < 0 || category == MLX5EP_CATEGORY_AUTO) {
		fprintf(stderr, "usage: post_instr CATEGORY\n");
		return 2;
	}
	pid = fork();
	if (pid < 0)
		return 1;
	if (!pid) {
		if (pthread_create(&id, NULL, idle, NULL))
			_exit(1);
		ret = post_instr_child(category);
		if (ret)
			fprintf(stderr, "post_instr: %s\n", strerror(-ret));
		_exit(ret ? 1 : 0);
	}
	ret = post_instr_count(pid, &per_post);
	if (ret) {
		fprintf(stderr, "post_instr: %s\n", strerror(-ret));
		kill(pid, SIGKILL);
		return 1;
	}
	printf("%.1f\n", per_post);
	return 0;
}
