// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60, config: EVENT_TRACING */
/*
 * A context falls back to the stock behaviour. The counter, tracepoints, log
 * and source all say so. If the open failed, none of them mentions it.
 */
#include "kselftest_harness.h"

#include <infiniband/verbs.h>
#include <sys/klog.h>

#include "ctx_open.h"
#include "simhca.h"
#include "sysfs.h"

#define TRACING "/sys/kernel/tracing/"
#define BAD_PARAM 3	/* statuses of firmware commands */
#define NO_RESOURCES 15
#define FOREVER 1000

struct said {
	int opens, closes, refusals;	/* traced */
	int lines;			/* in the kernel's log */
	long fallbacks;			/* in sysfs */
};

static int lines_with(char *text, const char *word)
{
	int n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

static struct said said(void)
{
	static char text[1 << 18];
	FILE *trace = fopen(TRACING "trace", "re");
	struct said said = { .fallbacks = sysfs_number("uuar_fallbacks") };
	int n = 0;

	if (trace) {
		n = fread(text, 1, sizeof(text) - 1, trace);
		fclose(trace);
	}
	text[n] = '\0';
	said.opens = lines_with(text, " mlx5_ep_context_open:");
	said.closes = lines_with(text, " mlx5_ep_context_close:");
	said.refusals = lines_with(text, " mlx5_ep_policy_refused:");
	n = klogctl(3, text, sizeof(text) - 1);	/* SYSLOG_ACTION_READ_ALL */
	text[n > 0 ? n : 0] = '\0';
	said.lines = lines_with(text, "stays stock");
	return said;
}

/* What was reported since @was: opens, closes and fallbacks. */
#define SAID(was, n_opens, n_closes, n_fallbacks)                              \
	do {                                                                   \
		struct said now = said();                                      \
		EXPECT_EQ(n_opens, now.opens - (was).opens);                   \
		EXPECT_EQ(n_closes, now.closes - (was).closes);                \
		EXPECT_EQ(n_fallbacks, now.refusals - (was).refusals);         \
		EXPECT_EQ(n_fallbacks, now.fallbacks - (was).fallbacks);       \
		EXPECT_EQ(n_fallbacks, now.lines - (was).lines);               \
	} while (0)

FIXTURE(fallback)
{
	struct said was;
};

FIXTURE_SETUP(fallback)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy("independent", 4, false));
	ASSERT_EQ(0, file_write(TRACING "events/mlx5_ep/enable", "1"));
	self->was = said();
}

FIXTURE_TEARDOWN(fallback)
{
	EXPECT_EQ(0, simhca_fail_nothing());
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(0, file_write(TRACING "events/mlx5_ep/enable", "0"));
}

/* Source of the only context; an empty string if there is none. */
static void source(char *word)
{
	FILE *table = debugfs_open("contexts");

	*word = '\0';
	/* pid policy strict source */
	if (table && fscanf(table, "%*u %*s %*s %15s", word) != 1)
		*word = '\0';
	if (table)
		fclose(table);
}

/*
 * libmlx5 asks for DevX first, and opens again without DevX if that fails. The
 * driver refuses the first open with EINVAL, which has nothing to do with UAR
 * pages.
 */
TEST_F(fallback, an_adapter_without_devx_is_none)
{
	struct ibv_context *ctx;
	char word[16];

	ASSERT_EQ(0, simhca_fail("CREATE_UCTX", 1, FOREVER, BAD_PARAM));
	ctx = ctx_open();
	ASSERT_NE(NULL, ctx);
	source(word);
	EXPECT_STREQ("device", word);
	EXPECT_EQ(1, sysfs_number("uar_in_use"));
	ASSERT_EQ(0, ibv_close_device(ctx));
	SAID(self->was, 1, 1, 0);
}

TEST_F(fallback, an_adapter_without_pages_is_one)
{
	struct ibv_context *ctx;
	char word[16];

	ASSERT_EQ(0, simhca_fail("ALLOC_UAR", 1, 3, NO_RESOURCES));
	ctx = ctx_open();
	ASSERT_NE(NULL, ctx);
	source(word);
	EXPECT_STREQ("fallback", word);
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	ASSERT_EQ(0, ibv_close_device(ctx));
	SAID(self->was, 1, 1, 1);
}

TEST_F(fallback, an_open_that_fails_is_none)
{
	ASSERT_EQ(0, simhca_fail("ALLOC_TRANSPORT_DOMAIN", 1, FOREVER,
				 NO_RESOURCES));
	EXPECT_EQ(NULL, ctx_open());
	SAID(self->was, 0, 0, 0);
}

TEST_F(fallback, an_open_over_quota_is_none)
{
	struct ibv_context *ctx;

	ASSERT_EQ(0, sysfs_write("uar_user_limit", "1"));
	ctx = ctx_open();
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(NULL, ctx_open());
	EXPECT_EQ(EDQUOT, errno);
	ASSERT_EQ(0, ibv_close_device(ctx));
	SAID(self->was, 1, 1, 0);
}

TEST_F(fallback, a_request_that_the_driver_refuses_is_none)
{
	/*
	 * The request asks for more uUARs than mlx5_ib supports, and cannot be
	 * rewritten.
	 */
	static const struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = 0x100000,
	};

	EXPECT_EQ(-ENOMEM, ctx_open_request(&req, sizeof(req)));
	SAID(self->was, 0, 0, 0);
}

TEST_HARNESS_MAIN
