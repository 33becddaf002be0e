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

#define MOST_VALUES 16

/* A setting that the command takes, and its value; NULL: not given. */
struct value {
	const struct setting *setting;
	char option[32];	/* the name of the setting, with - in place of _ */
	char *text;
};

struct wish {
	struct value values[MOST_VALUES];
	size_t n;
	const char *cgroup;
	bool clear;
	bool save;
};

static void find_options(struct wish *wish)
{
	const struct setting *setting = NULL;
	struct value *value;
	char *at;

	while (wish->n < MOST_VALUES &&
	       (setting = setting_next(setting, FOR_DEVICE | FOR_CGROUP))) {
		value = &wish->values[wish->n++];
		value->setting = setting;
		snprintf(value->option, sizeof(value->option), "%s", setting->name);
		for (at = value->option; (at = strchr(at, '_')); )
			*at = '-';
	}
}

static const char *value_of(const struct wish *wish, const char *name)
{
	size_t i;

	for (i = 0; i < wish->n; i++)
		if (!strcmp(wish->values[i].setting->name, name))
			return wish->values[i].text;
	return NULL;
}

/* How many of the values are given that one of @scopes may not have? */
static size_t given(const struct wish *wish, int without)
{
	size_t i, n = 0;

	for (i = 0; i < wish->n; i++)
		n += wish->values[i].text &&
			!(wish->values[i].setting->scopes & without);
	return n;
}

/* What --limit takes beside a number. */
static bool is_none(const struct value *value)
{
	return value->setting->kind == COUNT && value->text &&
		!strcmp(value->text, "none");
}

static int check_values(struct wish *wish)
{
	struct value *value;
	const char *error;
	size_t i;

	for (i = 0; i < wish->n; i++) {
		value = &wish->values[i];
		if (!value->text || is_none(value))
			continue;
		error = setting_error(value->setting, value->text);
		if (error && value->setting->kind == COUNT &&
		    !strcmp(value->text, "0"))
			error = "0 is no limit; none takes the limit away";
		if (error)
			return usage_error("set", "--%s %s: %s", value->option,
					   value->text, error);
	}
	return EXIT_OK;
}

static int set_check(struct wish *wish)
{
	const char *limit = value_of(wish, "limit");
	size_t n = given(wish, 0);

	if (!n && !wish->clear)
		return usage_error("set", "nothing to set");
	if (wish->clear && (n > !!limit || !wish->cgroup))
		return usage_error("set", "--clear is allowed with --cgroup and --limit only");
	if (wish->cgroup && given(wish, FOR_CGROUP))
		return usage_error("set", "with --cgroup only --policy, --strict, --pages and --limit are allowed");
	if (!wish->cgroup && given(wish, FOR_DEVICE))
		return usage_error("set", "--limit needs --cgroup; a limit of users is --user-limit");
	if (wish->cgroup && !wish->clear && n > !!limit &&
	    !value_of(wish, "policy"))
		return usage_error("set", "with --cgroup, --strict and --pages need --policy");
	return check_values(wish);
}

static int set_device(struct change **done, const char *device,
		      const struct wish *wish)
{
	const struct value *value;
	int ret = EXIT_OK;
	size_t i;

	for (i = 0; i < wish->n && !ret; i++) {
		value = &wish->values[i];
		if (value->text)
			ret = change_write(done, device,
					   value->setting->attribute,
					   value->text, NULL);
	}
	return ret;
}

/* Of a cgroup: policy, strict and pages are one setting, the limit is another. */
static bool sets_policy(const struct wish *wish)
{
	return wish->clear || value_of(wish, "policy");
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
	const char *limit = value_of(wish, "limit");
	char path[PATH_LEN], line[PATH_LEN + 64];
	int ret = EXIT_OK;

	if (cgroup_path(wish->cgroup, path, sizeof(path)))
		return usage_error("set", "--cgroup: the path must begin with / and must not contain spaces");
	if (sets_policy(wish)) {
		snprintf(line, sizeof(line), "%s %s %s %s", path,
			 wish->clear ? "none" : value_of(wish, "policy"),
			 value_of(wish, "strict") ?: "0",
			 value_of(wish, "pages") ?: "0");
		ret = change_cgroup(done, device, "uuar_cgroups", line, path,
				    wish->clear);
	}
	if (!ret && limit) {
		snprintf(line, sizeof(line), "%s %s", path, limit);
		ret = change_cgroup(done, device, "uar_cgroup_limits", line,
				    path, !strcmp(limit, "none"));
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
	const struct value *value;
	size_t i;
	int ret;

	ret = section_of(cli, wish, devices, &save.section);
	if (ret)
		return ret;
	for (i = 0; i < wish->n; i++) {
		value = &wish->values[i];
		if (!(value->setting->scopes & save.section.scope))
			continue;
		/* The policy of a cgroup has all of its values or none. */
		if (!value->text && (!wish->cgroup || !sets_policy(wish) ||
				     value->setting->kind == COUNT))
			continue;
		save.settings[save.n] = value->setting;
		save.values[save.n++] = is_none(value) ? NULL : value->text;
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

enum { CGROUP = MOST_VALUES, CLEAR, SAVE };

/* The number of an option of a value is its place among the values. */
static int set_parse(struct wish *wish, int argc, char **argv)
{
	struct option options[MOST_VALUES + 4] = {
		{ "cgroup", required_argument, NULL, CGROUP },
		{ "clear", no_argument, NULL, CLEAR },
		{ "save", no_argument, NULL, SAVE },
	};
	size_t i;
	int c;

	for (i = 0; i < wish->n; i++)
		options[3 + i] = (struct option){ wish->values[i].option,
						  required_argument, NULL, i };
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		if (c == CGROUP)
			wish->cgroup = optarg;
		else if (c == CLEAR)
			wish->clear = true;
		else if (c == SAVE)
			wish->save = true;
		else
			wish->values[c].text = optarg;
	}
	if (optind != argc)
		return usage_error("set", "%s: unexpected", argv[optind]);
	return set_check(wish);
}

/**
 * cmd_set() - mlx5ep set [--cgroup PATH] [--policy POLICY] ...
 */
int cmd_set(struct cli *cli, int argc, char **argv)
{
	struct wish wish = {};
	int ret;

	find_options(&wish);
	ret = set_parse(&wish, argc, argv);
	return ret ? ret : set_all(cli, &wish);
}
