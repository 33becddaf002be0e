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

struct run {
	struct mlx5ep_mr_cache *cache;
	pthread_barrier_t barrier;
	uint64_t gets;
	const char *wrong;
};

struct thread {
	pthread_t thread;
	struct run *run;
	unsigned int seed;
};

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

	if (mlx5ep_mr_cache_get(t->run->cache, (void *)(addr + 5),
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
	mlx5ep_mr_cache_put(t->run->cache, entry);
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

static void *changer(void *arg)
{
	struct mlx5ep_mr_cache_stats stats;
	struct thread *t = arg;
	unsigned int phase, i;

	for (phase = 0; phase < PHASES; phase++) {
		for (i = 0; i < ROUNDS; i++) {
			change(rand_r(&t->seed) % PAGES, rand_r(&t->seed) % 3);
			if (!(i % 16))
				mlx5ep_mr_cache_trim(t->run->cache);
			if (!(i % 32))
				mlx5ep_mr_cache_query(t->run->cache, &stats);
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
};

FIXTURE_VARIANT_ADD(threads, with_room) { .max_regions = PAGES };
FIXTURE_VARIANT_ADD(threads, without_room) { .max_regions = 8 };
FIXTURE_VARIANT_ADD(threads, failing) { .max_regions = 8, .dereg_fails = true };

FIXTURE_SETUP(threads)
{
	struct mlx5ep_mr_cache_attr attr = {
		.max_regions = variant->max_regions,
	};
	unsigned int i;

	fake.dereg_fails = variant->dereg_fails;
	ASSERT_EQ(0, mlx5ep_mr_cache_create(&self->pd, &attr,
					    &self->run.cache));
	pthread_barrier_init(&self->run.barrier, NULL, GETTERS + CHANGERS + 1);
	for (i = 0; i < GETTERS + CHANGERS; i++) {
		self->threads[i].run = &self->run;
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
	struct mlx5ep_mr_cache_stats stats;
	unsigned int phase, i;

	for (phase = 0; phase < PHASES; phase++) {
		pthread_barrier_wait(&self->run.barrier);
		mlx5ep_mr_cache_query(self->run.cache, &stats);
		if (!variant->dereg_fails)
			EXPECT_GE(variant->max_regions, stats.regions);
		EXPECT_EQ(fake.registered, stats.regions);
		EXPECT_EQ(self->run.gets, stats.hits + stats.misses);
		pthread_barrier_wait(&self->run.barrier);
	}
	for (i = 0; i < GETTERS + CHANGERS; i++)
		pthread_join(self->threads[i].thread, NULL);
	EXPECT_EQ(NULL, self->run.wrong)
		TH_LOG("%s", self->run.wrong);
	EXPECT_LT(0, stats.hits);
	EXPECT_LT(0, stats.stale);
	fake.dereg_fails = false;
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->run.cache));
	EXPECT_EQ(0, fake.registered);
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
