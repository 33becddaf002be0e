// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * UAR pages that a program allocates for DevX count for the limits, up to the
 * last page and not one more. What the HCA gave out is what counts.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <sys/stat.h>

#include "devx.h"
#include "limits/holder.h"
#include "simhca.h"
#include "sysfs.h"

#define LIMIT 6
#define CGROUP "/devx"
#define MANY 32

FIXTURE(devx)
{
	struct verbs_setup setup;
	int64_t before;		/* UAR pages of the HCA */
	struct mlx5dv_devx_uar *uars[MANY];
	unsigned int n;
};

FIXTURE_VARIANT(devx)
{
	const char *policy, *limit;
	uint32_t type;
};

/* Pages of observed contexts are uverbs objects, one for each DevX UAR. */
FIXTURE_VARIANT_ADD(devx, user_limit_observed)
{
	"stock", "uar_user_limit", MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED,
};

/* In a managed context they come by mmap(), and two DevX UARs share one. */
FIXTURE_VARIANT_ADD(devx, user_limit_managed)
{
	"independent", "uar_user_limit", MLX5DV_UAR_ALLOC_TYPE_BF,
};

FIXTURE_VARIANT_ADD(devx, budget_managed)
{
	"independent", "uar_budget", MLX5DV_UAR_ALLOC_TYPE_BF,
};

FIXTURE_VARIANT_ADD(devx, cgroup_observed)
{
	"stock", "uar_cgroup_limits", MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED,
};

FIXTURE_VARIANT_ADD(devx, cgroup_managed)
{
	"independent", "uar_cgroup_limits", MLX5DV_UAR_ALLOC_TYPE_BF,
};

/* Set the limit; one of a cgroup for that of this process from now on. */
static int devx_limits_set_limit(const char *limit)
{
	int ret;

	if (strcmp(limit, "uar_cgroup_limits"))
		return sysfs_write(limit, "6");
	ret = holder_mount_cgroups();
	if (!ret && mkdir(HOLDER_CGROUPS CGROUP, 0755))
		ret = -errno;
	if (!ret)
		ret = sysfs_write(limit, CGROUP " 6\n");
	return ret ? ret : holder_enter_cgroup(CGROUP);
}

static int end_limit(const char *limit)
{
	int ret;

	if (strcmp(limit, "uar_cgroup_limits"))
		return sysfs_write(limit, "0");
	ret = holder_enter_cgroup("");
	return ret ? ret : rmdir(HOLDER_CGROUPS CGROUP);
}

static int64_t held(struct _test_data_devx *self)
{
	return simhca_count("uar") - self->before;
}

/* Allocate DevX UARs until one is refused. Returns why. */
static int take_all(struct _test_data_devx *self, uint32_t type)
{
	for (; self->n < MANY; self->n++) {
		errno = 0;
		self->uars[self->n] =
			mlx5dv_devx_alloc_uar(self->setup.ctx, type);
		if (!self->uars[self->n])
			return errno;
	}
	return 0;
}

FIXTURE_SETUP(devx)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, 4, false));
	/* The driver creates some objects now, and keeps them. */
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 2));
	verbs_close(&self->setup);
	self->before = simhca_count("uar");
	ASSERT_EQ(0, devx_limits_set_limit(variant->limit));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 2));
}

FIXTURE_TEARDOWN(devx)
{
	while (self->n--)
		mlx5dv_devx_free_uar(self->uars[self->n]);
	verbs_close(&self->setup);
	EXPECT_EQ(self->before, simhca_count("uar"));
	EXPECT_EQ(0, end_limit(variant->limit));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_F(devx, uars_are_refused_at_the_limit)
{
	EXPECT_EQ(EDQUOT, take_all(self, variant->type));
	EXPECT_EQ(LIMIT, held(self));
	EXPECT_LE(LIMIT - 2, self->n);
}

TEST_F(devx, qps_on_the_last_page_work)
{
	struct devx_qp qp;

	EXPECT_EQ(EDQUOT, take_all(self, variant->type));
	ASSERT_EQ(0, devx_qp_create(&self->setup,
				    self->uars[self->n - 1]->page_id, &qp));
	EXPECT_EQ(0, devx_qp_connect(&self->setup, &qp));
	devx_qp_destroy(&qp);
	EXPECT_EQ(LIMIT, held(self));
}

TEST_HARNESS_MAIN
