// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * am_logp [-j] - what each way to send costs, in guest instructions a message
 *
 * After the table of Begel et al. (2001): o_send in the call, o_recv in the process
 * that gets the message (its handler, its receive, its answer), o_done in the sender
 * afterwards (completions, answers). The gap is what the busier side pays for each
 * message, and bounds their rate. Latency without the adapter is o_send + o_recv.
 * Beside them are raw verbs, and what categories, empty polls, events and
 * registrations add.
 *
 * For a guest with one CPU whose instructions QEMU counts. One thread drives both
 * ends in turns, so nobody runs in between. With -j it prints JSON.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mlx5ep.h>

#include "instr.h"
#include "logp_ends.h"
#include "logp_raw.h"
#include "logp_table.h"
#include "spin.h"

#define BURST	12u		/* messages of a sample */
#define SAMPLES	7
#define QUIET	3		/* looks without a completion: all is done */
#define QUIET_US 3000
#define LONG	(64u << 10)
#define MAX	4000u		/* bytes of a long request */

static char bytes[MAX], *bulk;

/* Look for completions until there are none. Return: instructions of the looks. */
static uint64_t look(struct transport *tp, bool *found)
{
	uint64_t sum = 0, before;
	int n;

	do {
		before = instr_now();
		n = tp_progress(tp);
		if (n > 0)
			sum += instr_now() - before;
		*found |= n > 0;
	} while (n > 0);
	return sum;
}

static void pump(struct ends *e, struct logp_cost *cost)
{
	unsigned int quiet = 0;
	bool found;

	while (quiet < QUIET) {
		usleep(QUIET_US);
		found = false;
		cost->recv += look(e->end[1].tp, &found);
		cost->done += look(e->end[0].tp, &found);
		quiet = found ? 0 : quiet + 1;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v)
{
	qsort(v, SAMPLES, sizeof(*v), by_value);
	return v[SAMPLES / 2];
}

typedef int (*send_fn)(struct ends *e);

/* The first sample warms up. */
static int measure(struct ends *e, send_fn fn, struct logp_cost *cost)
{
	double send[SAMPLES], recv[SAMPLES], done[SAMPLES];
	struct logp_cost one;
	uint64_t before;
	int i, n, ret = 0;

	for (i = -1; i < SAMPLES && !ret; i++) {
		one = (struct logp_cost){};
		before = instr_now();
		for (n = 0; n < BURST && !ret; n++)
			ret = fn(e);
		one.send = instr_now() - before;
		pump(e, &one);
		if (e->end[0].sc && !ret)
			ret = sc_sync(e->end[0].sc);
		if (i < 0)
			continue;
		send[i] = one.send / BURST;
		recv[i] = one.recv / BURST;
		done[i] = one.done / BURST;
	}
	*cost = (struct logp_cost){ median(send), median(recv), median(done) };
	return ret;
}

static int send_post(struct ends *e)
{
	return tp_post(e->end[0].tp, 1, bytes, 8, NULL, 0);
}

static int send_request(struct ends *e)
{
	return am_request(e->end[0].am, 1, ENDS_SINK, NULL, bytes, 8);
}

static int send_long_request(struct ends *e)
{
	return am_request(e->end[0].am, 1, ENDS_SINK, NULL, bytes, MAX);
}

static int send_echo(struct ends *e)
{
	return am_request(e->end[0].am, 1, ENDS_ECHO, NULL, bytes, 8);
}

static int send_get(struct ends *e)
{
	return sc_get(e->end[0].sc, bytes, (struct sc_global){ 1, 0 }, 8);
}

static int send_put(struct ends *e)
{
	return sc_put(e->end[0].sc, (struct sc_global){ 1, 0 }, bytes, 8);
}

static int send_store(struct ends *e)
{
	return sc_store(e->end[0].sc, (struct sc_global){ 1, 0 }, bytes, 8);
}

static int send_bulk_get(struct ends *e)
{
	return sc_bulk_get(e->end[0].sc, bulk, (struct sc_global){ 1, 0 },
			   LONG);
}

static int send_bulk_put(struct ends *e)
{
	return sc_bulk_put(e->end[0].sc, (struct sc_global){ 1, 0 }, bulk,
			   LONG);
}

static int send_bulk_put_4x(struct ends *e)
{
	return sc_bulk_put(e->end[0].sc, (struct sc_global){ 1, 0 }, bulk,
			   4 * LONG);
}

/* Other memory at the same address; its registration is not valid any more. */
static int send_unregistered(struct ends *e)
{
	static unsigned int slot;
	char *at = bulk + (1 + slot++ % BURST) * 4 * LONG;

	return sc_bulk_put(e->end[0].sc, (struct sc_global){ 1, 0 }, at, LONG);
}

static int map_anew(void)
{
	size_t len = (BURST + 1) * 4 * LONG;
	void *at = mmap(bulk, len, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			MAP_ANONYMOUS | (bulk ? MAP_FIXED : 0), -1, 0);

	if (at == MAP_FAILED)
		return -errno;
	bulk = memset(at, 1, len);
	return 0;
}

static int active_messages(void)
{
	struct logp_cost c, large;
	struct ends e;
	int ret = ends_open(&e, ENDS_AM, MLX5EP_CATEGORY_DYNAMIC);

	if (ret)
		return ret;
	ret = measure(&e, send_request, &c);
	logp_row("am_request", 8, &c);
	if (!ret)
		ret = measure(&e, send_long_request, &large);
	logp_row("am_request", MAX, &large);
	logp_add("per byte (G)", "am_request",
		 (logp_whole(&large) - logp_whole(&c)) / (MAX - 8));
	if (!ret)
		ret = measure(&e, send_echo, &c);
	logp_row("am_request, am_reply", 8, &c);
	return ret ? ret : ends_close(&e);
}

static int transport(void)
{
	struct logp_cost c;
	struct ends e;
	int ret = ends_open(&e, ENDS_POST, MLX5EP_CATEGORY_DYNAMIC);

	if (ret)
		return ret;
	ret = measure(&e, send_post, &c);
	logp_row("transport post", 8, &c);
	return ret ? ret : ends_close(&e);
}

/* What it adds that the memory was not registered. @warm: o_send if it was */
static int registrations(struct ends *e, double warm)
{
	double send[SAMPLES];
	struct logp_cost c = {};
	uint64_t before;
	int i, n, ret = spin_start();

	for (i = 0; i < SAMPLES && !ret; i++) {
		ret = map_anew();
		before = spin_now();
		for (n = 0; n < BURST && !ret; n++)
			ret = send_unregistered(e);
		send[i] = (double)(spin_now() - before) / BURST;
		pump(e, &c);
		if (!ret)
			ret = sc_sync(e->end[0].sc);
	}
	logp_add("registration", "a bulk put of 64 KiB, in o_send",
		 median(send) - warm);
	return ret;
}

static int split_c(void)
{
	static const struct {
		const char *name;
		unsigned int len;
		send_fn fn;
	} all[] = {
		{ "splitc get", 8, send_get },
		{ "splitc put", 8, send_put },
		{ "splitc store", 8, send_store },
		{ "splitc bulk get", LONG, send_bulk_get },
		{ "splitc bulk put", LONG, send_bulk_put },
		{ "splitc bulk put", 4 * LONG, send_bulk_put_4x },
	};
	struct logp_cost c = {}, last = {};
	struct ends e;
	unsigned int i;
	int ret = ends_open(&e, ENDS_SC, MLX5EP_CATEGORY_DYNAMIC);

	for (i = 0; i < sizeof(all) / sizeof(*all) && !ret; i++) {
		last = c;
		ret = measure(&e, all[i].fn, &c);
		logp_row(all[i].name, all[i].len, &c);
	}
	if (ret)
		return ret;
	logp_add("per byte (G)", "splitc bulk put",
		 (logp_whole(&c) - logp_whole(&last)) / (3 * LONG));
	ret = registrations(&e, last.send);
	return ret ? ret : ends_close(&e);
}

static int categories(void)
{
	unsigned int category;
	struct logp_cost c;
	struct ends e;
	int ret = 0;

	for (category = MLX5EP_CATEGORY_MPI_EVERYWHERE;
	     category <= MLX5EP_CATEGORY_MPI_THREADS && !ret; category++) {
		ret = ends_open(&e, ENDS_POST, category);
		if (ret)
			break;
		ret = measure(&e, send_post, &c);
		logp_add("o_send of a post", mlx5ep_category_name(category),
			 c.send);
		ret = ret ? ret : ends_close(&e);
	}
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
		ret = transport();
	if (!ret)
		ret = active_messages();
	if (!ret)
		ret = categories();
	if (!ret)
		ret = split_c();
	if (ret) {
		fprintf(stderr, "am_logp: %s\n", strerror(-ret));
		return 1;
	}
	logp_print(json);
	return 0;
}
