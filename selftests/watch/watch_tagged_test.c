// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core */
/*
 * Watches of tagged addresses. Where the CPU ignores the top byte of an address, as
 * arm64 always does for programs, allocators keep a tag there. The module watches
 * the memory, and its events name it without the tag.
 */
#include "kselftest_harness.h"

#include <sys/mman.h>

#include "page.h"
#include "watched.h"

#define TAG(_addr) ((void *)((uintptr_t)(_addr) | 0x5aul << 56))

FIXTURE(tagged)
{
	struct verbs_setup setup;
	struct mlx5ep_notifier *n;
	size_t len;
	char *mem;
};

FIXTURE_SETUP(tagged)
{
#ifndef __aarch64__
	SKIP(return, "this CPU ignores no byte of an address");
#endif
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, 8, &self->n));
	self->len = 4 * page_bytes();
	self->mem = mmap(NULL, self->len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
	*(char *)TAG(self->mem) = 1;
}

FIXTURE_TEARDOWN(tagged)
{
	if (self->n)
		mlx5ep_notifier_destroy(self->n);
	verbs_close(&self->setup);
}

TEST_F(tagged, munmap_of_the_memory_makes_the_word_stale)
{
	struct mlx5ep_watch w;

	ASSERT_EQ(0, mlx5ep_watch_add(self->n, TAG(self->mem), self->len, 0,
				      &w));
	EXPECT_TRUE(mlx5ep_watch_valid(&w));
	ASSERT_EQ(0, munmap(self->mem, self->len));
	EXPECT_FALSE(mlx5ep_watch_valid(&w));
}

TEST_F(tagged, events_name_the_memory_without_the_tag)
{
	struct mlx5_ep_event event;
	struct mlx5ep_watch w;

	ASSERT_EQ(0, mlx5ep_watch_add(self->n, TAG(self->mem), self->len, 7,
				      &w));
	ASSERT_EQ(0, madvise(self->mem + page_bytes(), page_bytes(),
			     MADV_DONTNEED));
	ASSERT_EQ(1, mlx5ep_notifier_read(self->n, &event, 1));
	EXPECT_EQ(7, event.cookie);
	EXPECT_EQ((uintptr_t)self->mem + page_bytes(), event.start);
	EXPECT_EQ(page_bytes(), event.length);
}

TEST_HARNESS_MAIN
