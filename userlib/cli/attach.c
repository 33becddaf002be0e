// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep attach. An RDMA device that was registered before the module was
 * loaded is not attached. The command has the device registered again. Users of
 * the device lose it: the command lists them, those in the kernel too, and does nothing
 * without --force if there are any.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "rebind.h"

static void print_process(struct json_object *process)
{
	struct json_object *holds = json_get(process, "holds");
	char comm[64];
	size_t i;

	snprintf(comm, sizeof(comm), "%s", json_text(process, "comm", NULL));
	printf("  process %s (%s):", json_text(process, "pid", NULL),
	       printable(comm));
	for (i = 0; i < json_object_array_length(holds); i++)
		printf("%s %s", i ? "," : "", json_object_get_string(
			       json_object_array_get_idx(holds, i)));
	puts("");
}

static void print_module(struct json_object *module)
{
	const char *use = json_text(module, "use", NULL);

	printf("  kernel module %s%s%s%s: pd %s cm_id %s\n",
	       json_text(module, "module", NULL), use ? " (" : "",
	       use ? use : "", use ? ")" : "", json_text(module, "pds", NULL),
	       json_text(module, "cm_ids", NULL));
}

static void print_users(struct json_object *users)
{
	struct json_object *user;
	size_t i;

	for (i = 0; i < json_object_array_length(users); i++) {
		user = json_object_array_get_idx(users, i);
		if (json_text(user, "interface", NULL))
			printf("  interface %s\n",
			       json_text(user, "interface", NULL));
		else if (json_text(user, "module", NULL))
			print_module(user);
		else
			print_process(user);
	}
}

static int reprobe(const char *device, const char *aux)
{
	int ret = aux_unbind(aux);

	if (!ret)
		ret = aux_bind(aux);
	return ret ? ret : wait_attached(device);
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
	char aux[ENTRY_LEN];
	bool was_attached = is_attached(device);
	struct json_object *users;
	char path[PATH_LEN];
	int ret;

	root_path(path, "sys/class/infiniband/%s", device);
	ret = path_exists(path) ? aux_device(device, aux) : 0;
	if (ret < 0)
		return complain(exit_code(ret), "%s: %s", device,
				what_failed(ret));
	if (!ret)
		return device_missing(device);
	ret = EXIT_OK;
	if (!module_loaded())
		return complain(EXIT_NO_MODULE, "the module is not loaded: modprobe mlx5_ep");
	users = device_users(device);
	if (!users)
		return EXIT_FAILED;
	if (json_object_array_length(users) && !cli->json &&
	    (dry || !was_attached)) {
		printf("%s is used by\n", device);
		print_users(users);
		fflush(stdout);
	}
	if (!dry && !was_attached) {
		if (json_object_array_length(users) && !force)
			ret = complain(EXIT_FAILED, "they would lose the device: end them first, or drain the node; --force ends what they do");
		else
			ret = reprobe(device, aux);
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
		return usage_error("attach", "%s: one device at most can be named",
				   argv[argc - 1]);
	if (optind < argc)
		device = argv[optind];
	if (!device)
		return usage_error("attach", "a device is needed, for instance mlx5_0");
	return attach(cli, device, force, dry);
}
