// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 200 */
/*
 * Registrations of one range with several access flags and I/O virtual addresses,
 * and caches of parent domains. What a registration allows is what the HCA does
 * with it.
 */
#include "kselftest_harness.h"

#include <sys/mman.h>

#include <mlx5ep.h>

#include "page.h"
#include "simhca.h"
#include "verbs.h"
#include "watched.h"

#define PAGE	page_bytes()
#define LEN	(16 * PAGE)
#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_REMOTE_WRITE)
#define FAR	(1ull << 40)

FIXTURE(kinds)
{
	struct watched_setup setup;
	struct mlx5ep_mr_cache *cache;
	char *mem;
};

FIXTURE_SETUP(kinds)
{
	struct mlx5ep_mr_cache_attr attr = {};

	ASSERT_EQ(0, watched_open(&self->setup, 16));
	ASSERT_EQ(0, mlx5ep_mr_cache_create(self->setup.verbs.pd, &attr,
					    &self->cache));
	self->mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
	watched_fill(self->mem, LEN, 7);
}

FIXTURE_TEARDOWN(kinds)
{
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->cache));
	watched_close(&self->setup);
	munmap(self->mem, LEN);
}

static struct ibv_mr *cache_kinds_get(struct __test_metadata *_metadata,
				      FIXTURE_DATA(kinds) * self,
				      unsigned int access, uint64_t offset)
{
	struct mlx5ep_mr_cache_get_attr attr = {
		.flags = MLX5EP_MR_CACHE_GET_ACCESS | MLX5EP_MR_CACHE_GET_IOVA,
		.access = access,
		.iova = (uintptr_t)self->mem + 2 * PAGE + 100 + offset,
	};
	struct mlx5ep_mr_cache_entry *entry;
	struct ibv_mr *mr;

	if (mlx5ep_mr_cache_get_as(self->cache, self->mem + 2 * PAGE + 100,
				   PAGE, &attr, &entry))
		return NULL;
	mr = entry->mr;
	mlx5ep_mr_cache_put(self->cache, entry);
	return mr;
}

static struct mlx5ep_mr_cache_stats
cache_kinds_query(struct mlx5ep_mr_cache *cache)
{
	struct mlx5ep_mr_cache_stats stats;

	mlx5ep_mr_cache_query(cache, &stats);
	return stats;
}

/* Does the HCA read what the process has at the middle of the range? */
static int hca_reads(FIXTURE_DATA(kinds) *self, const struct ibv_mr *mr,
		     uint64_t offset)
{
	char sample[WATCHED_SAMPLE];
	char *at = self->mem + 2 * PAGE;
	int ret = watched_hca_read(&self->setup, mr, at + offset, sample);

	return ret ? ret : memcmp(at, sample, sizeof(sample)) ? -EBADMSG : 0;
}

TEST_F(kinds, that_differ_have_registrations_of_their_own)
{
	struct ibv_mr *all, *reads, *far;

	all = cache_kinds_get(_metadata, self, ALL, 0);
	reads = cache_kinds_get(_metadata, self, IBV_ACCESS_REMOTE_READ, 0);
	far = cache_kinds_get(_metadata, self, ALL, FAR);
	ASSERT_NE(NULL, all);
	ASSERT_NE(NULL, reads);
	ASSERT_NE(NULL, far);
	EXPECT_NE(all, reads);
	EXPECT_NE(all, far);
	EXPECT_EQ(3, cache_kinds_query(self->cache).misses);
	EXPECT_EQ(3, cache_kinds_query(self->cache).regions);
	/* Each is found again, whichever was asked for last. */
	EXPECT_EQ(reads,
		  cache_kinds_get(_metadata, self, IBV_ACCESS_REMOTE_READ, 0));
	EXPECT_EQ(far, cache_kinds_get(_metadata, self, ALL, FAR));
	EXPECT_EQ(all, cache_kinds_get(_metadata, self, ALL, 0));
	EXPECT_EQ(far, cache_kinds_get(_metadata, self, ALL, FAR));
	EXPECT_EQ(3, cache_kinds_query(self->cache).misses);
	EXPECT_EQ(4, cache_kinds_query(self->cache).hits);
	EXPECT_EQ(0, cache_kinds_query(self->cache).merges);
}

TEST_F(kinds, with_an_iova_are_where_the_hca_was_told)
{
	struct ibv_mr *far = cache_kinds_get(_metadata, self, ALL, FAR);
	struct mlx5ep_mr own;

	ASSERT_NE(NULL, far);
	EXPECT_EQ(0, hca_reads(self, far, FAR));
	ASSERT_EQ(0, mlx5ep_reg_mr_iova(self->setup.notifier,
					self->setup.verbs.pd,
					self->mem + 2 * PAGE, PAGE,
					(uintptr_t)self->mem + 2 * PAGE + FAR,
					ALL, 1, &own));
	EXPECT_EQ(0, hca_reads(self, own.mr, FAR));
	ASSERT_EQ(0, madvise(self->mem + 2 * PAGE, PAGE, MADV_DONTNEED));
	EXPECT_FALSE(mlx5ep_mr_valid(&own));
	EXPECT_EQ(0, mlx5ep_dereg_mr(&own));
	EXPECT_EQ(-EINVAL, mlx5ep_reg_mr_iova(self->setup.notifier,
					      self->setup.verbs.pd, self->mem,
					      PAGE, FAR + 100, ALL, 1, &own));
}

TEST_F(kinds, all_go_with_their_memory)
{
	struct ibv_mr *all = cache_kinds_get(_metadata, self, ALL, 0);
	int64_t before = simhca_registered();

	ASSERT_NE(NULL, all);
	ASSERT_NE(NULL, cache_kinds_get(_metadata, self, 0, 0));
	ASSERT_NE(NULL, cache_kinds_get(_metadata, self, ALL, FAR));
	EXPECT_LT(before, simhca_registered());
	ASSERT_EQ(0, madvise(self->mem, LEN, MADV_DONTNEED));
	EXPECT_EQ(3, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(0, cache_kinds_query(self->cache).regions);
	EXPECT_GT(before, simhca_registered());
}

TEST_F(kinds, that_no_get_can_have_are_refused)
{
	const struct mlx5ep_mr_cache_get_attr bad[] = {
		{ .flags = 1 << 2 }, { .flags = 1u << 31 }, { .access = 1 },
		{ .iova = PAGE }, { .reserved = { 1 } },
		{ .reserved = { 0, 0, 0, 1 } },
		{ .flags = MLX5EP_MR_CACHE_GET_IOVA, .iova = FAR + 1 },
		/* remote write without local write */
		{ .flags = MLX5EP_MR_CACHE_GET_ACCESS,
		  .access = IBV_ACCESS_REMOTE_WRITE },
	};
	struct mlx5ep_mr_cache_entry *entry = (void *)self;
	struct mlx5ep_mr_cache_get_attr none = {};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_EQ(-EINVAL, mlx5ep_mr_cache_get_as(
			  self->cache, self->mem, PAGE, &bad[i], &entry));
	EXPECT_EQ((void *)self, entry);
	EXPECT_EQ(0, cache_kinds_query(self->cache).regions);
	/* Without a flag it is a plain get. */
	ASSERT_EQ(0, mlx5ep_mr_cache_get_as(self->cache, self->mem, PAGE,
					    &none, &entry));
	mlx5ep_mr_cache_put(self->cache, entry);
	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, PAGE,
					 &entry));
	mlx5ep_mr_cache_put(self->cache, entry);
	EXPECT_EQ(1, cache_kinds_query(self->cache).hits);
}

TEST_F(kinds, of_a_parent_domain_are_in_a_cache_of_its_own)
{
	struct mlx5ep_mr_cache_attr attr = {};
	struct mlx5ep_mr_cache_entry *entry;
	struct mlx5ep_mr_cache *cache;
	struct mlx5ep_domain *domain;

	ASSERT_EQ(0, mlx5ep_domain_alloc(self->setup.verbs.pd, NULL,
					 &domain));
	ASSERT_EQ(0, mlx5ep_mr_cache_create(mlx5ep_domain_pd(domain), &attr,
					    &cache));
	ASSERT_EQ(0, mlx5ep_mr_cache_get(cache, self->mem + 2 * PAGE, PAGE,
					 &entry));
	EXPECT_EQ(0, hca_reads(self, entry->mr, 0));
	EXPECT_EQ(0, cache_kinds_query(self->cache).regions);
	mlx5ep_mr_cache_put(cache, entry);
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(cache));
	EXPECT_EQ(0, mlx5ep_domain_free(domain));
}

TEST_HARNESS_MAIN
