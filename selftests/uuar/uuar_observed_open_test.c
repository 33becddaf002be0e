// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60 */
/*
 * UAR pages that the driver allocates while it opens a context. For every form
 * of the request, the module must count what the HCA gave out.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <pthread.h>

#include "ctx_open.h"
#include "late_page.h"
#include "simhca.h"
#include "sysfs.h"

#define MANY 8

/* Pages of the user in the table of users; -1 if the user has no row. */
static long pages_of_user(void)
{
	FILE *table = debugfs_open("users");
	unsigned int uid;
	long pages = -1;

	/* uid contexts pages */
	if (table && fscanf(table, "%u %*u %ld", &uid, &pages) != 2)
		pages = -1;
	if (table)
		fclose(table);
	return pages;
}

/*
 * Requests of a libmlx5 that takes all its pages at open, without pages on
 * demand. The first version of the request had two numbers, later ones more.
 */
static const struct mlx5_ib_alloc_ucontext_req_v2 of_old = {
	.total_num_bfregs = 2 * MANY,
	.num_low_latency_bfregs = 4,
	.max_cqe_version = 1,
	.lib_caps = MLX5_LIB_CAP_4K_UAR,
};

static void takes_at_open(struct __test_metadata *_metadata, uint16_t len)
{
	int64_t before;
	int fd;

	ASSERT_EQ(0, sysfs_defaults());
	before = simhca_count("uar");
	fd = ctx_open_request(&of_old, len);
	ASSERT_LE(0, fd);
	EXPECT_EQ(MANY, simhca_count("uar") - before);
	EXPECT_EQ(MANY, sysfs_number("uar_observed"));
	EXPECT_EQ(MANY, pages_of_user());
	close(fd);
	EXPECT_EQ(before, simhca_count("uar"));
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	ASSERT_EQ(0, sysfs_write("uar_user_limit", "7"));
	EXPECT_EQ(-EDQUOT, ctx_open_request(&of_old, len));
	EXPECT_EQ(before, simhca_count("uar"));
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
}

TEST(pages_that_a_library_takes_at_open_are_counted)
{
	takes_at_open(_metadata, sizeof(of_old));
}

TEST(pages_that_the_first_library_takes_at_open_are_counted)
{
	takes_at_open(_metadata, sizeof(struct mlx5_ib_alloc_ucontext_req));
}

/* Of a request that crosses a page boundary: its two numbers are on the first page. */
static char *first_of(struct late_page *late)
{
	return late->pages + LATE_PAGE - 8;
}

/*
 * When the reader waits for the second page, it has read the two numbers. They
 * are changed before it gets the rest.
 */
static void *change_mind(void *arg)
{
	static char rest[LATE_PAGE] __attribute__((aligned(LATE_PAGE)));
	uint32_t wants = 2 * 8 * MANY;
	struct late_page *late = arg;

	if (!late_page_needed(late))
		return "nothing was read";
	memcpy(first_of(late), &wants, sizeof(wants));
	memcpy(rest, (const char *)&of_old + 8, sizeof(of_old) - 8);
	return late_page_give(late, rest) ? "no page" : NULL;
}

TEST(a_request_that_changes_is_served_as_it_was_counted)
{
	struct late_page late;
	pthread_t thread;
	int64_t before;
	void *wrong;
	int fd;

	ASSERT_EQ(0, sysfs_defaults());
	before = simhca_count("uar");
	ASSERT_EQ(0, late_page_make(&late));
	memcpy(first_of(&late), &of_old, 8);
	ASSERT_EQ(0, pthread_create(&thread, NULL, change_mind, &late));
	ASSERT_EQ(0, sysfs_write("uar_user_limit", "8"));
	fd = ctx_open_request((void *)first_of(&late), sizeof(of_old));
	EXPECT_LE(0, fd);
	EXPECT_EQ(1, *(volatile char *)&late.pages[LATE_PAGE + 8]);
	ASSERT_EQ(0, pthread_join(thread, &wrong));
	EXPECT_EQ(NULL, wrong);
	EXPECT_EQ(8, simhca_count("uar") - before);
	EXPECT_EQ(8, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	close(fd);
	late_page_end(&late);
}

TEST_HARNESS_MAIN
