// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * Where watches live, and how their events are read, with slots.c and event.c
 * of the module compiled into this program.
 */
#include "kselftest_harness.h"

#include <rdma/mlx5_ep_notifier.h>

#include "watches_kernel.h"
#include "watch_slots.inc"	/* both, without what they include */
#include "watches_fixture.h"

/* Words of a page. */
#define WORDS		(PAGE_SIZE / sizeof(u64))
#define CAPACITY	(2 * WATCHES_PER_CHUNK + 7)

static struct mm_struct other_mm;
static struct mlx5_ep_watch_parts parts;
static int parts_put;

void mlx5_ep_fingerprint_parts_put(struct mlx5_ep_watch_parts *put)
{
	parts_put += put == &parts;
	fake.misuses += put && put != &parts;
}

FIXTURE(slots) {};

FIXTURE_SETUP(slots)
{
	watches_begin(CAPACITY);
}

FIXTURE_TEARDOWN(slots)
{
	EXPECT_EQ(0, watches_end());
}

/* Begins anew with another capacity. */
#define BEGIN(capacity)							\
	do {								\
		EXPECT_EQ(0, watches_end());				\
		watches_begin(capacity);				\
	} while (0)

/* Takes a slot, of a new chunk if there is none, and arms it. */
static struct mlx5_ep_watch *watch_slots_add(unsigned long start, u32 npages)
{
	struct mlx5_ep_watch *w;
	int ret = mlx5_ep_watch_slots_grow(&ws);

	if (ret)
		return NULL;
	w = slots_take(&ws);
	w->start = start;
	w->npages = npages;
	slots_begin(&ws, w, 1000 + start, false);
	slots_arm(&ws, w);
	return w;
}

/* Fills all slots. */
static void add_all(void)
{
	u32 i;

	for (i = 0; i < ws.capacity; i++)
		watch_slots_add(16 * i, 8);
}

/* As hit_watch(), of pages from @first to @last of the watch. */
static void watch_slots_hit(u32 number, u32 first, u32 last)
{
	struct mlx5_ep_watch *w = slot(number);
	struct mlx5_ep_watch_chunk *chunk = watch_chunk(w);

	w->hit_first = first;
	w->hit_last = last;
	w->count = 3;
	w->cause = MLX5_EP_WATCH_CAUSE_CLEAR;
	if (chunk->pending & BIT_ULL(w->index))
		return;
	chunk->pending |= BIT_ULL(w->index);
	ws.header->watch_pending = ++ws.pending;
	if (!chunk->queued) {
		chunk->queued = true;
		list_add_tail(&chunk->pending_node, &ws.pending_chunks);
	}
}

TEST_F(slots, have_an_area_of_whole_pages)
{
	struct mlx5_ep_watch_area *area;
	u32 capacity;

	for (capacity = WORDS - 1; capacity <= WORDS + 1; capacity++) {
		area = mlx5_ep_watch_slots_area_alloc(capacity);
		ASSERT_NE(NULL, area);
		EXPECT_EQ(capacity > WORDS ? 3 : 2, area->nr_pages);
		EXPECT_EQ(NULL, area->pages[1]);
		EXPECT_EQ(capacity,
			  ((struct mlx5_ep_notifier_page *)area->pages[0])->capacity);
		EXPECT_EQ(MLX5_EP_NOTIFIER_VERSION,
			  ((struct mlx5_ep_notifier_page *)area->pages[0])->version);
		kref_get(&area->ref);
		mlx5_ep_watch_slots_area_put(area);
		EXPECT_EQ(2, fake.pages);
		mlx5_ep_watch_slots_area_put(area);
		EXPECT_EQ(1, fake.pages);
	}
	EXPECT_EQ(2, fake.blocks);
	fake.fails = fake.asked + 1;
	EXPECT_EQ(NULL, mlx5_ep_watch_slots_area_alloc(9));
	fake.fails = fake.asked + 2;
	EXPECT_EQ(NULL, mlx5_ep_watch_slots_area_alloc(9));
	EXPECT_EQ(2, fake.blocks);
}

/* A full area is freed up to its end, and not beyond. */
TEST_F(slots, have_an_area_that_may_be_full)
{
	struct mlx5_ep_watch_area *area;
	int before = fake.resched;

	area = mlx5_ep_watch_slots_area_alloc(WORDS);
	area->pages[1] = (void *)get_zeroed_page(0);
	mlx5_ep_watch_slots_area_put(area);
	EXPECT_EQ(1, fake.pages);
	EXPECT_EQ(2, fake.resched - before);
}

TEST_F(slots, are_of_one_address_space_until_the_end)
{
	EXPECT_EQ(0, mlx5_ep_watch_slots_check(&ws));
	EXPECT_EQ(0, mlx5_ep_watch_slots_get(&ws));
	EXPECT_EQ(2, ws.users.refs);
	fake.mm = &other_mm;
	EXPECT_EQ(-EXDEV, mlx5_ep_watch_slots_check(&ws));
	EXPECT_EQ(-EXDEV, mlx5_ep_watch_slots_get(&ws));
	ws.dead = true;
	EXPECT_EQ(-EXDEV, mlx5_ep_watch_slots_check(&ws));
	fake.mm = &own_mm;
	EXPECT_EQ(-EIO, mlx5_ep_watch_slots_check(&ws));
	/* Who has begun goes on, with the memory that there is. */
	mlx5_ep_watch_slots_put(&ws);
	EXPECT_EQ(0, space.mn.puts);
	EXPECT_EQ(1, ws.users.refs);
	mlx5_ep_watch_slots_put(&ws);
	EXPECT_EQ(1, space.mn.puts);
	EXPECT_EQ(-EIO, mlx5_ep_watch_slots_get(&ws));
	EXPECT_EQ(1, fake.blocks);
}

TEST_F(slots, come_in_chunks_up_to_the_capacity)
{
	size_t bytes = PAGE_SIZE;
	u32 i;

	for (i = 0; i < CAPACITY; i++) {
		ASSERT_NE(NULL, watch_slots_add(i, 1));
		EXPECT_EQ(i / WATCHES_PER_CHUNK + 1, ws.nr_chunks);
		if (i % WATCHES_PER_CHUNK == 0)
			bytes += WATCH_CHUNK_SIZE;
		EXPECT_EQ(bytes, ws.bytes);
		EXPECT_EQ(slot(i), watch_chunk(slot(i))->watches + slot(i)->index);
		EXPECT_EQ(i - i % WATCHES_PER_CHUNK, watch_chunk(slot(i))->base);
		EXPECT_EQ(&ws, watch_chunk(slot(i))->ws);
	}
	EXPECT_EQ(-ENOSPC, mlx5_ep_watch_slots_grow(&ws));
	EXPECT_EQ(5, fake.blocks);
	EXPECT_EQ(2, fake.pages);
	/* A slot that is free again is enough. */
	ws.chunks[1]->free = 4;
	list_add(&ws.chunks[1]->partial_node, &ws.partial);
	EXPECT_EQ(0, mlx5_ep_watch_slots_grow(&ws));
	EXPECT_EQ(5, fake.blocks);
}

TEST_F(slots, of_a_whole_chunk_are_the_last)
{
	u32 i;

	BEGIN(2 * WATCHES_PER_CHUNK);
	for (i = 0; i < 2 * WATCHES_PER_CHUNK; i++)
		ASSERT_NE(NULL, watch_slots_add(i, 1));
	EXPECT_EQ(-ENOSPC, mlx5_ep_watch_slots_grow(&ws));
}

TEST_F(slots, have_their_words_in_one_page_or_in_two)
{
	u32 i;

	BEGIN(2 * WORDS + 3);
	for (i = 0; i < ws.capacity; i++) {
		ASSERT_NE(NULL, watch_slots_add(i, 1));
		EXPECT_EQ((i + WATCHES_PER_CHUNK -
			   i % WATCHES_PER_CHUNK - 1 < 2 * WORDS + 3 ?
			   i + WATCHES_PER_CHUNK - i % WATCHES_PER_CHUNK - 1 :
			   2 * WORDS + 2) / WORDS + 2, fake.pages);
		ASSERT_EQ(slots_word(&ws, i),
			  slots_chunk_word(watch_chunk(slot(i)),
					   slot(i)->index));
	}
	EXPECT_EQ(PAGE_SIZE * 3 + WATCH_CHUNK_SIZE * ws.nr_chunks, ws.bytes);
	/* A chunk whose words end with the page has none in the next. */
	for (i = 0; i < ws.nr_chunks; i++)
		EXPECT_EQ(ws.chunks[i]->split < WATCHES_PER_CHUNK &&
			  ws.chunks[i]->base + ws.chunks[i]->split < ws.capacity,
			  ws.chunks[i]->words[1] != NULL);
}

/* The words of 256 chunks end with a page. The next page comes with the next chunk. */
TEST_F(slots, have_no_page_without_a_word)
{
	u32 i;

	BEGIN(256 * WATCHES_PER_CHUNK + 1);
	for (i = 0; i < 256 * WATCHES_PER_CHUNK; i++)
		ASSERT_NE(NULL, watch_slots_add(i, 1));
	EXPECT_EQ(1 + i / WORDS, fake.pages);
	ASSERT_NE(NULL, watch_slots_add(i, 1));
	EXPECT_EQ(2 + i / WORDS, fake.pages);
}

TEST_F(slots, need_memory)
{
	int i;

	for (i = 1; i <= 2; i++) {
		fake.fails = fake.asked + i;
		EXPECT_EQ(-ENOMEM, mlx5_ep_watch_slots_grow(&ws));
		EXPECT_EQ(0, ws.nr_chunks);
		EXPECT_TRUE(list_empty(&ws.partial));
		/* The page of words stays for the next one. */
		EXPECT_EQ(i, fake.pages);
		EXPECT_EQ(2, fake.blocks);
	}
	EXPECT_EQ(0, mlx5_ep_watch_slots_grow(&ws));
	EXPECT_EQ(2, fake.pages);
	EXPECT_EQ(1, ws.nr_chunks);
}

static void meanwhile_die(void)
{
	ws.dead = true;
}

static void meanwhile_leave(void)
{
	fake.mm = &other_mm;
}

TEST_F(slots, do_not_come_after_the_end)
{
	fake.meanwhile = meanwhile_die;
	EXPECT_EQ(-EIO, mlx5_ep_watch_slots_grow(&ws));
	EXPECT_EQ(0, ws.nr_chunks);
	EXPECT_EQ(2, fake.blocks);
	EXPECT_EQ(PAGE_SIZE, ws.bytes);
	ws.dead = false;
	fake.meanwhile = meanwhile_leave;
	EXPECT_EQ(-EXDEV, mlx5_ep_watch_slots_grow(&ws));
	EXPECT_EQ(2, fake.blocks);
	fake.mm = &own_mm;
}

TEST_F(slots, give_back_the_fingerprints_of_their_watches)
{
	int resched;
	u32 i;

	add_all();
	/* Behind the last slot of a chunk is none. */
	for (i = 0; i < ws.nr_chunks; i++)
		memset(ws.chunks[i] + 1, 0x5a,
		       WATCH_CHUNK_SIZE - sizeof(*ws.chunks[i]));
	slot(3)->npages = WATCH_PART_PAGES + 1;
	slot(3)->parts = &parts;
	slot(WATCHES_PER_CHUNK - 1)->npages = WATCH_PART_PAGES + 1;
	slot(WATCHES_PER_CHUNK - 1)->parts = &parts;
	slot(CAPACITY - 1)->npages = WATCH_PART_PAGES + 1;
	slot(CAPACITY - 1)->parts = &parts;
	slot(5)->npages = WATCH_PART_PAGES;
	slot(5)->fingerprint = 77;
	parts_put = 0;
	resched = fake.resched;
	mlx5_ep_watch_slots_put(&ws);
	EXPECT_EQ(3, parts_put);
	EXPECT_EQ(3, fake.resched - resched);
}

/* A watch may be deleted while a thread looks at its pages. */
TEST_F(slots, have_nothing_of_the_watch_before)
{
	struct mlx5_ep_watch *w = watch_slots_add(1, 1);
	u64 word = *slots_word(&ws, 0);

	ASSERT_NE(NULL, w);
	w->hits = 7;
	w->recorded = true;
	w->looked_at = true;
	w->resting = true;
	w->is_dmabuf = true;
	watch_chunk(w)->free |= BIT_ULL(w->index);
	ws.live--;
	ASSERT_EQ(w, watch_slots_add(2, 1));
	EXPECT_EQ(0, (int)w->hits);
	EXPECT_FALSE(!!w->recorded);
	EXPECT_FALSE(!!w->looked_at);
	EXPECT_FALSE(!!w->resting);
	EXPECT_FALSE(!!w->is_dmabuf);
	EXPECT_EQ(1002, w->cookie);
	EXPECT_EQ(1, ws.live);
	EXPECT_EQ(word + 4, *slots_word(&ws, 0));
}

TEST_F(slots, drop_the_fingerprints_of_their_parts_once)
{
	struct mlx5_ep_watch_parts behind, *list = &behind;
	struct mlx5_ep_watch *w = watch_slots_add(1, WATCH_PART_PAGES);

	ASSERT_NE(NULL, w);
	/* The bytes of the pointer are a fingerprint here. */
	w->fingerprint = (unsigned long)&parts;
	slots_drop_parts(&ws, w, &list);
	EXPECT_EQ(&behind, list);
	EXPECT_EQ((unsigned long)&parts, w->fingerprint);

	w->npages = WATCH_PART_PAGES + 1;
	w->parts = &parts;
	ws.parts_bytes = watch_parts_size(w->npages) + 100;
	slots_drop_parts(&ws, w, &list);
	EXPECT_EQ(&parts, list);
	EXPECT_EQ(&behind, list->next);
	EXPECT_EQ(NULL, w->parts);
	EXPECT_EQ(100, ws.parts_bytes);
	slots_drop_parts(&ws, w, &list);
	EXPECT_EQ(&parts, list);
	EXPECT_EQ(100, ws.parts_bytes);
	ws.parts_bytes = 0;
}

TEST_F(slots, tell_how_many_there_are)
{
	struct mlx5_ep_watches_stats stats;

	watch_slots_add(1, 1);
	watch_slots_add(2, 1);
	watch_slots_hit(1, 0, 0);
	ws.header->watch_total = 9;
	ws.parts_bytes = 100;
	memset(&stats, 0xa5, sizeof(stats));
	mlx5_ep_watch_slots_get_stats(&ws, &stats);
	EXPECT_EQ(2, stats.live);
	EXPECT_EQ(9, stats.total);
	EXPECT_EQ(1, stats.pending);
	EXPECT_EQ(PAGE_SIZE + WATCH_CHUNK_SIZE + 100, stats.bytes);
	EXPECT_EQ(CAPACITY, stats.capacity);
}

TEST_F(slots, are_found_by_number_and_word)
{
	struct mlx5_ep_watch_ref ref = { .slot = 7 };
	u32 i;

	for (i = 0; i < 9; i++)
		watch_slots_add(i, 1);
	ref.word = *slots_word(&ws, 7);
	EXPECT_EQ(slot(7), mlx5_ep_watch_slots_find(&ws, &ref));
	*slots_word(&ws, 7) += MLX5_EP_WATCH_STATE_STALE -
			       MLX5_EP_WATCH_STATE_ARMED;
	EXPECT_EQ(slot(7), mlx5_ep_watch_slots_find(&ws, &ref));
	ref.word += 4;
	EXPECT_EQ(NULL, mlx5_ep_watch_slots_find(&ws, &ref));
	ref = (struct mlx5_ep_watch_ref){ .slot = 9, .word = 1 };
	EXPECT_EQ(NULL, mlx5_ep_watch_slots_find(&ws, &ref));
	ref.slot = WATCHES_PER_CHUNK;
	EXPECT_EQ(NULL, mlx5_ep_watch_slots_find(&ws, &ref));
	ref.slot = CAPACITY;
	EXPECT_EQ(NULL, mlx5_ep_watch_slots_find(&ws, &ref));
}

#define TAKE(count) mlx5_ep_watch_event_take(&ws, events, count)

TEST_F(slots, have_events_that_say_what_was_hit)
{
	struct mlx5_ep_event events[2];
	u64 word;

	add_all();
	EXPECT_EQ(0, TAKE(2));
	watch_slots_hit(60, 2, 5);
	word = *slots_word(&ws, 60);
	*slots_word(&ws, 60) = word + 2;
	memset(events, 0xa5, sizeof(events));
	EXPECT_EQ(1, TAKE(2));
	EXPECT_EQ(1000 + 16 * 60, events[0].cookie);
	EXPECT_EQ((16 * 60 + 2) * PAGE_SIZE, events[0].start);
	EXPECT_EQ(4 * PAGE_SIZE, events[0].length);
	EXPECT_EQ(word, events[0].word);
	EXPECT_EQ(MLX5_EP_EVENT_WATCH, events[0].type);
	EXPECT_EQ(60, events[0].slot);
	EXPECT_EQ(MLX5_EP_WATCH_CAUSE_CLEAR, events[0].cause);
	EXPECT_EQ(3, events[0].count);
	EXPECT_EQ(0, events[0].object);
	EXPECT_EQ(0, events[0].reserved[0] | events[0].reserved[1] |
		     events[0].reserved[2]);
	EXPECT_EQ(0xa5, *(u8 *)&events[1]);
	EXPECT_EQ(0, ws.pending);
	EXPECT_EQ(0, ws.header->watch_pending);
	EXPECT_TRUE(list_empty(&ws.pending_chunks));
	EXPECT_FALSE(ws.chunks[1]->queued);
	/* Addresses may be beyond what fits in 32 bits of pages. */
	slot(60)->start = 1ull << 40;
	watch_slots_hit(60, 0, UINT_MAX - 1);
	EXPECT_EQ(1, TAKE(1));
	EXPECT_EQ(1ull << 52, events[0].start);
	EXPECT_EQ((1ull << 32) - 1, events[0].length >> PAGE_SHIFT);
}

TEST_F(slots, take_turns)
{
	struct mlx5_ep_event events[8];
	static const u32 order[] = { 1, 53, 100, 49, 54, 104, 99 };
	int i;

	add_all();
	watch_slots_hit(1, 0, 0);
	watch_slots_hit(49, 0, 0);
	watch_slots_hit(54, 0, 0);
	watch_slots_hit(53, 0, 0);
	watch_slots_hit(99, 0, 0);
	watch_slots_hit(104, 0, 0);
	watch_slots_hit(100, 0, 0);
	for (i = 0; i < 7; i++) {
		EXPECT_EQ(7 - i, ws.pending);
		EXPECT_EQ(1, TAKE(1));
		EXPECT_EQ(order[i], events[0].slot);
	}
	EXPECT_EQ(0, TAKE(1));
	/* One that comes again waits for those behind it, and so on. */
	watch_slots_hit(52, 0, 0);
	watch_slots_hit(98, 0, 0);
	watch_slots_hit(50, 0, 0);
	EXPECT_EQ(1, TAKE(1));
	EXPECT_EQ(50, events[0].slot);
	watch_slots_hit(50, 0, 0);
	EXPECT_EQ(1, TAKE(1));
	EXPECT_EQ(52, events[0].slot);
	watch_slots_hit(52, 0, 0);
	EXPECT_EQ(3, TAKE(8));
	EXPECT_EQ(98, events[0].slot);
	EXPECT_EQ(50, events[1].slot);
	EXPECT_EQ(52, events[2].slot);
	/* Behind the last slot the first one follows. */
	watch_slots_hit(49, 0, 0);
	EXPECT_EQ(1, TAKE(1));
	watch_slots_hit(48, 0, 0);
	watch_slots_hit(0, 0, 0);
	EXPECT_EQ(2, TAKE(8));
	EXPECT_EQ(0, events[0].slot);
	EXPECT_EQ(48, events[1].slot);
}

/* A chunk stays queued when its last watch is deleted. */
TEST_F(slots, that_were_deleted_have_no_events)
{
	struct mlx5_ep_event events[2];

	add_all();
	watch_slots_hit(3, 0, 0);
	watch_slots_hit(60, 0, 0);
	slots_unqueue(&ws, ws.chunks[0], 3);
	EXPECT_EQ(1, TAKE(2));
	EXPECT_EQ(60, events[0].slot);
	EXPECT_FALSE(ws.chunks[0]->queued);
	watch_slots_hit(3, 0, 0);
	EXPECT_EQ(1, TAKE(2));
	EXPECT_EQ(3, events[0].slot);
}

TEST_F(slots, let_the_lock_go_after_256_looks)
{
	struct mlx5_ep_event events[300];
	u32 i;
	int spun;

	BEGIN(300);
	add_all();
	for (i = 0; i < 300; i++)
		watch_slots_hit(i, 0, 0);
	spun = fake.spun;
	fake.resched = 0;
	EXPECT_EQ(255, TAKE(255));
	EXPECT_EQ(1, fake.spun - spun);
	EXPECT_EQ(0, fake.resched);
	EXPECT_EQ(45, TAKE(300));
	for (i = 0; i < 300; i++)
		watch_slots_hit(i, 0, 0);
	spun = fake.spun;
	EXPECT_EQ(300, TAKE(300));
	EXPECT_EQ(2, fake.spun - spun);
	EXPECT_EQ(1, fake.resched);
	for (i = 0; i < 300; i++)
		watch_slots_hit(i, 0, 0);
	/* One look more is needed to know that there is nothing left. */
	EXPECT_EQ(256, TAKE(256));
	EXPECT_EQ(2, fake.resched);
	EXPECT_EQ(0, TAKE(0));
	EXPECT_EQ(44, ws.pending);
}

TEST_F(slots, are_not_read_from_elsewhere_or_after_the_end)
{
	struct mlx5_ep_event events[2];

	add_all();
	watch_slots_hit(3, 0, 0);
	fake.mm = &other_mm;
	EXPECT_EQ(0, TAKE(2));
	fake.mm = &own_mm;
	ws.dead = true;
	EXPECT_EQ(0, TAKE(2));
	EXPECT_EQ(1, ws.pending);
	ws.dead = false;
	EXPECT_EQ(1, ws.users.refs);
	EXPECT_EQ(1, TAKE(2));
	EXPECT_EQ(1, ws.users.refs);
}

TEST_HARNESS_MAIN
