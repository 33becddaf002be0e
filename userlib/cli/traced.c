// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The contexts of the caller's own processes, for users who cannot read debugfs.
 * A process's uverbs file is duplicated into this one (pidfd_getfd()), and the
 * module is asked there, by the calls that the process has itself. The kernel
 * allows that for processes that the caller could trace.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mlx5ep/uuar.h>

#include "cli.h"

#define MOST_UUARS 512		/* of a context: two per static page */

/* Names as in the kernel's tables. */
#define POLICY_NAME(policy, name) [policy] = name,

static const char *const policies[] = {
	MLX5_EP_UUAR_POLICIES(POLICY_NAME)
};

static const char *const sources[] = {
	[MLX5_EP_POLICY_SOURCE_DEVICE] = "device",
	[MLX5_EP_POLICY_SOURCE_EXEMPT] = "exempt",
	[MLX5_EP_POLICY_SOURCE_CGROUP] = "cgroup",
	[MLX5_EP_POLICY_SOURCE_PROCESS] = "process",
	[MLX5_EP_POLICY_SOURCE_CONTEXT] = "context",
	[MLX5_EP_POLICY_SOURCE_FALLBACK] = "fallback",
};

#define NAME_OF(names, i) \
	((i) < sizeof(names) / sizeof(*(names)) ? (names)[i] : "unknown")

struct search {
	struct ibv_device device;	/* what the library reads of one */
	char node[288];			/* /dev/infiniband/uverbsN */
	const char *pid;		/* of the process that is looked at */
	struct json_object *contexts, *uuars;
	bool refused;
};

static void traced_add(struct json_object *row, const char *key, long long value)
{
	json_object_object_add(row, key, json_object_new_int64(value));
}

static void add_context(struct search *search,
			const struct mlx5_ep_context_info *info)
{
	struct json_object *row = json_object_new_object();
	char path[PATH_LEN], comm[64];

	traced_add(row, "pid", atoi(search->pid));
	json_object_object_add(row, "policy", json_object_new_string(
		NAME_OF(policies, info->policy)));
	traced_add(row, "strict", !!(info->flags & MLX5_EP_CONTEXT_STRICT));
	json_object_object_add(row, "source", json_object_new_string(
		NAME_OF(sources, info->source)));
	traced_add(row, "managed", !!(info->flags & MLX5_EP_CONTEXT_MANAGED));
	traced_add(row, "static", info->static_pages);
	traced_add(row, "dynamic", info->dynamic_pages);
	traced_add(row, "held", info->held_pages);
	traced_add(row, "low_latency", info->low_latency);
	traced_add(row, "qps", info->qps);
	traced_add(row, "placed", info->placed_qps);
	traced_add(row, "used_pages", info->used_pages);
	traced_add(row, "used_uuars", info->used_uuars);
	traced_add(row, "shared_uuars", info->shared_uuars);
	root_path(path, "proc/%s/comm", search->pid);
	file_read(path, comm, sizeof(comm));
	json_object_object_add(row, "comm", json_object_new_string(comm));
	json_object_array_add(search->contexts, row);
}

static void add_uuars(struct search *search, struct ibv_context *context)
{
	static struct mlx5_ep_uuar_info uuars[MOST_UUARS];
	unsigned int i, count = MOST_UUARS;
	struct json_object *row;

	if (mlx5ep_context_dump(context, uuars, &count))
		return;
	for (i = 0; i < count && i < MOST_UUARS; i++) {
		row = json_object_new_object();
		traced_add(row, "pid", atoi(search->pid));
		json_object_object_add(row, "uar",
			uuars[i].uar == MLX5_EP_UAR_UNKNOWN ? NULL :
			json_object_new_int64(uuars[i].uar));
		traced_add(row, "page", uuars[i].page);
		traced_add(row, "slot", uuars[i].slot);
		traced_add(row, "qps", uuars[i].qps);
		traced_add(row, "locked", !!(uuars[i].flags & MLX5_EP_UUAR_LOCKED));
		traced_add(row, "blueflame",
			   !(uuars[i].flags & MLX5_EP_UUAR_NO_BLUEFLAME));
		json_object_array_add(search->uuars, row);
	}
}

/* While the file is open here too, its context outlives the process. */
static int traced_ask(struct search *search, int pidfd, const char *name)
{
	struct ibv_context context = { .device = &search->device };
	struct mlx5_ep_context_info info;

	context.cmd_fd = syscall(SYS_pidfd_getfd, pidfd, atoi(name), 0);
	if (context.cmd_fd < 0) {
		search->refused = search->refused || errno == EPERM;
		return 0;
	}
	if (!mlx5ep_context_query(&context, &info)) {
		add_context(search, &info);
		add_uuars(search, &context);
	}
	close(context.cmd_fd);
	return 0;
}

static int each_file(const char *pid, const char *fd, const char *target,
		     void *arg)
{
	struct search *search = arg;
	int pidfd;

	if (strcmp(target, search->node))
		return 0;
	pidfd = syscall(SYS_pidfd_open, atoi(pid), 0);
	if (pidfd < 0)
		return 0;
	search->pid = pid;
	traced_ask(search, pidfd, fd);
	close(pidfd);
	return 0;
}

static int each_node(const char *name, void *arg)
{
	struct search *search = arg;

	snprintf(search->node, sizeof(search->node), "/dev/infiniband/%s", name);
	return 1;
}

/**
 * traced_contexts() - add the tables "contexts" and "uuars" of the caller's processes
 * @dev: object of an attached device; both are null there. Its "own" becomes
 *	"all", or "some" where the kernel did not let us ask a process.
 * @name: of the device
 *
 * A process that has a context by fork() or in two files is listed twice.
 */
void traced_contexts(struct json_object *dev, const char *name)
{
	struct search search = {};
	char path[PATH_LEN];

	root_path(path, "sys/class/infiniband/%s/device/infiniband_verbs", name);
	if (dir_names(path, each_node, &search) != 1)
		return;
	root_path(path, "sys/class/infiniband/%s", name);
	snprintf(search.device.ibdev_path, sizeof(search.device.ibdev_path),
		 "%.*s", (int)sizeof(search.device.ibdev_path) - 1, path);
	search.contexts = json_object_new_array();
	search.uuars = json_object_new_array();
	open_files(each_file, &search);
	json_object_object_add(dev, "contexts", search.contexts);
	json_object_object_add(dev, "uuars", search.uuars);
	json_object_object_add(dev, "own", json_object_new_string(
		search.refused ? "some" : "all"));
}
