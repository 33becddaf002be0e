// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * While the module request_copier holds up a call that opens a context, other calls open
 * contexts without a policy. One shares no memory with the held call, and ends. One wants
 * its answer at the end of the request of the held call, and waits for that call.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "ctx_open.h"
#include "patience.h"
#include "sysfs.h"

#define COPIER "/sys/module/request_copier/parameters/"
#define POLL_US 10000
#define LONG_MS (10000 * patience_factor())
#define SHORT_MS (500 * patience_factor())
#define PAGE 4096

static const struct mlx5_ib_alloc_ucontext_req_v2 as_made = {
	.total_num_bfregs = 16,
	.num_low_latency_bfregs = 4,
	.max_cqe_version = 1,
	.lib_caps = MLX5_LIB_CAP_4K_UAR,
};

/* The memory of the calls: the held request is longer than the driver's. */
static union {
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	char bytes[2 * PAGE];
} held, other;

/**
 * struct opening - a call of a thread of its own
 * @len: bytes of @req
 * @answer: where the driver writes, of the size of its answer
 * @fd: the context, or an error
 * @over: the call has ended
 */
struct opening {
	pthread_t thread;
	const struct mlx5_ib_alloc_ucontext_req_v2 *req;
	size_t len;
	void *answer;
	int fd;
	atomic_bool over;
};

static void *opening_do(void *arg)
{
	struct opening *opening = arg;

	opening->fd = ctx_open_answered(
		opening->req, opening->len, opening->answer,
		sizeof(struct mlx5_ib_alloc_ucontext_resp));
	atomic_store(&opening->over, true);
	return NULL;
}

static bool opening_ends(struct opening *opening, int ms)
{
	int i;

	for (i = 0; i < ms * 1000 / POLL_US && !atomic_load(&opening->over); i++)
		usleep(POLL_US);
	return atomic_load(&opening->over);
}

static bool copier_holds(void)
{
	FILE *file = fopen(COPIER "held", "re");
	int i, calls = 0;

	for (i = 0; file && !calls && i < LONG_MS * 1000 / POLL_US; i++) {
		usleep(POLL_US);
		rewind(file);
		fflush(file);
		if (fscanf(file, "%d", &calls) != 1)
			break;
	}
	if (file)
		fclose(file);
	return calls;
}

static int opening_failed(const struct opening *opening, const char *which)
{
	if (opening->fd >= 0)
		return 0;
	fprintf(stderr, "open_beside: %s: error %d\n", which, -opening->fd);
	return 1;
}

int main(void)
{
	struct mlx5_ib_alloc_ucontext_resp answers[2];
	struct opening first = { .req = &held.req, .len = sizeof(held),
				 .answer = &answers[0] };
	struct opening apart = { .req = &other.req, .len = sizeof(as_made),
				 .answer = &answers[1] };
	struct opening shares = { .req = &other.req, .len = sizeof(as_made),
				  .answer = &held.bytes[PAGE] };
	int wrong = 0;

	held.req = as_made;
	other.req = as_made;
	if (file_write(COPIER "hold", "1") ||
	    sysfs_policy("independent", 4, false) ||
	    pthread_create(&first.thread, NULL, opening_do, &first))
		return 2;
	if (!copier_holds() || sysfs_policy("stock", 0, false)) {
		fprintf(stderr, "open_beside: no call is held up\n");
		wrong = 1;
	}
	pthread_create(&apart.thread, NULL, opening_do, &apart);
	if (!opening_ends(&apart, LONG_MS)) {
		fprintf(stderr, "open_beside: a call waits without a reason\n");
		wrong = 1;
	}
	pthread_create(&shares.thread, NULL, opening_do, &shares);
	if (opening_ends(&shares, SHORT_MS)) {
		fprintf(stderr, "open_beside: a call did not wait\n");
		wrong = 1;
	}
	if (atomic_load(&first.over)) {
		fprintf(stderr, "open_beside: the held call has ended\n");
		wrong = 1;
	}
	file_write(COPIER "hold", "0");
	pthread_join(first.thread, NULL);
	pthread_join(apart.thread, NULL);
	pthread_join(shares.thread, NULL);
	return opening_failed(&first, "the held call") +
	       opening_failed(&apart, "the call apart") +
	       opening_failed(&shares, "the call that shares memory") + wrong;
}
