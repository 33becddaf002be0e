// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * UAR pages where pages of the system are larger than 4 KiB: the device gives all of
 * one such page at once. simhca counts those that are allocated. Each counts for the
 * limits, and a policy places QPs on each. Pages of 4 KiB have one.
 */
#include "kselftest_harness.h"

#include "doorbells.h"
#include "page.h"
#include "sysfs.h"
#include "verbs.h"

#define QPS 10

FIXTURE(system_page)
{
	struct verbs_setup setup;
	struct verbs_endpoint endpoints[QPS];
	size_t made;
	struct doorbells_report doorbells;
	unsigned int together;
	char limit[32];
	long before;
};

/* UAR pages that are allocated, as simhca counts them. */
static long alive(void)
{
	struct simhca_view view;
	long n = -1;

	if (!simhca_look(0, &view)) {
		n = simhca_alive(&view, "uar");
		simhca_view_put(&view);
	}
	return n;
}

FIXTURE_SETUP(system_page)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_defaults());
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, sysfs_read("uar_user_limit", self->limit,
				sizeof(self->limit)));
	self->together = page_uars(1);
	self->before = alive();
	ASSERT_LT(0, self->before);
}

FIXTURE_TEARDOWN(system_page)
{
	while (self->made--)
		verbs_endpoint_destroy(&self->endpoints[self->made]);
	verbs_close(&self->setup);
	doorbells_put(&self->doorbells);
	EXPECT_EQ(0, sysfs_write("uar_user_limit", self->limit));
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(self->before, alive());
}

/* Open under a policy, ring @n QPs, and read the doorbells. */
static int system_page_fill(struct _test_data_system_page *self,
			    const char *policy, unsigned int pages, size_t n)
{
	int ret = sysfs_policy(policy, pages, false);

	if (!ret)
		ret = verbs_open(&self->setup, NULL, QPS);
	while (!ret && self->made < n) {
		ret = verbs_endpoint_create(&self->setup,
					    &self->endpoints[self->made],
					    IBV_QPT_RC);
		self->made += !ret;
	}
	if (!ret && self->made)
		ret = verbs_traffic_all(self->endpoints, self->made, 1);
	return ret ?: doorbells_look(0, &self->doorbells);
}

TEST_F(system_page, an_open_context_holds_all_pages_of_one_allocation)
{
	ASSERT_EQ(0, system_page_fill(self, "independent", 0, 0));
	EXPECT_EQ(self->together, sysfs_number("uar_in_use"));
	EXPECT_EQ(self->before + self->together, alive());
}

TEST_F(system_page, independent_gives_each_qp_a_uar_page)
{
	/* QP 10 is one more than a page of 16 KiB has, twice. */
	ASSERT_EQ(0, system_page_fill(self, "independent", QPS + 1, QPS));
	EXPECT_EQ(QPS, self->doorbells.n);
	EXPECT_EQ(QPS, self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	EXPECT_EQ(0, self->doorbells.torn);
	EXPECT_EQ(0, self->doorbells.astray);
	EXPECT_LE(sysfs_number("uar_in_use"), page_uars(QPS + 1));
	EXPECT_EQ(0, sysfs_number("uar_in_use") % self->together);
	EXPECT_EQ(self->before + sysfs_number("uar_in_use"), alive());
}

TEST_F(system_page, shared_uar_fills_both_uuars_of_a_page)
{
	ASSERT_EQ(0, system_page_fill(self, "shared-uar", QPS, QPS));
	EXPECT_EQ(QPS, self->doorbells.uuars);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	EXPECT_EQ(0, self->doorbells.astray);
	EXPECT_EQ(self->before + sysfs_number("uar_in_use"), alive());
}

TEST_F(system_page, stock_contexts_are_counted_as_simhca_counts_them)
{
	ASSERT_EQ(0, system_page_fill(self, "stock", 0, QPS));
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	EXPECT_EQ(self->before + sysfs_number("uar_observed"), alive());
}

TEST_F(system_page, a_limit_below_one_allocation_refuses_the_open)
{
	char limit[16];

	snprintf(limit, sizeof(limit), "%u", self->together - 1);
	if (self->together == 1)
		SKIP(return, "0 is no limit");
	ASSERT_EQ(0, sysfs_write("uar_user_limit", limit));
	EXPECT_NE(0, system_page_fill(self, "independent", 0, 0));
	EXPECT_EQ(self->before, alive());
}

TEST_HARNESS_MAIN
