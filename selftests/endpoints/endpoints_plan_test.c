// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * How many objects endpoints take: the published table, the limits of the
 * category auto, and invalid input.
 */
#include "kselftest_harness.h"

#include <mlx5ep.h>

#define FIRST MLX5EP_CATEGORY_MPI_EVERYWHERE
#define LAST MLX5EP_CATEGORY_MPI_THREADS

static int predict(unsigned int category, unsigned int n,
		   struct mlx5ep_endpoints_info *info)
{
	struct mlx5ep_endpoints_attr attr = { .category = category };

	return mlx5ep_endpoints_predict(&attr, n, info);
}

TEST(sixteen_threads_take_what_was_published)
{
	/* Zambre et al. 2018: UAR pages, uUARs, QPs, CQs at 16 threads */
	static const unsigned int table[][4] = {
		[MLX5EP_CATEGORY_MPI_EVERYWHERE] = { 128, 256, 16, 16 },
		[MLX5EP_CATEGORY_2XDYNAMIC] = { 40, 80, 32, 32 },
		[MLX5EP_CATEGORY_DYNAMIC] = { 24, 48, 16, 16 },
		[MLX5EP_CATEGORY_SHARED_DYNAMIC] = { 16, 32, 16, 16 },
		[MLX5EP_CATEGORY_STATIC] = { 8, 16, 16, 16 },
		[MLX5EP_CATEGORY_MPI_THREADS] = { 8, 16, 1, 1 },
	};
	struct mlx5ep_endpoints_info info;
	unsigned int c;

	for (c = FIRST; c <= LAST; c++) {
		ASSERT_EQ(0, predict(c, 16, &info));
		EXPECT_EQ(table[c][0], info.uar_pages + info.absent_pages);
		EXPECT_EQ(table[c][1], info.uuars + 2 * info.absent_pages);
		EXPECT_EQ(table[c][2], info.qps);
		EXPECT_EQ(table[c][3], info.cqs);
		/* The page of a context for the doorbells of its CQs. */
		EXPECT_EQ(c == MLX5EP_CATEGORY_MPI_EVERYWHERE ? 16 : 1,
			  info.contexts);
		EXPECT_EQ(info.contexts, info.own_pages);
	}
	ASSERT_EQ(0, predict(MLX5EP_CATEGORY_DYNAMIC, 16, &info));
	EXPECT_EQ(16, info.uar_pages);
	ASSERT_EQ(0, predict(MLX5EP_CATEGORY_SHARED_DYNAMIC, 16, &info));
	EXPECT_EQ(8, info.uar_pages);
}

TEST(memory_of_a_process_each_is_as_published)
{
	struct mlx5ep_endpoints_info info;

	/* The paper has 5.39 MB at 16 threads, with PDs and without MRs. */
	ASSERT_EQ(0, predict(MLX5EP_CATEGORY_MPI_EVERYWHERE, 16, &info));
	EXPECT_EQ(16 * (345 * 1024 + 144), info.bytes);
}

/* Of the 12 uUARs that are shared, the first ones get one QP more. */
TEST(static_endpoints_are_distributed_evenly)
{
	static const unsigned int table[][4] = {
		/* endpoints, of level 2 and 3, and pages */
		{ 1, 0, 0, 1 }, { 3, 2, 0, 2 }, { 4, 4, 0, 2 }, { 5, 4, 0, 3 },
		{ 9, 8, 0, 7 }, { 10, 10, 0, 8 }, { 16, 16, 0, 8 },
		{ 17, 15, 2, 8 }, { 27, 5, 22, 8 }, { 28, 4, 24, 8 },
		{ 29, 4, 25, 8 },
	};
	struct mlx5ep_endpoints_info info;
	unsigned int i;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		ASSERT_EQ(0, predict(MLX5EP_CATEGORY_STATIC, table[i][0], &info));
		EXPECT_EQ(table[i][1], info.level[2]);
		EXPECT_EQ(table[i][2], info.level[3]);
		EXPECT_EQ(table[i][3], info.static_pages);
		EXPECT_EQ(table[i][3], info.uar_pages);
		EXPECT_EQ(table[i][0] < 16 ? table[i][0] : 16, info.used_uuars);
	}
	ASSERT_EQ(0, predict(MLX5EP_CATEGORY_MPI_EVERYWHERE, 3, &info));
	EXPECT_EQ(3, info.static_pages);
	EXPECT_EQ(3 * 7, info.absent_pages);
	ASSERT_EQ(0, predict(MLX5EP_CATEGORY_MPI_THREADS, 1, &info));
	EXPECT_EQ(1, info.level[1]);
	EXPECT_EQ(1, info.static_pages);
	ASSERT_EQ(0, predict(MLX5EP_CATEGORY_SHARED_DYNAMIC, 3, &info));
	EXPECT_EQ(2, info.level[2]);
	EXPECT_EQ(2, info.uar_pages);
	EXPECT_EQ(0, info.static_pages);
}

TEST(every_endpoint_has_exactly_one_level)
{
	struct mlx5ep_endpoints_info info;
	unsigned int c, n;

	for (c = FIRST; c <= LAST; c++)
		for (n = 1; n <= 4096; n++) {
			ASSERT_EQ(0, predict(c, n, &info));
			ASSERT_EQ(n, info.level[1] + info.level[2] +
				  info.level[3] + info.level[4]);
			ASSERT_LE(info.used_uuars, info.uuars);
			ASSERT_EQ(0, info.degraded);
		}
}

static int choose(unsigned int n, unsigned int pages, unsigned int level)
{
	struct mlx5ep_endpoints_attr attr = {
		.category = MLX5EP_CATEGORY_AUTO,
		.max_uar_pages = pages,
		.level = level,
	};
	struct mlx5ep_endpoints_info info;
	int ret;

	ret = mlx5ep_endpoints_predict(&attr, n, &info);
	return ret ? ret : (int)info.category;
}

TEST(auto_takes_the_fastest_within_a_page_limit)
{
	EXPECT_EQ(MLX5EP_CATEGORY_DYNAMIC, choose(16, 0, 0));
	EXPECT_EQ(MLX5EP_CATEGORY_2XDYNAMIC, choose(16, 32, 0));
	EXPECT_EQ(MLX5EP_CATEGORY_DYNAMIC, choose(16, 31, 0));
	EXPECT_EQ(MLX5EP_CATEGORY_DYNAMIC, choose(16, 16, 0));
	EXPECT_EQ(MLX5EP_CATEGORY_SHARED_DYNAMIC, choose(16, 15, 0));
	EXPECT_EQ(MLX5EP_CATEGORY_SHARED_DYNAMIC, choose(16, 8, 0));
	EXPECT_EQ(MLX5EP_CATEGORY_MPI_THREADS, choose(16, 7, 0));
	EXPECT_EQ(MLX5EP_CATEGORY_STATIC, choose(32, 8, 0));
}

TEST(attributes_of_zero_are_auto_and_take_a_page_an_endpoint)
{
	struct mlx5ep_endpoints_attr attr = {};
	struct mlx5ep_endpoints_info info;

	EXPECT_EQ(0, mlx5ep_category_parse("auto"));
	ASSERT_EQ(0, mlx5ep_endpoints_predict(&attr, 16, &info));
	EXPECT_EQ(MLX5EP_CATEGORY_DYNAMIC, info.category);
	EXPECT_EQ(16, info.uar_pages);
	EXPECT_EQ(16, info.level[1]);
}

TEST(auto_takes_the_fewest_pages_that_give_a_level)
{
	EXPECT_EQ(MLX5EP_CATEGORY_DYNAMIC, choose(16, 0, 1));
	EXPECT_EQ(MLX5EP_CATEGORY_SHARED_DYNAMIC, choose(32, 0, 2));
	EXPECT_EQ(MLX5EP_CATEGORY_STATIC, choose(32, 0, 3));
	EXPECT_EQ(MLX5EP_CATEGORY_MPI_THREADS, choose(32, 0, 4));
	EXPECT_EQ(-ENOSPC, choose(16, 15, 1));
	/* Of those that take as many, the fastest one. */
	EXPECT_EQ(MLX5EP_CATEGORY_DYNAMIC, choose(1, 0, 1));
}

TEST(bad_attributes_are_refused_and_nothing_is_written)
{
	static const struct mlx5ep_endpoints_attr bad[] = {
		{ .category = LAST + 1 },
		{ .category = MLX5EP_CATEGORY_AUTO, .level = 5 },
		{ .category = MLX5EP_CATEGORY_DYNAMIC, .level = 1 },
		{ .category = MLX5EP_CATEGORY_DYNAMIC, .max_uar_pages = 8 },
		{ .category = MLX5EP_CATEGORY_DYNAMIC, .flags = 1 << 2 },
		{ .category = MLX5EP_CATEGORY_DYNAMIC, .flags = 1u << 31 },
		{ .reserved = { 0, 0, 0, 1 } },
	};
	struct mlx5ep_endpoints_info info = { .category = 77 };
	/* An SRQ is of one context, and here each endpoint has its own. */
	struct mlx5ep_endpoints_attr shared = {
		.category = MLX5EP_CATEGORY_MPI_EVERYWHERE,
		.srq = (void *)&shared,
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_EQ(-EINVAL, mlx5ep_endpoints_predict(&bad[i], 4, &info));
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_predict(&shared, 2, &info));
	EXPECT_EQ(-EINVAL, predict(MLX5EP_CATEGORY_DYNAMIC, 0, &info));
	EXPECT_EQ(-EINVAL, predict(MLX5EP_CATEGORY_DYNAMIC, 4097, &info));
	EXPECT_EQ(77, info.category);
	EXPECT_EQ(0, mlx5ep_endpoints_predict(&shared, 1, &info));
	EXPECT_EQ(MLX5EP_CATEGORY_MPI_EVERYWHERE, info.category);
	/* In one context they can share it. */
	shared.category = MLX5EP_CATEGORY_STATIC;
	EXPECT_EQ(0, mlx5ep_endpoints_predict(&shared, 2, &info));
}

/* The program may have been built with a shorter or a longer structure. */
TEST(an_answer_is_as_long_as_the_program_knows_it)
{
	struct mlx5ep_endpoints_attr attr = {
		.category = MLX5EP_CATEGORY_DYNAMIC,
	};
	struct {
		struct mlx5ep_endpoints_info info;
		uint64_t of_tomorrow;
	} as;

	memset(&as, 0xff, sizeof(as));
	ASSERT_EQ(0, _mlx5ep_endpoints_predict(
			     &attr, 4, &as.info,
			     offsetof(struct mlx5ep_endpoints_info, qps)));
	EXPECT_EQ(4, as.info.endpoints);
	EXPECT_EQ(UINT32_MAX, as.info.qps);
	ASSERT_EQ(0, _mlx5ep_endpoints_predict(&attr, 4, &as.info, sizeof(as)));
	EXPECT_EQ(4, as.info.qps);
	EXPECT_EQ(0, as.of_tomorrow);
}

TEST(names_and_categories_map_both_ways)
{
	unsigned int c;

	for (c = 0; c <= LAST; c++)
		EXPECT_EQ(c, mlx5ep_category_parse(mlx5ep_category_name(c)));
	EXPECT_EQ(NULL, mlx5ep_category_name(LAST + 1));
	EXPECT_EQ(-EINVAL, mlx5ep_category_parse("dynamic "));
	EXPECT_EQ(-EINVAL, mlx5ep_category_parse(""));
}

TEST_HARNESS_MAIN
