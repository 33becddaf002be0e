// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A group of checks in a process of its own. The process is killed when its time
 * is up, or when the tool ends before it.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "selftest.h"

#define KILL_MS 3000
#define KILL_LOOK_US 10000

static void process_child(struct selftest *st, selftest_group group,
			  pid_t parent)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	group(st);
	_exit(0);
}

static long process_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Collects what a group writes. Returns whether it ended in time. */
static bool process_collect(int fd, unsigned int seconds, FILE *into)
{
	long end = seconds ? process_now() + seconds * 1000L : LONG_MAX;
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	char buf[4096];
	ssize_t len;
	int ret;

	while (process_now() < end) {
		ret = poll(&poller, 1, 200);
		if (ret <= 0)
			continue;
		len = read(fd, buf, sizeof(buf));
		if (len <= 0)
			return true;
		fwrite(buf, 1, len, into);
	}
	return false;
}

/* Adds the lines of a group to the results. */
static void process_add(char *text, struct json_object *results)
{
	struct json_object *row;
	char *line, *rest;

	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		row = json_tokener_parse(line);
		if (row)
			json_object_array_add(results, row);
	}
}

/*
 * Waits for the end of the group's process. A killed process can still wait for
 * firmware in the kernel, for minutes: this process does not wait so long.
 */
static bool ended(pid_t pid, bool killed, int *status)
{
	long end = process_now() + KILL_MS;
	pid_t ret;

	do {
		ret = waitpid(pid, status, killed ? WNOHANG : 0);
		if (ret == pid || (ret < 0 && errno != EINTR))
			return true;
		if (killed)
			usleep(KILL_LOOK_US);
	} while (!killed || process_now() < end);
	return false;
}

static void look_at_end(struct selftest *st, unsigned int seconds, bool in_time,
			bool gone, int status)
{
	if (!gone)
		selftest_say(st, FAILED, "ends in time",
			     "killed after %u seconds, but it waits for the kernel: firmware does not answer",
			     seconds);
	else if (!in_time)
		selftest_say(st, FAILED, "ends in time",
			     "killed after %u seconds", seconds);
	else if (WIFSIGNALED(status))
		selftest_say(st, FAILED, "ends by itself",
			     "its process was ended by signal %d (%s)",
			     WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		selftest_say(st, FAILED, "ends by itself", "exit status %d",
			     WEXITSTATUS(status));
}

/* Runs the group; its results, and how it ended, go to @into. */
static int process_run(struct selftest *st, selftest_group group,
		       unsigned int seconds, FILE *into)
{
	int fds[2], status = 0;
	pid_t parent = getpid(), pid;
	bool in_time, gone;

	if (pipe(fds))
		return -errno;
	st->fd = fds[1];
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return -EAGAIN;
	}
	if (!pid) {
		close(fds[0]);
		process_child(st, group, parent);
	}
	close(fds[1]);
	in_time = process_collect(fds[0], seconds, into);
	close(fds[0]);
	if (!in_time)
		kill(pid, SIGKILL);
	gone = ended(pid, !in_time, &status);
	fflush(into);
	st->fd = fileno(into);
	look_at_end(st, seconds, in_time, gone, status);
	return 0;
}

/**
 * selftest_process() - run a group of checks and add its results
 * @seconds: after which the group's process is killed; 0: never
 * @results: array of objects
 */
void selftest_process(const char *device, const char *name,
		      selftest_group group, unsigned int seconds,
		      struct json_object *results)
{
	struct selftest st = { .device = device, .group = name };
	FILE *into = tmpfile();
	char *text = NULL;
	ssize_t len = 0;
	size_t room = 0;
	int ret = into ? process_run(&st, group, seconds, into) : -errno;

	if (!ret) {
		fseek(into, 0, SEEK_SET);
		len = getdelim(&text, &room, '\0', into);
	}
	if (len > 0) {
		process_add(text, results);
	} else {
		free(text);
		text = NULL;
		ret = asprintf(&text, "{\"group\":\"%s\",\"check\":\"starts\","
			       "\"result\":\"failed\",\"detail\":\"%s\"}",
			       name, ret ? strerror(-ret) : "no result");
		if (ret > 0)
			process_add(text, results);
	}
	free(text);
	if (into)
		fclose(into);
}
