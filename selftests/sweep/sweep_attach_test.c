// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, guest: sweep, timeout: 600 */
/*
 * The device is bound to its driver with each allocation and each firmware
 * command on the way failing in turn: it is bound and attached, or bound and
 * left as stock, or not bound; and nothing is left behind when it is unbound. And
 * the same with commands that are never answered.
 */
#include "kselftest_harness.h"

#include "simhca.h"
#include "sweep.h"
#include "sysfs.h"
#include "uar_page.h"
#include "verbs.h"

/* The auxiliary device of the HCA under test */
static char device[256];

static int body(void *arg)
{
	int ret = file_write(SYSFS_AUX_DRIVER "bind", device);

	(void)arg;
	if (ret)
		return ret;
	return sysfs_attached() ? 0 : -ENOLINK;
}

/* Runs after which the device was attached in part */
static unsigned int incomplete;

/*
 * All that attaching hooks has an effect: sysfs, the operations (a policy), and
 * the method that allocates a UAR page, which counts although nobody maps it.
 */
static int check_complete(void)
{
	int64_t pages = simhca_count("uar");
	struct verbs_setup setup;
	uint32_t handle;
	int ret;

	ret = sysfs_policy("independent", 2, false);
	if (ret)
		return ret;
	ret = verbs_open(&setup, NULL, 1);
	if (!ret) {
		ret = uar_page_alloc(setup.ctx, &handle, NULL);
		if (!ret && sysfs_number("uar_in_use") != 2)
			ret = -EBADE;
		if (!ret && simhca_count("uar") - pages != 2)
			ret = -EBADE;
		verbs_close(&setup);
	}
	return sysfs_defaults() ?: ret;
}

/* Stock drivers warn of commands that fail while the device goes. */
static int undo(void *arg)
{
	char path[512];
	int ret;

	(void)arg;
	ret = sysfs_attached() ? check_complete() : 0;
	if (ret)
		fprintf(stderr, "# attached in part: %d\n", ret);
	incomplete += ret != 0;
	snprintf(path, sizeof(path), SYSFS_AUX_DRIVER "%s", device);
	return access(path, F_OK) ? 0 :
		file_write(SYSFS_AUX_DRIVER "unbind", device);
}

/* The device without its driver, and how to bind it. Return: 0 or -errno. */
static int begin(struct sweep *sweep, unsigned int coarse)
{
	int ret = sysfs_auxdev(device, sizeof(device));

	sweep->body = body;
	sweep->undo = undo;
	sweep->coarse = coarse;
	sweep->mkeys = true;
	return ret ? ret : file_write(SYSFS_AUX_DRIVER "unbind", device);
}

/* Bound again, it works. */
static int traffic(void)
{
	struct verbs_setup setup;
	struct verbs_endpoint endpoint;
	int ret;

	ret = verbs_open(&setup, NULL, 1);
	if (ret)
		return ret;
	ret = verbs_endpoint_create(&setup, &endpoint, IBV_QPT_RC);
	if (!ret) {
		ret = verbs_traffic_all(&endpoint, 1, 1);
		verbs_endpoint_destroy(&endpoint);
	}
	verbs_close(&setup);
	return ret;
}

FIXTURE(attach)
{
	struct sweep sweep;
};

FIXTURE_SETUP(attach)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, begin(&self->sweep, 16));
}

FIXTURE_TEARDOWN(attach)
{
	EXPECT_EQ(0, file_write(SYSFS_AUX_DRIVER "bind", device));
	EXPECT_TRUE(sysfs_attached());
	EXPECT_EQ(0, traffic());
}

TEST_SWEEP(attach, failing_allocations_leave_nothing_behind)
{
	SWEEP_ALLOCATIONS_TEST(&self->sweep, false);
	EXPECT_EQ(0, incomplete);
}

TEST_SWEEP(attach, failing_commands_leave_nothing_behind)
{
	SWEEP_OF_COMMANDS();
	ASSERT_EQ(0, sweep_commands(&self->sweep));
	EXPECT_EQ(0, incomplete);
	EXPECT_LT(0, self->sweep.failed);
	TH_LOG("%u runs, %u failed", self->sweep.runs, self->sweep.failed);
}

FIXTURE(silent)
{
	struct sweep sweep;
};

FIXTURE_SETUP(silent)
{
	SWEEP_OF_COMMANDS();
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sweep_restart(SWEEP_PATIENCE_MS));
	ASSERT_EQ(0, begin(&self->sweep, 2));
}

FIXTURE_TEARDOWN(silent)
{
	EXPECT_EQ(0, file_write(SYSFS_AUX_DRIVER "bind", device));
	EXPECT_EQ(0, sweep_restart(0));
	EXPECT_TRUE(sysfs_attached());
	EXPECT_EQ(0, traffic());
}

TEST_SWEEP(silent, commands_without_an_answer_leave_nothing_behind)
{
	ASSERT_EQ(0, sweep_silence(&self->sweep));
	EXPECT_LT(0, self->sweep.failed);
	TH_LOG("%u runs, %u failed", self->sweep.runs, self->sweep.failed);
}

TEST_HARNESS_MAIN
