// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep apply, mlx5ep check. apply writes what the configuration file says and
 * the kernel does not have yet. The whole file is read and checked before the
 * first write. A device that refuses one of its values gets its old values back.
 * The policy and the limit of each cgroup stand for themselves, and so do other
 * devices: no limit shall be missing because something else was refused.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "cli.h"
#include "compare.h"
#include "config.h"
#include "once.h"

#define DEFAULTS "sys/module/mlx5_ep/parameters/defaults"

/* Writes one difference. */
static int write_row(struct change **done, const char *device,
		     struct json_object *row)
{
	const char *cgroup = json_text(row, "cgroup", NULL);
	const char *saved = json_text(row, "saved", NULL);
	char *line;
	int ret;

	if (!cgroup)
		return change_write(done, device,
				    json_text(row, "attribute", NULL), saved,
				    NULL);
	if (asprintf(&line, "%s %s", cgroup, saved) < 0)
		return complain(EXIT_FAILED, "no memory");
	ret = change_write(done, device, json_text(row, "attribute", NULL),
			   line, cgroup);
	free(line);
	return ret;
}

/* A cgroup of the file need not be there yet, which is no error. */
static bool absent(const char *device, struct json_object *row)
{
	const char *cgroup = json_text(row, "cgroup", NULL);
	char path[PATH_LEN];

	if (!cgroup || json_text(row, "now", NULL))
		return false;
	root_path(path, "sys/fs/cgroup%s", cgroup);
	if (path_exists(path))
		return false;
	complain(EXIT_OK, "%s: cgroup %s does not exist: run mlx5ep apply again when it does",
		 device, cgroup);
	return true;
}

static void say(struct cli *cli, const char *device, struct json_object *rows)
{
	struct json_object *row;
	size_t i;

	for (i = 0; !cli->json && i < json_object_array_length(rows); i++) {
		row = json_object_array_get_idx(rows, i);
		printf("%s: %s: '%s', was '%s'\n", device ? device : "module",
		       json_text(row, "setting", NULL),
		       json_text(row, "saved", NULL),
		       json_text(row, "now", "none"));
	}
}

/*
 * Writes the rows from @at on that hold together: all values of the device itself, or
 * one line of a cgroup. If one is refused, none is kept. Returns the next row.
 */
static size_t write_rows(const char *device, struct json_object *rows, size_t at,
			 struct json_object *written, int *ret)
{
	struct json_object *group = json_object_new_array(), *row;
	size_t i, n = json_object_array_length(rows);
	struct change *done = NULL;
	int err = EXIT_OK;

	do {
		row = json_object_array_get_idx(rows, at);
		if (err || absent(device, row))
			continue;
		err = write_row(&done, device, row);
		json_object_array_add(group, json_object_get(row));
	} while (++at < n && !json_text(row, "cgroup", NULL) &&
		 !json_text(json_object_array_get_idx(rows, at), "cgroup",
			    NULL));
	change_end(done, err);
	for (i = 0; !err && i < json_object_array_length(group); i++)
		json_object_array_add(written, json_object_get(
			json_object_array_get_idx(group, i)));
	json_object_put(group);
	*ret = *ret ? *ret : err;
	return at;
}

/*
 * Writes what differs. @device: NULL: parameters of the module. @cgroups: the policies
 * and limits of cgroups only. Adds an object with what was written to @report.
 */
static int apply_to(struct cli *cli, const struct config *config,
		    const char *device, const char *pci, bool cgroups,
		    struct json_object *report)
{
	struct json_object *rows = compare(config, device, pci, NULL);
	struct json_object *written = json_object_new_array();
	struct json_object *obj = json_object_new_object();
	struct json_object *row;
	size_t i = 0;
	int ret = EXIT_OK;

	while (i < json_object_array_length(rows)) {
		row = json_object_array_get_idx(rows, i);
		if (cgroups && !json_text(row, "cgroup", NULL))
			i++;
		else
			i = write_rows(device, rows, i, written, &ret);
	}
	say(cli, device, written);
	json_object_object_add(obj, "device", device ?
			       json_object_new_string(device) : NULL);
	json_object_object_add(obj, "applied", json_object_new_boolean(!ret));
	json_object_object_add(obj, "written", written);
	json_object_array_add(report, obj);
	json_object_put(rows);
	return ret;
}

/* Writes the text, and notes it. An empty one takes back what was noted only. */
static int write_defaults(const char *path, const char *text)
{
	char *now = file_text(path);
	int ret = 0;

	if (*text || (now && once_wrote(now))) {
		ret = file_write(path, *text ? text : "\n");
		free(now);
		now = ret ? NULL : file_text(path);
		if (now)
			once_note_text(now);
	}
	free(now);
	return ret;
}

/*
 * Gives the module what the file says about devices that come later. If the file says
 * nothing about devices, a text that was given by hand stays, as an option of modprobe.
 */
static int apply_defaults(const struct config *config)
{
	char path[PATH_LEN];
	char *text;
	int ret;

	root_path(path, DEFAULTS);
	if (!path_exists(path))
		return EXIT_OK;
	text = config_defaults(config, NULL);
	ret = text ? write_defaults(path, text) : -ENOMEM;
	if (ret)
		complain(exit_code(ret), "module: settings for devices that come later: %s",
			 what_failed(ret));
	free(text);
	return exit_code(ret);
}

/**
 * struct wish - what the options ask for
 * @device: this device only; NULL: all
 * @early: the module and devices that come later only
 * @once: not what was applied before, since the module was loaded
 * @cgroups: the policies and limits of cgroups only
 */
struct wish {
	const char *device;
	bool early;
	bool once;
	bool cgroups;
};

static bool is_asked(const char *asked, struct json_object *dev)
{
	const char *pci = json_text(dev, "pci", NULL);

	return !asked || !strcmp(asked, json_text(dev, "device", NULL)) ||
		(pci && !strcmp(asked, pci));
}

static int apply_device(struct cli *cli, const struct config *config,
			const struct wish *wish, struct json_object *dev,
			struct json_object *report)
{
	const char *asked = wish->device, *pci = json_text(dev, "pci", NULL);
	const char *name = json_text(dev, "device", NULL);
	int ret;

	if (!json_text(dev, "reason", NULL)) {
		if (wish->once && pci && once_given(pci, name))
			return EXIT_OK;
		ret = apply_to(cli, config, name,
			       pci ? pci : "", wish->cgroups, report);
		if (!ret && pci && !wish->cgroups)
			once_note(pci, name);
		return ret;
	}
	if (!asked)
		return EXIT_OK;
	return complain(EXIT_NO_MODULE, "%s: not attached: %s; see mlx5ep doctor", asked,
			json_text(dev, "reason", NULL));
}

static int apply_devices(struct cli *cli, const struct config *config,
			 const struct wish *wish, struct json_object *report)
{
	struct cli every = { .json = cli->json, .brief = true };
	struct json_object *devices, *dev;
	bool found = false;
	int code, ret;
	size_t i;

	devices = devices_get(&every, &code);
	ret = devices_unread(code) ? code : EXIT_OK;
	for (i = 0; i < json_object_array_length(devices); i++) {
		dev = json_object_array_get_idx(devices, i);
		if (!is_asked(wish->device, dev))
			continue;
		found = true;
		code = apply_device(cli, config, wish, dev, report);
		ret = ret ? ret : code;
	}
	if (wish->device && !found && !ret)
		ret = device_missing(wish->device);
	json_object_put(devices);
	return ret;
}

/* Parameters of the module, and what devices have that come later. */
static int apply_module(struct cli *cli, const struct config *config,
			const struct wish *wish, struct json_object *report)
{
	int ret, more;

	if (wish->cgroups || (wish->once && once_given(ONCE_MODULE, "")))
		return EXIT_OK;
	ret = apply_to(cli, config, NULL, "", false, report);
	more = apply_defaults(config);
	ret = ret ? ret : more;
	if (!ret)
		once_note(ONCE_MODULE, "");
	return ret;
}

static int apply(struct cli *cli, const struct wish *wish)
{
	struct json_object *report = json_object_new_array();
	struct config config;
	char path[PATH_LEN];
	int ret, more;

	changes_lock();
	root_path(path, CONFIG_FILE);
	ret = config_read(&config, path, path);
	if (!ret && config.missing) {
		if (!cli->json)
			printf("%s does not exist: nothing to apply\n", path);
	} else if (!ret && !module_loaded()) {
		ret = complain(EXIT_NO_MODULE, "the module is not loaded: modprobe mlx5_ep");
	} else if (!ret) {
		ret = apply_module(cli, &config, wish, report);
		if (!wish->early) {
			more = apply_devices(cli, &config, wish, report);
			ret = ret ? ret : more;
		}
	}
	if (cli->json)
		print_json(report);
	json_object_put(report);
	config_free(&config);
	return ret;
}

/**
 * cmd_apply() - mlx5ep apply [--early | --once | --cgroups] [DEVICE]
 */
int cmd_apply(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		{ "cgroups", no_argument, NULL, 'c' },
		{ "early", no_argument, NULL, 'e' },
		{ "once", no_argument, NULL, 'o' },
		{}
	};
	struct wish wish = { .device = cli->device };
	int c;

	while ((c = getopt_long(argc, argv, "ceo", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		if (c == 'e')
			wish.early = true;
		else if (c == 'c')
			wish.cgroups = true;
		else
			wish.once = true;
	}
	if (argc - optind > 1 || (wish.device && optind < argc))
		return usage_error("apply", "%s: one device at most can be named",
				   argv[argc - 1]);
	if (optind < argc)
		wish.device = argv[optind];
	if (wish.cgroups && (wish.early || wish.once))
		return usage_error("apply", "--cgroups stands for itself");
	if (wish.device && wish.early)
		return usage_error("apply", "--early is about devices that are not there yet");
	return apply(cli, &wish);
}

/**
 * cmd_check() - mlx5ep check [FILE]
 */
int cmd_check(struct cli *cli, int argc, char **argv)
{
	const struct config_entry *entry;
	struct json_object *obj;
	struct config config;
	char path[PATH_LEN];
	int ret, n = 0;

	if (argc > 2)
		return usage_error("check", "%s: unexpected", argv[2]);
	root_path(path, CONFIG_FILE);
	if (argc == 2 && snprintf(path, sizeof(path), "%s", argv[1]) >=
	    (int)sizeof(path))
		return usage_error("check", "the path is too long");
	ret = config_read(&config, path, path);
	if (!ret && config.missing)
		ret = complain(EXIT_FAILED, "%s does not exist: mlx5ep set --save makes it",
			       path);
	for (entry = config.entries; entry; entry = entry->next)
		n++;
	config_free(&config);
	if (!cli->json) {
		if (!ret)
			printf("%s: %d settings, all correct\n", path, n);
		return ret;
	}
	obj = json_object_new_object();
	json_object_object_add(obj, "file", json_object_new_string(path));
	json_object_object_add(obj, "correct", json_object_new_boolean(!ret));
	json_object_object_add(obj, "settings", json_object_new_int(n));
	print_json(obj);
	json_object_put(obj);
	return ret;
}
