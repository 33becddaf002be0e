// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, timeout: 60 */
/*
 * UAR pages that the driver allocates while it opens a context. For every form
 * of the request, the module must count what the HCA gave out.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "ctx_open.h"
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

/*
 * A request that crosses a page boundary. Its second page is not there until
 * somebody reads it.
 */
struct two_minds {
	char *pages;
	char *first;	/* of the request: its two numbers, on the first page */
	int uffd;
};

/*
 * When the reader waits for the second page, it has read the two numbers. They
 * are changed before it gets the rest.
 */
static void *change_mind(void *arg)
{
	static char rest[4096] __attribute__((aligned(4096)));
	uint32_t wants = 2 * 8 * MANY;
	struct two_minds *minds = arg;
	struct uffd_msg msg;
	struct uffdio_copy copy = {
		.dst = (uintptr_t)minds->pages + 4096,
		.src = (uintptr_t)rest,
		.len = sizeof(rest),
	};

	if (read(minds->uffd, &msg, sizeof(msg)) != sizeof(msg))
		return "nothing was read";
	memcpy(minds->first, &wants, sizeof(wants));
	memcpy(rest, (const char *)&of_old + 8, sizeof(of_old) - 8);
	return ioctl(minds->uffd, UFFDIO_COPY, &copy) ? "no page" : NULL;
}

static int two_minds(struct two_minds *minds)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range.len = 4096,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	minds->pages = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	minds->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (minds->pages == MAP_FAILED || minds->uffd < 0)
		return -errno;
	range.range.start = (uintptr_t)minds->pages + 4096;
	minds->first = minds->pages + 4096 - 8;
	memcpy(minds->first, &of_old, 8);
	return ioctl(minds->uffd, UFFDIO_API, &api) ||
	       ioctl(minds->uffd, UFFDIO_REGISTER, &range) ? -errno : 0;
}

TEST(a_request_that_changes_is_served_as_it_was_counted)
{
	struct two_minds minds;
	pthread_t thread;
	int64_t before;
	void *wrong;
	int fd;

	ASSERT_EQ(0, sysfs_defaults());
	before = simhca_count("uar");
	ASSERT_EQ(0, two_minds(&minds));
	ASSERT_EQ(0, pthread_create(&thread, NULL, change_mind, &minds));
	ASSERT_EQ(0, sysfs_write("uar_user_limit", "8"));
	fd = ctx_open_request((void *)minds.first, sizeof(of_old));
	EXPECT_LE(0, fd);
	EXPECT_EQ(1, *(volatile char *)&minds.pages[4096 + 8]);
	ASSERT_EQ(0, pthread_join(thread, &wrong));
	EXPECT_EQ(NULL, wrong);
	EXPECT_EQ(8, simhca_count("uar") - before);
	EXPECT_EQ(8, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	close(fd);
	close(minds.uffd);
	munmap(minds.pages, 2 * 4096);
}

TEST_HARNESS_MAIN
