// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 240 */
/*
 * Errors of endpoints: invalid input, no UAR pages left, other objects in the
 * context, and firmware commands that fail. Also the endpoints calls over the
 * module's ioctls.
 */
#include "kselftest_harness.h"

#include <infiniband/mlx5dv.h>

#include "job.h"
#include "simhca.h"
#include "sysfs.h"
#include "verbs.h"

FIXTURE(errors)
{
	struct ibv_device **list;
	struct ibv_device *dev;
	struct ibv_context *ctx;
};

FIXTURE_SETUP(errors)
{
	if (sysfs_attached())
		ASSERT_EQ(0, sysfs_defaults());
	self->list = ibv_get_device_list(NULL);
	ASSERT_NE(NULL, self->list);
	self->dev = verbs_find_device(self->list, verbs_device_name());
	ASSERT_NE(NULL, self->dev);
	self->ctx = ibv_open_device(self->dev);
	ASSERT_NE(NULL, self->ctx);
}

FIXTURE_TEARDOWN(errors)
{
	EXPECT_EQ(0, ibv_close_device(self->ctx));
	ibv_free_device_list(self->list);
	if (sysfs_attached())
		EXPECT_EQ(0, sysfs_defaults());
}

TEST_F(errors, bad_attributes_open_nothing)
{
	struct mlx5ep_endpoints_attr attr = {
		.category = MLX5EP_CATEGORY_MPI_THREADS + 1,
	};
	struct mlx5ep_endpoints *set = (void *)&attr;
	struct ibv_srq srq = {};

	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_create(self->ctx, &attr, 1, &set));
	attr.category = MLX5EP_CATEGORY_DYNAMIC;
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_create(self->ctx, &attr, 0, &set));
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_create(self->ctx, &attr, 4097,
						   &set));
	attr.srq = &srq;
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_open(self->dev, &attr, 1, &set));
	attr.srq = NULL;
	attr.reserved[0] = 1;
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_create(self->ctx, &attr, 1, &set));
	EXPECT_EQ((void *)&attr, set);
	EXPECT_EQ(0, mlx5ep_endpoints_destroy(NULL));
}

TEST_F(errors, an_endpoint_beyond_the_last_is_refused)
{
	struct mlx5ep_endpoints_attr attr = {
		.category = MLX5EP_CATEGORY_STATIC,
	};
	struct mlx5ep_endpoint endpoint = { .level = 77 };
	struct mlx5ep_endpoints *set;

	ASSERT_EQ(0, mlx5ep_endpoints_create(self->ctx, &attr, 2, &set));
	EXPECT_EQ(-EINVAL, mlx5ep_endpoints_get(set, 2, &endpoint));
	EXPECT_EQ(77, endpoint.level);
	EXPECT_EQ(0, mlx5ep_endpoints_get(set, 1, &endpoint));
	EXPECT_EQ(self->ctx, endpoint.context);
	EXPECT_EQ(0, mlx5ep_endpoints_destroy(set));
}

TEST_F(errors, destroy_waits_for_the_callers_regions)
{
	struct mlx5ep_endpoints_attr attr = {
		.category = MLX5EP_CATEGORY_DYNAMIC,
	};
	struct mlx5ep_endpoints *set;
	struct mlx5ep_endpoint endpoint;
	static char buf[4096];
	struct ibv_mr *mr;

	ASSERT_EQ(0, mlx5ep_endpoints_create(self->ctx, &attr, 2, &set));
	ASSERT_EQ(0, mlx5ep_endpoints_get(set, 0, &endpoint));
	mr = ibv_reg_mr(endpoint.pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(-EBUSY, mlx5ep_endpoints_destroy(set));
	EXPECT_EQ(-EBUSY, mlx5ep_endpoints_destroy(set));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, mlx5ep_endpoints_destroy(set));
}

/*
 * The caller has thread domains and frees some of them, so that the first or
 * the second uUAR of a page can be free.
 */
TEST_F(errors, strangers_in_the_context_share_no_page)
{
	struct ibv_td_init_attr td_attr = {};
	struct mlx5ep_endpoints_attr attr = {
		.category = MLX5EP_CATEGORY_DYNAMIC,
		.flags = MLX5EP_ENDPOINTS_STRICT,
	};
	struct mlx5ep_endpoints *set, *pairs;
	struct mlx5ep_endpoints_info info;
	struct ibv_td *td[7];
	unsigned int i;

	for (i = 0; i < 7; i++) {
		td[i] = ibv_alloc_td(self->ctx, &td_attr);
		ASSERT_NE(NULL, td[i]);
	}
	/* Free now: slot 0 of one page, slot 1 of another, an unused slot. */
	EXPECT_EQ(0, ibv_dealloc_td(td[2]));
	EXPECT_EQ(0, ibv_dealloc_td(td[1]));
	ASSERT_EQ(0, mlx5ep_endpoints_create(self->ctx, &attr, 4, &set));
	ASSERT_EQ(0, mlx5ep_endpoints_query(set, &info));
	EXPECT_EQ(4, info.level[1]);
	EXPECT_EQ(4, info.uar_pages);
	attr.category = MLX5EP_CATEGORY_SHARED_DYNAMIC;
	ASSERT_EQ(0, mlx5ep_endpoints_create(self->ctx, &attr, 4, &pairs));
	ASSERT_EQ(0, mlx5ep_endpoints_query(pairs, &info));
	EXPECT_EQ(4, info.level[2]);
	EXPECT_EQ(2, info.uar_pages);
	EXPECT_EQ(0, mlx5ep_endpoints_destroy(pairs));
	EXPECT_EQ(0, mlx5ep_endpoints_destroy(set));
	for (i = 0; i < 7; i++)
		if (i != 1 && i != 2)
			EXPECT_EQ(0, ibv_dealloc_td(td[i]));
}

#define NO_RESOURCES 15		/* status of a command */

/* Open with @pages UAR pages besides the page of the CQ doorbells. */
static int open_with(struct ibv_device *dev, unsigned int pages,
		     unsigned int flags, struct mlx5ep_endpoints **set)
{
	struct mlx5ep_endpoints_attr attr = {
		.category = MLX5EP_CATEGORY_DYNAMIC,
		.flags = flags,
	};
	int ret;

	ret = simhca_fail("ALLOC_UAR", pages + 2, 1000000, NO_RESOURCES);
	if (!ret)
		ret = mlx5ep_endpoints_open(dev, &attr, 4, set);
	return simhca_fail_nothing() ? -EREMOTEIO : ret;
}

TEST_F(errors, endpoints_take_the_second_uuar_as_pages_run_out)
{
	struct mlx5ep_endpoints_info info;
	struct mlx5ep_endpoints *set;
	unsigned int pages;

	for (pages = 2; pages <= 4; pages++) {
		ASSERT_EQ(0, open_with(self->dev, pages, 0, &set));
		ASSERT_EQ(0, mlx5ep_endpoints_query(set, &info));
		EXPECT_EQ(pages, info.uar_pages);
		EXPECT_EQ(4, info.used_uuars);
		EXPECT_EQ(2 * (4 - pages), info.level[2]);
		EXPECT_EQ(4 - info.level[2], info.level[1]);
		EXPECT_EQ(info.level[2], info.degraded);
		EXPECT_EQ(0, mlx5ep_endpoints_destroy(set));
	}
}

TEST_F(errors, strict_fails_rather_than_falls_back)
{
	int64_t uars = simhca_count("uar"), qps = simhca_count("qp");
	struct mlx5ep_endpoints *set;
	unsigned int pages;

	for (pages = 0; pages < 4; pages++)
		EXPECT_EQ(-ENOSPC, open_with(self->dev, pages,
					     MLX5EP_ENDPOINTS_STRICT, &set));
	EXPECT_EQ(uars, simhca_count("uar"));
	EXPECT_EQ(qps, simhca_count("qp"));
}

FIXTURE(sweep)
{
	FIXTURE_DATA(errors) base;
};

FIXTURE_VARIANT(sweep)
{
	unsigned int category;
};

FIXTURE_VARIANT_ADD(sweep, mpi_everywhere) { MLX5EP_CATEGORY_MPI_EVERYWHERE };
FIXTURE_VARIANT_ADD(sweep, 2xdynamic) { MLX5EP_CATEGORY_2XDYNAMIC };
FIXTURE_VARIANT_ADD(sweep, static) { MLX5EP_CATEGORY_STATIC };
FIXTURE_VARIANT_ADD(sweep, mpi_threads) { MLX5EP_CATEGORY_MPI_THREADS };

FIXTURE_SETUP(sweep)
{
	errors_setup(_metadata, &self->base, NULL);
}

FIXTURE_TEARDOWN(sweep)
{
	errors_teardown(_metadata, &self->base, NULL);
}

/*
 * Fail the first, then the second, ... command of a kind, until the call issues
 * fewer commands than that.
 */
static unsigned int sweep(struct __test_metadata *_metadata,
			  struct ibv_device *dev, unsigned int category,
			  const char *opcode)
{
	struct mlx5ep_endpoints_attr attr = {
		.category = category,
		.flags = MLX5EP_ENDPOINTS_STRICT,
	};
	int64_t qps = simhca_count("qp"), cqs = simhca_count("cq");
	int64_t uars = simhca_count("uar");
	struct mlx5ep_endpoints *set;
	unsigned int nth;
	int ret;

	for (nth = 1; nth < 100; nth++) {
		if (simhca_fail(opcode, nth, 1, NO_RESOURCES))
			return 0;
		ret = mlx5ep_endpoints_open(dev, &attr, 2, &set);
		if (simhca_fail_nothing())
			return 0;
		if (!ret)
			EXPECT_EQ(0, mlx5ep_endpoints_destroy(set));
		EXPECT_EQ(qps, simhca_count("qp"));
		EXPECT_EQ(cqs, simhca_count("cq"));
		EXPECT_EQ(uars, simhca_count("uar"));
		if (!ret)
			return nth;
		EXPECT_GT(0, ret);
	}
	return 0;
}

TEST_F_TIMEOUT(sweep, a_command_that_fails_leaves_nothing_behind, 120)
{
	struct ibv_device *dev = self->base.dev;

	EXPECT_LT(1, sweep(_metadata, dev, variant->category, "CREATE_QP"));
	EXPECT_LT(1, sweep(_metadata, dev, variant->category, "CREATE_CQ"));
	EXPECT_LT(1, sweep(_metadata, dev, variant->category, "ALLOC_PD"));
}

TEST_HARNESS_MAIN
