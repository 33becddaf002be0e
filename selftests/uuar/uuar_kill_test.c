// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 300 */
/*
 * A process that is killed at any moment leaves nothing behind: the module
 * counts no UAR page of it, and the HCA has no object of it.
 */
#include "kselftest_harness.h"

#include <signal.h>

#include "baseline.h"
#include "sysfs.h"
#include "verbs.h"

#define ROUNDS 16
#define QPS 12
#define PAGES 8	/* also the most QPs under strict */

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
	ASSERT_EQ(0, sysfs_policy(variant->policy, PAGES,
				  variant->strict));
	ASSERT_EQ(0, baseline_take(&self->base));
}

FIXTURE_TEARDOWN(kill)
{
	EXPECT_EQ(0, sysfs_defaults());
}

/* Tell the parent that one more step is done. */
static void kill_step(int progress)
{
	if (write(progress, "", 1) != 1)
		_exit(1);
}

/* Open, create QPs, destroy them in another order, close, and begin again. */
static void victim(int progress)
{
	struct verbs_endpoint endpoints[QPS];
	struct verbs_setup setup;
	size_t made, i;

	for (;;) {
		if (verbs_open(&setup, NULL, QPS))
			_exit(1);
		kill_step(progress);
		for (made = 0; made < QPS; made++) {
			if (verbs_endpoint_create(&setup, &endpoints[made],
						  IBV_QPT_RC))
				break;
			kill_step(progress);
		}
		if (made < PAGES)
			_exit(1);
		for (i = 0; i < made; i++) {
			verbs_endpoint_destroy(&endpoints[i * 5 % made]);
			kill_step(progress);
		}
		verbs_close(&setup);
		kill_step(progress);
	}
}

static int wait_steps(int progress, unsigned int steps)
{
	char byte;

	while (steps--)
		if (read(progress, &byte, 1) != 1)
			return -ECHILD;
	return 0;
}

/*
 * In each round the victim gets two steps further than in the round before:
 * from before its context is open until well into the next context. It is
 * killed shortly after its last step, whatever it does at that moment.
 */
TEST_F_TIMEOUT(kill, in_the_middle_leaves_nothing, 200)
{
	int progress[2], status;
	unsigned int round;
	pid_t pid;

	srand(1);
	for (round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, pipe(progress));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			close(progress[0]);
			victim(progress[1]);
		}
		close(progress[1]);
		ASSERT_EQ(0, wait_steps(progress[0], 2 * round));
		usleep(rand() % (round ? 3000 : 30000));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status)) {
			TH_LOG("the victim failed by itself, round %u", round);
		}
		close(progress[0]);
		ASSERT_EQ(0, baseline_restored(&self->base, 30)) {
			TH_LOG("left behind after round %u", round);
		}
	}
}

TEST_HARNESS_MAIN
