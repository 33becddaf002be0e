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

/* The mapping of the first page that the driver allocates for a mapping. */
#define AT_ALLOC ((off_t)(6 << 8) * LATE_PAGE)

/* How often the HCA was asked for a page. */
static int64_t asked(void)
{
	struct json_object *commands, *of_uar, *count;
	struct simhca_view view;
	int64_t n = -1;

	if (simhca_look(0, &view))
		return -1;
	if (json_object_object_get_ex(view.hca, "commands", &commands) &&
	    json_object_object_get_ex(commands, "ALLOC_UAR", &of_uar) &&
	    json_object_object_get_ex(of_uar, "count", &count))
		n = json_object_get_int64(count);
	simhca_view_put(&view);
	return n;
}

static void is_mapped_shared_only(struct __test_metadata *_metadata,
				  const char *policy, const char *counter)
{
	int64_t before, took;
	long counted;
	char *page;
	int fd;

	ASSERT_EQ(0, sysfs_policy(policy, 4, false));
	before = simhca_count("uar");
	fd = ctx_open_request(&of_old, sizeof(of_old));
	ASSERT_LE(0, fd);
	counted = sysfs_number(counter);
	took = asked();
	ASSERT_LT(0, took);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, LATE_PAGE, PROT_WRITE, MAP_PRIVATE, fd,
				   AT_ALLOC));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(took, asked());
	EXPECT_EQ(counted, sysfs_number(counter));
	page = mmap(NULL, LATE_PAGE, PROT_WRITE, MAP_SHARED, fd, AT_ALLOC);
	EXPECT_NE(MAP_FAILED, page);
	EXPECT_EQ(took + 1, asked());
	EXPECT_EQ(counted + 1, sysfs_number(counter));
	munmap(page, LATE_PAGE);
	close(fd);
	EXPECT_EQ(before, simhca_count("uar"));
	EXPECT_EQ(0, sysfs_number(counter));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST(a_page_that_a_mapping_allocates_is_mapped_shared)
{
	is_mapped_shared_only(_metadata, "stock", "uar_observed");
}

TEST(a_page_that_a_mapping_allocates_in_a_managed_context_is_mapped_shared)
{
	is_mapped_shared_only(_metadata, "independent", "uar_in_use");
}

TEST_HARNESS_MAIN
