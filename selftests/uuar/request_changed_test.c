// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, smp: 2, timeout: 60 */
/*
 * A thread of the process changes the request of a managed context while the driver
 * opens it. Nobody knows which request the driver has read, so the module closes that
 * context and opens a stock one. With a limit for the user the driver reads a copy,
 * which the process cannot change.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "baseline.h"
#include "ctx_open.h"
#include "simhca.h"
#include "sysfs.h"

#define DELAY_US 300000

static const struct mlx5_ib_alloc_ucontext_req_v2 as_made = {
	.total_num_bfregs = 16,
	.num_low_latency_bfregs = 4,
	.max_cqe_version = 1,
	.lib_caps = MLX5_LIB_CAP_4K_UAR,
};

/* The request of the call, and whether the call has ended. */
struct race {
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	atomic_bool over;
};

/* Return: NULL, or why the request was not changed. */
static void *overwrite(void *arg)
{
	struct race *race = arg;
	volatile uint32_t *bfregs = &race->req.total_num_bfregs;

	while (*bfregs == as_made.total_num_bfregs)
		if (atomic_load(&race->over))
			return "the module made no request of its own";
	*bfregs = 2 * as_made.total_num_bfregs;
	return NULL;
}

static int hold_up(const char *opcode)
{
	return simhca_ask(
		"{\"op\":\"fault\",\"kind\":\"delay\",\"opcode\":\"%s\",\"count\":1,\"us\":%u}",
		opcode, DELAY_US);
}

/* UAR pages that the HCA gives to a context without a policy; -1: not opened. */
static int64_t pages_under_stock(void)
{
	int64_t before = simhca_count("uar"), pages;
	int fd = ctx_open_request(&as_made, sizeof(as_made));

	if (fd < 0)
		return -1;
	pages = simhca_count("uar") - before;
	close(fd);
	return pages;
}

/* The copy in the address space of this process; NULL: there is none. */
static char *find_copy(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long first = 0;
	char line[512];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "[mlx5_ep]") &&
			sscanf(line, "%lx-", &first) == 1;
	if (maps)
		fclose(maps);
	return found ? (char *)first : NULL;
}

static char *wait_for_copy(struct race *race)
{
	char *copy;

	do
		copy = find_copy();
	while (!copy && !atomic_load(&race->over));
	return copy;
}

/* Writes past the protection of the mapping, as a debugger does. */
static bool written_by_force(char *copy)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	bool written = pwrite(fd, "x", 1, (uintptr_t)copy) == 1;

	close(fd);
	return written;
}

static bool child_has_copy(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(find_copy() ? 1 : 0);
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

/* Return: NULL, or what the process could do to the copy. */
static void *attack(void *arg)
{
	char *copy = wait_for_copy(arg);
	char *to = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (!copy)
		return "there was no copy";
	if (memcmp(copy + 8, (const char *)&as_made + 8, sizeof(as_made) - 8))
		return "the copy is of something else";
	if (mremap(copy, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to) !=
	    MAP_FAILED)
		return "it could be moved";
	if (!mprotect(copy, 4096, PROT_READ | PROT_WRITE))
		return "it could be made writable";
	if (!mprotect(copy, 4096, PROT_READ | PROT_EXEC))
		return "it could be made executable";
	if (written_by_force(copy))
		return "it could be written";
	if (child_has_copy())
		return "a child inherits it";
	munmap(to, 4096);
	return find_copy() == copy ? NULL : "the call ended before";
}

static void *unmap(void *arg)
{
	char *copy = wait_for_copy(arg);

	if (!copy)
		return "there was no copy";
	return munmap(copy, 4096) ? "it cannot be unmapped" : NULL;
}

/*
 * Opens a context with a policy while @thread_fn runs, under a limit for the user. A
 * context that falls back is one without a policy.
 */
static void open_beside(struct __test_metadata *_metadata,
			void *(*thread_fn)(void *), const char *limit,
			long fallbacks)
{
	struct race race = { .req = as_made };
	struct baseline base;
	int64_t before, stock;
	long fallen;
	pthread_t thread;
	void *wrong;
	int fd;

	ASSERT_EQ(0, sysfs_defaults());
	stock = pages_under_stock();
	ASSERT_LT(1, stock);
	ASSERT_EQ(0, sysfs_policy("independent", 4, false));
	ASSERT_EQ(0, sysfs_write("uar_user_limit", limit));
	ASSERT_EQ(0, baseline_take(&base));
	before = simhca_count("uar");
	fallen = sysfs_number("uuar_fallbacks");
	ASSERT_EQ(0, hold_up("ALLOC_UAR"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_fn, &race));
	fd = ctx_open_request(&race.req, sizeof(race.req));
	atomic_store(&race.over, true);
	ASSERT_EQ(0, pthread_join(thread, &wrong));
	EXPECT_EQ(NULL, wrong) {
		TH_LOG("%s", (char *)wrong);
	}
	ASSERT_LE(0, fd);
	EXPECT_EQ(fallbacks, sysfs_number("uuar_fallbacks") - fallen);
	if (fallbacks) {
		EXPECT_EQ(0, sysfs_number("uar_in_use"));
		EXPECT_EQ(stock, simhca_count("uar") - before);
	}
	EXPECT_EQ(NULL, find_copy());
	EXPECT_EQ(0, memcmp(&race.req, &as_made, sizeof(as_made)));
	close(fd);
	EXPECT_EQ(0, simhca_fail_nothing());
	EXPECT_EQ(0, baseline_restored(&base, 5));
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST(a_context_whose_request_is_changed_is_opened_without_a_policy)
{
	open_beside(_metadata, overwrite, "0", 1);
}

TEST(a_copy_of_the_request_can_be_neither_changed_nor_moved)
{
	open_beside(_metadata, attack, "50", 0);
}

TEST(a_context_whose_copy_is_unmapped_is_opened_without_a_policy)
{
	open_beside(_metadata, unmap, "50", 1);
}

TEST_HARNESS_MAIN
