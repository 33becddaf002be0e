// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who would lose an RDMA device that is registered again: processes that have one of
 * its files open (uverbs, umad, issm, ucm) or connections of it, modules of the kernel that
 * have connections of it or use a protection domain, as storage has, and its IPoIB
 * interfaces.
 *
 * What is always there is no user: what the driver and the RDMA stack have, a protection
 * domain that nothing uses (ib_srp and ib_srpt keep one for each device), an IPoIB
 * interface that is down and has no address, and a listener on every address of the node,
 * which hears from the device again when that is back.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <net/if.h>
#include <net/if_arp.h>

#include "nldev.h"
#include "rebind.h"

#define NODES		"/dev/infiniband/"
#define NODES_MOST	16
#define FIRST_PID_NS	0xeffffffc	/* its inode: PROC_PID_INIT_INO of the kernel */

struct users {
	const char *device;
	char nodes[NODES_MOST][64];	/* the names of its files below NODES */
	unsigned int n;
	struct json_object *list;
};

/* Modules that have objects of each device. Their users are found in other ways. */
static const char * const stack[] = {
	"mlx5_ib", "mlx5_ep", "ib_core", "ib_mad", "ib_cm", "ib_ipoib", "rdma_cm",
};

static const struct {
	const char *module, *use;
} uses[] = {
	{ "rpcrdma", "NFS over RDMA" },
	{ "nvme_rdma", "NVMe over RDMA, the host" },
	{ "nvmet_rdma", "NVMe over RDMA, the target" },
	{ "ib_iser", "iSER, the initiator" },
	{ "ib_isert", "iSER, the target" },
	{ "ib_srp", "SRP, the initiator" },
	{ "ib_srpt", "SRP, the target" },
	{ "smc", "SMC-R" },
	{ "rds_rdma", "RDS" },
	{ "ko2iblnd", "Lustre" },
	{ "cifs", "SMB Direct, the client" },
	{ "ksmbd", "SMB Direct, the server" },
	{ "smbdirect", "SMB Direct" },
	{ "rtrs_client", "RNBD, the client" },
	{ "rtrs_server", "RNBD, the server" },
	{ "9pnet_rdma", "9P over RDMA" },
};

static int each_node(const char *name, void *arg)
{
	struct users *users = arg;

	snprintf(users->nodes[users->n++], sizeof(users->nodes[0]), "%s", name);
	return users->n == NODES_MOST;
}

/* Finds the entry whose @key has this value. */
static struct json_object *entry_of(const struct users *users, const char *key,
				    struct json_object *value)
{
	struct json_object *entry;
	size_t i;

	for (i = 0; i < json_object_array_length(users->list); i++) {
		entry = json_object_array_get_idx(users->list, i);
		if (json_object_equal(json_get(entry, key), value))
			return entry;
	}
	return NULL;
}

/* Finds the entry, or makes it and sets @made. It has @value, and the caller does not. */
static struct json_object *entry_for(struct users *users, const char *key,
				     struct json_object *value, bool *made)
{
	struct json_object *entry = entry_of(users, key, value);

	*made = !entry;
	if (entry) {
		json_object_put(value);
		return entry;
	}
	entry = json_object_new_object();
	json_object_object_add(entry, key, value);
	json_object_array_add(users->list, entry);
	return entry;
}

/* Notes what a process holds: a file of the device, or "cm_id". */
static void add_process(struct users *users, int pid, const char *held)
{
	struct json_object *process, *holds;
	char path[PATH_LEN], comm[64];
	bool made;
	size_t i;

	process = entry_for(users, "pid", json_object_new_int(pid), &made);
	if (made) {
		root_path(path, "proc/%d/comm", pid);
		file_read(path, comm, sizeof(comm));
		json_object_object_add(process, "comm",
				       json_object_new_string(comm));
		json_object_object_add(process, "holds", json_object_new_array());
	}
	holds = json_get(process, "holds");
	for (i = 0; i < json_object_array_length(holds); i++)
		if (!strcmp(json_object_get_string(
				    json_object_array_get_idx(holds, i)), held))
			return;
	json_object_array_add(holds, json_object_new_string(held));
}

static int each_file(const char *pid, const char *fd, const char *target,
		     void *arg)
{
	struct users *users = arg;
	unsigned int i;

	(void)fd;
	if (strncmp(target, NODES, strlen(NODES)))
		return 0;
	for (i = 0; i < users->n; i++)
		if (!strcmp(target + strlen(NODES), users->nodes[i]))
			add_process(users, atoi(pid), users->nodes[i]);
	return 0;
}

static void count(struct json_object *entry, const char *what)
{
	struct json_object *number = json_get(entry, what);

	json_object_set_int(number, json_object_get_int(number) + 1);
}

static void add_module(struct users *users, const char *module, bool is_pd)
{
	struct json_object *entry;
	const char *use = NULL;
	bool made;
	size_t i;

	for (i = 0; i < sizeof(stack) / sizeof(*stack); i++)
		if (!strcmp(module, stack[i]))
			return;
	for (i = 0; i < sizeof(uses) / sizeof(*uses); i++)
		if (!strcmp(module, uses[i].module))
			use = uses[i].use;
	entry = entry_for(users, "module", json_object_new_string(module), &made);
	if (made) {
		json_object_object_add(entry, "use", use ?
				       json_object_new_string(use) : NULL);
		json_object_object_add(entry, "pds", json_object_new_int(0));
		json_object_object_add(entry, "cm_ids", json_object_new_int(0));
	}
	count(entry, is_pd ? "pds" : "cm_ids");
}

static void each_resource(const struct resource *resource, void *arg)
{
	struct json_object *pid;
	struct users *users = arg;

	if (resource->hears_all || (resource->is_pd && !resource->used))
		return;
	if (resource->module) {
		add_module(users, resource->module, resource->is_pd);
		return;
	}
	if (resource->is_pd)
		return;
	/* What a process holds is known already if it has a file of the device. */
	pid = json_object_new_int(resource->pid);
	if (!entry_of(users, "pid", pid))
		add_process(users, resource->pid, "cm_id");
	json_object_put(pid);
}

/* Returns why the kernel did not tell, or NULL. A tree for tests has no kernel. */
static const char *kernel_tells(struct users *users)
{
	struct stat ns;

	if (getenv("MLX5EP_ROOT"))
		return NULL;
	if (stat("/proc/self/ns/pid", &ns) || ns.st_ino != FIRST_PID_NS)
		return "the kernel names its own users in no container: call mlx5ep on the node";
	return nldev_resources(users->device, each_resource, users);
}

static bool has_address(const char *interface)
{
	struct ifaddrs *all, *one;
	bool found = false;

	if (getifaddrs(&all))
		return true;
	for (one = all; one && !found; one = one->ifa_next)
		found = one->ifa_addr && !strcmp(one->ifa_name, interface) &&
			(one->ifa_addr->sa_family == AF_INET ||
			 one->ifa_addr->sa_family == AF_INET6);
	freeifaddrs(all);
	return found;
}

/* Lists IPoIB interfaces only. An Ethernet interface does not need mlx5_ib. */
static int each_netdev(const char *name, void *arg)
{
	struct users *users = arg;
	char path[PATH_LEN], text[16];
	struct json_object *user;

	root_path(path, "sys/class/infiniband/%s/device/net/%s/type",
		  users->device, name);
	if (file_read(path, text, sizeof(text)) < 0 ||
	    atoi(text) != ARPHRD_INFINIBAND)
		return 0;
	root_path(path, "sys/class/infiniband/%s/device/net/%s/flags",
		  users->device, name);
	if (file_read(path, text, sizeof(text)) > 0 &&
	    !(strtoul(text, NULL, 16) & IFF_UP) && !has_address(name))
		return 0;
	user = json_object_new_object();
	json_object_object_add(user, "interface",
			       json_object_new_string(name));
	json_object_array_add(users->list, user);
	return 0;
}

/* Calls @each for the names in a folder of the parent, if it is there. */
static int parent_names(struct users *users, const char *folder,
			int (*each)(const char *name, void *arg))
{
	char path[PATH_LEN];
	int ret;

	root_path(path, "sys/class/infiniband/%s/device/%s", users->device,
		  folder);
	ret = dir_names(path, each, users);
	return ret == -ENOENT || ret > 0 ? 0 : ret;
}

static const char *find_users(struct users *users)
{
	static const char * const folders[] = {
		"infiniband_verbs", "infiniband_mad", "infiniband_cm",
	};
	int ret = 0;
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(*folders) && !ret; i++)
		if (users->n < NODES_MOST)
			ret = parent_names(users, folders[i], each_node);
	if (!ret && users->n)
		ret = open_files(each_file, users);
	if (!ret)
		ret = parent_names(users, "net", each_netdev);
	return ret ? what_failed(ret) : kernel_tells(users);
}

/**
 * device_users() - list the users of a device
 *
 * Return: an array, which the caller frees. Each user has "pid", "comm" and "holds"; or
 * "module", "use", "pds" and "cm_ids"; or "interface". NULL: an error, which was
 * reported.
 */
struct json_object *device_users(const char *device)
{
	struct users users = {
		.device = device, .list = json_object_new_array(),
	};
	const char *why = find_users(&users);

	if (!why)
		return users.list;
	json_object_put(users.list);
	complain(EXIT_FAILED, "%s: who uses it cannot be told: %s", device, why);
	return NULL;
}
