// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 60 */
/*
 * How many UAR pages a context may have where uuar_pages is 0: one for each CPU on
 * which a thread of the process may run, and not one for each CPU of the node, and
 * fewer in a process that has used up its mappings. The library asks for one page, so
 * that its wish decides nothing.
 */
#include "kselftest_harness.h"

#include <mlx5ep.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctx_open.h"
#include "sysfs.h"

static int bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* Opens a context. Returns the pages on which it may place QPs, or -1. */
static int pages(void)
{
	struct mlx5_ep_context_info info = {};
	struct ibv_context *ctx = ctx_open();
	int ret = -1;

	if (!ctx)
		return -1;
	if (!mlx5ep_context_query(ctx, &info) &&
	    info.flags & MLX5_EP_CONTEXT_MANAGED)
		ret = info.static_pages;
	ibv_close_device(ctx);
	return ret;
}

static void *wait_for_end(void *end)
{
	pthread_barrier_wait(end);
	return NULL;
}

FIXTURE(cpus) {
	int unused;
};

FIXTURE_SETUP(cpus)
{
	self->unused = 0;
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(2, sysconf(_SC_NPROCESSORS_ONLN));
	ASSERT_EQ(0, setenv("MLX5_TOTAL_UUARS", "2", 1));
	ASSERT_EQ(0, setenv("MLX5_NUM_LOW_LAT_UUARS", "1", 1));
	ASSERT_EQ(0, sysfs_policy("independent", 0, false));
}

FIXTURE_TEARDOWN(cpus)
{
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_F(cpus, of_the_node)
{
	EXPECT_EQ(2, pages());
}

TEST_F(cpus, of_a_process_on_one)
{
	ASSERT_EQ(0, bind_to(1));
	EXPECT_EQ(1, pages());
}

/* As where a program binds each of its threads, the one that opens too. */
TEST_F(cpus, of_all_threads)
{
	pthread_barrier_t end;
	pthread_t thread;

	ASSERT_EQ(0, pthread_barrier_init(&end, NULL, 2));
	ASSERT_EQ(0, bind_to(1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_end, &end));
	EXPECT_EQ(1, pages());
	ASSERT_EQ(0, bind_to(0));
	EXPECT_EQ(2, pages());
	pthread_barrier_wait(&end);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&end);
	EXPECT_EQ(1, pages());
}

/* libmlx5 maps each page at open; of 65530 mappings, a 512th of the rest are taken. */
TEST_F(cpus, of_a_process_with_many_mappings)
{
	const long page = sysconf(_SC_PAGESIZE);
	const long pairs = 32300;
	char *area;
	long i;

	EXPECT_EQ(2, pages());
	area = mmap(NULL, 2 * pairs * page, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ASSERT_NE(MAP_FAILED, area);
	for (i = 0; i < pairs; i++)
		ASSERT_EQ(0, mprotect(area + 2 * i * page, page, PROT_READ));
	EXPECT_EQ(1, pages());
	ASSERT_EQ(0, munmap(area, 2 * pairs * page));
	EXPECT_EQ(2, pages());
}

TEST_HARNESS_MAIN
