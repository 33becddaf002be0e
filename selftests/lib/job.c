// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job.h"
#include "verbs.h"

#define WAIT_SECONDS 120
#define BATCH 16

double job_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static int connect_all(struct job *job)
{
	struct address self;
	unsigned int i;
	int ret;

	ret = address_query(job->threads[0].endpoint.context, &self);
	if (ret)
		return ret;
	for (i = 0; i < job->n; i++) {
		struct ibv_qp *qp = job->threads[i].endpoint.qp;

		if (i && qp == job->threads[i - 1].endpoint.qp)
			continue;
		ret = verbs_qp_connect(qp, qp->qp_num, &self);
		if (ret)
			return ret;
	}
	return 0;
}

static int open_set(struct job *job, const struct mlx5ep_endpoints_attr *attr)
{
	struct ibv_device **list, *dev;
	int ret = -ENODEV;

	list = ibv_get_device_list(NULL);
	if (!list)
		return -errno;
	dev = verbs_find_device(list, verbs_device_name());
	if (dev)
		ret = mlx5ep_endpoints_open(dev, attr, job->n, &job->set);
	ibv_free_device_list(list);
	return ret;
}

int job_open(struct job *job, unsigned int category, unsigned int n,
	     unsigned int depth, unsigned int inline_data)
{
	bool shared = category == MLX5EP_CATEGORY_MPI_THREADS;
	struct mlx5ep_endpoints_attr attr = {
		.category = category,
		.cap = {
			.max_send_wr = shared ? depth * n : depth,
			.max_send_sge = 1,
			.max_inline_data = inline_data,
		},
	};
	unsigned int i;
	int ret;

	memset(job, 0, sizeof(*job));
	job->n = n;
	job->threads = calloc(n, sizeof(*job->threads));
	ret = job->threads ? open_set(job, &attr) : -ENOMEM;
	if (!ret)
		ret = mlx5ep_endpoints_query(job->set, &job->info);
	for (i = 0; i < n && !ret; i++) {
		job->threads[i].job = job;
		job->threads[i].id = i;
		ret = mlx5ep_endpoints_get(job->set, i,
					   &job->threads[i].endpoint);
	}
	if (!ret)
		ret = connect_all(job);
	if (ret)
		job_close(job);
	return ret;
}

void job_close(struct job *job)
{
	int ret = mlx5ep_endpoints_destroy(job->set);

	if (ret)
		fprintf(stderr, "job: cannot destroy the endpoints: %s\n",
			strerror(-ret));
	free(job->threads);
	memset(job, 0, sizeof(*job));
}

int job_mem_reg(struct job *job, struct job_mem *mem, void *addr, size_t len)
{
	unsigned int i;

	mem->n = job->n;
	mem->mrs = calloc(job->n, sizeof(*mem->mrs));
	if (!mem->mrs)
		return -ENOMEM;
	for (i = 0; i < job->n; i++) {
		struct ibv_pd *pd = job->threads[i].endpoint.pd;

		if (i && pd == job->threads[i - 1].endpoint.pd) {
			mem->mrs[i] = mem->mrs[i - 1];
			continue;
		}
		mem->mrs[i] = ibv_reg_mr(pd, addr, len,
					 IBV_ACCESS_LOCAL_WRITE |
					 IBV_ACCESS_REMOTE_WRITE |
					 IBV_ACCESS_REMOTE_READ);
		if (!mem->mrs[i])
			return -errno;
	}
	return 0;
}

void job_mem_dereg(struct job_mem *mem)
{
	unsigned int i;

	for (i = 0; i < mem->n && mem->mrs; i++)
		if (mem->mrs[i] && (!i || mem->mrs[i] != mem->mrs[i - 1]))
			ibv_dereg_mr(mem->mrs[i]);
	free(mem->mrs);
	memset(mem, 0, sizeof(*mem));
}

int job_rdma(struct job_thread *t, enum ibv_wr_opcode op,
	     const struct job_mem *lmem, void *laddr,
	     const struct job_mem *rmem, void *raddr, size_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)laddr,
		.length = len,
		.lkey = lmem->mrs[t->id]->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = t->id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {
			.remote_addr = (uintptr_t)raddr,
			.rkey = rmem->mrs[t->id]->rkey,
		},
	};
	struct ibv_send_wr *bad;
	int ret;

	ret = ibv_post_send(t->endpoint.qp, &wr, &bad);
	if (ret)
		return -ret;
	t->signaled++;
	return 0;
}

static int poll_unlocked(struct job_thread *t)
{
	struct ibv_poll_cq_attr attr = {};
	struct ibv_cq_ex *cq = t->endpoint.cq_ex;
	int ret;

	ret = ibv_start_poll(cq, &attr);
	if (ret)
		return ret == ENOENT ? 0 : -ret;
	do {
		if (cq->status != IBV_WC_SUCCESS) {
			ret = EIO;
			break;
		}
		atomic_fetch_add(&t->completed, 1);
		ret = ibv_next_poll(cq);
	} while (!ret);
	ibv_end_poll(cq);
	return ret == ENOENT ? 0 : -ret;
}

static int poll_shared(struct job_thread *t)
{
	struct ibv_wc wc[BATCH];
	int i, n;

	n = ibv_poll_cq(t->endpoint.cq, BATCH, wc);
	if (n < 0)
		return -EIO;
	for (i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS ||
		    wc[i].wr_id >= t->job->n)
			return -EIO;
		atomic_fetch_add(&t->job->threads[wc[i].wr_id].completed, 1);
	}
	return 0;
}

int job_wait(struct job_thread *t)
{
	double end = job_now() + WAIT_SECONDS;
	unsigned int spins = 0;
	int ret;

	while (atomic_load(&t->completed) != t->signaled) {
		ret = t->endpoint.flags & MLX5EP_ENDPOINT_CQ_UNLOCKED ?
			poll_unlocked(t) : poll_shared(t);
		if (ret)
			return ret;
		if (atomic_load(&t->job->failed))
			return -ECANCELED;
		if (++spins % 1024)
			continue;
		/* there may be more threads than CPUs: let the others run */
		sched_yield();
		if (job_now() > end)
			return -ETIMEDOUT;
	}
	return 0;
}

struct run {
	struct job_thread *t;
	int (*fn)(struct job_thread *t);
};

static bool pinned;
static unsigned int first_cpu;

void job_pin_threads(void)
{
	pinned = true;
}

void job_pin_from(unsigned int cpu)
{
	first_cpu = cpu;
}

/* Threads start over at the first CPU where there are more of them than CPUs. */
static int pin(unsigned int id)
{
	cpu_set_t may, one;
	unsigned int left;
	int cpu;

	if (sched_getaffinity(0, sizeof(may), &may))
		return -errno;
	left = id % CPU_COUNT(&may);
	for (cpu = 0; !CPU_ISSET(cpu, &may) || left; cpu++)
		left -= !!CPU_ISSET(cpu, &may);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) ? -errno : 0;
}

static void *run_thread(void *arg)
{
	struct run *run = arg;
	int none = 0, ret = 0;

	if (pinned)
		ret = pin(first_cpu + run->t->id);
	if (!ret)
		ret = run->fn(run->t);
	if (ret)
		atomic_compare_exchange_strong(&run->t->job->failed, &none,
					       ret);
	return NULL;
}

int job_run(struct job *job, int (*fn)(struct job_thread *t))
{
	pthread_t *ids = calloc(job->n, sizeof(*ids));
	struct run *runs = calloc(job->n, sizeof(*runs));
	unsigned int i, started = 0;
	int ret = ids && runs ? 0 : -ENOMEM;

	for (i = 0; i < job->n && !ret; i++) {
		runs[i] = (struct run) { &job->threads[i], fn };
		ret = -pthread_create(&ids[i], NULL, run_thread, &runs[i]);
		started += !ret;
	}
	if (ret)
		atomic_store(&job->failed, ret);
	for (i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	free(runs);
	return atomic_load(&job->failed);
}
