// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The rules of the registration cache, one after the other and with one thread, on the
 * kernel and the adapter of cache_fake.h: what is found, merged, cut, evicted, verified
 * and refused, and what the counters say then.
 */
#include "kselftest_harness.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "cache_fake.h"
#include "cancelled.h"

FIXTURE(rules)
{
	struct mlx5ep_mr_cache *cache;
	struct ibv_context context;
	struct ibv_pd pd;
};

/* Makes the cache anew, with maximums. */
static void remake(struct __test_metadata *_metadata,
		   FIXTURE_DATA(rules) *self, uint64_t regions, uint64_t pages)
{
	struct mlx5ep_mr_cache_attr attr = {
		.max_regions = regions, .max_bytes = pages * PAGE,
	};

	if (self->cache)
		ASSERT_EQ(0, mlx5ep_mr_cache_destroy(self->cache));
	ASSERT_EQ(0, mlx5ep_mr_cache_create(&self->pd, &attr, &self->cache));
}

FIXTURE_SETUP(rules)
{
	/* Memory that was never used is not zero. */
	mallopt(M_PERTURB, 0x5a);
	self->pd.context = &self->context;
	remake(_metadata, self, 16, 0);
}

FIXTURE_TEARDOWN(rules)
{
	EXPECT_TRUE(thread_is_free());
	if (!self->cache)
		return;
	fake.dereg_broken = false;
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->cache));
	EXPECT_EQ(0, fake.registered);
	EXPECT_EQ(0, fake.notifiers);
}

static struct mlx5ep_mr_cache_entry *cache_rules_get(FIXTURE_DATA(rules) * self,
						     unsigned int page,
						     unsigned int pages)
{
	struct mlx5ep_mr_cache_entry *entry;

	return mlx5ep_mr_cache_get(self->cache, (void *)(BASE + page * PAGE),
				   pages * PAGE, &entry) ? NULL : entry;
}

/* Gets and puts. Returns true if memory was registered for it. */
static bool misses(FIXTURE_DATA(rules) *self, unsigned int page,
		   unsigned int pages)
{
	struct mlx5ep_mr_cache_stats before, after;
	struct mlx5ep_mr_cache_entry *entry;

	mlx5ep_mr_cache_query(self->cache, &before);
	entry = cache_rules_get(self, page, pages);
	if (entry)
		mlx5ep_mr_cache_put(self->cache, entry);
	mlx5ep_mr_cache_query(self->cache, &after);
	return after.misses != before.misses;
}

/* @want: all counters, the bytes in pages */
static void expect_stats(struct __test_metadata *_metadata,
			 FIXTURE_DATA(rules) *self, const uint64_t *want)
{
	struct mlx5ep_mr_cache_stats stats;
	unsigned int i;

	mlx5ep_mr_cache_query(self->cache, &stats);
	const uint64_t got[] = {
		stats.hits, stats.misses, stats.merges, stats.verified,
		stats.stale, stats.evicted, stats.regions, stats.bytes / PAGE,
	};

	for (i = 0; i < ARRAY_SIZE(got); i++) {
		EXPECT_EQ(want[i], got[i]) {
			TH_LOG("counter %u", i);
		}
	}
}

#define EXPECT_STATS(...) \
	expect_stats(_metadata, self, (const uint64_t[8]){ __VA_ARGS__ })

TEST_F(rules, what_is_covered_is_found_and_counted)
{
	struct mlx5ep_mr_cache_entry *entry = cache_rules_get(self, 0, 4),
				     *again;
	struct fake_mr *mr;

	ASSERT_NE(NULL, entry);
	mr = (struct fake_mr *)entry->mr;
	EXPECT_EQ(BASE, (uintptr_t)mr->mr.addr);
	EXPECT_EQ(4 * PAGE, mr->mr.length);
	EXPECT_EQ(BASE, mr->iova);
	EXPECT_FALSE(mr->dmabuf);
	EXPECT_EQ(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
		  IBV_ACCESS_REMOTE_WRITE, mr->access);
	EXPECT_STATS(0, 1, 0, 0, 0, 0, 1, 4);
	again = cache_rules_get(self, 0, 4);
	EXPECT_EQ(entry, again);
	mlx5ep_mr_cache_put(self->cache, again);
	again = cache_rules_get(self, 3, 1);
	EXPECT_EQ(entry, again);
	mlx5ep_mr_cache_put(self->cache, again);
	EXPECT_STATS(2, 1, 0, 0, 0, 0, 1, 4);
	EXPECT_TRUE(misses(self, 4, 1));
	mlx5ep_mr_cache_put(self->cache, entry);
	EXPECT_STATS(2, 2, 0, 0, 0, 0, 2, 5);
	EXPECT_FALSE(misses(self, 4, 1));
}

TEST_F(rules, a_hit_by_a_hint_takes_no_lock)
{
	struct mlx5ep_mr_cache_entry *entry = cache_rules_get(self, 0, 2);

	pthread_mutex_lock(&self->cache->lock);
	EXPECT_EQ(entry, cache_rules_get(self, 0, 2));
	mlx5ep_mr_cache_put(self->cache, entry);
	mlx5ep_mr_cache_put(self->cache, entry);
	pthread_mutex_unlock(&self->cache->lock);
}

TEST_F(rules, a_range_is_of_whole_pages)
{
	struct mlx5ep_mr_cache_entry *entry;

	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, (void *)(BASE + PAGE - 1),
					 2, &entry));
	EXPECT_EQ(BASE, (uintptr_t)entry->mr->addr);
	EXPECT_EQ(2 * PAGE, entry->mr->length);
	mlx5ep_mr_cache_put(self->cache, entry);
	EXPECT_EQ(-EINVAL, mlx5ep_mr_cache_get(self->cache, (void *)BASE, 0,
					       &entry));
	EXPECT_EQ(-EINVAL, mlx5ep_mr_cache_get(self->cache, (void *)(BASE + 1),
					       0, &entry));
	EXPECT_EQ(-EINVAL, mlx5ep_mr_cache_get(self->cache, (void *)BASE,
					       -BASE, &entry));
	EXPECT_EQ(-EINVAL, mlx5ep_mr_cache_get(self->cache, (void *)BASE,
					       -BASE - 1, &entry));
	EXPECT_EQ(0, mlx5ep_mr_cache_get(self->cache, (void *)BASE, 1, &entry));
	mlx5ep_mr_cache_put(self->cache, entry);
}

TEST_F(rules, what_overlaps_by_more_than_half_is_merged)
{
	misses(self, 0, 4);
	/* Half of it is registered. */
	EXPECT_TRUE(misses(self, 3, 2));
	EXPECT_STATS(0, 2, 0, 0, 0, 0, 2, 6);
	/* The first one has lost a page to the second, and is still found. */
	EXPECT_FALSE(misses(self, 0, 4));
	EXPECT_TRUE(misses(self, 2, 4));
	EXPECT_STATS(1, 3, 1, 0, 0, 0, 1, 6);
	EXPECT_FALSE(misses(self, 0, 6));
}

/* Registers [0, @there) and then [@from, @end). Returns true if these are one. */
static bool merged(struct __test_metadata *_metadata,
		   FIXTURE_DATA(rules) *self, unsigned int there,
		   unsigned int from, unsigned int end)
{
	struct mlx5ep_mr_cache_stats stats;

	remake(_metadata, self, 16, 0);
	misses(self, 0, there);
	EXPECT_TRUE(misses(self, from, end - from));
	mlx5ep_mr_cache_query(self->cache, &stats);
	EXPECT_EQ(stats.merges ? 1 : 2, stats.regions);
	return stats.merges;
}

TEST_F(rules, a_merged_range_has_a_maximum)
{
	EXPECT_TRUE(merged(_metadata, self, 11, 9, 12));
	EXPECT_FALSE(merged(_metadata, self, 12, 10, 13));
	EXPECT_TRUE(merged(_metadata, self, 4095, 3000, 4096));
	EXPECT_FALSE(merged(_metadata, self, 4096, 3000, 4097));
}

TEST_F(rules, what_was_replaced_goes_with_its_user)
{
	struct mlx5ep_mr_cache_entry *entry = cache_rules_get(self, 0, 3);

	EXPECT_TRUE(misses(self, 0, 4));
	EXPECT_EQ(2, fake.registered);
	EXPECT_EQ(ALIVE, entry->mr->lkey);
	mlx5ep_mr_cache_put(self->cache, entry);
	EXPECT_EQ(1, fake.registered);
	EXPECT_FALSE(misses(self, 0, 3));
}

TEST_F(rules, a_stale_registration_is_not_merged)
{
	struct mlx5ep_mr_cache_entry *entry = cache_rules_get(self, 0, 3);

	change(0, UNMAPPED);
	EXPECT_TRUE(misses(self, 0, 4));
	EXPECT_STATS(0, 2, 0, 0, 1, 0, 2, 7);
	mlx5ep_mr_cache_put(self->cache, entry);
	EXPECT_STATS(0, 2, 0, 0, 1, 0, 1, 4);
}

TEST_F(rules, one_that_is_stale_without_an_event_is_not_merged)
{
	misses(self, 0, 4);
	set_word(0, MLX5_EP_WATCH_STATE_STALE);
	EXPECT_TRUE(misses(self, 1, 4));
	EXPECT_STATS(0, 2, 0, 0, 0, 0, 2, 8);
}

TEST_F(rules, entries_are_used_again)
{
	struct cache_entry *entry;
	unsigned int i;

	remake(_metadata, self, 2, 0);
	for (i = 0; i < 20; i++)
		misses(self, 2 * i, 1);
	for (i = 0, entry = self->cache->table.pool; entry;
	     entry = entry->pool_next)
		i++;
	EXPECT_EQ(3, i);
}

TEST_F(rules, a_put_is_fast_again_when_the_maximum_is_kept)
{
	struct mlx5ep_mr_cache_entry *entries[2];

	remake(_metadata, self, 1, 0);
	entries[0] = cache_rules_get(self, 0, 1);
	entries[1] = cache_rules_get(self, 2, 1);
	EXPECT_TRUE(self->cache->table.over);
	change(0, UNMAPPED);
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
	mlx5ep_mr_cache_put(self->cache, entries[0]);
	EXPECT_FALSE(self->cache->table.over);
	mlx5ep_mr_cache_put(self->cache, entries[1]);
}

TEST_F(rules, the_one_that_was_not_used_for_longest_is_evicted)
{
	remake(_metadata, self, 3, 0);
	misses(self, 0, 1);
	misses(self, 2, 1);
	misses(self, 4, 1);
	EXPECT_FALSE(misses(self, 0, 1));
	EXPECT_TRUE(misses(self, 6, 1));
	EXPECT_STATS(1, 4, 0, 0, 0, 1, 3, 3);
	EXPECT_FALSE(misses(self, 0, 1));
	EXPECT_FALSE(misses(self, 4, 1));
	EXPECT_FALSE(misses(self, 6, 1));
	EXPECT_TRUE(misses(self, 2, 1));
	EXPECT_STATS(4, 5, 0, 0, 0, 2, 3, 3);
}

TEST_F(rules, a_maximum_of_bytes_is_kept)
{
	remake(_metadata, self, 16, 4);
	misses(self, 0, 2);
	misses(self, 10, 2);
	EXPECT_STATS(0, 2, 0, 0, 0, 0, 2, 4);
	misses(self, 20, 1);
	EXPECT_STATS(0, 3, 0, 0, 0, 1, 2, 3);
	/* More than the maximum is registered while it is in use. */
	misses(self, 30, 5);
	EXPECT_STATS(0, 4, 0, 0, 0, 4, 0, 0);
}

TEST_F(rules, what_locked_memory_allows_is_registered)
{
	struct mlx5ep_mr_cache_entry *entry, *other;

	fake.may_lock = 5 * PAGE;
	misses(self, 0, 3);
	/* Not all of it, but what was asked for. */
	EXPECT_TRUE(misses(self, 1, 4));
	EXPECT_EQ(4 * PAGE, fake.locked);
	entry = cache_rules_get(self, 10, 5);
	ASSERT_NE(NULL, entry);
	EXPECT_EQ(1, fake.registered);
	EXPECT_EQ(-ENOMEM, mlx5ep_mr_cache_get(self->cache, (void *)BASE, 1,
					       &other));
	mlx5ep_mr_cache_put(self->cache, entry);
	EXPECT_TRUE(misses(self, 0, 1));
	EXPECT_EQ(PAGE, fake.locked);
}

/* Each gets its second chance, and then the first of them makes room. */
TEST_F(rules, one_makes_room_though_each_was_used_again)
{
	struct mlx5ep_mr_cache_entry *entry;

	fake.may_lock = 3 * PAGE;
	misses(self, 0, 1);
	misses(self, 2, 1);
	misses(self, 4, 1);
	EXPECT_FALSE(misses(self, 0, 1));
	EXPECT_FALSE(misses(self, 2, 1));
	EXPECT_FALSE(misses(self, 4, 1));
	entry = cache_rules_get(self, 6, 1);
	ASSERT_NE(NULL, entry);
	mlx5ep_mr_cache_put(self->cache, entry);
	EXPECT_FALSE(misses(self, 2, 1));
	EXPECT_FALSE(misses(self, 4, 1));
	EXPECT_FALSE(misses(self, 6, 1));
	EXPECT_EQ(3, fake.registered);
}

TEST_F(rules, an_event_drops_what_is_stale_and_verifies_what_is_suspect)
{
	misses(self, 0, 1);
	misses(self, 2, 1);
	misses(self, 4, 1);
	EXPECT_EQ(0, mlx5ep_mr_cache_trim(self->cache));
	change(0, UNMAPPED);
	change(2, CLEARED);
	change(4, TOUCHED);
	EXPECT_EQ(2, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(2, fake.verified);
	EXPECT_STATS(0, 3, 0, 1, 2, 0, 1, 1);
	EXPECT_FALSE(misses(self, 4, 1));
	EXPECT_TRUE(misses(self, 0, 1));
	EXPECT_EQ(0, mlx5ep_mr_cache_trim(self->cache));
	fake.page.flags = MLX5_EP_NOTIFIER_PAGE_DEAD;
	EXPECT_EQ(-EIO, mlx5ep_mr_cache_trim(self->cache));
	fake.page.flags = 0;
}

TEST_F(rules, a_get_verifies_what_it_finds_suspect)
{
	misses(self, 0, 1);
	/* Without an event, as another thread may read it just now. */
	set_word(0, MLX5_EP_WATCH_STATE_SUSPECT);
	EXPECT_FALSE(misses(self, 0, 1));
	EXPECT_STATS(1, 1, 0, 1, 0, 0, 1, 1);
	set_word(0, MLX5_EP_WATCH_STATE_SUSPECT);
	fake.watches[0].changed = true;
	EXPECT_TRUE(misses(self, 0, 1));
	EXPECT_STATS(1, 2, 0, 1, 1, 0, 1, 1);
}

TEST_F(rules, many_events_are_read_at_once)
{
	unsigned int i;

	remake(_metadata, self, PAGES, 0);
	for (i = 0; i < PAGES; i++)
		misses(self, i, 1);
	for (i = 0; i < PAGES; i++)
		change(i, i < PAGES / 2 ? UNMAPPED : CLEARED);
	EXPECT_EQ(PAGES, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(0, fake.registered);
	EXPECT_EQ(0, fake.page.watch_pending);
	EXPECT_STATS(0, PAGES, 0, 0, PAGES, 0, 0, 0);
}

#define EVENTS	40	/* more than one read takes */

static uint64_t meanwhile;	/* what becomes of a watch when the second read begins */

static void change_without_event(void)
{
	static unsigned int calls;

	if (calls++ & 1)
		set_word(EVENTS - 32, meanwhile);
}

/* The events of the first read are still in memory behind those of the second. */
TEST_F(rules, an_event_is_handled_once)
{
	unsigned int i, j;

	for (j = 0; j < 2; j++) {
		remake(_metadata, self, PAGES, 0);
		for (i = 0; i < EVENTS; i++)
			misses(self, i, 1);
		for (i = 0; i < EVENTS; i++)
			change(i, TOUCHED);
		meanwhile = j ? MLX5_EP_WATCH_STATE_STALE :
				MLX5_EP_WATCH_STATE_SUSPECT;
		fake.on_read = change_without_event;
		fake.verified = 0;
		EXPECT_EQ(0, mlx5ep_mr_cache_trim(self->cache));
		fake.on_read = NULL;
		EXPECT_EQ(EVENTS, fake.verified);
		EXPECT_STATS(0, EVENTS, 0, EVENTS, 0, 0, EVENTS, EVENTS);
	}
}

static int state_in_read;

static void ask_cancel_state(void)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_in_read);
}

TEST_F(rules, a_thread_is_not_cancelled_while_it_reads_events)
{
	int state;

	misses(self, 0, 1);
	change(0, UNMAPPED);
	state_in_read = PTHREAD_CANCEL_ENABLE;
	fake.on_read = ask_cancel_state;
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
	fake.on_read = NULL;
	EXPECT_EQ(PTHREAD_CANCEL_DISABLE, state_in_read);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	EXPECT_EQ(PTHREAD_CANCEL_ENABLE, state);
}

TEST_F(rules, what_a_get_has_verified_is_not_verified_again)
{
	misses(self, 0, 1);
	change(0, TOUCHED);
	set_word(0, MLX5_EP_WATCH_STATE_ARMED);
	EXPECT_EQ(0, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(0, fake.verified);
}

TEST_F(rules, what_another_reader_has_taken_is_not_waited_for)
{
	misses(self, 0, 1);
	change(0, UNMAPPED);
	fake.read_fails = EAGAIN;
	EXPECT_EQ(0, mlx5ep_mr_cache_trim(self->cache));
	fake.read_fails = 0;
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
}

TEST_F(rules, an_event_of_an_older_watch_is_passed_over)
{
	misses(self, 0, 1);
	change(0, UNMAPPED);
	/* The watch that had the slot before is told of, and not this one. */
	fake.watches[0].armed -= 1 << 8;
	EXPECT_EQ(0, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_STATS(0, 1, 0, 0, 0, 0, 1, 1);
	fake.watches[0].armed += 1 << 8;
	change(0, UNMAPPED);
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
}

TEST_F(rules, what_changes_while_it_is_registered_is_not_kept)
{
	struct mlx5ep_mr_cache_entry *entry;

	fake.born_stale = true;
	entry = cache_rules_get(self, 0, 1);
	fake.born_stale = false;
	ASSERT_NE(NULL, entry);
	EXPECT_STATS(0, 1, 0, 0, 0, 0, 1, 1);
	EXPECT_TRUE(misses(self, 0, 1));
	EXPECT_EQ(2, fake.registered);
	mlx5ep_mr_cache_put(self->cache, entry);
	EXPECT_EQ(1, fake.registered);
}

/* Nobody would say that it changed: it is for its user only. */
TEST_F(rules, what_cannot_be_watched_is_not_kept)
{
	struct mlx5ep_mr_cache_entry *unseen, *entry;

	fake.unseen = true;
	unseen = cache_rules_get(self, 0, 1);
	fake.unseen = false;
	ASSERT_NE(NULL, unseen);
	EXPECT_EQ(1, fake.registered);
	/* The next one gets the slot of its watch. */
	entry = cache_rules_get(self, 0, 1);
	ASSERT_NE(NULL, entry);
	EXPECT_NE(unseen->mr, entry->mr);
	EXPECT_EQ(2, fake.registered);
	mlx5ep_mr_cache_put(self->cache, unseen);
	EXPECT_EQ(1, fake.registered);
	mlx5ep_mr_cache_put(self->cache, entry);
	EXPECT_FALSE(misses(self, 0, 1));
	/* Its event is still told to the right one. */
	change(0, UNMAPPED);
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(0, fake.registered);
}

TEST_F(rules, what_cannot_be_deregistered_is_tried_again)
{
	misses(self, 0, 2);
	change(0, UNMAPPED);
	fake.dereg_broken = true;
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_STATS(0, 1, 0, 0, 1, 0, 1, 2);
	EXPECT_EQ(0, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_STATS(0, 1, 0, 0, 1, 0, 1, 2);
	EXPECT_EQ(-EBUSY, mlx5ep_mr_cache_destroy(self->cache));
	fake.dereg_broken = false;
	EXPECT_EQ(0, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_STATS(0, 1, 0, 0, 1, 0, 0, 0);
	misses(self, 0, 2);
	fake.dereg_broken = true;
	EXPECT_EQ(-EBUSY, mlx5ep_mr_cache_destroy(self->cache));
}

TEST_F(rules, a_cache_in_use_is_not_destroyed)
{
	struct mlx5ep_mr_cache_entry *entry = cache_rules_get(self, 0, 1);

	EXPECT_EQ(-EBUSY, mlx5ep_mr_cache_destroy(self->cache));
	EXPECT_EQ(ALIVE, entry->mr->lkey);
	EXPECT_FALSE(misses(self, 0, 1));
	/* It was dropped, and has a user still. */
	change(0, UNMAPPED);
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(-EBUSY, mlx5ep_mr_cache_destroy(self->cache));
	mlx5ep_mr_cache_put(self->cache, entry);
}

TEST_F(rules, a_forked_child_frees_its_memory_only)
{
	struct mlx5ep_mr_cache_entry *entry = cache_rules_get(self, 0, 1),
				     *other;

	fake_forked(true);
	EXPECT_EQ(-EXDEV, mlx5ep_mr_cache_get(self->cache, (void *)BASE, 1,
					      &other));
	EXPECT_EQ(-EXDEV, mlx5ep_mr_cache_trim(self->cache));
	mlx5ep_mr_cache_put(self->cache, entry);
	fake_forked(false);
	EXPECT_EQ(-EBUSY, mlx5ep_mr_cache_destroy(self->cache));
	fake_forked(true);
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->cache));
	EXPECT_EQ(1, fake.registered);
	self->cache = NULL;
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(NULL));
}

TEST_F(rules, kinds_are_told_apart)
{
	struct mlx5ep_mr_cache_get_attr attrs[] = {
		{},
		{ .flags = MLX5EP_MR_CACHE_GET_ACCESS, .access = 1 },
		{ .flags = MLX5EP_MR_CACHE_GET_ACCESS, .access = 3 },
		{ .flags = MLX5EP_MR_CACHE_GET_IOVA,
		  .iova = BASE + 5 * PAGE + 7 },
		{ .flags = MLX5EP_MR_CACHE_GET_IOVA, .iova = 7 },
	};
	struct mlx5ep_mr_cache_entry *entries[2][ARRAY_SIZE(attrs)];
	struct fake_mr *mr;
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(attrs); i++)
		ASSERT_EQ(0, mlx5ep_mr_cache_get_as(
				     self->cache, (void *)(BASE + 7), PAGE,
				     &attrs[i % ARRAY_SIZE(attrs)],
				     &entries[0][i]));
	EXPECT_STATS(5, 5, 0, 0, 0, 0, 5, 10);
	for (i = 0; i < ARRAY_SIZE(attrs); i++) {
		EXPECT_EQ(entries[0][i], entries[1][i]);
		mr = (struct fake_mr *)entries[0][i]->mr;
		EXPECT_EQ(i == 1 || i == 2 ? attrs[i].access :
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			  IBV_ACCESS_REMOTE_WRITE, mr->access);
		EXPECT_EQ(i == 3 ? BASE + 5 * PAGE : i == 4 ? 0 : BASE,
			  mr->iova);
		mlx5ep_mr_cache_put(self->cache, entries[0][i]);
		mlx5ep_mr_cache_put(self->cache, entries[0][i]);
	}
}

TEST_F(rules, a_kind_that_is_not_known_is_refused)
{
	struct mlx5ep_mr_cache_get_attr attrs[] = {
		{ .flags = 4 }, { .access = 1 }, { .iova = BASE },
		{ .flags = MLX5EP_MR_CACHE_GET_IOVA, .iova = BASE + 1 },
		{ .reserved = { 1 } }, { .reserved = { 0, 1 } },
		{ .reserved = { 0, 0, 1 } }, { .reserved = { 0, 0, 0, 1 } },
	};
	struct mlx5ep_mr_cache_entry *entry;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++) {
		EXPECT_EQ(-EINVAL, mlx5ep_mr_cache_get_as(
					   self->cache, (void *)BASE, PAGE,
					   &attrs[i], &entry))
			TH_LOG("attribute %u", i);
		EXPECT_EQ(-EINVAL, mlx5ep_mr_cache_get_dmabuf(
					   self->cache, 0, BASE, PAGE,
					   &attrs[i], &entry));
	}
	EXPECT_STATS(0, 0, 0, 0, 0, 0, 0, 0);
}

TEST_F(rules, dmabufs_are_told_apart_by_their_inodes)
{
	int fds[] = { memfd_create("a", 0), memfd_create("b", 0) };
	struct mlx5ep_mr_cache_entry *entries[4];
	struct mlx5ep_mr_cache_get_attr attr = {};
	int i, other = open("/proc/self/stat", O_RDONLY);

	/* A file that could not be registered says nothing about the others. */
	fake.may_lock = 1;
	EXPECT_EQ(-ENOMEM, mlx5ep_mr_cache_get_dmabuf(self->cache, other, BASE,
						      PAGE, &attr,
						      &entries[0]));
	fake.may_lock = 0;
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, mlx5ep_mr_cache_get_dmabuf(
				     self->cache, i == 2 ? dup(fds[0]) :
				     fds[i % 2], BASE, PAGE, &attr,
				     &entries[i]));
	EXPECT_EQ(entries[0], entries[2]);
	EXPECT_EQ(entries[1], entries[3]);
	EXPECT_NE(entries[0], entries[1]);
	EXPECT_TRUE(((struct fake_mr *)entries[1]->mr)->dmabuf);
	EXPECT_EQ(fds[1], ((struct fake_mr *)entries[1]->mr)->fd);
	EXPECT_TRUE(misses(self, 0, 1));
	/* A file of another file system is no dma-buf. */
	EXPECT_EQ(-EINVAL, mlx5ep_mr_cache_get_dmabuf(self->cache, other, 0,
						      PAGE, &attr,
						      &entries[0]));
	EXPECT_EQ(-EBADF, mlx5ep_mr_cache_get_dmabuf(self->cache, -1, 0, PAGE,
						     &attr, &entries[0]));
	for (i = 0; i < 4; i++)
		mlx5ep_mr_cache_put(self->cache, entries[i > 1 ? i : i + 2]);
}

TEST_F(rules, a_cache_is_made_as_asked_or_not_at_all)
{
	struct mlx5ep_mr_cache_attr attrs[] = {
		{ .flags = 1 }, { .reserved = { 1 } },
		{ .reserved = { 0, 1 } }, { .reserved = { 0, 0, 1 } },
		{ .reserved = { 0, 0, 0, 1 } },
		{ .max_regions = UINT32_MAX - CACHE_SPARE_WATCHES + 1ul },
		{ .max_regions = UINT32_MAX - CACHE_SPARE_WATCHES },
		{ .access = IBV_ACCESS_LOCAL_WRITE },
	};
	struct mlx5ep_mr_cache_entry *entry;
	struct mlx5ep_mr_cache *cache;
	unsigned int i;

	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->cache));
	self->cache = NULL;
	EXPECT_EQ(16 + CACHE_SPARE_WATCHES, fake.asked);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(i == 5 ? -EDQUOT : -EINVAL,
			  mlx5ep_mr_cache_create(&self->pd, &attrs[i], &cache));
	fake.create_fails = ENOSPC;
	EXPECT_EQ(-ENOSPC, mlx5ep_mr_cache_create(&self->pd, &attrs[7],
						  &cache));
	EXPECT_EQ(4096 + CACHE_SPARE_WATCHES, fake.asked);
	fake.create_fails = 0;
	for (i = 6; i < ARRAY_SIZE(attrs); i++) {
		ASSERT_EQ(0, mlx5ep_mr_cache_create(&self->pd, &attrs[i],
						    &cache));
		EXPECT_TRUE(fcntl(mlx5ep_mr_cache_fd(cache), F_GETFL) &
			    O_NONBLOCK);
		ASSERT_EQ(0, mlx5ep_mr_cache_get(cache, (void *)BASE, 1,
						 &entry));
		EXPECT_EQ(i == 7, IBV_ACCESS_LOCAL_WRITE ==
			  ((struct fake_mr *)entry->mr)->access);
		mlx5ep_mr_cache_put(cache, entry);
		EXPECT_EQ(0, mlx5ep_mr_cache_destroy(cache));
	}
	EXPECT_EQ(0, fake.notifiers);
}

TEST_F(rules, a_cache_that_cannot_be_made_leaves_no_notifier)
{
	struct rlimit limit = { 1 << 30, 1 << 30 };
	struct mlx5ep_mr_cache_attr attr = {};
	struct mlx5ep_mr_cache *cache;

	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->cache));
	self->cache = NULL;
	fake.no_file = true;
	EXPECT_EQ(-EBADF, mlx5ep_mr_cache_create(&self->pd, &attr, &cache));
	EXPECT_EQ(0, fake.notifiers);
	fake.no_file = false;
	/* Its slots need 2 GiB. */
	fake.capacity = 1 << 28;
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
	EXPECT_EQ(-ENOMEM, mlx5ep_mr_cache_create(&self->pd, &attr, &cache));
	EXPECT_EQ(0, fake.notifiers);
}

TEST_F(rules, a_cache_that_was_destroyed_has_no_memory)
{
	size_t before = 0;
	int i;

	/* What the C library keeps for the next allocation counts as used. */
	for (i = 0; i < 8; i++) {
		if (i == 4)
			before = mallinfo2().uordblks;
		misses(self, 0, 1);
		misses(self, 2, 1);
		remake(_metadata, self, 16, 0);
	}
	EXPECT_EQ(before, mallinfo2().uordblks);
}

#define NODES 512

/* Looks whether a subtree is a heap, and returns its depth. */
static int depth(struct __test_metadata *_metadata, struct mr_tree_node *node)
{
	int left, right;

	if (!node)
		return 0;
	if (node->left)
		EXPECT_GE(node->prio, node->left->prio);
	if (node->right)
		EXPECT_GE(node->prio, node->right->prio);
	left = depth(_metadata, node->left);
	right = depth(_metadata, node->right);
	return 1 + (left > right ? left : right);
}

/* The lowest range of a kind that overlaps, found by looking at all of them. */
static struct mr_tree_node *lowest(struct mr_tree_node *nodes, const bool *in,
				   const struct mr_kind *kind, uintptr_t start,
				   uintptr_t end)
{
	struct mr_tree_node *found = NULL;
	int i;

	for (i = 0; i < NODES; i++)
		if (in[i] && mr_kind_equal(&nodes[i].kind, kind) &&
		    nodes[i].start < end && nodes[i].end > start &&
		    (!found || nodes[i].start < found->start))
			found = &nodes[i];
	return found;
}

TEST(the_tree_finds_what_is_in_it)
{
	static struct mr_tree_node nodes[NODES];
	struct mr_tree_node *root = NULL;
	unsigned int seed = 1, i, j;
	bool in[NODES] = {};
	uintptr_t start;

	/* Eight kinds, each with ranges of one or two pages and gaps. */
	for (i = 0; i < NODES; i++) {
		nodes[i].kind = (struct mr_kind){
			i & 1 ? 5 : 0, i & 2 ? PAGE : 0, i & 4 ? 3 : 1,
		};
		nodes[i].start = BASE + i / 8 * 3 * PAGE;
		nodes[i].end = nodes[i].start + (1 + i / 8 % 2) * PAGE;
	}
	for (i = 0; i < 20000; i++) {
		j = i < NODES ? i : rand_r(&seed) % NODES;
		if (in[j])
			mr_tree_erase(&root, &nodes[j]);
		else
			mr_tree_insert(&root, &nodes[j]);
		in[j] = !in[j];
		if (i == NODES - 1)
			EXPECT_GE(40, depth(_metadata, root));
		j = rand_r(&seed) % NODES;
		start = nodes[j].start + PAGE * (rand_r(&seed) % 5) - 2 * PAGE;
		ASSERT_EQ(lowest(nodes, in, &nodes[j].kind, start,
				 start + 3 * PAGE),
			  mr_tree_first(root, &nodes[j].kind, start,
					start + 3 * PAGE));
	}
	EXPECT_GE(40, depth(_metadata, root));
}

TEST_HARNESS_MAIN
