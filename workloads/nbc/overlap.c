// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Overlap of communication and computation; see overlap.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compute.h"
#include "overlap.h"
#include "timeline/mark.h"

#define SLEPT	5		/* samples where the caller sleeps */
#define WARM_UP	2
#define SLICES	OVERLAP_TESTS	/* of what is done meanwhile */
#define SLICE_US 2000		/* of a collective that is over soon */
#define LOOK_US	100		/* how long who waits asleep does not look */

static const struct {
	const char *name;
	enum nbc_kind kind;
} kinds[] = {
	{ "barrier", NBC_BARRIER },
	{ "bcast", NBC_BCAST },
	{ "scatter", NBC_SCATTER },
	{ "gather", NBC_GATHER },
	{ "gatherv", NBC_GATHERV },
	{ "allgather", NBC_ALLGATHER },
	{ "alltoall", NBC_ALLTOALL },
	{ "alltoallv", NBC_ALLTOALLV },
	{ "allreduce", NBC_ALLREDUCE },
	{ "reduce", NBC_REDUCE },
	{ "scan", NBC_SCAN },
};

struct sample {
	double pure, overhead, cpu;	/* nanoseconds */
};

static double clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static double thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

/* What it costs to look at the clock twice. */
static double clock_cost(void)
{
	double v[15], since;
	unsigned int i;

	for (i = 0; i < 15; i++) {
		since = thread_ns();
		v[i] = thread_ns() - since;
	}
	return median(v, 15);
}

struct run {
	const struct overlap_lib *lib;
	struct plan_item item;
	void *in, *out;
	struct overlap_how how;
	double clock_cost;
	unsigned int slice_us;
};

static int lib_begin(struct run *r)
{
	int ret;

	mark_begin("begin");
	ret = r->lib->begin(&r->item, r->in, r->out);
	mark_end();
	return ret;
}

static int lib_test(struct run *r)
{
	int ret;

	mark_begin("test");
	ret = r->lib->test();
	mark_end();
	return ret;
}

static int lib_wait(struct run *r)
{
	int ret;

	mark_begin("wait");
	ret = r->lib->wait();
	mark_end();
	return ret;
}

/* The slice of a collective, which is waited for alone or beside something else. */
static void mark_collective(const struct run *r, const char *how)
{
	mark_begin("%s %zu %s", kinds[r->item.id].name,
		   r->item.count * sizeof(uint64_t), how);
}

static int wait_asleep(struct run *r)
{
	int ret;

	do {
		usleep(LOOK_US);
		ret = lib_test(r);
	} while (!ret);
	return ret < 0 ? ret : 0;
}

static int pure(struct run *r, struct sample *s, bool asleep)
{
	double since;
	int ret = r->lib->meet();

	mark_collective(r, "alone");
	since = clock_ns(CLOCK_MONOTONIC);
	if (!ret)
		ret = lib_begin(r);
	if (!ret)
		ret = asleep ? wait_asleep(r) : lib_wait(r);
	s->pure = clock_ns(CLOCK_MONOTONIC) - since;
	mark_end();
	return ret;
}

/* How long all sleep between two tests, so that the collective ends meanwhile. */
static int choose_slice(struct run *r)
{
	struct sample s;
	int ret = pure(r, &s, true);

	if (!ret)
		ret = r->lib->sum(&s.pure, 1);
	r->slice_us = 1.5 * s.pure / r->lib->place.n / 1000 / SLICES;
	if (r->slice_us < SLICE_US)
		r->slice_us = SLICE_US;
	return ret;
}

static void count(struct run *r, struct sample *s, double since)
{
	s->overhead += thread_ns() - since - r->clock_cost;
}

static int slices(struct run *r, struct sample *s)
{
	double since;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < SLICES; i++) {
		usleep(r->slice_us);
		if (ret || i >= r->how.tests)
			continue;
		since = thread_ns();
		ret = lib_test(r);
		count(r, s, since);
		if (ret < 0)
			return ret;
	}
	if (ret)
		return 0;
	since = thread_ns();
	ret = lib_wait(r);
	count(r, s, since);
	return ret;
}

/* The processor time of the process is that of the caller, and of other threads. */
static int overlapped(struct run *r, struct sample *s)
{
	double since, thread, all;
	int ret = r->lib->meet();

	usleep(2 * SLICE_US);
	mark_collective(r, "beside");
	s->overhead = 0;
	all = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	thread = thread_ns();
	since = thread_ns();
	if (!ret)
		ret = lib_begin(r);
	count(r, s, since);
	if (!ret)
		ret = slices(r, s);
	thread = thread_ns() - thread;
	all = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - all;
	/* The look at the other clock, half before and half after. */
	all -= thread + 2 * r->clock_cost;
	s->cpu = s->overhead + (all > 0 ? all : 0);
	mark_end();
	return ret;
}

/* The steps of a slice, with tests between them if something is under way. */
static int compute(struct run *r, unsigned long steps, bool under_way)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < SLICES; i++) {
		compute_steps(steps);
		if (under_way && !ret && i < r->how.tests)
			ret = lib_test(r);
	}
	return ret;
}

/*
 * Compute for as long as the collective took, first alone and then beside one. What it
 * takes longer then is the overhead, whoever had the processor in this time.
 */
static int computed(struct run *r, struct sample *s)
{
	unsigned long steps = s->pure * compute_rate() / SLICES + 1;
	double since, alone;
	int ret = r->lib->meet();

	since = compute_now();
	compute(r, steps, false);
	alone = compute_now() - since;
	if (!ret)
		ret = r->lib->meet();
	mark_collective(r, "beside");
	since = compute_now();
	if (!ret)
		ret = lib_begin(r);
	if (!ret)
		ret = compute(r, steps, true);
	/* A test may have said that it is done. */
	if (!ret)
		ret = lib_wait(r);
	s->overhead = s->cpu = compute_now() - since - alone;
	mark_end();
	return ret < 0 ? ret : 0;
}

static int check(struct run *r)
{
	size_t len = plan_out_len(&r->item, r->lib->place);
	void *right = malloc(len + 1);
	int ret = right ? 0 : -ENOMEM;

	if (!ret) {
		plan_after(&r->item, r->lib->place, right);
		ret = memcmp(right, r->out, len) ? -EBADMSG : 0;
	}
	free(right);
	return ret;
}

static int measure(struct run *r, struct sample *result)
{
	double p[OVERLAP_SAMPLES], o[OVERLAP_SAMPLES], c[OVERLAP_SAMPLES];
	int i, samples = r->how.samples;
	int ret = r->how.computes ? 0 : choose_slice(r);
	struct sample s = {};

	for (i = -WARM_UP; i < samples && !ret; i++) {
		ret = pure(r, &s, r->how.waits_asleep);
		plan_before(&r->item, r->lib->place, r->out);
		if (!ret)
			ret = r->how.computes ? computed(r, &s) :
					    overlapped(r, &s);
		if (!ret)
			ret = check(r);
		if (i < 0)
			continue;
		p[i] = s.pure;
		o[i] = s.overhead;
		c[i] = s.cpu;
	}
	if (ret)
		return ret;
	*result = (struct sample){ median(p, samples), median(o, samples),
				   median(c, samples) };
	return r->lib->sum((double *)result, 3);
}

/* Buffers stay mapped, as those of a program that runs for long. */
static int one(struct run *r, unsigned int kind, size_t len)
{
	struct plan_place place = r->lib->place;
	struct sample s;
	int ret;

	r->item = (struct plan_item){
		.id = kind,
		.kind = kinds[kind].kind,
		.type = NBC_UINT64,
		.op = NBC_SUM,
		.count = len / sizeof(uint64_t),
	};
	plan_in(&r->item, place, r->in);
	plan_before(&r->item, place, r->out);
	ret = measure(r, &s);
	if (!ret && !place.rank)
		printf("overlap: lib=%s tests=%u meanwhile=%s collective=%s processes=%u bytes=%zu pure=%.0f overhead=%.0f cpu=%.0f free=%.3f free_all=%.3f\n",
		       r->lib->name, r->how.tests,
		       r->how.computes ? "compute" : "sleep", kinds[kind].name,
		       place.n, len,
		       s.pure / place.n, s.overhead / place.n, s.cpu / place.n,
		       1 - s.overhead / s.pure, 1 - s.cpu / s.pure);
	return ret;
}

int overlap_lens(const char *list, struct overlap_how *how)
{
	unsigned long bytes;
	char *end;

	for (how->n_lens = 0; how->n_lens < OVERLAP_LENS; list = end + 1) {
		bytes = *list >= '0' && *list <= '9' ? strtoul(list, &end, 0) : 0;
		if (!bytes || bytes % sizeof(uint64_t) || bytes > OVERLAP_BYTES)
			break;
		how->lens[how->n_lens++] = bytes;
		if (!*end)
			return 0;
		if (*end != ',')
			break;
	}
	fprintf(stderr, "lengths are at most %u multiples of 8, up to %u, with commas between them\n",
		OVERLAP_LENS, OVERLAP_BYTES);
	return -EINVAL;
}

/* What has been left out of @how. */
static void overlap_defaults(struct overlap_how *how)
{
	static const size_t lens[] = { 64, 65536, 262144 };

	if (!how->samples)
		how->samples = how->computes ? OVERLAP_SAMPLES : SLEPT;
	if (how->n_lens)
		return;
	memcpy(how->lens, lens, sizeof(lens));
	how->n_lens = sizeof(lens) / sizeof(*lens);
}

static size_t longest(const struct overlap_how *how)
{
	size_t most = 0;
	unsigned int i;

	for (i = 0; i < how->n_lens; i++)
		if (how->lens[i] > most)
			most = how->lens[i];
	return most;
}

int overlap_run(const struct overlap_lib *lib, struct overlap_how how)
{
	struct run r = { .lib = lib, .clock_cost = clock_cost() };
	unsigned int kind, i;
	size_t most;
	int ret;

	overlap_defaults(&how);
	if (how.tests > SLICES || how.samples > OVERLAP_SAMPLES)
		return -EINVAL;
	r.how = how;
	mark_open(lib->place.rank);
	/* A part of a vector is up to twice as long, and a gap follows it. */
	most = lib->place.n * (2 * longest(&how) + sizeof(uint64_t));
	r.in = malloc(most);
	r.out = malloc(most);
	ret = r.in && r.out ? 0 : -ENOMEM;
	if (!ret && how.computes)
		ret = compute_pin(lib->place.rank, lib->place.n);
	for (kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++)
		for (i = 0; i < how.n_lens && !ret; i++)
			if (i == 0 || kinds[kind].kind != NBC_BARRIER)
				ret = one(&r, kind, how.lens[i]);
	/* After an error nothing is freed: it may still be moving. */
	if (ret)
		return ret;
	free(r.in);
	free(r.out);
	return 0;
}
