// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep set. The command checks every value before it writes any. If a write
 * fails, it writes the old values back, so that all values are set or none.
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

/* The old value of an attribute that was written. The last one comes first. */
struct undo {
	struct undo *next;
	const char *device;
	const char *attribute;
	char old[4096];
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
		return usage_error("set", "--clear is allowed with --cgroup only");
	if (wish->cgroup && (wish->values[BUDGET] || wish->values[EXEMPT] ||
			     wish->values[USER_LIMIT]))
		return usage_error("set", "with --cgroup only --policy, --strict and --pages are allowed");
	if (wish->cgroup && !wish->clear && !wish->values[POLICY])
		return usage_error("set", "--cgroup needs --policy or --clear");
	return 0;
}

/* Why the kernel refused a value that this command found correct. */
static const char *meaning(const char *attribute, int err)
{
	if (err == -EINVAL && !strcmp(attribute, "uuar_exempt"))
		return "a name is longer than 15 characters, or there are too many names";
	if (err == -EINVAL && !strncmp(attribute, "uar_", 4))
		return "the device does not have that many UAR pages";
	if (err == -ENOSPC)
		return "64 cgroups have a policy, which is the maximum: clear one";
	return strerror(-err);
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
			meaning(attribute, err));
}

/*
 * @list has a line per cgroup. Reduces it to the line of @cgroup, or to a line
 *	that
 * removes the policy of @cgroup if there is none.
 */
static void keep_cgroup(char *list, size_t room, const char *cgroup)
{
	size_t len = strlen(cgroup);
	char *line, *rest = list;

	while ((line = strsep(&rest, "\n"))) {
		if (strncmp(line, cgroup, len) || line[len] != ' ')
			continue;
		memmove(list, line, strlen(line) + 1);
		return;
	}
	snprintf(list, room, "%s none 0 0", cgroup);
}

/* @cgroup: @value is the line of this cgroup; NULL for other attributes. */
static int write_undoably(struct undo **done, const char *device,
			  const char *attribute, const char *value,
			  const char *cgroup)
{
	struct undo *undo = calloc(1, sizeof(*undo));
	int ret;

	if (!undo)
		return failed(device, attribute, -ENOMEM);
	undo->device = device;
	undo->attribute = attribute;
	ret = attribute_read(device, attribute, undo->old, sizeof(undo->old));
	if (ret >= 0)
		ret = attribute_write(device, attribute, value);
	if (ret < 0) {
		free(undo);
		return failed(device, attribute, ret);
	}
	if (cgroup)
		keep_cgroup(undo->old, sizeof(undo->old), cgroup);
	undo->next = *done;
	*done = undo;
	return EXIT_OK;
}

static void end_undo(struct undo *done, bool put_back)
{
	struct undo *undo;
	int ret;

	while ((undo = done)) {
		ret = put_back ? attribute_write(undo->device, undo->attribute,
						 undo->old) : 0;
		if (ret)
			complain(EXIT_FAILED, "%s: the old value of %s could not be restored: %s",
				 undo->device, undo->attribute, strerror(-ret));
		done = undo->next;
		free(undo);
	}
}

static int set_device(struct undo **done, const char *device,
		      const struct wish *wish)
{
	int i, ret = EXIT_OK;

	for (i = 0; i < N_VALUES && !ret; i++)
		if (wish->values[i])
			ret = write_undoably(done, device, attributes[i],
					     wish->values[i], NULL);
	return ret;
}

/* Turns a path into the kernel's form, from the root of the cgroup tree. */
static int cgroup_path(const char *cgroup, char *path, size_t len)
{
	size_t end;

	if (!strncmp(cgroup, "/sys/fs/cgroup", 14) &&
	    (!cgroup[14] || cgroup[14] == '/'))
		cgroup += 14;
	end = strlen(cgroup);
	while (end && cgroup[end - 1] == '/')
		end--;
	if (end >= len || strpbrk(cgroup, " \t\n"))
		return usage_error("set", "--cgroup: the path must not contain spaces");
	snprintf(path, len, "%.*s", end ? (int)end : 1, end ? cgroup : "/");
	return EXIT_OK;
}

static int set_cgroup(struct undo **done, const char *device,
		      const struct wish *wish)
{
	char path[PATH_LEN], line[PATH_LEN + 64];
	int ret;

	ret = cgroup_path(wish->cgroup, path, sizeof(path));
	if (ret)
		return ret;
	snprintf(line, sizeof(line), "%s %s %s %s", path,
		 wish->clear ? "none" : wish->values[POLICY],
		 wish->values[STRICT] ? wish->values[STRICT] : "0",
		 wish->values[PAGES] ? wish->values[PAGES] : "0");
	return write_undoably(done, device, "uuar_cgroups", line, path);
}

static int set_all(struct cli *cli, const struct wish *wish)
{
	struct json_object *devices, *dev, *obj;
	struct undo *done = NULL;
	const char *name;
	size_t i;
	int code;

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
		code = wish->cgroup ? set_cgroup(&done, name, wish) :
			set_device(&done, name, wish);
	}
	end_undo(done, code);
	json_object_put(devices);
	return code;
}

/**
 * cmd_set() - mlx5ep set [--cgroup PATH] [--policy POLICY] ...
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
