// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 120 */
/*
 * A verify costs what was hit, not what is watched, and of many threads that ask
 * at once one looks. What is counted are calls by which the kernel looks at up to
 * 64 pages, with a kprobe. And memory that was watched costs nothing afterwards.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <mlx5ep/mr_watch.h>

#include "sysfs.h"
#include "verbs.h"

#define PAGE		4096ul
#define SMALL		(2ul << 20)
#define BIG		(1ul << 30)
#define WIDE		(128ul << 20)
#define THREADS		8u
#define TRACING		"/sys/kernel/tracing/"
#define PROBE		"cost_verify"

FIXTURE(cost)
{
	struct verbs_setup setup;
	struct mlx5ep_notifier *notifier;
	void *mem;
	struct ibv_mr *mr;	/* pins all frames */
};

/* Counts the calls of a function from now on. */
static bool probe_set(const char *function)
{
	char text[192];

	snprintf(text, sizeof(text), "p:" PROBE " %s", function);
	return !file_write(TRACING "kprobe_events", text) &&
	       !file_write(TRACING "events/kprobes/" PROBE "/enable", "1");
}

/* The same for a function of mlx5_ep, whose name the compiler may have made longer. */
static bool probe_set_ours(const char *function)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	size_t len = strlen(function);
	char line[256], name[128], module[64];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %*c %127s %63s", name, module) == 2 &&
			!strcmp(module, "[mlx5_ep]") &&
			!strncmp(name, function, len) &&
			(!name[len] || name[len] == '.');
	if (file)
		fclose(file);
	return found && probe_set(name);
}

static bool probe_clear(void)
{
	file_write(TRACING "events/kprobes/" PROBE "/enable", "0");
	return !file_write(TRACING "kprobe_events", "-:" PROBE);
}

/* Calls of the function since the probe was set: how often the kernel has looked. */
static unsigned long looks(void)
{
	FILE *file = fopen(TRACING "kprobe_profile", "r");
	unsigned long n = 0, hits;
	char line[256], name[64];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %lu", name, &hits) == 2 &&
		    !strcmp(name, PROBE))
			n = hits;
	if (file)
		fclose(file);
	return n;
}

/* The range is the same 2 MiB of shared memory over and over. */
static int map_all(void *mem)
{
	int fd = memfd_create("cost", MFD_CLOEXEC), ret = 0;
	size_t at;

	if (fd < 0 || ftruncate(fd, SMALL))
		return -errno;
	for (at = 0; at < BIG && !ret; at += SMALL)
		if (mmap(mem + at, SMALL, PROT_READ | PROT_WRITE, MAP_SHARED |
			 MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED)
			ret = -errno;
	close(fd);
	return ret;
}

FIXTURE_SETUP(cost)
{
	if (access(TRACING "kprobe_events", W_OK))
		mount("tracefs", TRACING, "tracefs", 0, NULL);
	if (access(TRACING "kprobe_events", W_OK))
		SKIP(return, "this kernel has no kprobe events");
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, 4,
					    &self->notifier));
	self->mem = mmap(NULL, BIG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_NORESERVE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
	ASSERT_EQ(0, map_all(self->mem));
	self->mr = ibv_reg_mr(self->setup.pd, self->mem, SMALL,
			      IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, self->mr);
	ASSERT_TRUE(probe_set("get_user_pages_fast_only"));
}

FIXTURE_TEARDOWN(cost)
{
	if (!self->notifier)
		return;
	EXPECT_TRUE(probe_clear());
	EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	munmap(self->mem, BIG);
	mlx5ep_notifier_destroy(self->notifier);
	verbs_close(&self->setup);
}

/* Hits a page and verifies: how often did the kernel look? 0: it went wrong */
static unsigned long cost_of_hit(struct mlx5ep_watch *watch, void *page)
{
	unsigned long before;

	if (madvise(page, PAGE, MADV_DONTNEED) || mlx5ep_watch_valid(watch))
		return 0;
	before = looks();
	if (mlx5ep_watch_verify(watch) || !mlx5ep_watch_valid(watch))
		return 0;
	return looks() - before;
}

TEST_F(cost, verify_of_one_page_costs_as_much_in_1_gib_as_in_2_mib)
{
	static const size_t pages[] = { 0, BIG / 2 + 5 * PAGE, BIG - PAGE };
	struct mlx5ep_watch small, big;
	unsigned long least, cost;
	unsigned int i;

	ASSERT_EQ(0, mlx5ep_watch_add(self->notifier, self->mem, SMALL, 0,
				      &small));
	ASSERT_EQ(0, mlx5ep_watch_record(&small));
	least = cost_of_hit(&small, self->mem + 5 * PAGE);
	ASSERT_LE(SMALL / PAGE / 64, least);
	ASSERT_EQ(0, mlx5ep_watch_del(&small));

	ASSERT_EQ(0, mlx5ep_watch_add(self->notifier, self->mem, BIG, 0, &big));
	ASSERT_EQ(0, mlx5ep_watch_record(&big));
	for (i = 0; i < 3; i++) {
		cost = cost_of_hit(&big, self->mem + pages[i]);
		printf("# looks: 2 MiB %lu, 1 GiB %lu\n", least, cost);
		EXPECT_LE(SMALL / PAGE / 64, cost);
		EXPECT_GE(2 * least, cost);
	}
}

/* Invalidations of ten pages that took the way for memory with a long watch */
static unsigned long flagged(void *mem)
{
	unsigned long before = looks();
	unsigned int i;

	for (i = 0; i < 10; i++)
		if (madvise(mem + i * PAGE, PAGE, MADV_DONTNEED))
			return 0;
	return looks() - before;
}

TEST_F(cost, memory_that_was_watched_costs_nothing_afterwards)
{
	struct mlx5ep_watch watch[2];

	ASSERT_TRUE(probe_clear());
	ASSERT_TRUE(probe_set_ours("invalidate_begin_look"));
	EXPECT_EQ(0, flagged(self->mem));
	ASSERT_EQ(0, mlx5ep_watch_add(self->notifier, self->mem, WIDE, 0,
				      &watch[0]));
	ASSERT_EQ(0, mlx5ep_watch_add(self->notifier, self->mem, WIDE, 0,
				      &watch[1]));
	EXPECT_EQ(10, flagged(self->mem));
	ASSERT_EQ(0, mlx5ep_watch_del(&watch[0]));
	EXPECT_EQ(10, flagged(self->mem));
	EXPECT_EQ(10, flagged(self->mem + WIDE / 2));
	EXPECT_EQ(0, flagged(self->mem + 2 * WIDE));
	ASSERT_EQ(0, mlx5ep_watch_del(&watch[1]));
	EXPECT_EQ(0, flagged(self->mem));
	EXPECT_EQ(0, flagged(self->mem + WIDE / 2));
}

struct asker {
	pthread_t thread;
	struct mlx5ep_watch watch;
	pthread_barrier_t *barrier;
	int ret;
};

static void *cost_verify_ask(void *arg)
{
	struct asker *asker = arg;

	pthread_barrier_wait(asker->barrier);
	asker->ret = mlx5ep_watch_verify(&asker->watch);
	return NULL;
}

TEST_F(cost, threads_that_ask_at_once_look_once)
{
	struct asker askers[THREADS];
	unsigned long one, all;
	pthread_barrier_t barrier;
	struct mlx5ep_watch watch;
	unsigned int i;

	ASSERT_EQ(0, mlx5ep_watch_add(self->notifier, self->mem, WIDE, 0,
				      &watch));
	ASSERT_EQ(0, mlx5ep_watch_record(&watch));
	ASSERT_EQ(0, madvise(self->mem, WIDE, MADV_DONTNEED));
	one = looks();
	ASSERT_EQ(0, mlx5ep_watch_verify(&watch));
	one = looks() - one;

	ASSERT_EQ(0, madvise(self->mem, WIDE, MADV_DONTNEED));
	ASSERT_FALSE(mlx5ep_watch_valid(&watch));
	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, THREADS));
	all = looks();
	for (i = 0; i < THREADS; i++) {
		askers[i].watch = watch;
		askers[i].barrier = &barrier;
		ASSERT_EQ(0, pthread_create(&askers[i].thread, NULL,
					    cost_verify_ask, &askers[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(askers[i].thread, NULL);
		EXPECT_EQ(0, askers[i].ret);
	}
	all = looks() - all;
	printf("# looks: 1 thread %lu, %u threads %lu\n", one, THREADS, all);
	EXPECT_LE(WIDE / PAGE / 64, one);
	EXPECT_GE(one + one / 4, all);
	pthread_barrier_destroy(&barrier);
}

TEST_HARNESS_MAIN
