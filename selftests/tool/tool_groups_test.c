// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The processes of mlx5ep selftest: what a group of checks says becomes its results, and
 * each way in which its process can end is one of them. The groups are those of this
 * program; the objects of the tool are linked to it.
 */
#include "kselftest_harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "selftest/selftest.h"

static bool no_process;

/* Stands in front of libc's, for the tool too. */
pid_t fork(void)
{
	static pid_t (*real)(void);

	if (no_process) {
		errno = EAGAIN;
		return -1;
	}
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fork");
	return real();
}

FIXTURE(groups)
{
	struct json_object *results;
};

FIXTURE_SETUP(groups)
{
	self->results = json_object_new_array();
}

/* No process of a group is left, and no descriptor. */
FIXTURE_TEARDOWN(groups)
{
	json_object_put(self->results);
	EXPECT_EQ(waitpid(-1, NULL, WNOHANG), -1);
	EXPECT_EQ(errno, ECHILD);
}

/* The results as JSON, without what all of them have. */
static const char *groups_text(struct json_object *results)
{
	return json_object_to_json_string_ext(results, JSON_C_TO_STRING_PLAIN);
}

#define ROW(check, result, detail)					\
	"{\"group\":\"g\",\"check\":\"" check "\",\"result\":\"" result	\
	"\",\"detail\":\"" detail "\"}"

/* The number that a file gets that is opened now. */
static int next_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

static void says_all(struct selftest *st)
{
	selftest_say(st, PASSED, "one", "%d seen", 1);
	selftest_say(st, FAILED, "two", "a \"quote\"");
	selftest_say(st, NOT_TESTABLE, "three", "%s", st->device);
	if (selftest_expect(st, true, "four", "x") &&
	    !selftest_expect(st, false, "five", "%s", "y"))
		selftest_say(st, PASSED, "six", "z");
}

TEST_F(groups, results_are_what_was_said)
{
	int fd = next_fd();

	selftest_process("mlx5_0", "g", says_all, 20, self->results);
	EXPECT_STREQ(groups_text(self->results),
		     "[" ROW("one", "passed", "1 seen") ","
		     ROW("two", "failed", "a \\\"quote\\\"") ","
		     ROW("three", "not testable", "mlx5_0") ","
		     ROW("four", "passed", "x") "," ROW("five", "failed", "y") ","
		     ROW("six", "passed", "z") "]");
	EXPECT_EQ(next_fd(), fd);
}

static void says_much(struct selftest *st)
{
	char detail[400];
	int i;

	memset(detail, 'd', sizeof(detail));
	detail[sizeof(detail) - 1] = '\0';
	for (i = 0; i < 100; i++)
		selftest_say(st, PASSED, "c", "%d %s", i, detail);
	selftest_expect(st, true, "last", "%s", detail);
}

/* More than a pipe's reader takes at once, and details that are cut. */
TEST_F(groups, many_results_are_kept)
{
	struct json_object *row, *detail;
	size_t i;

	selftest_process("mlx5_0", "g", says_much, 0, self->results);
	ASSERT_EQ(json_object_array_length(self->results), 101);
	for (i = 0; i < 101; i++) {
		row = json_object_array_get_idx(self->results, i);
		ASSERT_TRUE(json_object_object_get_ex(row, "detail", &detail));
		EXPECT_EQ(strlen(json_object_get_string(detail)), 255);
		if (i < 100)
			EXPECT_EQ(atoi(json_object_get_string(detail)), i);
	}
}

static void says_nothing(struct selftest *st)
{
	(void)st;
}

TEST_F(groups, no_result_is_one)
{
	int fd = next_fd();

	selftest_process("mlx5_0", "g", says_nothing, 20, self->results);
	EXPECT_STREQ(groups_text(self->results),
		     "[" ROW("starts", "failed", "no result") "]");
	EXPECT_EQ(next_fd(), fd);
}

static void exits(struct selftest *st)
{
	selftest_say(st, PASSED, "one", "x");
	_exit(3);
}

TEST_F(groups, a_process_that_cannot_be_made_is_told)
{
	int fd = next_fd();

	no_process = true;
	selftest_process("mlx5_0", "g", says_all, 20, self->results);
	no_process = false;
	EXPECT_STREQ(groups_text(self->results),
		     "[" ROW("starts", "failed",
			     "Resource temporarily unavailable") "]");
	EXPECT_EQ(next_fd(), fd);
}

TEST_F(groups, an_exit_status_is_told)
{
	selftest_process("mlx5_0", "g", exits, 20, self->results);
	EXPECT_STREQ(groups_text(self->results), "[" ROW("one", "passed", "x") ","
		     ROW("ends by itself", "failed", "exit status 3") "]");
}

static int sig;	/* that the group gets */

static void gets_it(struct selftest *st)
{
	(void)st;
	raise(sig);
}

static void on_signal(int which)
{
	(void)which;
}

/* The tool catches the signal; its groups do not. The results as JSON. */
static const char *after_signal(int which, struct json_object *results)
{
	sig = which;
	signal(sig, on_signal);
	selftest_process("mlx5_0", "g", gets_it, 20, results);
	return groups_text(results);
}

TEST_F(groups, a_signal_is_told)
{
	EXPECT_STREQ(after_signal(SIGTERM, self->results),
		     "[" ROW("ends by itself", "failed",
		     "its process was ended by signal 15 (Terminated)") "]");
}

TEST_F(groups, an_interrupt_is_told)
{
	EXPECT_STREQ(after_signal(SIGINT, self->results),
		     "[" ROW("ends by itself", "failed",
		     "its process was ended by signal 2 (Interrupt)") "]");
}

static void waits(struct selftest *st)
{
	selftest_say(st, PASSED, "one", "x");
	for (;;)
		pause();
}

/* What it said before is kept. A second is what it may take, and no more than a few. */
TEST_F(groups, time_that_is_up_is_told)
{
	time_t began = time(NULL);

	selftest_process("mlx5_0", "g", waits, 1, self->results);
	EXPECT_STREQ(groups_text(self->results), "[" ROW("one", "passed", "x") ","
		     ROW("ends in time", "failed", "killed after 1 seconds") "]");
	EXPECT_GE(time(NULL), began + 1);
}

/* Its descriptor is closed, its process not ended: that is waited for. */
static void closes(struct selftest *st)
{
	selftest_say(st, PASSED, "one", "x");
	close(st->fd);
	usleep(300000);
	_exit(0);
}

TEST_F(groups, a_process_is_waited_for)
{
	selftest_process("mlx5_0", "g", closes, 20, self->results);
	EXPECT_STREQ(groups_text(self->results), "[" ROW("one", "passed", "x") "]");
}

/* A group that is slow, but not too slow, is not killed. */
static void is_slow(struct selftest *st)
{
	usleep(1200000);
	selftest_say(st, PASSED, "one", "x");
}

TEST_F(groups, a_slow_group_is_not_killed)
{
	selftest_process("mlx5_0", "g", is_slow, 60, self->results);
	selftest_process("mlx5_0", "g", is_slow, 0, self->results);
	EXPECT_STREQ(groups_text(self->results), "[" ROW("one", "passed", "x") ","
		     ROW("one", "passed", "x") "]");
}

static void has_no_policy(struct selftest *st)
{
	selftest_no_policy(st, "one");
}

/* The module says why a device has no policies, in a line of its own. */
TEST_F(groups, a_missing_policy_has_a_reason)
{
	char root[] = "/tmp/tool_groups.XXXXXX", command[256];

	ASSERT_NE(mkdtemp(root), NULL);
	setenv("MLX5EP_ROOT", root, 1);
	selftest_process("mlx5_0", "g", has_no_policy, 20, self->results);
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p sys/class/infiniband/mlx5_0/mlx5_ep && printf 'yes, without uUAR policies: a VF\\nmore\\n' >sys/class/infiniband/mlx5_0/mlx5_ep/attached",
		 root);
	ASSERT_EQ(system(command), 0);
	selftest_process("mlx5_0", "g", has_no_policy, 20, self->results);
	EXPECT_STREQ(groups_text(self->results), "[" ROW("one", "not testable",
		     "no pages for it, or the program is exempt") ","
		     ROW("one", "not testable", "a VF") "]");
	snprintf(command, sizeof(command), "rm -rf %s", root);
	EXPECT_EQ(system(command), 0);
}

TEST_HARNESS_MAIN
