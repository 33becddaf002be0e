// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Processes of some user or cgroup that hold UAR pages until they are ended. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctx_open.h"
#include "holder.h"
#include "sysfs.h"
#include "uar_page.h"

/* Open the device and take pages. Return: how many, or -errno. */
static int take_pages(int want)
{
	struct ibv_context *ctx = ctx_open();
	uint32_t handle;
	int n = 1, ret;

	if (!ctx)
		return -errno;
	ret = ctx_arm_cq(ctx);
	if (ret)
		return ret < 0 ? ret : -EIO;
	while (n < want && !uar_page_alloc(ctx, &handle, NULL))
		n++;
	return n;
}

int holder_start(struct holder *holder, holder_enter *enter, const void *arg,
		 int want)
{
	int up[2], pages, ret = 0;

	if (pipe(up))
		return -errno;
	holder->pid = fork();
	if (!holder->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ret = enter(arg);
		if (ret)
			_exit(1);
		pages = take_pages(want);
		if (write(up[1], &pages, sizeof(pages)) != sizeof(pages))
			_exit(2);
		for (;;)
			pause();
	}
	close(up[1]);
	if (holder->pid < 0 ||
	    read(up[0], &holder->pages, sizeof(int)) != sizeof(int))
		ret = -ECHILD;
	close(up[0]);
	return ret;
}

void holder_end(struct holder *holder)
{
	kill(holder->pid, SIGKILL);
	waitpid(holder->pid, NULL, 0);
}

int holder_mount_cgroups(void)
{
	if (!access(HOLDER_CGROUPS "/cgroup.procs", F_OK))
		return 0;
	return mount("none", HOLDER_CGROUPS, "cgroup2", 0, NULL) ? -errno : 0;
}

int holder_enter_cgroup(const void *path)
{
	char procs[256];

	snprintf(procs, sizeof(procs), HOLDER_CGROUPS "%s/cgroup.procs",
		 (const char *)path);
	return file_write(procs, "0");
}

/* Write the maps of the process, once it has made its namespace. */
static int write_maps(pid_t pid, int ready[2], uid_t first)
{
	char path[64], map[64], byte;
	int ret;

	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return -EIO;
	snprintf(map, sizeof(map), "0 %u 1000", first);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	ret = file_write(path, map);
	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	return ret ? ret : file_write(path, map);
}

/* Make a user namespace, and be its root. A child that stays outside helps. */
static int enter_namespace(uid_t owner, uid_t first)
{
	pid_t self = getpid(), helper;
	int ready[2], status;

	if (pipe(ready))
		return -errno;
	helper = fork();
	if (!helper)
		_exit(write_maps(self, ready, first) ? 1 : 0);
	/* Else its maps would belong to root, as it changes its user. */
	if (setresgid(owner, owner, owner) || setresuid(owner, owner, owner) ||
	    prctl(PR_SET_DUMPABLE, 1) || unshare(CLONE_NEWUSER) ||
	    write(ready[1], "", 1) != 1)
		return -errno;
	if (waitpid(helper, &status, 0) != helper || status)
		return -EIO;
	close(ready[0]);
	close(ready[1]);
	return setresgid(0, 0, 0) || setresuid(0, 0, 0) ? -errno : 0;
}

int holder_enter_user(const void *arg)
{
	const struct holder_user *user = arg;
	int depth, ret;

	if (!user->depth)
		return setresuid(user->owner, user->owner, user->owner) ?
			       -errno : 0;
	for (depth = 0; depth < user->depth; depth++) {
		/* Each inner namespace has the upper ids of the one outside. */
		ret = enter_namespace(depth ? 1 : user->owner,
				      depth ? 0 : user->first);
		if (ret)
			return ret;
	}
	return setresuid(user->uid, user->uid, user->uid) ? -errno : 0;
}
