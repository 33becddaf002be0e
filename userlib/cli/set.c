// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep set. The command checks every value before it writes any. If a write
 * fails, or the configuration file cannot be changed, it writes the old values
 * back, so that all values are set or none.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "cli.h"
#include "save.h"
#include "settings.h"

enum {
	POLICY_OF, STRICT_OF, PAGES_OF, BUDGET, USER_LIMIT, EXEMPT, LIMIT, N_VALUES
};

/* The options are the names of settings, with - in place of _. */
static const char * const names[] = {
	[POLICY_OF] = "policy",
	[STRICT_OF] = "strict",
	[PAGES_OF] = "pages",
	[BUDGET] = "budget",
	[USER_LIMIT] = "user_limit",
	[EXEMPT] = "exempt",
	[LIMIT] = "limit",
};

static const struct option options[] = {
	{ "policy", required_argument, NULL, 'p' },
	{ "strict", required_argument, NULL, 's' },
	{ "pages", required_argument, NULL, 'n' },
	{ "budget", required_argument, NULL, 'b' },
	{ "user-limit", required_argument, NULL, 'u' },
	{ "exempt", required_argument, NULL, 'e' },
	{ "limit", required_argument, NULL, 'l' },
	{ "cgroup", required_argument, NULL, 'c' },
	{ "clear", no_argument, NULL, 'C' },
	{ "save", no_argument, NULL, 'S' },
	{}
};

struct wish {
	char *values[N_VALUES];
	const char *cgroup;
	bool clear;
	bool save;
};

/* What --limit takes beside a number. */
static bool is_none(const struct wish *wish, int i)
{
	return i == LIMIT && wish->values[i] && !strcmp(wish->values[i], "none");
}

static int check_values(struct wish *wish)
{
	const struct setting *setting;
	const char *error;
	int i;

	for (i = 0; i < N_VALUES; i++) {
		setting = setting_find(names[i], FOR_DEVICE | FOR_CGROUP);
		error = wish->values[i] && !is_none(wish, i) ?
			setting_error(setting, wish->values[i]) : NULL;
		if (error && i == LIMIT && !strcmp(wish->values[i], "0"))
			error = "0 is no limit; none takes the limit away";
		if (error)
			return usage_error("set", "--%s %s: %s",
					   i == USER_LIMIT ? "user-limit" :
					   names[i], wish->values[i], error);
	}
	return EXIT_OK;
}

static int set_check(struct wish *wish)
{
	unsigned int i, n = 0;

	for (i = 0; i < N_VALUES; i++)
		n += wish->values[i] != NULL;
	if (!n && !wish->clear)
		return usage_error("set", "nothing to set");
	if (wish->clear && (n > !!wish->values[LIMIT] || !wish->cgroup))
		return usage_error("set", "--clear is allowed with --cgroup and --limit only");
	if (wish->cgroup && (wish->values[BUDGET] || wish->values[EXEMPT] ||
			     wish->values[USER_LIMIT]))
		return usage_error("set", "with --cgroup only --policy, --strict, --pages and --limit are allowed");
	if (wish->values[LIMIT] && !wish->cgroup)
		return usage_error("set", "--limit needs --cgroup; a limit of users is --user-limit");
	if (!wish->values[POLICY_OF] && wish->cgroup && !wish->clear &&
	    (wish->values[STRICT_OF] || wish->values[PAGES_OF]))
		return usage_error("set", "with --cgroup, --strict and --pages need --policy");
	return check_values(wish);
}

static int set_device(struct change **done, const char *device,
		      const struct wish *wish)
{
	int i, ret = EXIT_OK;

	for (i = 0; i < N_VALUES && !ret; i++)
		if (wish->values[i])
			ret = change_write(done, device,
				setting_find(names[i], FOR_DEVICE)->attribute,
				wish->values[i], NULL);
	return ret;
}

/* Of a cgroup: policy, strict and pages are one setting, the limit is another. */
static bool sets_policy(const struct wish *wish)
{
	return wish->clear || wish->values[POLICY_OF];
}

/*
 * Writes the line of a cgroup. If @remove, a list without that line stays as it is:
 * another device, or the other of policy and limit, may have had one.
 */
static int change_cgroup(struct change **done, const char *device,
			 const char *attribute, const char *line,
			 const char *path, bool remove)
{
	char *list = remove ? change_old(device, attribute) : NULL;
	bool missing = list && !change_line(list, path);

	free(list);
	return missing ? EXIT_OK :
		change_write(done, device, attribute, line, path);
}

static int set_cgroup(struct change **done, const char *device,
		      const struct wish *wish)
{
	char path[PATH_LEN], line[PATH_LEN + 64];
	int ret = EXIT_OK;

	if (cgroup_path(wish->cgroup, path, sizeof(path)))
		return usage_error("set", "--cgroup: the path must begin with / and must not contain spaces");
	if (sets_policy(wish)) {
		snprintf(line, sizeof(line), "%s %s %s %s", path,
			 wish->clear ? "none" : wish->values[POLICY_OF],
			 wish->values[STRICT_OF] ? wish->values[STRICT_OF] : "0",
			 wish->values[PAGES_OF] ? wish->values[PAGES_OF] : "0");
		ret = change_cgroup(done, device, "uuar_cgroups", line, path,
				    wish->clear);
	}
	if (!ret && wish->values[LIMIT]) {
		snprintf(line, sizeof(line), "%s %s", path, wish->values[LIMIT]);
		ret = change_cgroup(done, device, "uar_cgroup_limits", line,
				    path, is_none(wish, LIMIT));
	}
	return ret;
}

/* The section of the file that belongs to the arguments. */
static int section_of(struct cli *cli, const struct wish *wish,
		      struct json_object *devices,
		      struct config_section *section)
{
	const char *device = "*";

	memset(section, 0, sizeof(*section));
	section->scope = wish->cgroup ? FOR_CGROUP : FOR_DEVICE;
	if (cli->device)
		device = json_text(json_object_array_get_idx(devices, 0), "pci",
				   cli->device);
	snprintf(section->device, sizeof(section->device), "%s", device);
	if (wish->cgroup && cgroup_path(wish->cgroup, section->cgroup,
					sizeof(section->cgroup)))
		return complain(EXIT_FAILED, "--save: the path of the cgroup is too long for the file: set it without --save");
	return EXIT_OK;
}

static int save_all(struct cli *cli, const struct wish *wish,
		    struct json_object *devices)
{
	struct save save = { .name = cli->device, .devices = devices };
	int i, ret;

	ret = section_of(cli, wish, devices, &save.section);
	if (ret)
		return ret;
	for (i = 0; i < N_VALUES; i++) {
		/* The policy of a cgroup has all of its values or none. */
		if (!wish->values[i] &&
		    (!wish->cgroup || i == LIMIT || !sets_policy(wish)))
			continue;
		save.settings[save.n] = setting_find(names[i],
						     save.section.scope);
		save.values[save.n] = is_none(wish, i) ? NULL : wish->values[i];
		save.n += save.settings[save.n] != NULL;
	}
	return save_settings(&save);
}

static int set_all(struct cli *cli, const struct wish *wish)
{
	struct cli brief = { .json = cli->json, .device = cli->device,
			     .brief = true };
	struct json_object *devices, *dev;
	struct change *done = NULL;
	const char *name;
	size_t i;
	int code;

	changes_lock();
	code = wish->save ? save_check() : EXIT_OK;
	if (code)
		return code;
	devices = devices_get(&brief, &code);
	if (code)
		code = no_device(cli->device, code);
	for (i = 0; !code && i < json_object_array_length(devices); i++) {
		dev = json_object_array_get_idx(devices, i);
		if (!json_number(dev, "attached", false))
			continue;
		name = json_text(dev, "device", NULL);
		code = wish->cgroup ? set_cgroup(&done, name, wish) :
			set_device(&done, name, wish);
	}
	/* The file can still name a cgroup that is gone. */
	if (!code && wish->cgroup && !done && !wish->save)
		code = complain(EXIT_FAILED, "%s: no such cgroup, or nothing is set for it: see mlx5ep show cgroups",
				wish->cgroup);
	if (!code && wish->save)
		code = save_all(cli, wish, devices);
	change_end(done, code);
	json_object_put(devices);
	return code;
}

/**
 * cmd_set() - mlx5ep set [--cgroup PATH] [--policy POLICY] ...
 */
int cmd_set(struct cli *cli, int argc, char **argv)
{
	static const char letters[] = "psnbuel";
	struct wish wish = {};
	int c, ret;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		if (c == 'c')
			wish.cgroup = optarg;
		else if (c == 'C')
			wish.clear = true;
		else if (c == 'S')
			wish.save = true;
		else
			wish.values[strchr(letters, c) - letters] = optarg;
	}
	if (optind != argc)
		return usage_error("set", "%s: unexpected", argv[optind]);
	ret = set_check(&wish);
	return ret ? ret : set_all(cli, &wish);
}
