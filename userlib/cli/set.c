// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep set: every value is checked first, and where a write fails the values
 * written before it are put back, so that a command is done wholly or not.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { POLICY, STRICT, PAGES, BUDGET, USER_LIMIT, EXEMPT, N_VALUES };

static const char * const attributes[] = {
	[POLICY] = "uuar_policy",
	[STRICT] = "uuar_strict",
	[PAGES] = "uuar_pages",
	[BUDGET] = "uar_budget",
	[USER_LIMIT] = "uar_user_limit",
	[EXEMPT] = "uuar_exempt",
};

static const struct option options[] = {
	{ "policy", required_argument, NULL, 'p' },
	{ "strict", required_argument, NULL, 's' },
	{ "pages", required_argument, NULL, 'n' },
	{ "budget", required_argument, NULL, 'b' },
	{ "user-limit", required_argument, NULL, 'u' },
	{ "exempt", required_argument, NULL, 'e' },
	{ "cgroup", required_argument, NULL, 'c' },
	{ "clear", no_argument, NULL, 'C' },
	{}
};

struct wish {
	const char *values[N_VALUES];
	const char *cgroup;
	bool clear;
};

static bool is_policy(const char *text)
{
	return !strcmp(text, "stock") || !strcmp(text, "independent") ||
		!strcmp(text, "shared-uar") || !strcmp(text, "shared-uuar");
}

static bool is_number(const char *text)
{
	return *text && strlen(text) < 10 &&
		strspn(text, "0123456789") == strlen(text);
}

static const char *is_switch(const char *text)
{
	if (!strcmp(text, "on") || !strcmp(text, "1") || !strcmp(text, "yes"))
		return "1";
	if (!strcmp(text, "off") || !strcmp(text, "0") || !strcmp(text, "no"))
		return "0";
	return NULL;
}

static int check(struct wish *wish)
{
	unsigned int i, n = 0;

	for (i = 0; i < N_VALUES; i++)
		n += wish->values[i] != NULL;
	if (!n && !wish->clear)
		return usage_error("set", "nothing to set");
	if (wish->values[POLICY] && !is_policy(wish->values[POLICY]))
		return usage_error("set", "--policy %s: not one of stock, independent, shared-uar, shared-uuar",
				   wish->values[POLICY]);
	if (wish->values[STRICT]) {
		wish->values[STRICT] = is_switch(wish->values[STRICT]);
		if (!wish->values[STRICT])
			return usage_error("set", "--strict is on or off");
	}
	for (i = PAGES; i <= USER_LIMIT; i++)
		if (wish->values[i] && !is_number(wish->values[i]))
			return usage_error("set", "%s: not a number",
					   wish->values[i]);
	if (wish->values[PAGES] && atoi(wish->values[PAGES]) > 256)
		return usage_error("set", "--pages is at most 256");
	if (wish->clear && (n || !wish->cgroup))
		return usage_error("set", "--clear goes with --cgroup alone");
	if (wish->cgroup && (wish->values[BUDGET] || wish->values[EXEMPT] ||
			     wish->values[USER_LIMIT]))
		return usage_error("set", "a cgroup has --policy, --strict and --pages only");
	if (wish->cgroup && !wish->clear && !wish->values[POLICY])
		return usage_error("set", "--cgroup needs --policy or --clear");
	return 0;
}

static int failed(const char *device, const char *attribute, int err)
{
	char path[PATH_LEN];

	root_path(path, "sys/" ATTRIBUTES, device, attribute);
	if (err == -ENOENT && path_exists(path))
		return complain(EXIT_FAILED, "%s: no such cgroup, or it has no policy",
				device);
	if (err == -ENOENT)
		return complain(EXIT_FAILED, "%s: this module has no %s",
				device, attribute);
	return complain(exit_code(err), "%s: %s: %s", device, attribute,
			strerror(-err));
}

static int set_device(const char *device, const struct wish *wish)
{
	char old[N_VALUES][4096];
	int i, ret = 0;

	for (i = 0; i < N_VALUES; i++) {
		if (!wish->values[i])
			continue;
		ret = attribute_read(device, attributes[i], old[i],
				     sizeof(old[i]));
		if (ret >= 0)
			ret = attribute_write(device, attributes[i],
					      wish->values[i]);
		if (ret < 0)
			break;
	}
	if (ret >= 0)
		return EXIT_OK;
	failed(device, attributes[i], ret);
	while (i--)
		if (wish->values[i])
			attribute_write(device, attributes[i], old[i]);
	return exit_code(ret);
}

static int set_cgroup(const char *device, const struct wish *wish)
{
	const char *path = wish->cgroup;
	char line[PATH_LEN];
	int ret;

	/* as the kernel names it: from the root of the cgroup tree */
	if (!strncmp(path, "/sys/fs/cgroup", 14))
		path += 14;
	snprintf(line, sizeof(line), "%s %s %s %s", *path ? path : "/",
		 wish->clear ? "none" : wish->values[POLICY],
		 wish->values[STRICT] ? wish->values[STRICT] : "0",
		 wish->values[PAGES] ? wish->values[PAGES] : "0");
	if (strpbrk(path, " \t\n"))
		return usage_error("set", "--cgroup: a path without spaces is wanted");
	ret = attribute_write(device, "uuar_cgroups", line);
	return ret ? failed(device, "uuar_cgroups", ret) : EXIT_OK;
}

static int set_all(struct cli *cli, const struct wish *wish)
{
	struct json_object *devices, *dev, *obj;
	const char *name;
	int code, ret;
	size_t i;

	devices = devices_get(cli, &code);
	if (code == EXIT_NO_DEVICE)
		complain(code, "%s: no such mlx5 device",
			 cli->device ? cli->device : "any");
	else if (code)
		complain(code, "the module is not attached; see mlx5ep doctor");
	for (i = 0; !code && i < json_object_array_length(devices); i++) {
		dev = json_object_array_get_idx(devices, i);
		json_object_object_get_ex(dev, "attached", &obj);
		if (!json_object_get_boolean(obj))
			continue;
		json_object_object_get_ex(dev, "device", &obj);
		name = json_object_get_string(obj);
		ret = wish->cgroup ? set_cgroup(name, wish) :
			set_device(name, wish);
		code = code ? code : ret;
	}
	json_object_put(devices);
	return code;
}

/**
 * cmd_set - mlx5ep set [--cgroup PATH] --policy ... and so on
 * @cli: options
 * @argc: arguments, the command's name included
 * @argv: of them
 */
int cmd_set(struct cli *cli, int argc, char **argv)
{
	static const char letters[] = "psnbue";
	struct wish wish = {};
	int c, ret;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		if (c == 'c')
			wish.cgroup = optarg;
		else if (c == 'C')
			wish.clear = true;
		else
			wish.values[strchr(letters, c) - letters] = optarg;
	}
	if (optind != argc)
		return usage_error("set", "%s: unexpected", argv[optind]);
	ret = check(&wish);
	return ret ? ret : set_all(cli, &wish);
}
