// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, guest: sweep, timeout: 400 */
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
	struct sweep_objects objects;
	struct sweep sweep;
};

FIXTURE_VARIANT(sweep)
{
	const char *policy;
	int (*body)(void *arg);
	/* asks nothing of the firmware, once that has given keys */
	bool silent;
	/* asks for no memory of ours, once the notifier has had a watch */
	bool thrifty;
	/* goes by many places where something can fail */
	bool big;
};

#define BODY(name, rules, what, ...) \
FIXTURE_VARIANT_ADD(sweep, name) \
{ \
	.policy = rules, .body = sweep_body_##what, __VA_ARGS__ \
}

BODY(context_under_stock, "stock", context, .big = true);
BODY(context_under_independent, "independent", context, .big = true);
BODY(context_under_shared_uar, "shared-uar", context, .big = true);
BODY(context_under_shared_uuar, "shared-uuar", context, .big = true);
BODY(qp_under_stock, "stock", qp);
BODY(qp_under_independent, "independent", qp);
BODY(qp_under_shared_uar, "shared-uar", qp);
BODY(qp_under_shared_uuar, "shared-uuar", qp);
BODY(qps_under_independent, "independent", qps);
BODY(endpoints_under_stock, "stock", endpoints, .big = true);
BODY(notifier, "stock", notifier, .silent = true);
BODY(watch, "stock", watch, .silent = true, .thrifty = true);
BODY(long_watch, "stock", long_watch, .silent = true);
BODY(watches, "stock", watches, .silent = true, .thrifty = true);
BODY(dmabuf, "stock", dmabuf, .silent = true);
BODY(registration, "stock", reg_mr, .silent = true, .thrifty = true);

FIXTURE_SETUP(sweep)
{
	ASSERT_EQ(0, sysfs_policy(variant->policy, 4, false));
	ASSERT_EQ(0, sweep_objects_open(&self->objects));
	if (variant->body == sweep_body_dmabuf)
		ASSERT_EQ(0, sweep_objects_open_dmabuf(&self->objects));
	self->sweep.body = variant->body;
	self->sweep.arg = &self->objects;
	self->sweep.coarse = variant->big ? 8 : 0;
}

FIXTURE_TEARDOWN(sweep)
{
	sweep_objects_close(&self->objects);
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_SWEEP(sweep, failing_allocations_leave_nothing_behind)
{
	SWEEP_ALLOCATIONS_TEST(&self->sweep,
			       variant->thrifty && !sweep_whole());
}

TEST_SWEEP(sweep, failing_commands_leave_nothing_behind)
{
	SWEEP_OF_COMMANDS();
	ASSERT_EQ(0, sweep_commands(&self->sweep));
	if (!variant->silent)
		EXPECT_LT(0, self->sweep.failed);
	TH_LOG("%u runs, %u failed", self->sweep.runs, self->sweep.failed);
}

TEST_HARNESS_MAIN
