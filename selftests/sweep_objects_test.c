// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, guest: sweep, timeout: 400 */
/*
 * Every object, made and unmade with each allocation and each firmware command
 * on the way failing in turn: nothing is left behind.
 */
#include "kselftest_harness.h"

#include "sweep.h"
#include "sweep_bodies.h"
#include "sysfs.h"

FIXTURE(sweep)
{
	struct sweep_bench bench;
	struct sweep sweep;
};

FIXTURE_VARIANT(sweep)
{
	const char *policy;
	int (*body)(void *arg);
	/* objects that ask nothing of the firmware, once it has given keys */
	bool silent;
};

#define BODY(name, rules, what, quiet) \
FIXTURE_VARIANT_ADD(sweep, name) \
{ \
	.policy = rules, .body = sweep_body_##what, .silent = quiet, \
}

BODY(context_under_stock, "stock", context, false);
BODY(context_under_independent, "independent", context, false);
BODY(context_under_shared_uar, "shared-uar", context, false);
BODY(context_under_shared_uuar, "shared-uuar", context, false);
BODY(qp_under_stock, "stock", qp, false);
BODY(qp_under_independent, "independent", qp, false);
BODY(qp_under_shared_uar, "shared-uar", qp, false);
BODY(qp_under_shared_uuar, "shared-uuar", qp, false);
BODY(qps_under_independent, "independent", qps, false);
BODY(endpoints_under_stock, "stock", endpoints, false);
BODY(notifier, "stock", notifier, true);
BODY(watch, "stock", watch, true);
BODY(registration, "stock", reg_mr, true);

FIXTURE_SETUP(sweep)
{
	ASSERT_EQ(0, sysfs_policy(variant->policy, 4, false));
	ASSERT_EQ(0, sweep_bench_open(&self->bench));
	self->sweep.body = variant->body;
	self->sweep.arg = &self->bench;
}

FIXTURE_TEARDOWN(sweep)
{
	sweep_bench_close(&self->bench);
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_F_TIMEOUT(sweep, failing_allocations_leave_nothing_behind, 300)
{
	const char *why = sweep_no_allocations();

	if (why)
		SKIP(return, "%s", why);
	EXPECT_EQ(0, sweep_allocations(&self->sweep));
	EXPECT_LT(0, self->sweep.failed);
	TH_LOG("%u runs, %u failed", self->sweep.runs, self->sweep.failed);
}

TEST_F_TIMEOUT(sweep, failing_commands_leave_nothing_behind, 300)
{
	ASSERT_EQ(0, sweep_commands(&self->sweep));
	if (!variant->silent)
		EXPECT_LT(0, self->sweep.failed);
	TH_LOG("%u runs, %u failed", self->sweep.runs, self->sweep.failed);
}

TEST_HARNESS_MAIN
