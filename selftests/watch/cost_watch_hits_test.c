// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, mem: 2G, timeout: 240 */
/*
 * What watches and notifiers cost others: a page with very many watches is slow to
 * change once, not each time; and a process with many notifiers unmaps as fast as
 * with one, and ends as fast. Times are compared with each other.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <mlx5ep/mr_watch.h>

#include "sysfs.h"
#include "verbs.h"

#define PAGE		4096ul
#define WATCHES		200000u
#define BATCH		1000u
#define NOTIFIERS	10000u
#define PER_USER	"/sys/module/mlx5_ep/parameters/notifiers_per_user"

FIXTURE(cost)
{
	struct verbs_setup setup;
	void *mem;
};

typedef FIXTURE_DATA(cost) cost_data;

FIXTURE_SETUP(cost)
{
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	self->mem = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
}

FIXTURE_TEARDOWN(cost)
{
	munmap(self->mem, 2 * PAGE);
	verbs_close(&self->setup);
}

static double cost_watch_hits_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double clear_page(void *page)
{
	double before;

	*(volatile char *)page = 1;
	before = cost_watch_hits_now();
	madvise(page, PAGE, MADV_DONTNEED);
	return cost_watch_hits_now() - before;
}

static double least_clear(void *page, int times)
{
	double took, least = 1e9;

	while (times--) {
		took = clear_page(page);
		if (took < least)
			least = took;
	}
	return least;
}

TEST_F(cost, page_with_many_watches_is_slow_to_change_once)
{
	static struct mlx5_ep_watch_add adds[BATCH];
	static struct mlx5ep_watch watches[BATCH];
	struct mlx5ep_notifier *n;
	double none, first, again;
	unsigned int i;

	ASSERT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, WATCHES, &n));
	none = least_clear(self->mem + PAGE, 50);
	for (i = 0; i < BATCH; i++) {
		adds[i].addr = (uintptr_t)self->mem;
		adds[i].length = PAGE;
	}
	for (i = 0; i < WATCHES; i += BATCH)
		ASSERT_EQ(0, mlx5ep_watch_add_batch(n, adds, watches, BATCH));
	first = clear_page(self->mem);
	again = least_clear(self->mem, 50);
	printf("# no watch %.1f us, first %.1f us, again %.1f us\n",
	       none * 1e6, first * 1e6, again * 1e6);
	for (i = 0; i < BATCH; i++)
		EXPECT_FALSE(mlx5ep_watch_valid(&watches[i]));
	EXPECT_EQ(WATCHES, mlx5ep_notifier_page(n)->watch_total);
	EXPECT_EQ(WATCHES, mlx5ep_notifier_page(n)->watch_pending);
	EXPECT_LT(again, 10 * none);
	mlx5ep_notifier_destroy(n);
}

static double least_munmap(int times)
{
	double before, took, least = 1e9;
	void *mem;

	while (times--) {
		mem = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			   MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		before = cost_watch_hits_now();
		munmap(mem, PAGE);
		took = cost_watch_hits_now() - before;
		if (took < least)
			least = took;
	}
	return least;
}

/* In a child, which makes notifiers and ends with them. @made: how long it took */
static int many_notifiers(double *made)
{
	struct mlx5ep_notifier *n;
	struct verbs_setup setup;
	struct rlimit files = { 2 * NOTIFIERS, 2 * NOTIFIERS };
	double one, many, before;
	unsigned int i;

	/* Each is a file. */
	if (setrlimit(RLIMIT_NOFILE, &files) || verbs_open(&setup, NULL, 1) ||
	    mlx5ep_notifier_create(setup.ctx, 1, &n))
		return 2;
	one = least_munmap(100);
	before = cost_watch_hits_now();
	for (i = 1; i < NOTIFIERS; i++)
		if (mlx5ep_notifier_create(setup.ctx, 1, &n))
			return 3;
	*made = cost_watch_hits_now() - before;
	many = least_munmap(100);
	printf("# munmap with 1 notifier %.1f us, with %u %.1f us\n", one * 1e6,
	       NOTIFIERS, many * 1e6);
	fflush(stdout);
	return many < 4 * one ? 0 : 1;
}

TEST_F(cost, many_notifiers_cost_as_much_as_one)
{
	double before, took, *made;
	int status;
	pid_t pid;

	made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, made);
	pid = fork();
	if (!pid)
		_exit(many_notifiers(made));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);

	/* Now only the end is timed. */
	pid = fork();
	if (!pid) {
		many_notifiers(made);
		raise(SIGSTOP);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	before = cost_watch_hits_now();
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	took = cost_watch_hits_now() - before;
	printf("# %u notifiers: made in %.2f s, ended in %.2f s\n", NOTIFIERS,
	       *made, took);
	/*
	 * A grace period for each takes many times longer than to make it. A
	 * limit in seconds would fail on a busy machine.
	 */
	EXPECT_LT(took, 4 * *made);
	munmap(made, PAGE);
}

TEST_F(cost, notifiers_of_a_user_are_limited)
{
	struct mlx5ep_notifier *n[3], *no;
	int i;

	ASSERT_EQ(0, file_write(PER_USER, "3"));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, 1, &n[i]));
	EXPECT_EQ(-EDQUOT, mlx5ep_notifier_create(self->setup.ctx, 1, &no));
	mlx5ep_notifier_destroy(n[0]);
	EXPECT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, 1, &n[0]));
	for (i = 0; i < 3; i++)
		mlx5ep_notifier_destroy(n[i]);
	EXPECT_EQ(0, file_write(PER_USER, "16384"));
}

TEST_HARNESS_MAIN
