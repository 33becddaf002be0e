// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * create_qp [-n ITERATIONS] [-i] [-o | -t THREADS] - what creating and destroying an RC
 * QP costs, also where threads of one context do it at once, or with -o what opening a
 * context costs
 *
 * Prints what one create_qp + destroy_qp took, or one ibv_open_device():
 * nanoseconds, or with -i guest instructions. Of instructions it is the median; of
 * nanoseconds the lowest decile, as what else the machine does only ever adds to
 * them. With -t the making of the threads is in the figure, a twentieth of a thread for
 * each QP. For -i the guest must have one CPU and QEMU must count instructions, see
 * spin.h.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"
#include "verbs.h"

#define WARM_UP 30
#define MOST_THREADS 64
#define EACH 20	/* QPs that each thread makes for one sample */

static int threads;

static uint64_t nanoseconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int create_qp_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int create_qp_once(struct verbs_setup *setup)
{
	struct ibv_qp *qp = verbs_qp_create(setup->pd, setup->cq, IBV_QPT_RC);

	if (qp && !ibv_destroy_qp(qp))
		return 0;
	perror("create_qp");
	return 1;
}

static int create_qp_measure(struct verbs_setup *setup, uint64_t (*clock)(void),
			     uint64_t *cost, int n)
{
	uint64_t before;
	int i;

	for (i = -WARM_UP; i < n; i++) {
		before = clock();
		if (create_qp_once(setup))
			return 1;
		if (i >= 0)
			cost[i] = clock() - before;
	}
	return 0;
}

static void *create_qp_thread(void *arg)
{
	int i;

	for (i = 0; i < EACH; i++)
		if (create_qp_once(arg))
			return arg;
	return NULL;
}

static int create_qp_by_all(struct verbs_setup *setup)
{
	pthread_t team[MOST_THREADS];
	void *failed = NULL;
	void *result;
	int i;

	for (i = 0; i < threads; i++) {
		errno = pthread_create(&team[i], NULL, create_qp_thread, setup);
		if (errno) {
			perror("create_qp: thread");
			exit(1);
		}
	}
	for (i = 0; i < threads; i++) {
		pthread_join(team[i], &result);
		if (result)
			failed = result;
	}
	return failed ? 1 : 0;
}

static int measure_threads(struct verbs_setup *setup, uint64_t (*clock)(void),
			   uint64_t *cost, int n)
{
	uint64_t before;
	int i;

	for (i = -1; i < n; i++) {
		before = clock();
		if (create_qp_by_all(setup))
			return 1;
		if (i >= 0)
			cost[i] = (clock() - before) / (threads * EACH);
	}
	return 0;
}

/* Closing is not in the figure. */
static int measure_open(struct verbs_setup *setup, uint64_t (*clock)(void),
			uint64_t *cost, int n)
{
	struct ibv_device *device = setup->ctx->device;
	struct ibv_context *ctx;
	uint64_t before;
	int i;

	for (i = -WARM_UP; i < n; i++) {
		before = clock();
		ctx = ibv_open_device(device);
		if (i >= 0)
			cost[i] = clock() - before;
		if (!ctx || ibv_close_device(ctx)) {
			perror("create_qp: open");
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t (*clock)(void) = nanoseconds;
	struct verbs_setup setup;
	uint64_t *cost;
	int (*run)(struct verbs_setup *setup, uint64_t (*clock)(void),
		   uint64_t *cost, int n) = create_qp_measure;
	int c, n = 300, decile = 1;

	while ((c = getopt(argc, argv, "ion:t:")) != -1) {
		if (c == 'i')
			clock = spin_now, decile = 5;
		else if (c == 'o' && !threads)
			run = measure_open;
		else if (c == 't' && run != measure_open)
			threads = atoi(optarg), run = measure_threads;
		else if (c == 'n')
			n = atoi(optarg);
		else
			return 2;
	}
	/*
	 * Without this each QP would grow and shrink the heap, or not, by the
	 * layout of memory.
	 */
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_TOP_PAD, 1 << 20);
	if (run == measure_threads && (threads < 1 || threads > MOST_THREADS))
		return 2;
	cost = n > 0 ? calloc(n, sizeof(*cost)) : NULL;
	if (!cost || verbs_open(&setup, NULL, 1))
		return 1;
	if (clock == spin_now && spin_start())
		return 1;
	if (run(&setup, clock, cost, n))
		return 1;
	qsort(cost, n, sizeof(*cost), create_qp_by_value);
	printf("%ju\n", (uintmax_t)cost[n * decile / 10]);
	fflush(stdout);
	verbs_close(&setup);
	_exit(0);
}
