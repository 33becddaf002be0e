// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * Edges of watches and notifiers: ranges at the borders of the blocks into which
 * the module cuts an address space (kernel/watch/inflight.h), mappings that
 * go one at a time, and threads that VERIFY wakes.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "patience.h"
#include "sysfs.h"
#include "watched.h"

/* What poll() of the C library calls. */
#ifdef SYS_poll
#define POLLS	SYS_poll
#else
#define POLLS	SYS_ppoll
#endif

#define PAGE	4096ul
#define BLOCK	(16ul << 20)
/* Blocks so far apart share their numbers. A process of 32 bits has none. */
#define TABLE	(sizeof(long) == 4 ? BLOCK : 256 * BLOCK)

FIXTURE(edges)
{
	struct verbs_setup setup;
	struct mlx5ep_notifier *n;
};

FIXTURE_SETUP(edges)
{
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, 64, &self->n));
	ASSERT_EQ(0, fcntl(mlx5ep_notifier_fd(self->n), F_SETFL, O_NONBLOCK));
}

FIXTURE_TEARDOWN(edges)
{
	if (self->n)
		mlx5ep_notifier_destroy(self->n);
	verbs_close(&self->setup);
}

/* Map two blocks around a border that is a multiple of @align. */
static void *map_around(unsigned long align)
{
	char *map = mmap(NULL, align + 2 * BLOCK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *border;

	if (map == MAP_FAILED)
		return NULL;
	border = (char *)(((uintptr_t)map + BLOCK + align - 1) & -align);
	munmap(map, border - BLOCK - map);
	munmap(border + BLOCK, map + align - border);
	return border;
}

/* An unmapped range and a watch, in pages from a border of blocks. */
struct edge {
	const char *what;
	long first, end;	/* unmapped */
	long watch, watch_end;
	long hit, hit_end;	/* what the event names; equal: not hit */
};

#define BP ((long)(BLOCK / PAGE))

static const struct edge edges[] = {
	{ "a page on either side", -1, 1, 0, 1, 0, 1 },
	{ "it ends at the border", -1, 0, 0, 1, 0, 0 },
	{ "it begins behind the watch", 1, 2, 0, 1, 0, 0 },
	{ "the watch ends at the border", 0, 1, -1, 0, 0, 0 },
	{ "the watch ends at the border and is hit", -2, 1, -1, 0, -1, 0 },
	{ "the watch is on both sides", -1, 0, -1, 1, -1, 0 },
	{ "the watch is on both sides, behind the border", 0, 1, -1, 1, 0, 1 },
	{ "the longest short range, a page into the watch", 1 - BP, 1, 0, 2,
	  0, 1 },
	{ "the longest short range, up to the watch", -BP, 0, 0, 1, 0, 0 },
	{ "longer than a block", -BP, 1, 0, 2, 0, 1 },
	{ "the last page of the next block", BP - 2, BP, BP - 1, BP,
	  BP - 1, BP },
	{ "two blocks", -BP, BP, -1, 1, -1, 1 },
};

static void unmap_at(struct __test_metadata *_metadata,
		     struct mlx5ep_notifier *n, const struct edge *e,
		     unsigned long align, bool after_another)
{
	char *border = map_around(align);
	struct mlx5_ep_event event = {};
	struct mlx5ep_watch w, other;
	int want = e->hit != e->hit_end;

	ASSERT_NE(NULL, border);
	/*
	 * What is unmapped becomes a mapping of its own. The kernel clears the
	 * 2 MiB around an address where it splits a mapping, which would be a
	 * second invalidation.
	 */
	ASSERT_EQ(0, mprotect(border + e->first * (long)PAGE,
			      (e->end - e->first) * PAGE, PROT_READ));
	ASSERT_EQ(0, mlx5ep_watch_add(n, border + e->watch * (long)PAGE,
				      (e->watch_end - e->watch) * PAGE, 7,
				      &w));
	/* Another watch of the block comes and goes. */
	if (after_another) {
		ASSERT_EQ(0, mlx5ep_watch_add(n, border +
					      e->watch * (long)PAGE, PAGE, 8,
					      &other));
		ASSERT_EQ(0, mlx5ep_watch_del(&other));
	}
	ASSERT_EQ(0, munmap(border + e->first * (long)PAGE,
			    (e->end - e->first) * PAGE));
	EXPECT_EQ(!want, mlx5ep_watch_valid(&w)) {
		TH_LOG("%s, multiple of 0x%lx, %d", e->what, align,
		       after_another);
	}
	EXPECT_EQ(want, mlx5ep_notifier_page(n)->watch_pending);
	if (want) {
		ASSERT_EQ(1, mlx5ep_notifier_read(n, &event, 1));
		EXPECT_EQ((uintptr_t)border + e->hit * (long)PAGE, event.start);
		EXPECT_EQ((e->hit_end - e->hit) * PAGE, event.length) {
			TH_LOG("%s: length", e->what);
		}
	}
	ASSERT_EQ(0, mlx5ep_watch_del(&w));
	munmap(border - BLOCK, 2 * BLOCK);
}

TEST_F(edges, of_blocks_hit_exactly_what_they_overlap)
{
	unsigned int i;

	for (i = 0; i < 4 * ARRAY_SIZE(edges); i++)
		unmap_at(_metadata, self->n, &edges[i / 4],
			 i & 1 ? BLOCK : TABLE, i & 2);
}

/* Notifiers of this process in the module's table. */
static int notifiers_of_mine(void)
{
	FILE *table = debugfs_open("watches");
	char line[256];
	int n = 0;

	while (table && fgets(line, sizeof(line), table))
		n += atoi(line) == getpid();
	if (!table)
		return -errno;
	fclose(table);
	return n;
}

TEST_F(edges, of_life_two_mappings_go_one_at_a_time)
{
	void *mem = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS, -1, 0);
	int fd = mlx5ep_notifier_fd(self->n), i;
	struct mlx5ep_watch w[2];
	const uint64_t *words[2];
	void *maps[2];

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, mlx5ep_watch_add(self->n, mem + i * PAGE, PAGE, i,
					      &w[i]));
		maps[i] = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
		ASSERT_NE(MAP_FAILED, maps[i]);
		words[i] = maps[i] + MLX5_EP_NOTIFIER_WORDS_OFFSET;
		EXPECT_EQ(w[0].armed, words[i][w[0].slot]);
	}
	/* The file is closed, and only the mappings are left. */
	mlx5ep_notifier_destroy(self->n);
	self->n = NULL;
	EXPECT_EQ(1, notifiers_of_mine());
	ASSERT_EQ(0, munmap(mem, PAGE));
	EXPECT_NE(w[0].armed, words[0][w[0].slot]);
	ASSERT_EQ(0, munmap(maps[0], 2 * PAGE));
	EXPECT_EQ(1, notifiers_of_mine());
	EXPECT_EQ(w[1].armed, words[1][w[1].slot]);
	/* Half of the last mapping goes: the words are in the other half. */
	ASSERT_EQ(0, munmap(maps[1], PAGE));
	EXPECT_EQ(1, notifiers_of_mine());
	ASSERT_EQ(0, munmap(mem + PAGE, PAGE));
	EXPECT_NE(w[1].armed, words[1][w[1].slot]);
	ASSERT_EQ(0, munmap(maps[1] + PAGE, PAGE));
	EXPECT_EQ(0, notifiers_of_mine());
}

#define TURNS 128	/* watches: more than a chunk of the module has */

TEST_F(edges, of_reading_a_watch_that_is_hit_again_comes_after_the_others)
{
	/* The second hit of the first watch comes after the first read. */
	static const unsigned int hits[] = { 0, 1, TURNS - 1 };
	static const unsigned int turns[] = { 0, TURNS - 1, 1, 0 };
	char *mem = mmap(NULL, TURNS * 2 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mlx5ep_watch w[TURNS];
	struct mlx5_ep_event event;
	struct mlx5ep_notifier *n;
	unsigned int i;

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, TURNS, &n));
	ASSERT_EQ(0, fcntl(mlx5ep_notifier_fd(n), F_SETFL, O_NONBLOCK));
	for (i = 0; i < TURNS; i++)
		ASSERT_EQ(0, mlx5ep_watch_add(n, mem + i * 2 * PAGE, 2 * PAGE,
					      i, &w[i]));
	for (i = 0; i < ARRAY_SIZE(hits); i++)
		ASSERT_EQ(0, madvise(mem + hits[i] * 2 * PAGE, PAGE,
				     MADV_DONTNEED));
	for (i = 0; i < ARRAY_SIZE(turns); i++) {
		ASSERT_EQ(1, mlx5ep_notifier_read(n, &event, 1));
		EXPECT_EQ(turns[i], event.cookie);
		if (!i)
			ASSERT_EQ(0, madvise(mem, PAGE, MADV_DONTNEED));
	}
	EXPECT_EQ(-EAGAIN, mlx5ep_notifier_read(n, &event, 1));
	mlx5ep_notifier_destroy(n);
	munmap(mem, TURNS * 2 * PAGE);
}

struct waiter {
	struct mlx5ep_notifier *n;
	bool reads;
	int tid;
	int ret;	/* events that were there */
	struct mlx5_ep_event event;
};

static void *wait_for_event(void *arg)
{
	struct waiter *w = arg;
	struct pollfd p = {
		.fd = mlx5ep_notifier_fd(w->n), .events = POLLIN,
	};

	__atomic_store_n(&w->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	if (w->reads)
		w->ret = mlx5ep_notifier_read(w->n, &w->event, 1);
	else
		/* With a limit, poll() would look again when it is over. */
		w->ret = poll(&p, 1, -1);
	return NULL;
}

/* Wait until a thread sleeps in a system call. */
static bool sleeps_in(int tid, long nr)
{
	int i, got = -1;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	for (i = 0; i < 1000 && got != nr; i++) {
		usleep(1000);
		file = fopen(path, "r");
		if (!file)
			return false;
		if (fscanf(file, "%d", &got) != 1)
			got = -1;
		fclose(file);
	}
	return got == nr;
}

/* A watch that is suspect, whose page is another one now, with no event unread. */
static void make_suspect(struct __test_metadata *_metadata,
			 struct mlx5ep_notifier *n, char *mem,
			 struct mlx5ep_watch *w)
{
	struct mlx5_ep_event event;

	ASSERT_EQ(0, mlx5ep_watch_add(n, mem, PAGE, 5, w));
	mem[0] = 1;
	ASSERT_EQ(0, mlx5ep_watch_record(w));
	ASSERT_EQ(0, madvise(mem, PAGE, MADV_DONTNEED));
	ASSERT_EQ(MLX5_EP_WATCH_STATE_SUSPECT,
		  *w->word & MLX5_EP_WATCH_STATE_MASK);
	ASSERT_EQ(1, mlx5ep_notifier_read(n, &event, 1));
	EXPECT_EQ(MLX5_EP_WATCH_CAUSE_CLEAR, event.cause);
}

static void verify_wakes(struct __test_metadata *_metadata,
			 struct mlx5ep_notifier *n, bool reads)
{
	char *mem = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS, -1, 0);
	struct waiter waiter = { .n = n, .reads = reads };
	struct mlx5ep_watch w;
	struct timespec limit;
	pthread_t thread;

	make_suspect(_metadata, n, mem, &w);
	if (reads)
		ASSERT_EQ(0, fcntl(mlx5ep_notifier_fd(n), F_SETFL, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_event, &waiter));
	while (!__atomic_load_n(&waiter.tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	EXPECT_TRUE(sleeps_in(waiter.tid, reads ? SYS_read : POLLS));
	EXPECT_EQ(-ESTALE, mlx5ep_watch_verify(&w));
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 1 + EVENT_MS / 1000;
	ASSERT_EQ(0, pthread_timedjoin_np(thread, NULL, &limit));
	EXPECT_EQ(1, waiter.ret);
	if (!reads)
		EXPECT_EQ(1, mlx5ep_notifier_read(n, &waiter.event, 1));
	EXPECT_EQ(MLX5_EP_WATCH_CAUSE_VERIFY, waiter.event.cause);
	EXPECT_EQ(5, waiter.event.cookie);
	EXPECT_EQ((uintptr_t)mem, waiter.event.start);
	EXPECT_EQ(PAGE, waiter.event.length);
	ASSERT_EQ(0, mlx5ep_watch_del(&w));
	munmap(mem, PAGE);
}

TEST_F(edges, of_sleep_verify_wakes_who_polls)
{
	verify_wakes(_metadata, self->n, false);
}

TEST_F(edges, of_sleep_verify_wakes_who_reads)
{
	verify_wakes(_metadata, self->n, true);
}

/*
 * The module cannot look at a page that is not there, and says so. A change of such
 * memory can be one that it is not told of.
 */
TEST(a_record_says_what_it_cannot_look_at)
{
	struct verbs_setup setup;
	struct mlx5ep_notifier *n;
	struct mlx5ep_watch w;
	char *mem;

	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(setup.ctx, 2, &n));
	mem = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		   MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, mem);
	mem[0] = 1;
	ASSERT_EQ(0, mlx5ep_watch_add(n, mem, 2 * PAGE, 5, &w));
	EXPECT_EQ(-EFAULT, mlx5ep_watch_record(&w));
	EXPECT_TRUE(mlx5ep_watch_valid(&w));
	mem[PAGE] = 1;
	EXPECT_EQ(0, mlx5ep_watch_record(&w));
	EXPECT_TRUE(mlx5ep_watch_valid(&w));
	EXPECT_EQ(0, mlx5ep_watch_del(&w));
	munmap(mem, 2 * PAGE);
	mlx5ep_notifier_destroy(n);
	verbs_close(&setup);
}

/*
 * Shared memory whose page stays the same, of which the module is told only that it was
 * unmapped. That it is the same is told to who has it registered, and to nobody else.
 */
static void same_page(struct __test_metadata *_metadata, bool registered,
		      int verified)
{
	struct ibv_mr *mr = NULL;
	struct mlx5ep_notifier *n;
	struct verbs_setup setup;
	struct mlx5ep_watch w;
	char *mem;

	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(setup.ctx, 1, &n));
	mem = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED |
		   MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, mem);
	mem[0] = 1;
	ASSERT_EQ(0, mlx5ep_watch_add(n, mem, PAGE, 5, &w));
	if (registered) {
		mr = ibv_reg_mr(setup.pd, mem, PAGE, IBV_ACCESS_LOCAL_WRITE);
		ASSERT_NE(NULL, mr);
	}
	ASSERT_EQ(0, mlx5ep_watch_record(&w));
	ASSERT_EQ(0, madvise(mem, PAGE, MADV_DONTNEED));
	ASSERT_FALSE(mlx5ep_watch_valid(&w));
	EXPECT_EQ(1, mem[0]);
	EXPECT_EQ(verified, mlx5ep_watch_verify(&w));
	EXPECT_EQ(!verified, mlx5ep_watch_valid(&w));
	EXPECT_EQ(0, mlx5ep_watch_del(&w));
	if (mr)
		EXPECT_EQ(0, ibv_dereg_mr(mr));
	munmap(mem, PAGE);
	mlx5ep_notifier_destroy(n);
	verbs_close(&setup);
}

TEST(a_page_that_is_pinned_is_found_to_be_the_same)
{
	same_page(_metadata, true, 0);
}

TEST(a_page_that_is_not_pinned_counts_as_another_one)
{
	same_page(_metadata, false, -ESTALE);
}

TEST_HARNESS_MAIN
