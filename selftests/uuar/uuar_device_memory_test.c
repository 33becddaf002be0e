// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60 */
/*
 * Memory of the adapter in a context whose pages a policy chooses: a program maps it as
 * it maps a UAR page, and it is none. It is not charged, and holds what is written to it.
 */
#include "kselftest_harness.h"

#include <string.h>
#include <sys/mman.h>

#include <infiniband/mlx5dv.h>

#include "simhca.h"
#include "sysfs.h"
#include "verbs.h"

#define BYTES 256u
#define PAGE 4096ul
#define INCREMENT 0	/* the operation that adds 1 */

FIXTURE(memory)
{
	struct verbs_setup setup;
	struct verbs_endpoint endpoint;
	long in_use;
};

FIXTURE_VARIANT(memory)
{
	const char *policy;
};

FIXTURE_VARIANT_ADD(memory, under_stock) { "stock" };
FIXTURE_VARIANT_ADD(memory, under_independent) { "independent" };
FIXTURE_VARIANT_ADD(memory, under_shared_uuar) { "shared-uuar" };

FIXTURE_SETUP(memory)
{
	ASSERT_EQ(0, sysfs_policy(variant->policy, 4, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &self->endpoint,
					   IBV_QPT_RC));
	self->in_use = sysfs_number("uar_in_use");
	ASSERT_LE(0, self->in_use);
}

FIXTURE_TEARDOWN(memory)
{
	verbs_endpoint_destroy(&self->endpoint);
	verbs_close(&self->setup);
	EXPECT_EQ(0, simhca_count("memic"));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_F(memory, of_the_adapter_is_no_uar_page)
{
	struct ibv_alloc_dm_attr attr = { .length = BYTES };
	char wanted[BYTES], found[BYTES];
	volatile uint8_t *op;
	struct ibv_dm *dm[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		dm[i] = ibv_alloc_dm(self->setup.ctx, &attr);
		ASSERT_NE(NULL, dm[i]) {
			TH_LOG("errno %d", errno);
		}
	}
	EXPECT_EQ(2, simhca_count("memic"));
	EXPECT_EQ(self->in_use, sysfs_number("uar_in_use"));
	for (i = 0; i < 2; i++) {
		memset(wanted, 0x40 + i, BYTES);
		ASSERT_EQ(0, ibv_memcpy_to_dm(dm[i], 0, wanted, BYTES));
	}
	for (i = 0; i < 2; i++) {
		memset(wanted, 0x40 + i, BYTES);
		memset(found, 0, BYTES);
		ASSERT_EQ(0, ibv_memcpy_from_dm(found, dm[i], 0, BYTES));
		EXPECT_EQ(0, memcmp(wanted, found, BYTES));
	}
	/* An operation on the memory has a page of its own, by an entry of the core. */
	op = mlx5dv_dm_map_op_addr(dm[0], INCREMENT);
	ASSERT_NE(NULL, op) {
		TH_LOG("errno %d", errno);
	}
	EXPECT_EQ(1, simhca_count("memic_op"));
	EXPECT_EQ(self->in_use, sysfs_number("uar_in_use"));
	*op = 1;
	EXPECT_EQ(0, ibv_memcpy_from_dm(found, dm[0], 0, 4));
	EXPECT_EQ(0x41, found[0]);
	EXPECT_EQ(0, munmap((void *)((uintptr_t)op & ~(PAGE - 1)), PAGE));
	EXPECT_EQ(0, verbs_traffic_all(&self->endpoint, 1, 3));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, ibv_free_dm(dm[i]));
	EXPECT_EQ(self->in_use, sysfs_number("uar_in_use"));
}

TEST_HARNESS_MAIN
