// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Limits: what a strict policy refuses, and what the limit of a cgroup refuses.
 * The cgroup is made for the check, below that of the tool, and its limit goes with
 * it. A limit of users is not tried, as it would bind all users of the device.
 *
 * A process that is killed leaves its cgroup behind. The tool removes such cgroups
 * before it runs the groups of checks, and afterwards.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli.h"
#include "selftest.h"

#define CGROUPS "sys/fs/cgroup"
#define PREFIX "mlx5ep-selftest."
#define MOST_CONTEXTS 32
#define MOST_PAGES 32

/**
 * struct limited - a cgroup with a limit
 * @path: from the root of the tree, as the kernel names it
 * @dir: where it is in the file system
 * @home: the folder of the cgroup that this process came from
 * @pages: UAR pages that its processes may hold together
 */
struct limited {
	char path[PATH_LEN / 2];
	char dir[PATH_LEN];
	char home[PATH_LEN];
	unsigned int pages;
};

static int enter(const char *dir)
{
	char path[PATH_LEN + 16], pid[16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	snprintf(pid, sizeof(pid), "%d", getpid());
	return file_write(path, pid);
}

static void leave(struct limited *limited)
{
	enter(limited->home);
	rmdir(limited->dir);
}

/* The cgroup of this process, "" for the first of all; NULL if there is none. */
static char *own_cgroup(char *text, size_t len)
{
	char path[PATH_LEN], *own;

	root_path(path, "proc/self/cgroup");
	if (file_read(path, text, len) <= 0)
		return NULL;
	own = strstr(text, "0::/");
	if (!own)
		return NULL;
	own += strlen("0::");
	own[strcspn(own, "\n")] = '\0';
	if (!own[1])
		*own = '\0';
	return own;
}

/* Names the cgroup after that of this process and its id. */
static int name(struct limited *limited)
{
	char text[PATH_LEN / 2], *own = own_cgroup(text, sizeof(text));

	if (!own)
		return -ENOENT;
	root_path(limited->home, CGROUPS "%s", own);
	if (snprintf(limited->path, sizeof(limited->path), "%s/" PREFIX "%d",
		     own, getpid()) >= (int)sizeof(limited->path))
		return -ENAMETOOLONG;
	root_path(limited->dir, CGROUPS "%s", limited->path);
	return 0;
}

static int limit(const char *device, const struct limited *limited)
{
	char path[PATH_LEN], line[PATH_LEN];

	root_path(path, "sys/" ATTRIBUTES, device, "uar_cgroup_limits");
	snprintf(line, sizeof(line), "%s %u", limited->path, limited->pages);
	return file_write(path, line);
}

/* Makes the cgroup, gives it a limit, and moves this process into it. */
static int make(const char *device, struct limited *limited)
{
	int ret;

	ret = name(limited);
	if (ret)
		return ret;
	if (mkdir(limited->dir, 0755))
		return -errno;
	ret = limit(device, limited);
	if (!ret)
		ret = enter(limited->dir);
	if (ret)
		leave(limited);
	return ret;
}

/* Opens contexts until one is refused. Returns how many opened; errno is set. */
static unsigned int open_all(const char *device, struct ibv_context **ctxs,
			     unsigned int most)
{
	unsigned int n;

	for (n = 0; n < most; n++) {
		ctxs[n] = loopback_context(device, NULL);
		if (!ctxs[n])
			break;
	}
	return n;
}

static void close_all(struct ibv_context **ctxs, unsigned int n)
{
	while (n)
		ibv_close_device(ctxs[--n]);
}

/*
 * Raises the limit until it lets contexts open, and refuses one. @outside contexts
 * open without it: where the user or the device refuses earlier, the limit of the
 * cgroup cannot be seen. Returns how many opened; they are left open.
 */
static unsigned int find_limit(const char *device, struct limited *limited,
			       struct ibv_context **ctxs, unsigned int outside)
{
	unsigned int n;

	for (; limited->pages <= MOST_PAGES; limited->pages *= 2) {
		if (limit(device, limited))
			return 0;
		errno = 0;
		n = open_all(device, ctxs, outside);
		if (n && n < outside)
			return n;
		close_all(ctxs, n);
	}
	return 0;
}

static void in_cgroup(struct selftest *st, struct limited *limited,
		      unsigned int outside)
{
	/* Fewer open within the limit than outside of it, and then one more. */
	struct ibv_context *ctxs[MOST_CONTEXTS];
	unsigned int n, again, beyond = 0;
	int ret;

	n = find_limit(st->device, limited, ctxs, outside);
	selftest_expect(st, n && errno == EDQUOT,
			"the limit of a cgroup refuses",
			"%u contexts within %u UAR pages, then: %s", n,
			limited->pages, n ? strerror(errno) : "no end");
	ret = enter(limited->home);
	if (!ret)
		beyond = open_all(st->device, ctxs + n, 1);
	selftest_expect(st, beyond == 1, "processes outside do not meet it",
			"%s", ret ? strerror(-ret) :
			beyond ? "opened" : strerror(errno));
	close_all(ctxs, n + beyond);
	ret = enter(limited->dir);
	again = ret ? 0 : open_all(st->device, ctxs, n);
	selftest_expect(st, again == n, "closing gives the pages back",
			"%u contexts opened again", again);
	close_all(ctxs, again);
}

/* Counts the contexts that open where no limit of a cgroup was set for the check. */
static unsigned int contexts_outside(const char *device)
{
	struct ibv_context *ctxs[MOST_CONTEXTS];
	unsigned int n = open_all(device, ctxs, MOST_CONTEXTS);

	close_all(ctxs, n);
	return n;
}

static void cgroup_limit(struct selftest *st)
{
	struct limited limited = { .pages = 1 };
	unsigned int outside;
	int ret;

	if (geteuid()) {
		selftest_say(st, NOT_TESTABLE, "the limit of a cgroup refuses",
			     "only root may set one");
		return;
	}
	outside = contexts_outside(st->device);
	if (outside < 2) {
		selftest_say(st, NOT_TESTABLE, "the limit of a cgroup refuses",
			     "%u contexts open without it: %s", outside,
			     strerror(errno));
		return;
	}
	ret = make(st->device, &limited);
	if (ret) {
		selftest_say(st, NOT_TESTABLE, "the limit of a cgroup refuses",
			     "no cgroup (v2) with a limit here: %s",
			     strerror(-ret));
		return;
	}
	in_cgroup(st, &limited, outside);
	leave(&limited);
}

static void strict(struct selftest *st)
{
	const struct mlx5_ep_context_policy wish = {
		.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT,
		.flags = MLX5_EP_POLICY_LATER_OPENS | MLX5_EP_POLICY_STRICT,
		.pages = 2,
	};
	struct mlx5_ep_context_info info = {};
	struct loopback loop;
	int ret;

	/* Two pages, or all UAR pages of one page of the system. */
	ret = loopback_open(&loop, st->device, &wish) ?:
		      mlx5ep_context_query(loop.ctx, &info);
	if (ret) {
		selftest_say(st, NOT_TESTABLE, "a strict policy refuses",
			     "the context was not opened: %s", strerror(-ret));
	} else if (info.policy != wish.policy) {
		selftest_no_policy(st, "a strict policy refuses");
	} else if (info.static_pages >= LOOPBACK_QPS) {
		selftest_say(st, NOT_TESTABLE, "a strict policy refuses",
			     "a context has %u UAR pages here",
			     info.static_pages);
	} else {
		while (!ret)
			ret = loopback_add(&loop);
		selftest_expect(st, ret == -ENOSPC && loop.n == info.static_pages,
				"a strict policy refuses",
				"%u QPs on %u pages, then: %s", loop.n,
				info.static_pages, strerror(-ret));
	}
	loopback_close(&loop);
}

/* Removes the cgroup of a process that is gone. */
static int remove_left(const char *name, void *arg)
{
	const char *dir = arg;
	char path[PATH_LEN];
	pid_t pid;

	if (strncmp(name, PREFIX, strlen(PREFIX)))
		return 0;
	pid = atoi(name + strlen(PREFIX));
	if (pid > 0 && kill(pid, 0) && errno == ESRCH &&
	    snprintf(path, sizeof(path), "%s/%s", dir, name) <
	    (int)sizeof(path))
		rmdir(path);
	return 0;
}

/**
 * selftest_limits_clean() - remove the cgroups of killed processes
 *
 * They are below the cgroup of the tool. Their limits go with them.
 */
void selftest_limits_clean(void)
{
	char text[PATH_LEN / 2], dir[PATH_LEN];
	char *own = own_cgroup(text, sizeof(text));

	if (!own)
		return;
	root_path(dir, CGROUPS "%s", own);
	dir_names(dir, remove_left, dir);
}

/**
 * selftest_limits() - a strict policy and a cgroup refuse what is too much
 */
void selftest_limits(struct selftest *st)
{
	/* The policy of the strict context is that of all later opens. */
	cgroup_limit(st);
	strict(st);
}
