// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * am_logp [-j] - what each way to send costs, in guest instructions a message
 *
 * After the table of Begel et al. (2001): o_send in the call, o_recv in the process
 * that gets the message (its handler, its receive, its answer), o_done in the sender
 * afterwards (completions, answers). The gap is what the busier side pays for each
 * message, and bounds their rate. G is what a byte adds. Latency without the adapter is o_send + o_recv.
 * The time is that of one message with the adapter, see logp/clock.h.
 * Beside them are raw verbs and UCX, the uUAR policies and categories, and what empty
 * polls, events and registrations add.
 *
 * For a guest with one CPU whose instructions QEMU counts. One thread drives both
 * ends in turns, so nobody runs in between. With -j it prints JSON.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mlx5ep.h>

#include "bench/instr.h"
#include "logp/ends.h"
#include "logp/measure.h"
#include "logp/raw.h"
#include "logp/table.h"
#include "logp/ucx.h"
#include "bench/spin.h"
#include "sysfs.h"

#define LONG	(64u << 10)
#define MAX	4000u		/* bytes of a long request */

static char bytes[MAX], *bulk;

static int look(void *arg, unsigned int end)
{
	struct ends *e = arg;

	return tp_progress(e->end[end].tp);
}

static atomic_bool finished;

static void *serve_other_end(void *arg)
{
	struct ends *e = arg;

	while (!finished && tp_progress(e->end[1].tp) >= 0)
		;
	return NULL;
}

/*
 * What has not come by now waits for both ends: on a busy machine the adapter takes
 * longer than the looks at the ends wait.
 */
static int finish(void *arg)
{
	struct ends *e = arg;
	pthread_t other;
	int ret;

	if (!e->end[0].sc)
		return 0;
	finished = false;
	ret = -pthread_create(&other, NULL, serve_other_end, e);
	if (ret)
		return ret;
	ret = sc_sync(e->end[0].sc);
	finished = true;
	pthread_join(other, NULL);
	return ret;
}

static int measure(struct ends *e, logp_send send, struct logp_cost *cost)
{
	struct logp_sides sides = { e, look, finish };

	return logp_measure(&sides, send, cost);
}

/* The length of each message. */
static size_t bytes_sent;

static int send_post(void *arg)
{
	struct ends *e = arg;

	return tp_post(e->end[0].tp, 1, bytes, bytes_sent, NULL, 0);
}

static int send_request(void *arg)
{
	struct ends *e = arg;

	return am_request(e->end[0].am, 1, ENDS_SINK, NULL, bytes, bytes_sent);
}

static int send_echo(void *arg)
{
	struct ends *e = arg;

	return am_request(e->end[0].am, 1, ENDS_ECHO, NULL, bytes, bytes_sent);
}

/* The write is done when the ends are looked at, long before its request is used again. */
static int send_request_bulk(void *arg)
{
	static struct tp_req reqs[2 * LOGP_BURST];
	static unsigned int next;
	struct ends *e = arg;

	return am_begin_bulk(e->end[0].am, 1, ENDS_SINK, NULL, bulk, bytes_sent,
			     0, &reqs[next++ % (2 * LOGP_BURST)]);
}

static const struct sc_global there = { 1, 0 };

static int send_get(void *arg)
{
	struct ends *e = arg;

	return sc_get(e->end[0].sc, bytes, there, bytes_sent);
}

static int send_put(void *arg)
{
	struct ends *e = arg;

	return sc_put(e->end[0].sc, there, bytes, bytes_sent);
}

static int send_store(void *arg)
{
	struct ends *e = arg;

	return sc_store(e->end[0].sc, there, bytes, bytes_sent);
}

static int send_bulk_get(void *arg)
{
	struct ends *e = arg;

	return sc_bulk_get(e->end[0].sc, bulk, there, bytes_sent);
}

static int send_bulk_put(void *arg)
{
	struct ends *e = arg;

	return sc_bulk_put(e->end[0].sc, there, bulk, bytes_sent);
}

static int send_bulk_store(void *arg)
{
	struct ends *e = arg;

	return sc_bulk_store(e->end[0].sc, there, bulk, bytes_sent);
}

/* A primitive with messages of two lengths, for the cost of a byte. */
struct primitive {
	const char *name;
	unsigned int lens[2];
	logp_send send;
};

/* Adds a row for each length. @cost: the shorter ones of the last one, or NULL */
static int measure_all(struct ends *e, const struct primitive *p, unsigned int n,
		       struct logp_cost *cost)
{
	struct logp_cost c;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 2 * n && !ret; i++) {
		bytes_sent = p[i / 2].lens[i % 2];
		ret = measure(e, p[i / 2].send, &c);
		if (!ret)
			logp_row(p[i / 2].name, bytes_sent, &c);
		if (cost && !(i % 2))
			*cost = c;
	}
	return ret;
}

/* Other memory at the same address; its registration is not valid any more. */
static int send_unregistered(void *arg)
{
	static unsigned int slot;
	struct ends *e = arg;
	char *at = bulk + (1 + slot++ % LOGP_BURST) * 4 * LONG;

	return sc_bulk_put(e->end[0].sc, there, at, LONG);
}

static int map_anew(void)
{
	size_t len = (LOGP_BURST + 1) * 4 * LONG;
	void *at = mmap(bulk, len, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			MAP_ANONYMOUS | (bulk ? MAP_FIXED : 0), -1, 0);

	if (at == MAP_FAILED)
		return -errno;
	bulk = memset(at, 1, len);
	return 0;
}

static int active_messages(void)
{
	static const struct primitive all[] = {
		{ "am_request", { 8, MAX }, send_request },
		{ "am_request, am_reply", { 8, MAX }, send_echo },
		{ "am_request_bulk", { LONG, 4 * LONG }, send_request_bulk },
	};
	struct ends e;
	int ret = ends_open(&e, ENDS_AM, MLX5EP_CATEGORY_DYNAMIC);

	if (!ret)
		ret = measure_all(&e, all, 3, NULL);
	return ret ? ret : ends_close(&e);
}

static int transport(void)
{
	static const struct primitive post = {
		"transport post", { 8, MAX }, send_post
	};
	struct ends e;
	int ret = ends_open(&e, ENDS_POST, MLX5EP_CATEGORY_DYNAMIC);

	if (!ret)
		ret = measure_all(&e, &post, 1, NULL);
	return ret ? ret : ends_close(&e);
}

/* What it adds that the memory was not registered. @warm: o_send if it was */
static int registrations(struct ends *e, double warm)
{
	struct logp_sides sides = { e, look, finish };
	double send[LOGP_SAMPLES], ns[LOGP_SAMPLES];
	struct logp_cost c = {};
	uint64_t before, since;
	int i, n, ret = spin_start();

	for (i = 0; i < LOGP_SAMPLES && !ret; i++) {
		ret = map_anew();
		before = spin_now();
		since = instr_now();
		for (n = 0; n < LOGP_BURST && !ret; n++)
			ret = send_unregistered(e);
		send[i] = (double)(spin_now() - before) / LOGP_BURST;
		ns[i] = (double)(instr_now() - since) / LOGP_BURST;
		logp_pump(&sides, &c);
		if (!ret)
			ret = finish(e);
	}
	logp_add("registration", "a bulk put of 64 KiB, in o_send",
		 logp_median(send, LOGP_SAMPLES) - warm,
		 logp_median(ns, LOGP_SAMPLES) - warm);
	return ret;
}

#define BARRIERS 16u		/* of a sample: one end may be one ahead of the other */

static int barriers(struct sc *sc)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < BARRIERS && !ret; i++)
		ret = sc_barrier(sc);
	return ret;
}

static void *enter_barriers(void *arg)
{
	struct ends *e = arg;
	unsigned int i;

	for (i = 0; i < LOGP_TIMES + 1 && !e->end[1].ret; i++)
		e->end[1].ret = barriers(e->end[1].sc);
	return NULL;
}

/* Nanoseconds of a barrier, by samples. The first sample warms up. */
static int time_barriers(struct ends *e, double *ns)
{
	uint64_t since;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < LOGP_TIMES + 1 && !ret; i++) {
		since = instr_now();
		ret = barriers(e->end[0].sc);
		if (i)
			ns[i - 1] = (double)(instr_now() - since) / BARRIERS;
	}
	return ret;
}

/*
 * Both ends wait in a barrier, so each needs a thread. An instruction takes a nanosecond,
 * so the shortest time is what both threads do, the switches between them and the looks
 * that find nothing, one half for each process.
 */
static int barrier(struct ends *e)
{
	double ns[LOGP_TIMES], median;
	pthread_t other;
	int ret = -pthread_create(&other, NULL, enter_barriers, e);

	if (ret)
		return ret;
	ret = time_barriers(e, ns);
	pthread_join(other, NULL);
	if (ret || e->end[1].ret)
		return ret ? ret : e->end[1].ret;
	median = logp_median(ns, LOGP_TIMES);
	logp_row("splitc barrier", 0, &(struct logp_cost){
		.send = ns[0] / 2,
		.recv = ns[0] / 2,
		.time = { median, ns[0], ns[LOGP_TIMES - 1] },
	});
	return 0;
}

static int split_c(void)
{
	static const struct primitive all[] = {
		{ "splitc get", { 8, MAX }, send_get },
		{ "splitc put", { 8, MAX }, send_put },
		{ "splitc store", { 8, MAX }, send_store },
		{ "splitc bulk get", { LONG, 4 * LONG }, send_bulk_get },
		{ "splitc bulk store", { LONG, 4 * LONG }, send_bulk_store },
		{ "splitc bulk put", { LONG, 4 * LONG }, send_bulk_put },
	};
	struct logp_cost put;
	struct ends e;
	int ret = ends_open(&e, ENDS_SC, MLX5EP_CATEGORY_DYNAMIC);

	if (!ret)
		ret = measure_all(&e, all, 6, &put);
	if (!ret)
		ret = registrations(&e, put.send);
	if (!ret)
		ret = barrier(&e);
	return ret ? ret : ends_close(&e);
}

/* A request between QPs that are placed by a policy or by a category. */
static int placed(const char *policy, unsigned int category)
{
	struct logp_cost c;
	struct ends e;
	int ret = sysfs_policy(policy, 0, false);

	bytes_sent = 8;
	if (!ret)
		ret = ends_open(&e, ENDS_AM, category);
	if (!ret)
		ret = measure(&e, send_request, &c);
	if (ret)
		return ret;
	logp_placement(policy, mlx5ep_category_name(category), &c);
	return ends_close(&e);
}

/* The policy places QPs without a thread domain only. */
static int placements(void)
{
	static const char *const policies[] = {
		"independent", "shared-uar", "shared-uuar", "stock"
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 4 && !ret; i++)
		ret = placed(policies[i], MLX5EP_CATEGORY_STATIC);
	for (i = MLX5EP_CATEGORY_MPI_EVERYWHERE;
	     i <= MLX5EP_CATEGORY_MPI_THREADS && !ret; i++)
		if (i != MLX5EP_CATEGORY_STATIC)
			ret = placed("stock", i);
	sysfs_policy("stock", 0, false);
	return ret;
}

int main(int argc, char **argv)
{
	bool json = argc == 2 && !strcmp(argv[1], "-j");
	int ret;

	if (argc > 1 && !json) {
		fprintf(stderr, "usage: am_logp [-j]\n");
		return 2;
	}
	ret = map_anew();
	if (!ret)
		ret = logp_raw();
	if (!ret)
		ret = logp_ucx();
	if (!ret)
		ret = transport();
	if (!ret)
		ret = active_messages();
	if (!ret)
		ret = placements();
	if (!ret)
		ret = split_c();
	if (ret) {
		fprintf(stderr, "am_logp: %s\n", strerror(-ret));
		return 1;
	}
	logp_per_byte();
	logp_print(json);
	return 0;
}
