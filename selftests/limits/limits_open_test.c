// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 160 */
/*
 * A limit is reached. If an open succeeds, the context has the page that a CQ needs.
 * If it fails, the error is EDQUOT. Where the adapter has no UAR pages left, each
 * policy serves what stock drivers serve.
 */
#include "kselftest_harness.h"

#include <infiniband/verbs.h>

#include "ctx_open.h"
#include "simhca.h"
#include "sysfs.h"
#include "uar_page.h"
#include "verbs.h"

#define MANY 6
#define ALL_PAGES 8192

FIXTURE(limits)
{
	int64_t before;
};

FIXTURE_VARIANT(limits)
{
	const char *policy;
	const char *counter;
};

FIXTURE_VARIANT_ADD(limits, stock) { "stock", "uar_observed" };
FIXTURE_VARIANT_ADD(limits, independent) { "independent", "uar_in_use" };
FIXTURE_VARIANT_ADD(limits, shared_uar) { "shared-uar", "uar_in_use" };
FIXTURE_VARIANT_ADD(limits, shared_uuar) { "shared-uuar", "uar_in_use" };

FIXTURE_SETUP(limits)
{
	struct ibv_context *ctx;

	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, 2, false));
	/* The driver creates some objects at the first open and keeps them. */
	ctx = ctx_open();
	ASSERT_NE(NULL, ctx);
	ASSERT_EQ(0, ctx_arm_cq(ctx));
	ibv_close_device(ctx);
	self->before = simhca_count("uar");
}

FIXTURE_TEARDOWN(limits)
{
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, sysfs_write("uar_budget", "0"));
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(self->before, simhca_count("uar"));
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
}

TEST_F(limits, a_context_that_opens_arms_a_cq)
{
	struct ibv_context *ctxs[MANY];
	char limit[8];
	int pages, n, i;

	for (pages = 1; pages < 5; pages++) {
		snprintf(limit, sizeof(limit), "%d", pages);
		ASSERT_EQ(0, sysfs_write("uar_user_limit", limit));
		for (n = 0; n < MANY; n++) {
			ctxs[n] = ctx_open();
			if (!ctxs[n])
				break;
			EXPECT_EQ(0, ctx_arm_cq(ctxs[n]));
		}
		EXPECT_EQ(EDQUOT, errno);
		EXPECT_LT(0, n);
		EXPECT_GE(pages, n);
		EXPECT_EQ(pages, sysfs_number(variant->counter));
		EXPECT_EQ(pages, simhca_count("uar") - self->before);
		for (i = 0; i < n; i++)
			EXPECT_EQ(0, ibv_close_device(ctxs[i]));
	}
}

TEST_F(limits, the_budget_binds_pages_that_are_allocated_after_open)
{
	struct ibv_context *ctx = ctx_open();
	uint32_t handles[MANY];
	int i;

	ASSERT_NE(NULL, ctx);
	ASSERT_EQ(0, sysfs_write("uar_budget", "5"));
	for (i = 0; i < MANY; i++)
		if (uar_page_alloc(ctx, &handles[i], NULL))
			break;
	if (!strcmp(variant->policy, "stock")) {
		EXPECT_EQ(MANY, i);
	} else {
		EXPECT_EQ(-EDQUOT, uar_page_alloc(ctx, &handles[i], NULL));
		EXPECT_EQ(5, sysfs_number("uar_in_use"));
		/* After a page was freed, it can be allocated again. */
		ASSERT_LT(0, i);
		EXPECT_EQ(0, uar_page_free(ctx, handles[i - 1]));
		EXPECT_EQ(0, uar_page_alloc(ctx, &handles[i - 1], NULL));
	}
	EXPECT_EQ(0, ibv_close_device(ctx));
}

/* The number of thread domains that can be created, at most @most. */
static int count_tds(struct ibv_context *ctx, struct ibv_td **tds, int most)
{
	struct ibv_td_init_attr attr = {};
	int n;

	for (n = 0; n < most; n++) {
		tds[n] = ibv_alloc_td(ctx, &attr);
		if (!tds[n])
			break;
	}
	return n;
}

TEST_F(limits, the_budget_binds_thread_domains)
{
	struct ibv_context *ctx = ctx_open();
	struct ibv_td *tds[4 * MANY];
	int n;

	ASSERT_NE(NULL, ctx);
	ASSERT_EQ(0, sysfs_write("uar_budget", "4"));
	n = count_tds(ctx, tds, 4 * MANY);
	/* The pages of stock contexts do not count for the budget. */
	EXPECT_GE(4, sysfs_number("uar_in_use"));
	EXPECT_TRUE(n == 4 * MANY || strcmp(variant->policy, "stock"));
	while (n--)
		EXPECT_EQ(0, ibv_dealloc_td(tds[n]));
	EXPECT_EQ(0, ctx_arm_cq(ctx));
	EXPECT_EQ(0, ibv_close_device(ctx));
}

/* The number of QPs that can be created, at most @most. */
static int count_qps(struct ibv_context *ctx, int most)
{
	struct ibv_qp *qps[MANY] = {};
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	int n = 0, i;

	while (pd && cq && n < most) {
		qps[n] = verbs_qp_create(pd, cq, IBV_QPT_RC);
		if (!qps[n])
			break;
		n++;
	}
	for (i = 0; i < n; i++)
		ibv_destroy_qp(qps[i]);
	if (cq)
		ibv_destroy_cq(cq);
	if (pd)
		ibv_dealloc_pd(pd);
	return n;
}

/* How far a program gets: 0 no context, 1 a context, 2 a CQ; plus its QPs. */
static int served(void)
{
	struct ibv_context *ctx = ctx_open();
	int ret = 1;

	if (!ctx)
		return 0;
	if (!ctx_arm_cq(ctx))
		ret = 2 + count_qps(ctx, MANY);
	ibv_close_device(ctx);
	return ret;
}

/* With @left pages left, each policy serves at least what stock serves. */
static void serves_no_less(struct __test_metadata *_metadata, int left)
{
	static const char *const policies[] = {
		"independent", "shared-uar", "shared-uuar",
	};
	int stock, policy;
	size_t i;

	ASSERT_EQ(0, sysfs_policy("stock", 0, false));
	stock = served();
	for (i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
		ASSERT_EQ(0, sysfs_policy(policies[i], 16, false));
		policy = served();
		TH_LOG("%d pages left: stock %d, %s %d", left, stock,
		       policies[i], policy);
		EXPECT_LE(stock, policy);
		/* While a page is left, each context that is opened has one. */
		if (left)
			EXPECT_LE(2, policy);
	}
}

/* What stock drivers serve without a UAR page: queries, a PD and an MR. */
static int served_without_page(struct ibv_context *ctx)
{
	static char buf[4096];
	struct ibv_port_attr port;
	struct ibv_device_attr attr;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	int ret = -1;

	if (ibv_query_device(ctx, &attr) || ibv_query_port(ctx, 1, &port))
		return -1;
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE) :
		  NULL;
	if (mr)
		ret = ibv_dereg_mr(mr);
	if (pd)
		ibv_dealloc_pd(pd);
	return ret;
}

/*
 * No page is left. A context opens as without mlx5_ep: it answers queries, and has
 * no CQ, neither now nor after a page was freed. Only a strict policy refuses.
 * @page: of @holder, freed and allocated again
 */
static void without_page(struct __test_metadata *_metadata, const char *policy,
			 struct ibv_context *holder, uint32_t *page)
{
	bool stock = !strcmp(policy, "stock");
	struct ibv_context *ctx;
	long fallbacks;

	ASSERT_EQ(0, sysfs_policy(policy, 16, false));
	fallbacks = sysfs_number("uuar_fallbacks");
	ctx = ctx_open();
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(fallbacks + !stock, sysfs_number("uuar_fallbacks"));
	EXPECT_EQ(0, served_without_page(ctx));
	EXPECT_EQ(-EINVAL, ctx_arm_cq(ctx));
	ASSERT_EQ(0, uar_page_free(holder, *page));
	EXPECT_EQ(-EINVAL, ctx_arm_cq(ctx));
	EXPECT_EQ(0, ibv_close_device(ctx));
	ctx = ctx_open();
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(0, ctx_arm_cq(ctx));
	EXPECT_EQ(0, ibv_close_device(ctx));
	ASSERT_EQ(0, uar_page_alloc(holder, page, NULL));

	ASSERT_EQ(0, sysfs_policy(policy, 16, true));
	ctx = ctx_open();
	if (!stock) {
		EXPECT_EQ(NULL, ctx);
		EXPECT_EQ(EDQUOT, errno);
		EXPECT_EQ(fallbacks + 1, sysfs_number("uuar_fallbacks"));
	} else {
		EXPECT_NE(NULL, ctx);
	}
	if (ctx)
		EXPECT_EQ(0, ibv_close_device(ctx));
}

FIXTURE(adapter)
{
	int unused;
};

FIXTURE_SETUP(adapter)
{
}

FIXTURE_TEARDOWN(adapter)
{
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_F_TIMEOUT(adapter, an_empty_one_serves_no_less_than_under_stock, 150)
{
	static uint32_t handles[ALL_PAGES];
	struct ibv_context *holder, *managed;
	int left, n;

	/* Managed contexts leave a quarter of the pages to others. */
	ASSERT_EQ(0, sysfs_policy("independent", 1, false));
	managed = ctx_open();
	ASSERT_NE(NULL, managed);
	for (n = 0; n < ALL_PAGES; n++)
		if (uar_page_alloc(managed, &handles[n], NULL))
			break;
	EXPECT_EQ(-EDQUOT, uar_page_alloc(managed, &handles[n], NULL));
	EXPECT_EQ(ALL_PAGES / 4 * 3, sysfs_number("uar_in_use"));
	ASSERT_EQ(0, sysfs_defaults());
	holder = ctx_open();
	ASSERT_NE(NULL, holder);
	for (n = 0; n < ALL_PAGES; n++)
		if (uar_page_alloc(holder, &handles[n], NULL))
			break;
	ASSERT_GT(ALL_PAGES, n);
	without_page(_metadata, "stock", holder, &handles[n - 1]);
	without_page(_metadata, "independent", holder, &handles[n - 1]);
	without_page(_metadata, "shared-uar", holder, &handles[n - 1]);
	without_page(_metadata, "shared-uuar", holder, &handles[n - 1]);
	for (left = 0; left < 4; left++) {
		serves_no_less(_metadata, left);
		ASSERT_EQ(0, uar_page_free(holder, handles[--n]));
	}
	EXPECT_EQ(0, ibv_close_device(holder));
	EXPECT_EQ(0, ibv_close_device(managed));
}

TEST_HARNESS_MAIN
