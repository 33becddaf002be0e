/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A job is a number of threads that communicate over endpoints of libmlx5ep,
 * each over one. Every QP is connected to itself and reaches all memory that
 * the job registered. So one HCA carries one-sided traffic between all threads.
 *
 * A thread counts the signaled sends that it posted and waits for as many
 * completions. Where threads share a CQ, the thread that polls a completion
 * credits the thread that posted.
 */
#ifndef SELFTESTS_JOB_H
#define SELFTESTS_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mlx5ep.h>

struct job;

struct job_thread {
	struct job *job;
	unsigned int id;
	struct mlx5ep_endpoint endpoint;
	uint32_t signaled;		/* posted, by the thread itself */
	atomic_uint completed;		/* credited by whoever polls */
	void *arg;
};

struct job {
	unsigned int n;
	struct mlx5ep_endpoints *set;
	struct mlx5ep_endpoints_info info;
	struct job_thread *threads;
	atomic_int failed;		/* first -errno of any thread */
};

/**
 * job_open() - build a set of endpoints and connect it
 * @job: zeroed on failure
 * @category: of enum mlx5ep_category
 * @depth: sends that a thread has outstanding at most
 * @inline_data: bytes that a send may carry inline
 */
int job_open(struct job *job, unsigned int category, unsigned int n,
	     unsigned int depth, unsigned int inline_data);
/* The memory regions must be gone. */
void job_close(struct job *job);

/* Memory that every thread can reach, whichever context the thread uses. */
struct job_mem {
	unsigned int n;
	struct ibv_mr **mrs;		/* of each thread */
};

/* Register [addr, addr + len) for every thread; 0 or -errno. */
int job_mem_reg(struct job *job, struct job_mem *mem, void *addr, size_t len);
void job_mem_dereg(struct job_mem *mem);

/**
 * job_rdma() - post one RDMA read or write of a thread, signaled
 * @op: IBV_WR_RDMA_READ or IBV_WR_RDMA_WRITE
 */
int job_rdma(struct job_thread *t, enum ibv_wr_opcode op,
	     const struct job_mem *lmem, void *laddr,
	     const struct job_mem *rmem, void *raddr, size_t len);

/**
 * job_wait() - until all that a thread posted has completed, 120 s at most
 *
 * Return: 0; -EIO for a bad completion, -ETIMEDOUT.
 */
int job_wait(struct job_thread *t);

/*
 * Run a function in every thread at the same time. Return: 0 or the first
 * -errno.
 */
int job_run(struct job *job, int (*fn)(struct job_thread *t));

/* From now on job_run() pins thread i to the i-th CPU that the process may use. */
void job_pin_threads(void);

/* In one of several processes: pinned threads begin at this CPU of those, not at 0. */
void job_pin_from(unsigned int cpu);

double job_now(void);

#endif
