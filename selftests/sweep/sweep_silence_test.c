// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, guest: sweep, timeout: 200 */
/*
 * Firmware that never answers: the driver gives up a command after a time, and
 * whoever asked for it gives up what it had. Attaching and shared XRC receive QPs
 * have theirs in sweep_attach and sweep_xrc.
 */
#include "kselftest_harness.h"

#include "simhca.h"
#include "sweep.h"
#include "sweep_bodies.h"
#include "sysfs.h"

FIXTURE(silence)
{
	struct sweep_objects objects;
	struct sweep sweep;
};

FIXTURE_VARIANT(silence)
{
	const char *policy;
	int (*body)(void *arg);
	bool slow;	/* each command takes six seconds */
};

FIXTURE_VARIANT_ADD(silence, qp_under_independent)
{
	.policy = "independent", .body = sweep_body_qp,
};

FIXTURE_VARIANT_ADD(silence, context_under_shared_uar)
{
	.policy = "shared-uar", .body = sweep_body_context, .slow = true,
};

FIXTURE_SETUP(silence)
{
	SWEEP_OF_COMMANDS();
	if (variant->slow && !sweep_whole())
		SKIP(return, "only in make check-long");
	ASSERT_EQ(0, sweep_restart(SWEEP_PATIENCE_MS));
	ASSERT_EQ(0, sysfs_policy(variant->policy, 2, false));
	ASSERT_EQ(0, sweep_objects_open(&self->objects));
	self->sweep.body = variant->body;
	self->sweep.arg = &self->objects;
}

FIXTURE_TEARDOWN(silence)
{
	sweep_objects_close(&self->objects);
	EXPECT_EQ(0, sweep_restart(0));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_SWEEP(silence, commands_without_an_answer_leave_nothing_behind)
{
	ASSERT_EQ(0, sweep_silence(&self->sweep));
	EXPECT_LT(0, self->sweep.failed);
	TH_LOG("%u runs, %u failed", self->sweep.runs, self->sweep.failed);
}

TEST_HARNESS_MAIN
