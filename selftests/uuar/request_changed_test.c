// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, smp: 2, timeout: 60 */
/*
 * A thread of the process writes into the request of a managed context while the
 * driver opens it. Nobody knows which request the driver has read, so the module
 * closes that context and opens a stock one.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

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

TEST(a_context_whose_request_is_changed_is_opened_without_a_policy)
{
	struct race race = { .req = as_made };
	struct baseline base;
	int64_t before, stock;
	long fallbacks;
	pthread_t thread;
	void *wrong;
	int fd;

	ASSERT_EQ(0, sysfs_defaults());
	stock = pages_under_stock();
	ASSERT_LT(1, stock);
	ASSERT_EQ(0, sysfs_policy("independent", 4, false));
	ASSERT_EQ(0, baseline_take(&base));
	before = simhca_count("uar");
	fallbacks = sysfs_number("uuar_fallbacks");
	ASSERT_EQ(0, hold_up("ALLOC_UAR"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, overwrite, &race));
	fd = ctx_open_request(&race.req, sizeof(race.req));
	atomic_store(&race.over, true);
	ASSERT_EQ(0, pthread_join(thread, &wrong));
	EXPECT_EQ(NULL, wrong);
	ASSERT_LE(0, fd);
	EXPECT_EQ(1, sysfs_number("uuar_fallbacks") - fallbacks);
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(stock, simhca_count("uar") - before);
	EXPECT_EQ(0, memcmp(&race.req, &as_made, sizeof(as_made)));
	close(fd);
	EXPECT_EQ(0, simhca_fail_nothing());
	EXPECT_EQ(0, baseline_restored(&base, 5));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_HARNESS_MAIN
