// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, guest: sweep, timeout: 300 */
/*
 * The first QP on an empty page of a managed context, with each allocation and
 * each command on the way failing in turn. Without the page the QP goes on the
 * page that the context has, and nothing is left behind.
 */
#include "kselftest_harness.h"

#include "sweep.h"
#include "sysfs.h"
#include "verbs.h"

#define PAGES 4

/* Returns 0, or what the creation of the QP said. */
static int body(void *arg)
{
	struct verbs_setup *setup = arg;
	struct ibv_qp *qp = verbs_qp_create(setup->pd, setup->cq, IBV_QPT_RC);

	return qp ? -sweep_undo(ibv_destroy_qp(qp)) : -errno;
}

/* A page stays with its context: open another one, whose pages are empty. */
static int undo(void *arg)
{
	verbs_close(arg);
	return verbs_open(arg, NULL, 1);
}

FIXTURE(fill)
{
	struct verbs_setup setup;
	struct sweep sweep;
};

FIXTURE_VARIANT(fill)
{
	const char *policy;
	bool strict;
};

FIXTURE_VARIANT_ADD(fill, independent)
{
	.policy = "independent",
};

FIXTURE_VARIANT_ADD(fill, strict)
{
	.policy = "independent", .strict = true,
};

FIXTURE_VARIANT_ADD(fill, shared_uar)
{
	.policy = "shared-uar",
};

FIXTURE_SETUP(fill)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, PAGES, variant->strict));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	self->sweep.body = body;
	self->sweep.undo = undo;
	self->sweep.arg = &self->setup;
}

FIXTURE_TEARDOWN(fill)
{
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_SWEEP(fill, failing_allocations_leave_nothing_behind)
{
	SWEEP_ALLOCATIONS_TEST(&self->sweep, false);
}

TEST_SWEEP(fill, failing_commands_leave_nothing_behind)
{
	SWEEP_OF_COMMANDS();
	ASSERT_EQ(0, sweep_commands(&self->sweep));
	EXPECT_LT(0, self->sweep.failed);
	TH_LOG("%u runs, %u failed", self->sweep.runs, self->sweep.failed);
}

/* The QP then has page 0 for itself, which satisfies a strict policy too. */
TEST_SWEEP(fill, a_page_that_the_adapter_refuses_is_done_without)
{
	SWEEP_OF_COMMANDS();
	self->sweep.opcode = "ALLOC_UAR";
	ASSERT_EQ(0, sweep_commands(&self->sweep));
	EXPECT_LT(0, self->sweep.runs);
	EXPECT_EQ(0, self->sweep.failed);
	TH_LOG("%u runs, %u failed", self->sweep.runs, self->sweep.failed);
}

TEST_HARNESS_MAIN
