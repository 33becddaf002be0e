// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep attach. An RDMA device that was registered before the module was
 * loaded is attached by half. The command has the device registered again. Users of
 * the device lose it: the command lists them, those in the kernel too, and does nothing
 * without --force if there are any. With --uverbs it loads ib_uverbs again instead, where that
 * is enough: nobody loses anything.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "modules.h"
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

/* The kernel refuses to unload ib_uverbs while a program has a file of it open. */
static int attach_by_uverbs(const char *device)
{
	char attached[512] = "";

	attribute_read(device, "attached", attached, sizeof(attached));
	if (says_attached(attached))
		return EXIT_OK;
	if (!says_uverbs_helps(attached))
		return complain(EXIT_FAILED, "%s: loading ib_uverbs again would not help: see mlx5ep doctor",
				device);
	switch (uverbs_reload()) {
	case 0:
		break;
	case -ENOENT:
		return complain(EXIT_FAILED, "%s: modprobe does not find ib_uverbs and what needs it, so they are not unloaded",
				device);
	case -EPERM:
		return complain(exit_code(-EPERM), "%s: to load ib_uverbs again needs root",
				device);
	case -EIO:
		return complain(EXIT_FAILED, "%s: ib_uverbs or rdma_ucm was unloaded and cannot be loaded again: see the kernel log, then modprobe -a ib_uverbs rdma_ucm",
				device);
	default:
		return complain(EXIT_FAILED, "%s: ib_uverbs cannot be loaded again: end the programs that have a verbs device or rdma_cm open, of any adapter",
				device);
	}
	if (!is_attached(device))
		return complain(EXIT_FAILED, "%s: ib_uverbs is loaded again, and the device is not attached wholly: the attribute attached says why",
				device);
	return EXIT_OK;
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
	json_object_object_add(obj, "users", users ? json_object_get(users) :
			       json_object_new_array());
	json_object_object_add(obj, "attached",
			       json_object_new_boolean(is_attached(device)));
	print_json(obj);
	json_object_put(obj);
}

/* What the options say. */
struct options {
	bool force, dry, uverbs;
};

static int attach(struct cli *cli, const char *device,
		  const struct options *options)
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
	if (options->uverbs && !options->dry) {
		ret = attach_by_uverbs(device);
		print_result(cli, device, NULL, was_attached);
		return ret;
	}
	users = device_users(device);
	if (!users)
		return EXIT_FAILED;
	if (json_object_array_length(users) && !cli->json &&
	    (options->dry || !was_attached)) {
		printf("%s is used by\n", device);
		print_users(users);
		fflush(stdout);
	}
	if (!options->dry && !was_attached) {
		if (json_object_array_length(users) && !options->force)
			ret = complain(EXIT_FAILED, "they would lose the device: end them first, or drain the node; --force ends what they do");
		else
			ret = reprobe(device, aux);
	}
	print_result(cli, device, users, was_attached);
	json_object_put(users);
	return ret;
}

/**
 * cmd_attach() - mlx5ep attach [--force] [--users] [--uverbs] DEVICE
 */
int cmd_attach(struct cli *cli, int argc, char **argv)
{
	static const struct option known[] = {
		{ "force", no_argument, NULL, 'f' },
		{ "users", no_argument, NULL, 'u' },
		{ "uverbs", no_argument, NULL, 'v' },
		{}
	};
	struct options options = {};
	const char *device = cli->device;
	int c;

	while ((c = getopt_long(argc, argv, "fuv", known, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		options.force = options.force || c == 'f';
		options.dry = options.dry || c == 'u';
		options.uverbs = options.uverbs || c == 'v';
	}
	if (argc - optind > 1 || (device && optind < argc))
		return usage_error("attach", "%s: one device at most can be named",
				   argv[argc - 1]);
	if (optind < argc)
		device = argv[optind];
	if (!device)
		return usage_error("attach", "a device is needed, for instance mlx5_0");
	return attach(cli, device, &options);
}
