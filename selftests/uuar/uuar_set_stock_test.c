// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60 */
/*
 * A managed context that asks for stock before its first QP has its QPs on as
 * many uUARs as one that was opened under stock, as the HCA counts them.
 */
#include "kselftest_harness.h"

#include <mlx5ep.h>

#include "doorbells.h"
#include "sysfs.h"
#include "verbs.h"

/* uUARs with BlueFlame on the 8 pages that libmlx5 asks for. */
#define QPS 15

static void set_stock_ring(struct __test_metadata *_metadata, bool later,
			   struct doorbells_report *doorbells)
{
	static const struct mlx5_ep_context_policy stock = {
		.policy = MLX5_EP_UUAR_POLICY_STOCK,
	};
	struct verbs_endpoint endpoints[QPS];
	struct verbs_setup setup;
	int i;

	ASSERT_EQ(0, sysfs_policy(later ? "independent" : "stock", 8, false));
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, verbs_open(&setup, NULL, QPS));
	EXPECT_EQ(0, mlx5ep_context_set_policy(setup.ctx, &stock));
	for (i = 0; i < QPS; i++)
		ASSERT_EQ(0, verbs_endpoint_create(&setup, &endpoints[i],
						   IBV_QPT_RC));
	EXPECT_EQ(0, verbs_traffic(endpoints, QPS, VERBS_WRITE_INLINE, 2));
	EXPECT_EQ(0, doorbells_look(0, doorbells));
	while (i--)
		verbs_endpoint_destroy(&endpoints[i]);
	verbs_close(&setup);
	EXPECT_EQ(0, sysfs_defaults());
}

TEST(stock_that_is_set_later_has_as_many_uuars)
{
	struct doorbells_report stock, later;

	ASSERT_TRUE(sysfs_attached());
	set_stock_ring(_metadata, false, &stock);
	set_stock_ring(_metadata, true, &later);
	EXPECT_EQ(QPS, stock.uuars);
	EXPECT_EQ(stock.uuars, later.uuars);
	EXPECT_EQ(stock.pages, later.pages);
	EXPECT_EQ(stock.shared, later.shared);
	EXPECT_EQ(stock.most, later.most);
	EXPECT_EQ(0, later.astray);
	EXPECT_EQ(0, later.wrong_uar);
	EXPECT_EQ(0, later.torn);
	doorbells_put(&stock);
	doorbells_put(&later);
}

TEST_HARNESS_MAIN
