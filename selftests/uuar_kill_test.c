// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, timeout: 300 */
/*
 * A process killed at any moment leaves nothing behind: no UAR page in the
 * module's books, no object in the HCA.
 */
#include "kselftest_harness.h"

#include <signal.h>
#include <time.h>

#include "baseline.h"
#include "sysfs.h"
#include "verbs.h"

#define ROUNDS 16

FIXTURE(kill)
{
	struct baseline base;
};

FIXTURE_VARIANT(kill)
{
	const char *policy;
	bool strict;
};

FIXTURE_VARIANT_ADD(kill, independent) { "independent" };
FIXTURE_VARIANT_ADD(kill, independent_strict) { "independent", true };
FIXTURE_VARIANT_ADD(kill, shared_uar) { "shared-uar" };
FIXTURE_VARIANT_ADD(kill, shared_uuar) { "shared-uuar" };

FIXTURE_SETUP(kill)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, 8, variant->strict));
	ASSERT_EQ(0, baseline_take(&self->base));
}

FIXTURE_TEARDOWN(kill)
{
	EXPECT_EQ(0, sysfs_defaults());
}

/* Opens, makes QPs, destroys some, closes, for ever. */
static void victim(int ready)
{
	struct verbs_ep eps[12];
	struct verbs_rig rig;
	size_t made, i;

	for (;;) {
		if (verbs_open(&rig, NULL, 12))
			_exit(1);
		for (made = 0; made < 12; made++)
			if (verbs_ep_create(&rig, &eps[made], IBV_QPT_RC))
				break;
		if (made < 8)
			_exit(1);
		if (write(ready, "", 1) != 1)
			_exit(1);
		for (i = 0; i < made; i += 2)
			verbs_ep_destroy(&eps[i]);
		for (i = 1; i < made; i += 2)
			verbs_ep_destroy(&eps[i]);
		verbs_close(&rig);
	}
}

static uint64_t microseconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

TEST_F_TIMEOUT(kill, in_the_middle_leaves_nothing, 200)
{
	unsigned int round, passes = 0;
	uint64_t began, one_pass = 0;
	int ready[2], status;
	char byte[64];
	pid_t pid;

	srand(1);
	for (round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, pipe(ready));
		began = microseconds();
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			close(ready[0]);
			victim(ready[1]);
		}
		close(ready[1]);
		/*
		 * The first is seen to make its QPs; that tells how long it
		 * takes here. The others die anywhere from before the context
		 * is open to well into a second one.
		 */
		if (!round) {
			ASSERT_EQ(1, read(ready[0], byte, 1));
			one_pass = microseconds() - began;
		} else {
			usleep(rand() % (2 * one_pass));
		}
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status)) {
			TH_LOG("the victim failed by itself, round %u", round);
		}
		passes += read(ready[0], byte, sizeof(byte)) > 0;
		close(ready[0]);
		ASSERT_EQ(0, baseline_restored(&self->base, 5)) {
			TH_LOG("left behind after round %u", round);
		}
	}
	/* Some died before all QPs were there, some after. */
	EXPECT_LT(0, passes);
	EXPECT_GT(ROUNDS - 1, passes);
}

TEST_HARNESS_MAIN
