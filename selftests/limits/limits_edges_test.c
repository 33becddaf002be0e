// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120, config: USER_NS */
/*
 * The edges of each limit on UAR pages: with one page less than the limit
 * another is served, at the limit none, and a limit below what is held refuses
 * until enough is given back.
 */
#include "kselftest_harness.h"

#include <sys/stat.h>

#include "ctx_open.h"
#include "holder.h"
#include "simhca.h"
#include "sysfs.h"
#include "uar_page.h"

#define LIMIT 6

FIXTURE(edge)
{
	struct ibv_context *ctx;
	int64_t before;
	uint32_t handles[2 * LIMIT];
	int n;			/* handles that are allocated */
};

FIXTURE_VARIANT(edge)
{
	const char *policy;
	const char *limit;	/* attribute */
	const char *cgroup;	/* of which the limit is; of the process, or above */
	bool refuses_opens;
};

FIXTURE_VARIANT_ADD(edge, stock_user)
{ "stock", "uar_user_limit", NULL, true };
FIXTURE_VARIANT_ADD(edge, independent_user)
{ "independent", "uar_user_limit", NULL, true };
FIXTURE_VARIANT_ADD(edge, stock_cgroup)
{ "stock", "uar_cgroup_limits", "/e/f", true };
FIXTURE_VARIANT_ADD(edge, independent_cgroup_above)
{ "independent", "uar_cgroup_limits", "/e", true };
FIXTURE_VARIANT_ADD(edge, independent_budget)
{ "independent", "uar_budget", NULL, false };

static int edges_set_limit(const struct _fixture_variant_edge *variant,
			   int limit)
{
	char text[32];

	snprintf(text, sizeof(text), "%s %d", variant->cgroup ?: "", limit);
	return sysfs_write(variant->limit, text + !variant->cgroup);
}

FIXTURE_SETUP(edge)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, holder_mount_cgroups());
	ASSERT_EQ(0, mkdir(HOLDER_CGROUPS "/e", 0755));
	ASSERT_EQ(0, mkdir(HOLDER_CGROUPS "/e/f", 0755));
	ASSERT_EQ(0, holder_enter_cgroup("/e/f"));
	ASSERT_EQ(0, sysfs_policy(variant->policy, 2, false));
	self->ctx = ctx_open();
	ASSERT_NE(NULL, self->ctx);
	ibv_close_device(self->ctx);
	self->before = simhca_count("uar");
	self->ctx = ctx_open();
	ASSERT_NE(NULL, self->ctx);
	ASSERT_EQ(0, ctx_arm_cq(self->ctx));
	ASSERT_EQ(self->before + 1, simhca_count("uar"));
}

FIXTURE_TEARDOWN(edge)
{
	if (!variant->cgroup)
		EXPECT_EQ(0, sysfs_write(variant->limit, "0"));
	EXPECT_EQ(0, ibv_close_device(self->ctx));
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(self->before, simhca_count("uar"));
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, holder_enter_cgroup(""));
	EXPECT_EQ(0, rmdir(HOLDER_CGROUPS "/e/f"));
	EXPECT_EQ(0, rmdir(HOLDER_CGROUPS "/e"));
}

#define TAKE() uar_page_alloc(self->ctx, &self->handles[self->n], NULL)
#define HELD() (simhca_count("uar") - self->before)

/* Take pages until the process holds @held, which the HCA must confirm. */
static void take_until(struct __test_metadata *_metadata,
		       struct _test_data_edge *self, int held)
{
	while (self->n + 1 < held) {
		ASSERT_EQ(0, TAKE());
		self->n++;
	}
	EXPECT_EQ(held, HELD());
}

static void give(struct __test_metadata *_metadata,
		 struct _test_data_edge *self)
{
	ASSERT_EQ(0, uar_page_free(self->ctx, self->handles[--self->n]));
}

TEST_F(edge, is_exact_for_pages)
{
	ASSERT_EQ(0, edges_set_limit(variant, LIMIT));
	take_until(_metadata, self, LIMIT - 1);
	take_until(_metadata, self, LIMIT);
	EXPECT_EQ(-EDQUOT, TAKE());
	EXPECT_EQ(LIMIT, HELD());
	give(_metadata, self);
	take_until(_metadata, self, LIMIT);
	EXPECT_EQ(-EDQUOT, TAKE());
	ASSERT_EQ(0, edges_set_limit(variant, LIMIT + 1));
	take_until(_metadata, self, LIMIT + 1);
	EXPECT_EQ(-EDQUOT, TAKE());
	EXPECT_EQ(LIMIT + 1, HELD());
}

TEST_F(edge, is_exact_where_it_is_lowered)
{
	take_until(_metadata, self, LIMIT);
	ASSERT_EQ(0, edges_set_limit(variant, LIMIT - 2));
	/* Nothing is taken away. */
	EXPECT_EQ(LIMIT, HELD());
	EXPECT_EQ(-EDQUOT, TAKE());
	give(_metadata, self);
	EXPECT_EQ(-EDQUOT, TAKE());
	give(_metadata, self);
	EXPECT_EQ(-EDQUOT, TAKE());
	give(_metadata, self);
	take_until(_metadata, self, LIMIT - 2);
	EXPECT_EQ(-EDQUOT, TAKE());
	EXPECT_EQ(LIMIT - 2, HELD());
	/* The context works as before. */
	EXPECT_EQ(0, ctx_arm_cq(self->ctx));
}

TEST_F(edge, is_exact_for_opens)
{
	struct ibv_context *ctx;

	ASSERT_EQ(0, edges_set_limit(variant, LIMIT));
	take_until(_metadata, self, LIMIT);
	ctx = ctx_open();
	if (variant->refuses_opens) {
		EXPECT_EQ(NULL, ctx);
		EXPECT_EQ(EDQUOT, errno);
	} else {
		/* A managed context opens with one page whatever is left. */
		ASSERT_NE(NULL, ctx);
		EXPECT_EQ(0, ctx_arm_cq(ctx));
		EXPECT_EQ(LIMIT + 1, HELD());
		EXPECT_EQ(0, ibv_close_device(ctx));
	}
	EXPECT_EQ(LIMIT, HELD());
	give(_metadata, self);
	ctx = ctx_open();
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(0, ctx_arm_cq(ctx));
	EXPECT_EQ(LIMIT, HELD());
	EXPECT_EQ(-EDQUOT, TAKE());
	EXPECT_EQ(0, ibv_close_device(ctx));
	take_until(_metadata, self, LIMIT);
}

TEST_HARNESS_MAIN
