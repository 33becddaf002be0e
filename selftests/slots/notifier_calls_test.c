// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * What the library keeps of a notifier that it could not make, and after one has been
 * destroyed: no memory, no mapping and no file; with a made-up kernel.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <mlx5ep/mr_cache.h>

#include "cancelled.h"
#include "xrc/xrc_fake.h"

#define SLOTS 5000	/* ten pages of words, and enough for a cache */

FIXTURE(notifier)
{
	struct fake_context c;
	struct mlx5ep_notifier *n;
	int file;		/* of the notifier that the kernel makes */
	int mappings;
};

static int mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int c, n = 0;

	while (maps && (c = getc(maps)) != EOF)
		n += c == '\n';
	if (maps)
		fclose(maps);
	return n;
}

/* A file as the kernel's: its first page, then the words. */
static int notifier_file(void)
{
	struct mlx5_ep_notifier_page page = { .capacity = SLOTS };
	int fd = memfd_create("notifier", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, MLX5_EP_NOTIFIER_WORDS_OFFSET +
				SLOTS * sizeof(uint64_t)) ||
	    write(fd, &page, sizeof(page)) != sizeof(page))
		return -1;
	return fd;
}

FIXTURE_SETUP(notifier)
{
	ASSERT_EQ(0, fake_open(&self->c));
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids",
			      "object notifier 0x100b\n"));
	self->file = notifier_file();
	ASSERT_LE(0, self->file);
	/* The library reads the ids once, and libc has its buffers then. */
	fake.error = EPERM;
	ASSERT_EQ(-EPERM, mlx5ep_notifier_create(&self->c.verbs.context, 0,
						 &self->n));
	fake.error = 0;
	fake.handle = self->file;
	self->mappings = mappings();
	fake.blocks = 0;
	fake.counts = true;
}

FIXTURE_TEARDOWN(notifier)
{
	EXPECT_TRUE(thread_is_free());
	fake.counts = false;
	EXPECT_EQ(0, fake.blocks);
	EXPECT_EQ(self->mappings, mappings());
	EXPECT_EQ(0, fake_close(&self->c));
}

static int notifier_calls_create(FIXTURE_DATA(notifier) *self)
{
	return mlx5ep_notifier_create(&self->c.verbs.context, SLOTS, &self->n);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

TEST_F(notifier, is_mapped_with_all_its_words)
{
	ASSERT_EQ(0, notifier_calls_create(self));
	EXPECT_EQ(self->file, mlx5ep_notifier_fd(self->n));
	EXPECT_EQ(SLOTS, mlx5ep_notifier_page(self->n)->capacity);
	EXPECT_TRUE(mlx5ep_notifier_usable(self->n));
	EXPECT_EQ(1, fake.blocks);
	EXPECT_EQ(self->mappings + 1, mappings());
	EXPECT_EQ(0, mlx5ep_notifier_destroy(self->n));
	EXPECT_FALSE(is_open(self->file));
}

TEST_F(notifier, that_the_kernel_refuses_leaves_nothing)
{
	fake.error = EDQUOT;
	EXPECT_EQ(-EDQUOT, notifier_calls_create(self));
	EXPECT_TRUE(is_open(self->file));
}

TEST_F(notifier, that_cannot_be_mapped_leaves_nothing)
{
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	fake.handle = ends[0];
	EXPECT_EQ(-ENODEV, notifier_calls_create(self));
	EXPECT_FALSE(is_open(ends[0]));
}

TEST_F(notifier, without_memory_asks_for_nothing)
{
	unsigned int calls = fake.calls;

	fake.left = 0;
	EXPECT_EQ(-ENOMEM, notifier_calls_create(self));
	EXPECT_EQ(calls, fake.calls);
	EXPECT_TRUE(is_open(self->file));
}

TEST_F(notifier, that_is_none_can_be_destroyed)
{
	EXPECT_EQ(0, mlx5ep_notifier_destroy(NULL));
}

/* A refusal changes nothing: a child still finds zeroes where the words were. */
TEST_F(notifier, that_is_in_use_stays_as_it_was)
{
	const struct mlx5ep_mr_cache_attr attr = { .max_regions = 1 };
	struct ibv_pd pd = { .context = &self->c.verbs.context };
	const volatile struct mlx5_ep_notifier_page *page;
	struct mlx5ep_mr_cache *cache;
	int status;
	pid_t pid;

	ASSERT_EQ(0, notifier_calls_create(self));
	ASSERT_EQ(0, mlx5ep_mr_cache_create_on(self->n, &pd, &attr, &cache));
	page = mlx5ep_notifier_page(self->n);
	/* As the kernel's mapping, which no child inherits. */
	ASSERT_EQ(0, madvise((void *)page, MLX5_EP_NOTIFIER_WORDS_OFFSET +
			     SLOTS * sizeof(uint64_t), MADV_DONTFORK));
	EXPECT_EQ(-EBUSY, mlx5ep_notifier_destroy(self->n));
	EXPECT_TRUE(is_open(self->file));
	EXPECT_EQ(SLOTS, page->capacity);
	pid = fork();
	if (!pid)
		_exit(page->capacity);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(cache));
	EXPECT_EQ(0, mlx5ep_notifier_destroy(self->n));
	EXPECT_FALSE(is_open(self->file));
}

TEST_HARNESS_MAIN
