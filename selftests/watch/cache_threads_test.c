// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core, timeout: 120 */
/*
 * The registration cache with many threads, on the kernel and the adapter of
 * cache_fake.h. Other threads change the memory meanwhile.
 *
 * cache_sanitized_test.sh builds this file with sanitizers, and with broken caches.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <stdlib.h>

#include "cache_fake.h"

#define GETTERS		6
#define CHANGERS	2
#define HELD		3	/* registrations that a thread uses at once */
#define PHASES		20
#define ROUNDS		400

#define CACHES		2	/* where they share a notifier */

struct run {
	struct mlx5ep_mr_cache *caches[CACHES];
	unsigned int n;
	struct ibv_pd *pd;
	pthread_barrier_t barrier;
	uint64_t gets;
	const char *wrong;
};

struct thread {
	pthread_t thread;
	struct run *run;
	struct mlx5ep_mr_cache *cache;
	unsigned int seed;
};

static const struct mlx5ep_mr_cache_attr small = { .max_regions = 1 };

static void wrong(struct run *run, const char *what)
{
	__atomic_store_n(&run->wrong, what, __ATOMIC_RELAXED);
}

/* What may have been changed last when a get begins. */
static uint64_t last_change(unsigned int page, unsigned int pages)
{
	uint64_t last = 0, now;
	unsigned int i;

	for (i = page; i < page + pages; i++) {
		now = __atomic_load_n(&fake.changed[i], __ATOMIC_ACQUIRE);
		if (now > last)
			last = now;
	}
	return last;
}

static struct mlx5ep_mr_cache_entry *cache_threads_get(struct thread *t)
{
	unsigned int page = rand_r(&t->seed) % (PAGES - 4);
	unsigned int pages = 1 + rand_r(&t->seed) % 3;
	uint64_t before = last_change(page, pages);
	struct mlx5ep_mr_cache_entry *entry;
	uintptr_t addr = BASE + page * PAGE;
	struct fake_mr *mr;

	if (mlx5ep_mr_cache_get(t->cache, (void *)(addr + 5),
				pages * PAGE - 10, &entry)) {
		wrong(t->run, "a get failed");
		return NULL;
	}
	__atomic_add_fetch(&t->run->gets, 1, __ATOMIC_RELAXED);
	mr = (struct fake_mr *)entry->mr;
	if ((uintptr_t)mr->mr.addr > addr ||
	    (uintptr_t)mr->mr.addr + mr->mr.length < addr + pages * PAGE)
		wrong(t->run, "a registration of other memory");
	if (mr->born < before)
		wrong(t->run, "a registration of memory that changed before");
	return entry;
}

static void cache_threads_put(struct thread *t,
			      struct mlx5ep_mr_cache_entry *entry)
{
	if (entry->mr->lkey != ALIVE)
		wrong(t->run, "deregistered while in use");
	mlx5ep_mr_cache_put(t->cache, entry);
}

static void *getter(void *arg)
{
	struct mlx5ep_mr_cache_entry *held[HELD] = {};
	struct thread *t = arg;
	unsigned int phase, i;

	for (phase = 0; phase < PHASES; phase++) {
		for (i = 0; i < ROUNDS; i++) {
			if (held[i % HELD])
				cache_threads_put(t, held[i % HELD]);
			held[i % HELD] = cache_threads_get(t);
		}
		for (i = 0; i < HELD; i++) {
			if (held[i])
				cache_threads_put(t, held[i]);
			held[i] = NULL;
		}
		pthread_barrier_wait(&t->run->barrier);
		pthread_barrier_wait(&t->run->barrier);
	}
	return NULL;
}

/* A cache that shares the notifier of the others, who may read events for it. */
static void come_and_go(struct run *run)
{
	struct mlx5ep_mr_cache_entry *entry;
	struct mlx5ep_mr_cache *cache;
	int i;

	/* Without a get nothing but the list of caches has this thread wait for another. */
	for (i = 0; i < 16; i++) {
		if (mlx5ep_mr_cache_create_on(&fake.notifier, run->pd, &small, &cache) ||
		    mlx5ep_mr_cache_destroy(cache))
			wrong(run, "a third cache did not come and go");
	}
	if (mlx5ep_mr_cache_create_on(&fake.notifier, run->pd, &small, &cache)) {
		wrong(run, "a third cache was refused");
		return;
	}
	if (mlx5ep_mr_cache_get(cache, (void *)BASE, PAGES * PAGE, &entry))
		wrong(run, "a get of the third cache failed");
	else
		mlx5ep_mr_cache_put(cache, entry);
	if (mlx5ep_mr_cache_destroy(cache))
		wrong(run, "the third cache stayed");
}

static void *changer(void *arg)
{
	struct mlx5ep_mr_cache_stats stats;
	struct thread *t = arg;
	unsigned int phase, i;

	for (phase = 0; phase < PHASES; phase++) {
		for (i = 0; i < ROUNDS; i++) {
			/* There is room for one cache more. */
			if (t->run->n > 1 && t->seed == GETTERS + 1 && !(i % 8))
				come_and_go(t->run);
			change(rand_r(&t->seed) % PAGES, rand_r(&t->seed) % 3);
			if (!(i % 16))
				mlx5ep_mr_cache_trim(t->cache);
			if (!(i % 32))
				mlx5ep_mr_cache_query(t->cache, &stats);
		}
		pthread_barrier_wait(&t->run->barrier);
		pthread_barrier_wait(&t->run->barrier);
	}
	return NULL;
}

FIXTURE(threads)
{
	struct run run;
	struct thread threads[GETTERS + CHANGERS];
	struct ibv_pd pd;
};

FIXTURE_VARIANT(threads)
{
	unsigned int max_regions;
	bool dereg_fails;
	bool shared;
};

FIXTURE_VARIANT_ADD(threads, with_room) { .max_regions = PAGES };
FIXTURE_VARIANT_ADD(threads, without_room) { .max_regions = 8 };
FIXTURE_VARIANT_ADD(threads, failing) { .max_regions = 8, .dereg_fails = true };
FIXTURE_VARIANT_ADD(threads, with_a_notifier_for_all) {
	.max_regions = 8, .shared = true,
};

FIXTURE_SETUP(threads)
{
	struct mlx5ep_mr_cache_attr attr = {
		.max_regions = variant->max_regions,
	};
	struct mlx5ep_mr_cache **cache;
	struct mlx5ep_notifier *notifier;
	unsigned int i;

	fake.dereg_fails = variant->dereg_fails;
	self->run.pd = &self->pd;
	if (variant->shared)
		ASSERT_EQ(0, mlx5ep_notifier_any(NULL, SLOTS, &notifier));
	for (self->run.n = 0; self->run.n < (variant->shared ? CACHES : 1);
	     self->run.n++) {
		cache = &self->run.caches[self->run.n];
		ASSERT_EQ(0, variant->shared ?
			  mlx5ep_mr_cache_create_on(notifier, &self->pd, &attr, cache) :
			  mlx5ep_mr_cache_create(&self->pd, &attr, cache));
	}
	pthread_barrier_init(&self->run.barrier, NULL, GETTERS + CHANGERS + 1);
	for (i = 0; i < GETTERS + CHANGERS; i++) {
		self->threads[i].run = &self->run;
		self->threads[i].cache = self->run.caches[i % self->run.n];
		self->threads[i].seed = i + 1;
		ASSERT_EQ(0, pthread_create(&self->threads[i].thread, NULL,
					    i < GETTERS ? getter : changer,
					    &self->threads[i]));
	}
}

FIXTURE_TEARDOWN(threads)
{
}

TEST_F(threads, use_valid_registrations_and_lose_none)
{
	struct mlx5ep_mr_cache_stats stats, all;
	unsigned int phase, i;

	for (phase = 0; phase < PHASES; phase++) {
		pthread_barrier_wait(&self->run.barrier);
		all = (struct mlx5ep_mr_cache_stats){};
		for (i = 0; i < self->run.n; i++) {
			mlx5ep_mr_cache_query(self->run.caches[i], &stats);
			if (!variant->dereg_fails)
				EXPECT_GE(variant->max_regions, stats.regions);
			all.regions += stats.regions;
			all.hits += stats.hits;
			all.misses += stats.misses;
			all.stale += stats.stale;
		}
		EXPECT_EQ(fake.registered, all.regions);
		EXPECT_EQ(self->run.gets, all.hits + all.misses);
		pthread_barrier_wait(&self->run.barrier);
	}
	for (i = 0; i < GETTERS + CHANGERS; i++)
		pthread_join(self->threads[i].thread, NULL);
	EXPECT_EQ(NULL, self->run.wrong)
		TH_LOG("%s", self->run.wrong);
	EXPECT_LT(0, all.hits);
	EXPECT_LT(0, all.stale);
	fake.dereg_fails = false;
	for (i = 0; i < self->run.n; i++)
		EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->run.caches[i]));
	EXPECT_EQ(0, fake.registered);
}

/* Who reads the events of a notifier handles those of all its caches. */
TEST(caches_can_share_a_notifier)
{
	struct mlx5ep_mr_cache_attr attr = { .max_regions = 8 };
	struct mlx5ep_mr_cache_entry *entries[2];
	struct mlx5ep_mr_cache *caches[3], *more;
	struct mlx5ep_mr_cache_stats stats;
	struct mlx5ep_notifier *notifier;
	struct ibv_pd pd = {};
	unsigned int i;

	ASSERT_EQ(0, mlx5ep_notifier_any(NULL, 0, &notifier));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, mlx5ep_mr_cache_create_on(notifier, &pd,
						       &attr, &caches[i]));
	EXPECT_EQ(1, fake.notifiers);
	EXPECT_EQ(-ENOSPC, mlx5ep_mr_cache_create_on(notifier, &pd, &attr,
						     &more));
	attr.flags = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_mr_cache_create_on(notifier, &pd, &attr,
						     &more));
	EXPECT_EQ(mlx5ep_notifier_fd(notifier), mlx5ep_mr_cache_fd(caches[1]));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, mlx5ep_mr_cache_get(caches[i], (void *)BASE, PAGE,
						 &entries[i]));
	EXPECT_NE(entries[0]->mr, entries[1]->mr);
	EXPECT_EQ(-EBUSY, mlx5ep_mr_cache_destroy(caches[1]));
	for (i = 0; i < 2; i++)
		mlx5ep_mr_cache_put(caches[i], entries[i]);
	EXPECT_EQ(2, fake.registered);
	change(0, UNMAPPED);
	EXPECT_EQ(2, mlx5ep_mr_cache_trim(caches[2]));
	EXPECT_EQ(0, fake.registered);
	for (i = 0; i < 3; i++) {
		mlx5ep_mr_cache_query(caches[i], &stats);
		EXPECT_EQ(i < 2, stats.stale);
	}
	/* One goes, and its place is another's; the others stay. */
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(caches[1]));
	attr.flags = 0;
	ASSERT_EQ(0, mlx5ep_mr_cache_create_on(notifier, &pd, &attr,
					       &caches[1]));
	ASSERT_EQ(0, mlx5ep_mr_cache_get(caches[0], (void *)BASE, PAGE,
					 &entries[0]));
	mlx5ep_mr_cache_put(caches[0], entries[0]);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, mlx5ep_mr_cache_destroy(caches[i]));
	EXPECT_EQ(0, fake.registered);
	EXPECT_EQ(1, fake.notifiers);
	EXPECT_EQ(0, mlx5ep_notifier_destroy(notifier));
	EXPECT_EQ(0, fake.notifiers);
}

TEST(what_exceeds_the_maximum_goes_with_its_last_put)
{
	struct mlx5ep_mr_cache_attr attr = { .max_regions = 4 };
	struct mlx5ep_mr_cache_entry *entries[8];
	struct mlx5ep_mr_cache_stats stats;
	struct mlx5ep_mr_cache *cache;
	struct ibv_pd pd;
	int i;

	ASSERT_EQ(0, mlx5ep_mr_cache_create(&pd, &attr, &cache));
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, mlx5ep_mr_cache_get(cache,
						 (void *)(BASE + 2 * i * PAGE),
						 PAGE, &entries[i]));
	EXPECT_EQ(8, fake.registered);
	for (i = 0; i < 8; i++) {
		mlx5ep_mr_cache_put(cache, entries[i]);
		EXPECT_EQ(i < 4 ? 7 - i : 4, fake.registered);
	}
	mlx5ep_mr_cache_query(cache, &stats);
	EXPECT_EQ(4, stats.regions);
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(cache));
}

TEST_HARNESS_MAIN
