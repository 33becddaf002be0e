// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 200 */
/*
 * What the registration cache keeps pinned, how much it registers, and what a hit
 * may wait for. read(), ioctl(), ibv_reg_mr_iova2() (which is what ibv_reg_mr() calls)
 * and ibv_dereg_mr() are those of this file, also for the library.
 */
#include "kselftest_harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include <mlx5ep/mr_cache.h>

#include "page.h"
#include "simhca.h"
#include "watched.h"

#define PAGE		page_bytes()
#define BUFFERS		40	/* more than the cache verifies with one call */
#define BUFFER		(8 * PAGE)
#define LEN		(BUFFERS * BUFFER)
#define WALK		(64ul << 20)
#define STEP		(1ul << 20)
#define WINDOW		(4 * STEP)
#define WAIT_S		20

static size_t registered;	/* bytes, ever */
static bool dereg_fails, dereg_fails_always;
static unsigned int reads;

/*
 * What another thread does just when a call of the library has returned: it gives
 * memory back, so that its registrations become suspect, and reads the events.
 */
static struct {
	enum { NOTHING, AFTER_READ, AFTER_REG, AFTER_RECORD } when;
	char *mem;
	size_t step;
	unsigned int times;
	struct mlx5ep_mr_cache *trim;
} other;

static void other_thread(int when)
{
	if (other.when != when || !other.times)
		return;
	other.times--;
	madvise(other.mem, PAGE, MADV_DONTNEED);
	other.mem += other.step;
	if (other.trim)
		mlx5ep_mr_cache_trim(other.trim);
}

/* A hit of another thread, asked for while this one is in a system call. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool wanted, done, missed;
	unsigned int asked;
} hit = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.cond = PTHREAD_COND_INITIALIZER,
};

/* Asks for a hit and waits for it, as munmap() makes a system call wait. */
static void ask_for_hit(void)
{
	struct timespec until;

	pthread_mutex_lock(&hit.lock);
	if (hit.wanted) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += WAIT_S;
		hit.asked++;
		hit.done = false;
		pthread_cond_broadcast(&hit.cond);
		while (!hit.done && !hit.missed)
			if (pthread_cond_timedwait(&hit.cond, &hit.lock,
						   &until))
				hit.missed = true;
	}
	pthread_mutex_unlock(&hit.lock);
}

ssize_t read(int fd, void *buf, size_t len)
{
	ssize_t ret;

	ask_for_hit();
	__atomic_add_fetch(&reads, 1, __ATOMIC_RELAXED);
	ret = syscall(SYS_read, fd, buf, len);
	other_thread(AFTER_READ);
	return ret;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	ret = syscall(SYS_ioctl, fd, request, arg);
	if (request == MLX5_EP_IOC_WATCH_VERIFY)
		other_thread(AFTER_RECORD);
	return ret;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len,
				uint64_t iova, unsigned int access)
{
	static struct ibv_mr *(*real)(struct ibv_pd *pd, void *addr, size_t len,
				      uint64_t iova, unsigned int access);
	struct ibv_mr *mr;

	if (!real)
		real = dlvsym(RTLD_NEXT, "ibv_reg_mr_iova2", "IBVERBS_1.8");
	__atomic_add_fetch(&registered, len, __ATOMIC_RELAXED);
	ask_for_hit();
	mr = real(pd, addr, len, iova, access);
	other_thread(AFTER_REG);
	return mr;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	static int (*real)(struct ibv_mr *mr);
	bool fails = dereg_fails;

	if (!real)
		real = dlvsym(RTLD_NEXT, "ibv_dereg_mr", "IBVERBS_1.1");
	ask_for_hit();
	/* In the call that registers it fails once. */
	if (other.when == AFTER_REG && !dereg_fails_always)
		dereg_fails = false;
	return fails ? EBUSY : real(mr);
}

FIXTURE(bounds)
{
	struct watched_setup setup;
	struct mlx5ep_mr_cache *cache;
	void *mem;
	int fd;
};

FIXTURE_SETUP(bounds)
{
	struct mlx5ep_mr_cache_attr attr = {};

	ASSERT_EQ(0, watched_open(&self->setup, 16));
	ASSERT_EQ(0, mlx5ep_mr_cache_create(self->setup.verbs.pd, &attr,
					    &self->cache));
	self->fd = memfd_create("cache", 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ftruncate(self->fd, LEN));
	self->mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
			 self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
}

FIXTURE_TEARDOWN(bounds)
{
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->cache));
	watched_close(&self->setup);
	munmap(self->mem, LEN);
	close(self->fd);
}

static struct mlx5ep_mr_cache_stats
cache_bounds_query(struct mlx5ep_mr_cache *cache)
{
	struct mlx5ep_mr_cache_stats stats;

	mlx5ep_mr_cache_query(cache, &stats);
	return stats;
}

static int use(struct mlx5ep_mr_cache *cache, void *addr, size_t len)
{
	struct mlx5ep_mr_cache_entry *e;
	int ret = mlx5ep_mr_cache_get(cache, addr, len, &e);

	if (!ret)
		mlx5ep_mr_cache_put(cache, e);
	return ret;
}

static void anonymous(void *mem)
{
	mmap(mem, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
	     MAP_FIXED | MAP_POPULATE, -1, 0);
}

FIXTURE_VARIANT(bounds)
{
	enum { DONTNEED, REMOVE, TRUNCATE, PUNCH } how;
};

FIXTURE_VARIANT_ADD(bounds, madv_dontneed) { .how = DONTNEED };
FIXTURE_VARIANT_ADD(bounds, madv_remove) { .how = REMOVE };
FIXTURE_VARIANT_ADD(bounds, truncation) { .how = TRUNCATE };
FIXTURE_VARIANT_ADD(bounds, hole_punch) { .how = PUNCH };

static int give_back(int how, void *mem, int fd)
{
	switch (how) {
	case DONTNEED:
		return madvise(mem, LEN, MADV_DONTNEED);
	case REMOVE:
		return madvise(mem, LEN, MADV_REMOVE);
	case TRUNCATE:
		return ftruncate(fd, 0);
	default:
		return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				 0, LEN);
	}
}

TEST_F(bounds, nothing_that_was_given_back_stays_pinned)
{
	int i;

	if (variant->how == DONTNEED)
		anonymous(self->mem);
	for (i = 0; i < BUFFERS; i++)
		ASSERT_EQ(0, use(self->cache, self->mem + i * BUFFER, PAGE));
	EXPECT_EQ(BUFFERS, cache_bounds_query(self->cache).regions);
	ASSERT_EQ(0, give_back(variant->how, self->mem, self->fd));
	EXPECT_EQ(BUFFERS, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(0, cache_bounds_query(self->cache).regions);
	EXPECT_EQ(0, cache_bounds_query(self->cache).bytes);
}

FIXTURE(cache)
{
	struct watched_setup setup;
	struct mlx5ep_mr_cache *cache;
	int64_t base;	/* bytes that the HCA maps without the cache */
	void *mem;
};

FIXTURE_SETUP(cache)
{
	struct mlx5ep_mr_cache_attr attr = {};

	ASSERT_EQ(0, watched_open(&self->setup, 16));
	ASSERT_EQ(0, mlx5ep_mr_cache_create(self->setup.verbs.pd, &attr,
					    &self->cache));
	self->base = simhca_registered();
	ASSERT_LE(0, self->base);
	self->mem = mmap(NULL, WALK, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
}

FIXTURE_TEARDOWN(cache)
{
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->cache));
	watched_close(&self->setup);
	munmap(self->mem, WALK);
}

TEST_F(cache, a_miss_drops_what_was_given_back)
{
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, use(self->cache, self->mem + i * BUFFER, BUFFER));
		ASSERT_EQ(0, madvise(self->mem + i * BUFFER, BUFFER,
				     MADV_DONTNEED));
	}
	EXPECT_GE(2 * BUFFER, cache_bounds_query(self->cache).bytes);
}

TEST_F(cache, suspect_registrations_in_use_are_dropped_by_the_last_put)
{
	struct mlx5ep_mr_cache_entry *e;

	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, BUFFER, &e));
	ASSERT_EQ(0, madvise(self->mem, BUFFER, MADV_DONTNEED));
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(1, cache_bounds_query(self->cache).regions);
	mlx5ep_mr_cache_put(self->cache, e);
	EXPECT_EQ(0, cache_bounds_query(self->cache).regions);
}

/* Gets @len bytes at each multiple of @step. */
static int slide(struct mlx5ep_mr_cache *cache, void *mem, size_t step,
		 size_t len)
{
	size_t at;
	int ret = 0;

	for (at = 0; at + len <= WALK && !ret; at += step)
		ret = use(cache, mem + at, len);
	return ret;
}

static int walk(struct mlx5ep_mr_cache *cache, void *mem, size_t step)
{
	return slide(cache, mem, step, step);
}

TEST_F(cache, a_walk_in_steps_registers_the_buffer_once)
{
	uint64_t hits, misses;

	registered = 0;
	ASSERT_EQ(0, walk(self->cache, self->mem, 1000000));
	EXPECT_GE(WALK + WALK / 10, registered);
	EXPECT_GE(WALK + WALK / 10, cache_bounds_query(self->cache).bytes);
	EXPECT_GE(WALK + WALK / 10, simhca_registered() - self->base);
	/* The second walk finds all. */
	hits = cache_bounds_query(self->cache).hits;
	misses = cache_bounds_query(self->cache).misses;
	ASSERT_EQ(0, walk(self->cache, self->mem, 1000000));
	EXPECT_EQ(misses, cache_bounds_query(self->cache).misses);
	EXPECT_EQ(misses, cache_bounds_query(self->cache).hits - hits);
	/* Other steps through the same memory cost a few times as much. */
	ASSERT_EQ(0, walk(self->cache, self->mem, 700000));
	EXPECT_GE(6 * WALK, registered);
	EXPECT_GE(6 * WALK, simhca_registered() - self->base);
}

TEST_F(cache, one_purge_invalidates_what_is_near_only)
{
	int64_t bytes, left;
	int dropped;

	ASSERT_EQ(0, walk(self->cache, self->mem, 1000000));
	bytes = simhca_registered();
	ASSERT_EQ(0, madvise(self->mem + WALK / 2, PAGE, MADV_DONTNEED));
	/* One, or the two that share the page. */
	dropped = mlx5ep_mr_cache_trim(self->cache);
	EXPECT_LE(1, dropped);
	EXPECT_GE(2, dropped);
	left = simhca_registered();
	EXPECT_GT(bytes, left);
	EXPECT_LE(bytes - (2l << 20), left);
}

/*
 * A window that slides overlaps most of what is registered, so each step replaces
 * registrations by a larger one.
 */
TEST_F(cache, growth_ends_before_a_registration_is_very_large)
{
	int64_t bytes, left;

	registered = 0;
	ASSERT_EQ(0, slide(self->cache, self->mem, STEP, WINDOW));
	EXPECT_LT(0, cache_bounds_query(self->cache).merges);
	/* A get registers four times as much as it asks for, or less. */
	EXPECT_GE(4 * WINDOW * cache_bounds_query(self->cache).misses,
		  registered);
	bytes = simhca_registered();
	EXPECT_LE((int64_t)WALK, bytes - self->base);
	EXPECT_GE(2 * (int64_t)WALK, bytes - self->base);
	/* The largest one has 16 MiB, and the window of a neighbour overlaps it. */
	ASSERT_EQ(0, madvise(self->mem + WALK / 2, PAGE, MADV_DONTNEED));
	EXPECT_LT(0, mlx5ep_mr_cache_trim(self->cache));
	left = simhca_registered();
	EXPECT_GT(bytes, left);
	EXPECT_LE(bytes - (20l << 20), left);
}

struct hitter {
	pthread_t thread;
	struct mlx5ep_mr_cache *cache;
	void *mem;
	bool end;
	int ret;
};

static void *hitter_run(void *arg)
{
	struct hitter *h = arg;
	struct mlx5ep_mr_cache_entry *e;
	unsigned int served = 0;

	pthread_mutex_lock(&hit.lock);
	while (!h->end) {
		if (served == hit.asked) {
			pthread_cond_wait(&hit.cond, &hit.lock);
			continue;
		}
		served = hit.asked;
		pthread_mutex_unlock(&hit.lock);
		h->ret = mlx5ep_mr_cache_get(h->cache, h->mem, PAGE, &e);
		if (!h->ret)
			mlx5ep_mr_cache_put(h->cache, e);
		pthread_mutex_lock(&hit.lock);
		hit.done = true;
		pthread_cond_broadcast(&hit.cond);
	}
	pthread_mutex_unlock(&hit.lock);
	return NULL;
}

TEST_F(cache, a_hit_waits_for_no_system_call_of_another_thread)
{
	struct hitter h = { .cache = self->cache, .mem = self->mem };
	uint64_t misses;

	ASSERT_EQ(0, use(self->cache, self->mem, PAGE));
	ASSERT_EQ(0, use(self->cache, self->mem + 8 * PAGE, PAGE));
	misses = cache_bounds_query(self->cache).misses;
	ASSERT_EQ(0, pthread_create(&h.thread, NULL, hitter_run, &h));
	ASSERT_EQ(0, munmap(self->mem + 8 * PAGE, PAGE));

	/* reads the event, deregisters, registers: each waits for a hit */
	hit.wanted = true;
	EXPECT_EQ(0, use(self->cache, self->mem + 16 * PAGE, PAGE));
	hit.wanted = false;
	EXPECT_LE(3, hit.asked);
	EXPECT_FALSE(hit.missed);
	EXPECT_EQ(misses + 1, cache_bounds_query(self->cache).misses);

	pthread_mutex_lock(&hit.lock);
	h.end = true;
	pthread_cond_broadcast(&hit.cond);
	pthread_mutex_unlock(&hit.lock);
	pthread_join(h.thread, NULL);
	EXPECT_EQ(0, h.ret);
}

TEST_F(cache, a_deregistration_that_fails_loses_nothing)
{
	ASSERT_EQ(0, use(self->cache, self->mem, BUFFER));
	dereg_fails = true;
	ASSERT_EQ(0, munmap(self->mem, BUFFER));
	mlx5ep_mr_cache_trim(self->cache);
	EXPECT_EQ(1, cache_bounds_query(self->cache).regions);
	EXPECT_EQ(BUFFER, cache_bounds_query(self->cache).bytes);
	EXPECT_EQ(-EBUSY, mlx5ep_mr_cache_destroy(self->cache));
	dereg_fails = false;
	mlx5ep_mr_cache_trim(self->cache);
	EXPECT_EQ(0, cache_bounds_query(self->cache).regions);
	EXPECT_EQ(0, cache_bounds_query(self->cache).bytes);
}

/*
 * A page of a huge page is given back by splitting it, which hits all of it.
 * Splitting a mapping does the same to 2 MiB, whatever pages it has.
 */
static void small_pages(void *mem)
{
	madvise(mem, WALK, MADV_NOHUGEPAGE);
}

TEST_F(cache, a_first_hit_in_the_middle_reads_no_events)
{
	uint64_t hits;

	small_pages(self->mem);
	ASSERT_EQ(0, use(self->cache, self->mem, BUFFER));
	ASSERT_EQ(0, use(self->cache, self->mem + WALK / 2, PAGE));
	ASSERT_EQ(0, munmap(self->mem + WALK / 2, PAGE));
	hits = cache_bounds_query(self->cache).hits;
	reads = 0;
	ASSERT_EQ(0, use(self->cache, self->mem + 3 * PAGE, PAGE));
	EXPECT_EQ(hits + 1, cache_bounds_query(self->cache).hits);
	EXPECT_EQ(0, reads);
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
}

TEST_F(cache, a_hit_just_after_the_registration_is_not_forgotten)
{
	struct mlx5ep_mr_cache_entry *e;

	other = (typeof(other)){ AFTER_RECORD, self->mem, 0, 1, self->cache };
	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, BUFFER, &e));
	EXPECT_EQ(0, other.times);
	EXPECT_EQ(1, cache_bounds_query(self->cache).regions);
	mlx5ep_mr_cache_put(self->cache, e);
	mlx5ep_mr_cache_trim(self->cache);
	EXPECT_EQ(0, cache_bounds_query(self->cache).regions);
	EXPECT_EQ(self->base, simhca_registered());
}

/* Others make events as fast as this thread reads them. */
TEST_F(cache, reading_events_has_an_end)
{
	int i;

	small_pages(self->mem);
	for (i = 0; i < BUFFERS; i++)
		ASSERT_EQ(0, use(self->cache, self->mem + i * STEP, PAGE));
	ASSERT_EQ(0, madvise(self->mem, PAGE, MADV_DONTNEED));
	other = (typeof(other)){ AFTER_READ, self->mem + STEP, STEP, BUFFERS,
				 NULL };
	reads = 0;
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(1, reads);
	other.times = 0;
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
}

TEST_F(cache, a_registration_that_was_hit_and_cannot_go_at_once_goes)
{
	dereg_fails = true;
	other = (typeof(other)){ AFTER_REG, self->mem, 0, 1, NULL };
	ASSERT_EQ(0, use(self->cache, self->mem, BUFFER));
	other.when = NOTHING;
	EXPECT_FALSE(dereg_fails);
	ASSERT_EQ(0, munmap(self->mem, BUFFER));
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(self->base, simhca_registered());
}

/* It is the caller's then, and has a word that is stale. */
TEST_F(cache, a_registration_that_was_hit_and_cannot_go_is_kept)
{
	struct mlx5ep_mr_cache_entry *e;
	int64_t more;

	dereg_fails = dereg_fails_always = true;
	other = (typeof(other)){ AFTER_REG, self->mem, 0, 1, NULL };
	EXPECT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, BUFFER, &e));
	other.when = NOTHING;
	dereg_fails = dereg_fails_always = false;
	more = simhca_registered() - self->base;
	EXPECT_EQ(BUFFER, more);
	EXPECT_EQ(1, cache_bounds_query(self->cache).regions);
	/* It is stale, so the last user's put deregisters it. */
	mlx5ep_mr_cache_put(self->cache, e);
	EXPECT_EQ(0, cache_bounds_query(self->cache).regions);
	EXPECT_EQ(self->base, simhca_registered());
}

TEST_HARNESS_MAIN
