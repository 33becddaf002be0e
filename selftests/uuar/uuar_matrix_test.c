// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 400 */
/*
 * Every policy with every QP type. All data arrives unchanged, each QP rings
 * the uUAR that the HCA knows for it, and the QPs are placed as the policy
 * says.
 */
#include "kselftest_harness.h"

#include "doorbells.h"
#include "page.h"
#include "sysfs.h"
#include "verbs.h"

#define QPS 16

FIXTURE(matrix)
{
	struct verbs_setup setup;
	struct verbs_endpoint endpoints[QPS];
};

FIXTURE_VARIANT(matrix)
{
	const char *policy;
	enum ibv_qp_type type;
	unsigned int uuar_pages;
	unsigned int pages;	/* that the QPs land on; 0: libmlx5 decides */
	unsigned int uuars;
};

#define POLICY(name, word, asked, on_pages, on_uuars)			\
	FIXTURE_VARIANT_ADD(matrix, name##_rc) {			\
		word, IBV_QPT_RC, asked, on_pages, on_uuars };		\
	FIXTURE_VARIANT_ADD(matrix, name##_uc) {			\
		word, IBV_QPT_UC, asked, on_pages, on_uuars };		\
	FIXTURE_VARIANT_ADD(matrix, name##_ud) {			\
		word, IBV_QPT_UD, asked, on_pages, on_uuars };		\
	FIXTURE_VARIANT_ADD(matrix, name##_xrc) {			\
		word, IBV_QPT_XRC_SEND, asked, on_pages, on_uuars }

POLICY(stock, "stock", 0, 0, 0);
POLICY(independent, "independent", 16, 16, 16);
POLICY(shared_uar, "shared-uar", 16, 8, 16);
/*
 * Of 4 pages, the upper 2 are libmlx5's low-latency uUARs. uUAR 0 is used last.
 */
POLICY(shared_uuar, "shared-uuar", 4, 2, 3);

FIXTURE_SETUP(matrix)
{
	size_t i;

	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, variant->uuar_pages,
				  false));
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, QPS));
	for (i = 0; i < QPS; i++)
		ASSERT_EQ(0, verbs_endpoint_create(&self->setup,
						   &self->endpoints[i],
						   variant->type));
}

FIXTURE_TEARDOWN(matrix)
{
	size_t i;

	for (i = 0; i < QPS; i++)
		verbs_endpoint_destroy(&self->endpoints[i]);
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_F_TIMEOUT(matrix, traffic_arrives_by_the_uuar_of_the_policy, 60)
{
	/* Who asks for 4 gets the 16 of 64 KiB, 10 of them for low latency. */
	bool more = variant->uuar_pages == 4 && page_uars(4) == 16;
	struct doorbells_report doorbells;
	enum verbs_op op;

	for (op = VERBS_WRITE; op <= VERBS_ATOMIC; op++) {
		if (!verbs_op_fits(variant->type, op))
			continue;
		EXPECT_EQ(0, verbs_traffic(self->endpoints, QPS, op, 2)) {
			TH_LOG("operation %d", op);
		}
	}
	ASSERT_EQ(0, doorbells_look(0, &doorbells));
	EXPECT_EQ(QPS, doorbells.n);
	EXPECT_EQ(0, doorbells.silent);
	EXPECT_EQ(0, doorbells.astray);
	EXPECT_EQ(0, doorbells.wrong_uar);
	EXPECT_EQ(0, doorbells.torn);
	if (variant->pages) {
		EXPECT_EQ(more ? 6 : variant->pages, doorbells.pages);
		EXPECT_EQ(more ? 11 : variant->uuars, doorbells.uuars);
	}
	doorbells_put(&doorbells);
}

TEST_F_TIMEOUT(matrix, inline_sends_use_blueflame, 60)
{
	struct doorbells_report doorbells;
	size_t i;

	ASSERT_EQ(0, verbs_traffic(self->endpoints, QPS, VERBS_SEND_INLINE, 4));
	ASSERT_EQ(0, doorbells_look(0, &doorbells));
	EXPECT_EQ(QPS, doorbells.n);
	for (i = 0; i < doorbells.n; i++) {
		EXPECT_EQ(4, doorbells.qps[i].doorbells +
				     doorbells.qps[i].blueflame);
		/*
		 * uUAR 0 of a static table has no BlueFlame, and no QP is on it
		 * yet.
		 */
		EXPECT_LT(0, doorbells.qps[i].blueflame);
	}
	EXPECT_EQ(0, doorbells.torn);
	doorbells_put(&doorbells);
}

TEST_HARNESS_MAIN
