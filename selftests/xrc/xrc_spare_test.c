// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * Memory for entries of the tables of XRC, which is allocated before the lock is taken,
 * with xrc_spare.c of the module compiled into this program: what is noted is allocated,
 * and where there is no memory, the caller is told, who would else try for ever.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint32_t u32;

#define BIT(n)			(1u << (n))
#define GFP_KERNEL_ACCOUNT	0

/* Each kind has a size of its own. */
struct mlx5_ep_xrc_domain { char bytes[8]; };
struct mlx5_ep_xrc_handle { char bytes[16]; };
struct mlx5_ep_xrc_file { char bytes[24]; };
struct mlx5_ep_xrc_holder { char bytes[32]; };
struct mlx5_ep_xrc_qp { char bytes[40]; };

static struct {
	unsigned int asked, fails;	/* allocations; the one that fails */
	int blocks;
	size_t size;			/* of the last one */
} fake;

static void *kzalloc(size_t size, int flags)
{
	(void)flags;
	fake.size = size;
	if (++fake.asked == fake.fails)
		return NULL;
	fake.blocks++;
	return calloc(1, size);
}

static void kfree(void *mem)
{
	fake.blocks -= mem != NULL;
	free(mem);
}

#include "xrc_spare.inc"

FIXTURE(spare)
{
	struct mlx5_ep_xrc_spare spare;
};

FIXTURE_SETUP(spare)
{
	memset(&fake, 0, sizeof(fake));
}

FIXTURE_TEARDOWN(spare)
{
	mlx5_ep_xrc_spare_free(&self->spare);
	EXPECT_EQ(0, fake.blocks);
}

TEST_F(spare, has_what_was_asked_for)
{
	unsigned int kind;
	void *mem;

	EXPECT_EQ(0, mlx5_ep_xrc_spare_fill(&self->spare));
	EXPECT_EQ(0, fake.asked);
	for (kind = 0; kind < XRC_SPARE_KINDS; kind++) {
		EXPECT_EQ(NULL, mlx5_ep_xrc_spare_take(&self->spare, kind));
		EXPECT_EQ(0, mlx5_ep_xrc_spare_fill(&self->spare));
		mem = mlx5_ep_xrc_spare_take(&self->spare, kind);
		EXPECT_NE(NULL, mem);
		kfree(mem);
		EXPECT_EQ(NULL, mlx5_ep_xrc_spare_take(&self->spare, kind));
		EXPECT_EQ(0, mlx5_ep_xrc_spare_fill(&self->spare));
		EXPECT_EQ(8 * (kind + 1), fake.size);
		EXPECT_EQ(2 * (kind + 1), fake.asked);
	}
}

TEST_F(spare, tells_that_there_is_no_memory)
{
	unsigned int kind;

	for (kind = 0; kind < XRC_SPARE_KINDS; kind++) {
		EXPECT_EQ(NULL, mlx5_ep_xrc_spare_take(&self->spare, kind));
		fake.fails = fake.asked + 1;
		EXPECT_EQ(-ENOMEM, mlx5_ep_xrc_spare_fill(&self->spare));
		EXPECT_EQ(kind, fake.blocks);
		/* Once more, only that one is asked for. */
		EXPECT_EQ(0, mlx5_ep_xrc_spare_fill(&self->spare));
		EXPECT_EQ(2 * (kind + 1), fake.asked);
		EXPECT_EQ(kind + 1, fake.blocks);
	}
}

TEST_HARNESS_MAIN
