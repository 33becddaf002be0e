// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 400 */
/*
 * Where a policy places QPs if there are more QPs than pages, what it never
 * does, and which programs it does not concern.
 */
#include "kselftest_harness.h"

#include <infiniband/mlx5dv.h>
#include <mlx5ep/uuar.h>
#include <sys/prctl.h>

#include "doorbells.h"
#include "sysfs.h"
#include "verbs.h"

#define MANY 100
#define THOUSANDS 4500
#define PAGES 16

FIXTURE(placement)
{
	struct verbs_setup setup;
	struct verbs_endpoint endpoints[MANY];
	size_t made;
	struct doorbells_report doorbells;
};

FIXTURE_SETUP(placement)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_defaults());
	ASSERT_EQ(0, simhca_zero());
}

static void drop(struct verbs_setup *setup, struct verbs_endpoint *endpoints,
		 size_t n)
{
	while (n--)
		verbs_endpoint_destroy(&endpoints[n]);
	verbs_close(setup);
}

FIXTURE_TEARDOWN(placement)
{
	drop(&self->setup, self->endpoints, self->made);
	doorbells_put(&self->doorbells);
	EXPECT_EQ(0, sysfs_defaults());
}

/*
 * Open under a policy, create up to @n QPs, ring each, and read the doorbells.
 * Returns 0, or the -errno of the QP that failed.
 */
static int placement_fill(struct _test_data_placement *self, const char *policy,
			  unsigned int pages, bool strict, size_t n)
{
	int ret, failed = 0;

	ret = sysfs_policy(policy, pages, strict);
	if (!ret)
		ret = verbs_open(&self->setup, NULL, MANY);
	while (!ret && !failed && self->made < n) {
		failed = verbs_endpoint_create(
			&self->setup, &self->endpoints[self->made], IBV_QPT_RC);
		self->made += !failed;
	}
	if (!ret)
		ret = verbs_traffic(self->endpoints, self->made,
				    VERBS_WRITE_INLINE, 1);
	if (!ret)
		ret = doorbells_look(0, &self->doorbells);
	return ret ? ret : failed;
}

TEST_F_TIMEOUT(placement, a_hundred_qps_fit_on_sixteen_pages, 90)
{
	ASSERT_EQ(0, placement_fill(self, "independent", PAGES, false, MANY));
	EXPECT_EQ(MANY, self->doorbells.n);
	EXPECT_EQ(PAGES, self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.astray);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	EXPECT_EQ(0, verbs_traffic_all(self->endpoints, self->made, 1));
}

/* With QPs on each uUAR the last @low_latency of them have one QP. */
static void last_have_one(struct __test_metadata *_metadata,
			  struct _test_data_placement *self,
			  unsigned int low_latency)
{
	const unsigned int total = 2 * PAGES;
	const struct doorbells_qp *at;
	unsigned int index, in_range = 0, i;

	ASSERT_EQ(0, placement_fill(self, "independent", PAGES, false, MANY));
	for (i = 0; i < self->made; i++) {
		ASSERT_EQ(0, verbs_uuar(self->endpoints[i].qp, &index));
		ASSERT_GT(total, index);
		at = doorbells_qp(&self->doorbells,
				  self->endpoints[i].qp->qp_num);
		ASSERT_NE(NULL, at);
		EXPECT_EQ(index & 1, at->slot);
		if (index < total - low_latency)
			continue;
		in_range++;
		EXPECT_EQ(1, at->sharers) {
			TH_LOG("uUAR %u has %u QPs", index, at->sharers);
		}
	}
	/*
	 * The low-latency range must be used if it may be; otherwise the test
	 * proves nothing.
	 */
	EXPECT_EQ(low_latency, in_range);
	EXPECT_LT(1, self->doorbells.most);
}

TEST_F_TIMEOUT(placement, the_low_latency_range_is_never_shared, 90)
{
	setenv("MLX5_NUM_LOW_LAT_UUARS", "6", 1);
	last_have_one(_metadata, self, 6);
}

/* The first uUAR of a page may be shared, the second may not. */
TEST_F_TIMEOUT(placement, an_odd_low_latency_range_is_never_shared, 90)
{
	setenv("MLX5_NUM_LOW_LAT_UUARS", "5", 1);
	last_have_one(_metadata, self, 5);
}

TEST_F_TIMEOUT(placement, sharing_is_even, 90)
{
	size_t i, fewest = MANY, index;
	unsigned int uuar, count[2 * PAGES] = {};

	ASSERT_EQ(0, placement_fill(self, "independent", PAGES, false, MANY));
	for (i = 0; i < self->made; i++) {
		ASSERT_EQ(0, verbs_uuar(self->endpoints[i].qp, &uuar));
		ASSERT_GT(2 * PAGES, uuar);
		count[uuar]++;
	}
	/*
	 * All uUARs except uUAR 0, which has no BlueFlame, and the four of low
	 * latency.
	 */
	for (index = 1; index < 2 * PAGES - 4; index++)
		if (count[index] < fewest)
			fewest = count[index];
	EXPECT_LE(self->doorbells.most, fewest + 1);
}

/* Nothing but the adapter bounds the number of QPs. */
TEST_F_TIMEOUT(placement, thousands_of_qps_have_their_places, 180)
{
	static struct ibv_qp *qps[THOUSANDS];
	struct mlx5_ep_context_info info;
	unsigned int n;

	ASSERT_EQ(0, sysfs_policy("shared-uuar", PAGES, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	for (n = 0; n < THOUSANDS; n++) {
		qps[n] = verbs_qp_create(self->setup.pd, self->setup.cq,
					 IBV_QPT_RC);
		if (!qps[n])
			break;
	}
	EXPECT_EQ(THOUSANDS, n);
	ASSERT_EQ(0, mlx5ep_context_query(self->setup.ctx, &info));
	EXPECT_EQ(n, info.qps);
	EXPECT_EQ(n, info.placed_qps);
	while (n--)
		EXPECT_EQ(0, ibv_destroy_qp(qps[n]));
}

TEST_F(placement, strict_independent_ends_with_the_pages)
{
	ASSERT_EQ(-ENOSPC, placement_fill(self, "independent", 8, true, 9));
	EXPECT_EQ(8, self->made);
	EXPECT_EQ(8, self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.shared);
}

TEST_F(placement, strict_shared_uar_ends_with_the_uuars)
{
	ASSERT_EQ(-ENOSPC, placement_fill(self, "shared-uar", 8, true, 17));
	EXPECT_EQ(8, self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.shared);
	/* The policy may leave out uUAR 0, which has no BlueFlame. */
	EXPECT_LE(15, self->made);
}

TEST_F(placement, a_place_is_free_again_after_destroy)
{
	unsigned int round;

	ASSERT_EQ(-ENOSPC, placement_fill(self, "independent", 8, true, 9));
	for (round = 0; round < 20; round++) {
		size_t i = round * 5 % 8;

		verbs_endpoint_destroy(&self->endpoints[i]);
		self->setup.next = i;
		ASSERT_EQ(0, verbs_endpoint_create(&self->setup,
						   &self->endpoints[i],
						   IBV_QPT_RC));
	}
	doorbells_put(&self->doorbells);
	ASSERT_EQ(0, simhca_zero());
	ASSERT_EQ(0, verbs_traffic_all(self->endpoints, 8, 2));
	ASSERT_EQ(0, doorbells_look(0, &self->doorbells));
	EXPECT_EQ(8, self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.shared);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
}

TEST_F(placement, uuar_pages_bounds_what_a_context_holds)
{
	long before = sysfs_number("uar_in_use");

	ASSERT_LE(0, before);
	ASSERT_EQ(0, placement_fill(self, "independent", 5, false, 20));
	EXPECT_EQ(5, self->doorbells.pages);
	EXPECT_EQ(before + 5, sysfs_number("uar_in_use"));
}

TEST_F(placement, a_new_policy_is_for_later_contexts)
{
	FIXTURE_DATA(placement) later = {};
	long before;
	size_t i;

	ASSERT_EQ(0, placement_fill(self, "shared-uar", 8, false, 2));
	EXPECT_EQ(1, self->doorbells.pages);
	before = sysfs_number("uar_in_use");
	ASSERT_EQ(0, sysfs_policy("independent", 8, false));
	/* The open context keeps the policy that it began with ... */
	for (i = 2; i < 8; i++) {
		ASSERT_EQ(0, verbs_endpoint_create(&self->setup,
						   &self->endpoints[i],
						   IBV_QPT_RC));
		self->made++;
	}
	ASSERT_EQ(0, verbs_traffic(self->endpoints, 8, VERBS_WRITE, 1));
	doorbells_put(&self->doorbells);
	ASSERT_EQ(0, doorbells_look(0, &self->doorbells));
	EXPECT_EQ(4, self->doorbells.pages);
	EXPECT_EQ(before + 3, sysfs_number("uar_in_use"));
	/* ... and a new context gets the new policy. */
	ASSERT_EQ(0, placement_fill(&later, "independent", 8, false, 8));
	EXPECT_EQ(4 + 8, later.doorbells.pages);
	EXPECT_EQ(0, later.doorbells.wrong_uar);
	drop(&later.setup, later.endpoints, later.made);
	doorbells_put(&later.doorbells);
	EXPECT_EQ(before + 3, sysfs_number("uar_in_use"));
}

/* Two thread domains with a QP each, besides QPs that the policy places. */
TEST_F(placement, thread_domains_are_left_alone)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr pd_attr = {};
	const struct doorbells_qp *at;
	struct verbs_endpoint in_td[2];
	struct ibv_pd *pd[2];
	struct ibv_td *td[2];
	size_t pages, i;

	ASSERT_EQ(0, placement_fill(self, "shared-uuar", 4, false, 12));
	pages = self->doorbells.pages;
	for (i = 0; i < 2; i++) {
		td[i] = ibv_alloc_td(self->setup.ctx, &td_attr);
		ASSERT_NE(NULL, td[i]);
		pd_attr.pd = self->setup.pd;
		pd_attr.td = td[i];
		pd[i] = ibv_alloc_parent_domain(self->setup.ctx, &pd_attr);
		ASSERT_NE(NULL, pd[i]);
		ASSERT_EQ(0, verbs_endpoint_create_in(&self->setup, pd[i],
						      &in_td[i], IBV_QPT_RC));
	}
	ASSERT_EQ(0, verbs_traffic_all(in_td, 2, 2));
	doorbells_put(&self->doorbells);
	ASSERT_EQ(0, doorbells_look(0, &self->doorbells));
	for (i = 0; i < 2; i++) {
		at = doorbells_qp(&self->doorbells, in_td[i].qp->qp_num);
		ASSERT_NE(NULL, at);
		EXPECT_EQ(1, at->sharers);
	}
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	EXPECT_EQ(0, self->doorbells.torn);
	/* The two thread domains share one more page, as without the module. */
	EXPECT_EQ(pages + 1, self->doorbells.pages);
	for (i = 0; i < 2; i++) {
		verbs_endpoint_destroy(&in_td[i]);
		ASSERT_EQ(0, ibv_dealloc_pd(pd[i]));
		ASSERT_EQ(0, ibv_dealloc_td(td[i]));
	}
}

TEST_F(placement, an_exempt_program_stays_stock)
{
	char name[32];
	unsigned int index;
	FILE *comm = fopen("/proc/self/comm", "r");

	ASSERT_NE(NULL, comm);
	ASSERT_EQ(1, fscanf(comm, "%31s", name));
	fclose(comm);
	ASSERT_EQ(0, sysfs_write("uuar_exempt", name));
	EXPECT_EQ(0, placement_fill(self, "independent", 8, false, 4));
	EXPECT_EQ(-ENOENT, verbs_uuar(self->endpoints[0].qp, &index));
	EXPECT_EQ(0, sysfs_write("uuar_exempt", "\n"));
	drop(&self->setup, self->endpoints, self->made);
	self->made = 0;
	self->setup = (struct verbs_setup){};
	doorbells_put(&self->doorbells);
	/* The same program is not exempt any more. */
	ASSERT_EQ(0, placement_fill(self, "independent", 8, false, 4));
	EXPECT_EQ(0, verbs_uuar(self->endpoints[0].qp, &index));
}

/* An empty name would match at each byte of the list, and at its end. */
TEST_F(placement, a_program_without_a_name_is_not_exempt)
{
	unsigned int index;

	ASSERT_EQ(0, sysfs_write("uuar_exempt", "some other"));
	ASSERT_EQ(0, prctl(PR_SET_NAME, ""));
	EXPECT_EQ(0, placement_fill(self, "independent", 8, false, 4));
	EXPECT_EQ(0, verbs_uuar(self->endpoints[0].qp, &index));
	EXPECT_EQ(0, sysfs_write("uuar_exempt", "\n"));
}

TEST_HARNESS_MAIN
