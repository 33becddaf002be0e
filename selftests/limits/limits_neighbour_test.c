// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, smp: 2, timeout: 120 */
/*
 * A user who has reached the limit of users tries again and again. A user of the same
 * cgroup, where there is room for one page more, gets that page each time.
 */
#include "kselftest_harness.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ctx_open.h"
#include "holder.h"
#include "simhca.h"
#include "sysfs.h"
#include "uar_page.h"

#define LIMIT 6		/* pages of a user */
#define ROUNDS 400
#define CGROUP "/neighbour"

/* What the processes tell each other. */
struct shared {
	atomic_int ready;
	atomic_bool stop;
	atomic_uint tries;	/* of who is at its limit; each was refused */
	unsigned int refused;	/* of the other's */
	int wrong;		/* -errno that was not expected */
};

FIXTURE(neighbours)
{
	struct shared *shared;
	int64_t before;
};

FIXTURE_SETUP(neighbours)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, holder_mount_cgroups());
	ASSERT_EQ(0, mkdir(HOLDER_CGROUPS CGROUP, 0755));
	ASSERT_EQ(0, ctx_open_to_all());
	ASSERT_EQ(0, sysfs_policy("stock", 2, false));
	ibv_close_device(ctx_open());
	self->before = simhca_count("uar");
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
}

FIXTURE_TEARDOWN(neighbours)
{
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(self->before, simhca_count("uar"));
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(0, rmdir(HOLDER_CGROUPS CGROUP));
}

/* A context of a user in the cgroup, with a page. */
static struct ibv_context *open_as(uid_t uid)
{
	struct ibv_context *ctx;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (holder_enter_cgroup(CGROUP) || setresuid(uid, uid, uid))
		_exit(1);
	ctx = ctx_open();
	if (!ctx || ctx_arm_cq(ctx))
		_exit(2);
	return ctx;
}

static void at_the_limit(struct shared *shared)
{
	struct ibv_context *ctx = open_as(1000);
	uint32_t handle;
	int ret = 0, n;

	for (n = 1; n < LIMIT && !ret; n++)
		ret = uar_page_alloc(ctx, &handle, NULL);
	if (ret)
		_exit(3);
	atomic_fetch_add(&shared->ready, 1);
	while (!atomic_load(&shared->stop)) {
		ret = uar_page_alloc(ctx, &handle, NULL);
		if (ret != -EDQUOT)
			_exit(4);
		atomic_fetch_add(&shared->tries, 1);
	}
	_exit(0);
}

static void below_the_limit(struct shared *shared)
{
	struct ibv_context *ctx = open_as(1001);
	uint32_t handle;
	int ret, n;

	atomic_fetch_add(&shared->ready, 1);
	while (!atomic_load(&shared->tries))
		usleep(1000);
	for (n = 0; n < ROUNDS; n++) {
		ret = uar_page_alloc(ctx, &handle, NULL);
		if (!ret)
			ret = uar_page_free(ctx, handle);
		if (ret == -EDQUOT)
			shared->refused++;
		else if (ret)
			shared->wrong = ret;
	}
	_exit(0);
}

TEST_F_TIMEOUT(neighbours, are_not_refused_for_who_is, 90)
{
	struct shared *shared = self->shared;
	char limit[64];
	pid_t pids[2];
	int status;

	snprintf(limit, sizeof(limit), "%d", LIMIT);
	ASSERT_EQ(0, sysfs_write("uar_user_limit", limit));
	pids[0] = fork();
	if (!pids[0])
		at_the_limit(shared);
	pids[1] = fork();
	if (!pids[1])
		below_the_limit(shared);
	ASSERT_LT(0, pids[0]);
	ASSERT_LT(0, pids[1]);
	/* Both have what they hold, and there is room for one page. */
	while (atomic_load(&shared->ready) < 2 &&
	       !waitpid(-1, &status, WNOHANG))
		usleep(10000);
	ASSERT_EQ(2, atomic_load(&shared->ready));
	snprintf(limit, sizeof(limit), CGROUP " %jd",
		 (intmax_t)(simhca_count("uar") - self->before + 1));
	ASSERT_EQ(0, sysfs_write("uar_cgroup_limits", limit));
	ASSERT_EQ(pids[1], waitpid(pids[1], &status, 0));
	EXPECT_EQ(0, status);
	atomic_store(&shared->stop, true);
	ASSERT_EQ(pids[0], waitpid(pids[0], &status, 0));
	EXPECT_EQ(0, status);
	TH_LOG("%u tries at the limit meanwhile", atomic_load(&shared->tries));
	EXPECT_EQ(0, shared->refused);
	EXPECT_EQ(0, shared->wrong);
}

TEST_HARNESS_MAIN
