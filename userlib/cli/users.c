// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who would lose an RDMA device that is registered again: processes that have its
 * uverbs file open, and its IPoIB interfaces.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <net/if_arp.h>

#include "rebind.h"

struct users {
	char node[288];			/* /dev/infiniband/uverbsN */
	char pid[16];
	struct json_object *list;
};

static int each_fd(const char *name, void *arg)
{
	struct users *users = arg;
	char path[PATH_LEN], target[PATH_LEN], comm[64];
	struct json_object *user;
	ssize_t ret;

	root_path(path, "proc/%s/fd/%s", users->pid, name);
	ret = readlink(path, target, sizeof(target) - 1);
	target[ret > 0 ? ret : 0] = '\0';
	if (strcmp(target, users->node))
		return 0;
	root_path(path, "proc/%s/comm", users->pid);
	file_read(path, comm, sizeof(comm));
	user = json_object_new_object();
	json_object_object_add(user, "pid",
			       json_object_new_int(atoi(users->pid)));
	json_object_object_add(user, "comm", json_object_new_string(comm));
	json_object_array_add(users->list, user);
	return 1;
}

static int each_process(const char *name, void *arg)
{
	struct users *users = arg;
	char path[PATH_LEN];
	int ret;

	if (strspn(name, "0123456789") != strlen(name) ||
	    strlen(name) >= sizeof(users->pid))
		return 0;
	snprintf(users->pid, sizeof(users->pid), "%s", name);
	root_path(path, "proc/%s/fd", name);
	ret = dir_names(path, each_fd, users);
	/* A process that has ended, or is another user's, cannot be looked at. */
	return ret == -ENOMEM || ret == -EMFILE || ret == -ENFILE ? ret : 0;
}

struct netdevs {
	const char *device;
	struct json_object *list;
};

/* Lists IPoIB interfaces only. An Ethernet interface does not need mlx5_ib. */
static int each_netdev(const char *name, void *arg)
{
	struct netdevs *netdevs = arg;
	char path[PATH_LEN], type[16];
	struct json_object *user;

	root_path(path, "sys/class/infiniband/%s/device/net/%s/type",
		  netdevs->device, name);
	if (file_read(path, type, sizeof(type)) < 0 ||
	    atoi(type) != ARPHRD_INFINIBAND)
		return 0;
	user = json_object_new_object();
	json_object_object_add(user, "interface",
			       json_object_new_string(name));
	json_object_array_add(netdevs->list, user);
	return 0;
}

/**
 * users_of() - list the users of a device
 *
 * Return: an array, which the caller frees. Each user has "pid" and "comm", or
 * "interface". NULL: an error, which was reported.
 */
struct json_object *users_of(const char *device)
{
	char uverbs[256];
	struct users users = { .list = json_object_new_array() };
	struct netdevs netdevs = { device, users.list };
	char path[PATH_LEN];
	int ret;

	ret = device_entry(device, "infiniband_verbs", "uverbs", uverbs);
	if (ret > 0) {
		snprintf(users.node, sizeof(users.node),
			 "/dev/infiniband/%s", uverbs);
		root_path(path, "proc");
		ret = dir_names(path, each_process, &users);
	}
	root_path(path, "sys/class/infiniband/%s/device/net", device);
	if (!ret)
		ret = dir_names(path, each_netdev, &netdevs);
	if (!ret || ret == -ENOENT)
		return users.list;
	json_object_put(users.list);
	complain(EXIT_FAILED, "%s: who uses it cannot be told: %s", device,
		 what_failed(ret));
	return NULL;
}
