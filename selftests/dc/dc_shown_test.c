// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, timeout: 60 */
/*
 * `rdma -dd resource show qp` says of a DC initiator where it rings, and says still what
 * mlx5_ib says of it. mlx5_ib has targets not listed: `mlx5ep show qps` has them.
 */
#include "kselftest_harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <mlx5ep/uuar.h>

#include "baseline.h"
#include "dc_end.h"
#include "sysfs.h"
#include "verbs.h"

FIXTURE(shown)
{
	struct baseline base;
	struct dc_end end;
};

FIXTURE_SETUP(shown)
{
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, sysfs_policy("independent", 4, false));
	ASSERT_EQ(0, dc_end_open(&self->end, verbs_device_name(), NULL, 0));
}

FIXTURE_TEARDOWN(shown)
{
	dc_end_close(&self->end);
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

/* 0: the filter is true of what is shown of the QP. */
static int says(const char *filter, uint32_t qpn)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "rdma -j -dd resource show qp | sed 's/\"drv_/\"/g' | jq -e '.[] | select(.lqpn == %u) | %s' >/dev/null",
		 qpn, filter);
	return system(command);
}

TEST_F(shown, the_initiator_with_where_it_rings)
{
	struct mlx5_ep_qp_uuar at;
	char filter[256];

	ASSERT_EQ(0, mlx5ep_qp_query_uuar(self->end.dci, &at));
	ASSERT_EQ(1, at.level);
	snprintf(filter, sizeof(filter),
		 "(.uar == %u and .page == %u and .slot == %u and .level == 1 and .placer == \"policy\" and .policy == \"independent\")",
		 at.uar, at.page, at.slot);
	EXPECT_EQ(0, says(filter, self->end.dci->qp_num));
}

/* 0: the filter is true of the one row that mlx5ep has of the QP. */
static int shows(const char *filter, uint32_t qpn)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "mlx5ep -j show qps | jq -e '[.devices[0].qps[] | select(.qpn == %u)] | length == 1 and (.[0] | %s)' >/dev/null",
		 qpn, filter);
	return system(command);
}

TEST_F(shown, the_target_by_mlx5ep_without_a_page)
{
	EXPECT_EQ(0, shows("(.placer == \"policy\" and .level == 1)",
			   self->end.dci->qp_num));
	EXPECT_EQ(0, shows("(.placer == \"none\" and .uar == null and .page == null and .slot == null and .level == null and .page_qps == null and .program == \"dc_shown_test\")",
			   self->end.dct->qp_num));
	EXPECT_EQ(0, system("mlx5ep show qps | grep -q ' dc_shown_test .* none$'"));
}

/* mlx5_ib of 6.1 does not tell the kind. */
TEST_F(shown, what_the_driver_says_stays)
{
	struct utsname name;

	ASSERT_EQ(0, uname(&name));
	if (!strncmp(name.release, "6.1.", 4))
		SKIP(return, "its mlx5_ib says nothing of a QP");
	EXPECT_EQ(0, says("(.type == \"DRIVER\" and .subtype == \"DCI\")",
			  self->end.dci->qp_num));
}

TEST_HARNESS_MAIN
