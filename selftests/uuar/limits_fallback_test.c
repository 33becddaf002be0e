// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, timeout: 60 */
/*
 * A context falls back to the stock behaviour. The counter, tracepoints, log
 * and source all say so. If the open failed, none of them mentions it.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5-abi.h>
#include <sys/klog.h>

#include "simhca.h"
#include "sysfs.h"
#include "uverbs.h"
#include "verbs.h"

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

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int err;

	if (!list)
		return NULL;
	ctx = ibv_open_device(verbs_find_device(list, verbs_device_name()));
	err = errno;
	ibv_free_device_list(list);
	errno = err;
	return ctx;
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
	ctx = open_device();
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
	ctx = open_device();
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
	EXPECT_EQ(NULL, open_device());
	SAID(self->was, 0, 0, 0);
}

TEST_F(fallback, an_open_over_quota_is_none)
{
	struct ibv_context *ctx;

	ASSERT_EQ(0, sysfs_write("uar_user_limit", "1"));
	ctx = open_device();
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(NULL, open_device());
	EXPECT_EQ(EDQUOT, errno);
	ASSERT_EQ(0, ibv_close_device(ctx));
	SAID(self->was, 1, 1, 0);
}

/*
 * The request asks for more uUARs than mlx5_ib supports, and cannot be
 * rewritten.
 */
static int open_with_too_many(void)
{
	static const struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = 0x100000,
	};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct mlx5_ib_alloc_ucontext_resp resp;
	char path[64 + IBV_SYSFS_NAME_MAX];
	struct ibv_context ctx = {};
	struct uverbs_call call;
	uint32_t vectors;
	uint64_t core;
	int ret;

	if (!list)
		return -errno;
	snprintf(path, sizeof(path), "/dev/infiniband/%s",
		 verbs_find_device(list, verbs_device_name())->dev_name);
	ibv_free_device_list(list);
	ctx.cmd_fd = open(path, O_RDWR | O_CLOEXEC);
	if (ctx.cmd_fd < 0)
		return -errno;
	uverbs_begin(&call, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	uverbs_out(&call, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors,
		   sizeof(vectors));
	uverbs_out(&call, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &core,
		   sizeof(core));
	uverbs_in(&call, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	uverbs_out(&call, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	ret = uverbs_do(&ctx, &call);
	close(ctx.cmd_fd);
	return ret;
}

TEST_F(fallback, a_request_that_the_driver_refuses_is_none)
{
	EXPECT_EQ(-ENOMEM, open_with_too_many());
	SAID(self->was, 0, 0, 0);
}

TEST_HARNESS_MAIN
