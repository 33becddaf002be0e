// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep attach. An RDMA device that was registered before the module was
 * loaded is not attached. The command unbinds and binds its auxiliary device,
 * so that the device is registered again. Users of the device lose it: the
 * command lists them, and does nothing without --force if there are any.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <net/if_arp.h>

#include "cli.h"

#define DRIVER "sys/bus/auxiliary/drivers/mlx5_ib.rdma/%s"
#define WAIT_MS 10000

struct search {
	const char *prefix;
	char found[256];
};

static int each_prefix(const char *name, void *arg)
{
	struct search *search = arg;

	if (strncmp(name, search->prefix, strlen(search->prefix)))
		return 0;
	snprintf(search->found, sizeof(search->found), "%s", name);
	return 1;
}

static bool find(struct search *search, const char *device, const char *dir)
{
	char path[PATH_LEN];

	root_path(path, "sys/class/infiniband/%s/device/%s", device, dir);
	return dir_names(path, each_prefix, search) == 1;
}

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

	if (strspn(name, "0123456789") != strlen(name) ||
	    strlen(name) >= sizeof(users->pid))
		return 0;
	snprintf(users->pid, sizeof(users->pid), "%s", name);
	root_path(path, "proc/%s/fd", name);
	dir_names(path, each_fd, users);
	return 0;
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

/* Users are processes that have the uverbs file open, and IPoIB interfaces. */
static struct json_object *users_of(const char *device)
{
	struct search uverbs = { .prefix = "uverbs" };
	struct users users = { .list = json_object_new_array() };
	struct netdevs netdevs = { device, users.list };
	char path[PATH_LEN];

	if (find(&uverbs, device, "infiniband_verbs")) {
		snprintf(users.node, sizeof(users.node),
			 "/dev/infiniband/%s", uverbs.found);
		root_path(path, "proc");
		dir_names(path, each_process, &users);
	}
	root_path(path, "sys/class/infiniband/%s/device/net", device);
	dir_names(path, each_netdev, &netdevs);
	return users.list;
}

static void print_users(struct json_object *users)
{
	struct json_object *user, *value;
	char comm[64];
	size_t i;

	for (i = 0; i < json_object_array_length(users); i++) {
		user = json_object_array_get_idx(users, i);
		if (json_object_object_get_ex(user, "interface", &value)) {
			printf("  interface %s\n",
			       json_object_get_string(value));
			continue;
		}
		json_object_object_get_ex(user, "pid", &value);
		printf("  process %d", json_object_get_int(value));
		json_object_object_get_ex(user, "comm", &value);
		snprintf(comm, sizeof(comm), "%s",
			 json_object_get_string(value));
		printf(" (%s)\n", printable(comm));
	}
}

static bool is_attached(const char *device)
{
	char buf[512];

	return attribute_read(device, "attached", buf, sizeof(buf)) > 0 &&
		!strcmp(buf, "yes");
}

static int reprobe(const char *device, const char *aux)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	char path[PATH_LEN];
	int i, ret;

	root_path(path, DRIVER, "unbind");
	ret = file_write(path, aux);
	if (ret)
		return complain(exit_code(ret), "%s: unbind: %s", aux,
				strerror(-ret));
	root_path(path, DRIVER, "bind");
	ret = file_write(path, aux);
	if (ret)
		return complain(exit_code(ret), "%s is unbound and cannot be bound again: %s",
				aux, strerror(-ret));
	for (i = 0; i < WAIT_MS; i++) {
		if (is_attached(device))
			return EXIT_OK;
		nanosleep(&ms, NULL);
	}
	return complain(EXIT_FAILED, "%s: not attached after the re-probe; see mlx5ep show",
			device);
}

static void print_result(struct cli *cli, const char *device,
			 struct json_object *users, bool was_attached)
{
	struct json_object *obj;

	if (!cli->json) {
		if (is_attached(device))
			printf("%s: attached%s\n", device,
			       was_attached ? " already" : "");
		return;
	}
	obj = json_object_new_object();
	json_object_object_add(obj, "device", json_object_new_string(device));
	json_object_object_add(obj, "users", json_object_get(users));
	json_object_object_add(obj, "attached",
			       json_object_new_boolean(is_attached(device)));
	print_json(obj);
	json_object_put(obj);
}

static int attach(struct cli *cli, const char *device, bool force, bool dry)
{
	struct search aux = { .prefix = "mlx5_core.rdma." };
	bool was_attached = is_attached(device);
	struct json_object *users;
	char path[PATH_LEN];
	int ret = EXIT_OK;

	root_path(path, "sys/class/infiniband/%s", device);
	if (!path_exists(path) || !find(&aux, device, "."))
		return complain(EXIT_NO_DEVICE, "%s: no such mlx5 device",
				device);
	if (!module_loaded())
		return complain(EXIT_NO_MODULE, "the module is not loaded: modprobe mlx5_ep");
	users = users_of(device);
	if (json_object_array_length(users) && !cli->json &&
	    (dry || !was_attached)) {
		printf("%s is used by\n", device);
		print_users(users);
		fflush(stdout);
	}
	if (!dry && !was_attached) {
		if (json_object_array_length(users) && !force)
			ret = complain(EXIT_FAILED, "they would lose the device; use --force to do it nevertheless");
		else
			ret = reprobe(device, aux.found);
	}
	print_result(cli, device, users, was_attached);
	json_object_put(users);
	return ret;
}

/**
 * cmd_attach() - mlx5ep attach [--force] [--users] DEVICE
 */
int cmd_attach(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		{ "force", no_argument, NULL, 'f' },
		{ "users", no_argument, NULL, 'u' },
		{}
	};
	bool force = false, dry = false;
	const char *device = cli->device;
	int c;

	while ((c = getopt_long(argc, argv, "fu", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		force = force || c == 'f';
		dry = dry || c == 'u';
	}
	if (argc - optind > 1 || (device && optind < argc))
		return usage_error("attach", "exactly one device is needed");
	if (optind < argc)
		device = argv[optind];
	if (!device)
		return usage_error("attach", "a device is needed, for instance mlx5_0");
	return attach(cli, device, force, dry);
}
