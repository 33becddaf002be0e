// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reads the mlx5 devices, as the module shows them in sysfs and debugfs. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const struct {
	const char *file;
	struct json_object *(*parse)(char *text);
	bool long_one;		/* has a row for each QP or uUAR */
} tables[] = {
	{ "contexts", table_parse, false },
	{ "uuars", table_parse, true },
	{ "qps", table_parse, true },
	{ "users", table_parse, false },
	{ "xrc", pairs_parse, true },
	{ "watches", table_parse, false },
};

/**
 * module_loaded() - is mlx5_ep loaded?
 */
bool module_loaded(void)
{
	char path[PATH_LEN];

	root_path(path, "sys/module/mlx5_ep");
	return path_exists(path);
}

/**
 * attribute_read() - read one of the module's attributes of a device
 * @device: for instance "mlx5_0"
 * @name: for instance "uuar_policy"
 *
 * Return: the length of the text, or -errno.
 */
ssize_t attribute_read(const char *device, const char *name, char *buf,
		       size_t len)
{
	char path[PATH_LEN];

	root_path(path, "sys/" ATTRIBUTES, device, name);
	return file_read(path, buf, len);
}

/**
 * says_attached() - does the attribute "attached" say that the module is, wholly?
 * @text: behind "yes" it may say which parts are missing, and who does not see the device
 */
bool says_attached(const char *text)
{
	return !strncmp(text, "yes", strlen("yes"));
}

/**
 * says_half() - does it say that the module is attached for policies and limits only?
 * @text: what is behind may be more
 */
bool says_half(const char *text)
{
	return !strncmp(text, "policies, limits;", strlen("policies, limits;"));
}

/**
 * says_uverbs_helps() - does it say that loading ib_uverbs brings the rest?
 */
bool says_uverbs_helps(const char *text)
{
	return says_half(text) && strstr(text, "the rest when ib_uverbs is loaded");
}

/**
 * attribute_table() - read an attribute that is a table without a heading
 * @titles: names of the columns, which become keys
 *
 * Return: an array with an object per line; NULL: it cannot be read
 */
struct json_object *attribute_table(const char *device, const char *name,
				    const char *titles)
{
	struct json_object *rows = NULL;
	char path[PATH_LEN];
	char *text, *table;

	root_path(path, "sys/" ATTRIBUTES, device, name);
	text = file_list(path);
	if (text && asprintf(&table, "%s\n%s", titles, text) >= 0) {
		rows = table_parse(table);
		free(table);
	}
	free(text);
	return rows;
}

static void add_attribute(struct json_object *dev, const char *name,
			  const char *key, const char *attr)
{
	char buf[4096];

	if (attribute_read(name, attr, buf, sizeof(buf)) < 0)
		return;
	json_add_text(dev, key, buf);
}

static void add_number(struct json_object *dev, const char *name,
		       const char *key, const char *attr)
{
	char buf[64];

	if (attribute_read(name, attr, buf, sizeof(buf)) < 0)
		return;
	json_object_object_add(dev, key,
			       json_object_new_int64(strtoll(buf, NULL, 0)));
}

/**
 * device_pci() - find the place of a device on its bus
 * @pci: written; "" if it is not known
 * @len: size of @pci
 *
 * Return: is it known?
 */
bool device_pci(const char *device, char *pci, size_t len)
{
	char path[PATH_LEN], target[PATH_LEN];
	ssize_t ret;

	root_path(path, "sys/class/infiniband/%s/device", device);
	ret = readlink(path, target, sizeof(target) - 1);
	target[ret > 0 ? ret : 0] = '\0';
	snprintf(pci, len, "%s", ret > 0 ? basename(target) : "");
	return ret > 0;
}

/* Each line of the attribute is "PATH POLICY STRICT PAGES". */
static void add_cgroups(struct json_object *dev, const char *name)
{
	struct json_object *rows;

	rows = attribute_table(name, "uuar_cgroups", "path policy strict pages");
	if (rows)
		json_object_object_add(dev, "cgroups", rows);
}

/* A table that cannot be read becomes null. */
static void add_tables(struct json_object *dev, const char *name,
		       const char *pci, bool brief)
{
	char path[PATH_LEN];
	char *text;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		if (brief && tables[i].long_one)
			continue;
		root_path(path, "sys/kernel/debug/mlx5_ep/%s/%s", pci,
			  tables[i].file);
		text = file_text(path);
		json_object_object_add(dev, tables[i].file, text ?
				       tables[i].parse(text) : NULL);
		free(text);
	}
	if (!brief && !json_get(dev, "contexts"))
		traced_contexts(dev, name);
}

static struct json_object *device_get(const char *name, const char *attached,
				      const struct cli *cli)
{
	struct json_object *dev = json_object_new_object();
	const char *unseen = strstr(attached, "not seen in ");
	const char *without = strstr(attached, ", without ");
	bool half = says_half(attached), yes = half || says_attached(attached);
	char pci[PATH_LEN];

	json_object_object_add(dev, "device", json_object_new_string(name));
	json_object_object_add(dev, "pci",
			       device_pci(name, pci, sizeof(pci)) ?
			       json_object_new_string(pci) : NULL);
	json_object_object_add(dev, "attached", json_object_new_boolean(yes));
	if (!yes) {
		const char *reason = strstr(attached, ": ");

		json_object_object_add(dev, "reason", json_object_new_string(
			reason ? reason + 2 : module_loaded() ?
			"the module has not taken it" :
			"the module is not loaded"));
		return dev;
	}
	json_object_object_add(dev, "half", json_object_new_boolean(half));
	json_object_object_add(dev, "unseen", json_object_new_int(
		unseen ? atoi(unseen + strlen("not seen in ")) : 0));
	if (without)
		json_object_object_add(dev, "without", json_object_new_string(
			without + strlen(", without ")));
	add_number(dev, name, "abi_version", "abi_version");
	add_attribute(dev, name, "policy", "uuar_policy");
	add_number(dev, name, "strict", "uuar_strict");
	add_number(dev, name, "pages", "uuar_pages");
	add_number(dev, name, "budget", "uar_budget");
	add_number(dev, name, "budget_effective", "uar_budget_effective");
	add_number(dev, name, "user_limit", "uar_user_limit");
	add_number(dev, name, "in_use", "uar_in_use");
	add_number(dev, name, "observed", "uar_observed");
	add_number(dev, name, "fallbacks", "uuar_fallbacks");
	add_attribute(dev, name, "exempt", "uuar_exempt");
	if (cli->bare)
		return dev;
	add_cgroups(dev, name);
	add_tables(dev, name, pci, cli->brief);
	return dev;
}

struct walk {
	struct cli *cli;
	struct json_object *list;
	bool attached, found;
};

/**
 * device_is_mlx5() - is a device driven by mlx5_ib?
 */
bool device_is_mlx5(const char *name)
{
	char path[PATH_LEN], target[PATH_LEN];
	ssize_t ret;

	root_path(path, "sys/class/infiniband/%s/device/driver", name);
	ret = readlink(path, target, sizeof(target) - 1);
	target[ret > 0 ? ret : 0] = '\0';
	return strstr(target, "mlx5") != NULL;
}

/**
 * device_is_anothers() - is there such a device, of another driver than mlx5_ib?
 */
bool device_is_anothers(const char *name)
{
	char path[PATH_LEN], attached[512];

	root_path(path, "sys/class/infiniband/%s", name);
	return !strchr(name, '/') && path_exists(path) && !device_is_mlx5(name) &&
	       attribute_read(name, "attached", attached, sizeof(attached)) < 0;
}

static int each_device(const char *name, void *arg)
{
	struct walk *walk = arg;
	char attached[512];

	if (walk->cli->device && strcmp(walk->cli->device, name))
		return 0;
	if (attribute_read(name, "attached", attached, sizeof(attached)) < 0 &&
	    !device_is_mlx5(name))
		return 0;
	walk->found = true;
	walk->attached = walk->attached || says_attached(attached) ||
		says_half(attached);
	json_object_array_add(walk->list, device_get(name, attached,
						     walk->cli));
	return 0;
}

/**
 * devices_unread() - does an exit code of devices_get() say that it could not read?
 */
bool devices_unread(int code)
{
	return code == EXIT_FAILED || code == EXIT_PERMISSION;
}

/**
 * devices_get() - collect all mlx5 devices, or the one that -d names
 * @code: written: %EXIT_NO_DEVICE if there is none, %EXIT_NO_MODULE if the
 *	module is attached to none of them, %EXIT_FAILED or %EXIT_PERMISSION, which is
 *	reported, if they cannot be read, else 0
 *
 * Return: an array with an object per device, also if *@code is not 0.
 */
struct json_object *devices_get(struct cli *cli, int *code)
{
	struct walk walk = { cli, json_object_new_array(), false, false };
	char path[PATH_LEN];
	int ret;

	root_path(path, "sys/class/infiniband");
	ret = dir_names(path, each_device, &walk);
	*code = EXIT_OK;
	if (ret && ret != -ENOENT)
		*code = complain(exit_code(ret), "%s: %s", path, what_failed(ret));
	else if (!walk.found)
		*code = EXIT_NO_DEVICE;
	else if (!walk.attached)
		*code = EXIT_NO_MODULE;
	return walk.list;
}
