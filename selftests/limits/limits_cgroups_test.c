// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120, config: EVENT_TRACING */
/*
 * The UAR pages of a process count for its cgroup and for each one above. A
 * limit that is set for any of them holds, and the refusal names it.
 */
#include "kselftest_harness.h"

#include <sys/klog.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ctx_open.h"
#include "holder.h"
#include "simhca.h"
#include "sysfs.h"
#include "uar_page.h"

#define TRACING "/sys/kernel/tracing/"

static const char *const paths[] = { "/a", "/a/b", "/a/b/c", "/a/d" };

FIXTURE(cgroup)
{
	int64_t before;
};

FIXTURE_VARIANT(cgroup)
{
	const char *policy;
};

FIXTURE_VARIANT_ADD(cgroup, stock) { "stock" };
FIXTURE_VARIANT_ADD(cgroup, independent) { "independent" };

static int cgroups_set_limit(const char *path, const char *limit)
{
	char line[300];

	snprintf(line, sizeof(line), "%s %s\n", path, limit);
	return sysfs_write("uar_cgroup_limits", line);
}

FIXTURE_SETUP(cgroup)
{
	struct ibv_context *ctx;
	char path[300];
	size_t i;

	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, holder_mount_cgroups());
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), HOLDER_CGROUPS "%s", paths[i]);
		ASSERT_EQ(0, mkdir(path, 0755));
	}
	ASSERT_EQ(0, sysfs_policy(variant->policy, 2, false));
	ctx = ctx_open();
	ASSERT_NE(NULL, ctx);
	ibv_close_device(ctx);
	self->before = simhca_count("uar");
}

FIXTURE_TEARDOWN(cgroup)
{
	char path[300];
	int i;

	for (i = 3; i >= 0; i--) {
		snprintf(path, sizeof(path), HOLDER_CGROUPS "%s", paths[i]);
		EXPECT_EQ(0, rmdir(path));
	}
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(self->before, simhca_count("uar"));
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
}

/* How many pages a process in @path gets that wants @want. */
#define START(holder, path, want) \
	ASSERT_EQ(0, holder_start(holder, holder_enter_cgroup, path, want))

TEST_F(cgroup, shares_the_limit_of_the_one_above)
{
	struct holder holders[3];

	ASSERT_EQ(0, cgroups_set_limit("/a", "4"));
	START(&holders[0], "/a/b/c", 3);
	EXPECT_EQ(3, holders[0].pages);
	START(&holders[1], "/a/d", 3);
	EXPECT_EQ(1, holders[1].pages);
	START(&holders[2], "/a/b", 1);
	EXPECT_EQ(-EDQUOT, holders[2].pages);
	EXPECT_EQ(4, simhca_count("uar") - self->before);
	holder_end(&holders[2]);
	/* A process outside is not bound. */
	START(&holders[2], "", 5);
	EXPECT_EQ(5, holders[2].pages);
	holder_end(&holders[2]);
	holder_end(&holders[0]);
	START(&holders[0], "/a", 9);
	EXPECT_EQ(3, holders[0].pages);
	holder_end(&holders[0]);
	holder_end(&holders[1]);
}

TEST_F(cgroup, has_the_lowest_of_the_limits_above_it)
{
	struct holder holder;

	ASSERT_EQ(0, cgroups_set_limit("/a", "6"));
	ASSERT_EQ(0, cgroups_set_limit("/a/b", "3"));
	ASSERT_EQ(0, cgroups_set_limit("/a/b/c", "5"));
	START(&holder, "/a/b/c", 9);
	EXPECT_EQ(3, holder.pages);
	holder_end(&holder);
	ASSERT_EQ(0, cgroups_set_limit("/a/b", "none"));
	START(&holder, "/a/b/c", 9);
	EXPECT_EQ(5, holder.pages);
	holder_end(&holder);
}

TEST_F(cgroup, is_bound_by_a_limit_that_is_set_later)
{
	struct holder holders[2];

	START(&holders[0], "/a/b/c", 3);
	EXPECT_EQ(3, holders[0].pages);
	ASSERT_EQ(0, cgroups_set_limit("/a/b", "3"));
	START(&holders[1], "/a/b/c", 1);
	EXPECT_EQ(-EDQUOT, holders[1].pages);
	holder_end(&holders[1]);
	/* A limit below what is held takes nothing away. */
	ASSERT_EQ(0, cgroups_set_limit("/a/b", "1"));
	EXPECT_EQ(3, simhca_count("uar") - self->before);
	START(&holders[1], "/a/b", 1);
	EXPECT_EQ(-EDQUOT, holders[1].pages);
	holder_end(&holders[1]);
	ASSERT_EQ(0, cgroups_set_limit("/a/b", "4"));
	START(&holders[1], "/a/b", 9);
	EXPECT_EQ(1, holders[1].pages);
	holder_end(&holders[1]);
	holder_end(&holders[0]);
}

/* Is @what in the kernel's log, or in the trace? */
static bool log_has(const char *what)
{
	static char text[1 << 18];
	int n = klogctl(3, text, sizeof(text) - 1);	/* READ_ALL */

	text[n > 0 ? n : 0] = '\0';
	return strstr(text, what);
}

static bool trace_has(const char *what)
{
	FILE *trace = fopen(TRACING "trace", "re");
	char line[512];
	bool has = false;

	while (trace && !has && fgets(line, sizeof(line), trace))
		has = strstr(line, what);
	if (trace)
		fclose(trace);
	return has;
}

TEST_F(cgroup, is_named_where_its_limit_refuses)
{
	struct holder holder;

	/* The log takes 10 lines in 5 s, and other tests have written some. */
	sleep(6);
	ASSERT_EQ(0, file_write(TRACING "events/mlx5_ep/enable", "1"));
	ASSERT_EQ(0, cgroups_set_limit("/a/b", "2"));
	START(&holder, "/a/b/c", 3);
	EXPECT_EQ(2, holder.pages);
	holder_end(&holder);
	EXPECT_EQ(0, file_write(TRACING "events/mlx5_ep/enable", "0"));
	EXPECT_TRUE(log_has("cgroup /a/b holds 2 UAR pages and is refused 1 more"));
	EXPECT_TRUE(trace_has("who=\"cgroup /a/b\" what=\"UAR pages\" held=2 refused=1 limit=2"));
}

/*
 * A process opens the device in a cgroup, goes out of it, and takes pages. Return:
 * what the last answered, which is refused.
 */
static int take_outside(const char *path)
{
	struct ibv_context *ctx;
	uint32_t handle;
	int ret;

	if (holder_enter_cgroup(path))
		return 1;
	ctx = ctx_open();
	if (!ctx || ctx_arm_cq(ctx) || holder_enter_cgroup(""))
		return 2;
	do
		ret = uar_page_alloc(ctx, &handle, NULL);
	while (!ret);
	return ret;
}

/* The pages of a context count where it was opened. */
TEST_F(cgroup, that_the_process_has_left_is_named_by_its_id)
{
	char line[128];
	struct stat st;
	int status;
	pid_t pid;

	ASSERT_EQ(0, stat(HOLDER_CGROUPS "/a/b", &st));
	ASSERT_EQ(0, cgroups_set_limit("/a/b", "2"));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(-take_outside("/a/b/c"));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(EDQUOT, WEXITSTATUS(status));
	snprintf(line, sizeof(line),
		 "cgroup with id %llu holds 2 UAR pages and is refused 1 more",
		 (unsigned long long)st.st_ino);
	EXPECT_TRUE(log_has(line));
}

static bool list_is(const char *text)
{
	char list[300];

	return !sysfs_read("uar_cgroup_limits", list, sizeof(list)) &&
	       !strcmp(list, text);
}

TEST_F(cgroup, is_listed_with_its_limit)
{
	EXPECT_TRUE(list_is(""));
	EXPECT_EQ(0, cgroups_set_limit("/a", "8192"));
	EXPECT_EQ(0, cgroups_set_limit("/a/b", "1"));
	EXPECT_TRUE(list_is("/a 8192\n/a/b 1"));
	/* The policy of a cgroup is another matter. */
	EXPECT_EQ(0, sysfs_write("uuar_cgroups", "/a independent 0 4"));
	EXPECT_EQ(0, cgroups_set_limit("/a", "none"));
	EXPECT_TRUE(list_is("/a/b 1"));
	EXPECT_EQ(0, sysfs_write("uuar_cgroups", "/a none 0 0"));
	EXPECT_EQ(0, cgroups_set_limit("/a/b", "none"));
	EXPECT_TRUE(list_is(""));
	EXPECT_EQ(-ENOENT, cgroups_set_limit("/a/b", "none"));
	EXPECT_EQ(-ENOENT, cgroups_set_limit("/x", "4"));
	EXPECT_EQ(-EINVAL, cgroups_set_limit("/a", "8193"));
	EXPECT_EQ(-EINVAL, cgroups_set_limit("/a", "0"));
	EXPECT_EQ(-EINVAL, cgroups_set_limit("/a", "-1"));
	EXPECT_EQ(-EINVAL, cgroups_set_limit("/a", "4 4"));
	EXPECT_EQ(-EINVAL, sysfs_write("uar_cgroup_limits", "/a"));
}

TEST_HARNESS_MAIN
