// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* One device of those that there are, and what reports and messages say about it. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli.h"

/* The board of the simulated adapter. */
#define SIMULATED "SIM"

static void describe_text(struct json_object *to, const char *key,
			  const char *path)
{
	char buf[256];

	if (file_read(path, buf, sizeof(buf)) > 0)
		json_object_object_add(to, key, json_object_new_string(buf));
}

/*
 * Which mlx5_ib drives the device. A stack like OFED brings one of its own, which has a
 * version; the kernel marks it as from outside of its tree.
 */
static void add_driver(struct json_object *to)
{
	char path[PATH_LEN], version[64], taint[16], words[128];
	bool outside;

	root_path(path, "sys/module/mlx5_ib/taint");
	if (file_read(path, taint, sizeof(taint)) < 0)
		return;
	outside = strchr(taint, 'O');
	root_path(path, "sys/module/mlx5_ib/version");
	if (file_read(path, version, sizeof(version)) < 0)
		*version = '\0';
	snprintf(words, sizeof(words), "mlx5_ib%s%s, %s of the kernel's tree",
		 *version ? " " : "", version, outside ? "not" : "that");
	json_object_object_add(to, "driver", json_object_new_string(words));
}

/**
 * device_describe() - on what something was measured or checked
 *
 * Return: an object of texts, and "simulated".
 */
struct json_object *device_describe(const char *device)
{
	static const struct { const char *key, *file; } files[] = {
		{ "firmware", "fw_ver" }, { "board", "board_id" },
		{ "state", "ports/1/state" }, { "rate", "ports/1/rate" },
		{ "link", "ports/1/link_layer" },
		{ "attached", "mlx5_ep/attached" },
	};
	struct json_object *on = json_object_new_object();
	char path[PATH_LEN], board[256];
	struct utsname name;
	size_t i;

	json_object_object_add(on, "device", json_object_new_string(device));
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		root_path(path, "sys/class/infiniband/%s/%s", device,
			  files[i].file);
		describe_text(on, files[i].key, path);
	}
	root_path(path, "sys/class/infiniband/%s/board_id", device);
	json_object_object_add(on, "simulated", json_object_new_boolean(
		file_read(path, board, sizeof(board)) > 0 &&
		!strncmp(board, SIMULATED, strlen(SIMULATED))));
	if (device_is_mlx5(device))
		add_driver(on);
	root_path(path, "sys/module/mlx5_ep/version");
	describe_text(on, "module", path);
	if (!uname(&name))
		json_object_object_add(on, "kernel",
				       json_object_new_string(name.release));
	return on;
}

/* Writes the names of devices, with commas, as far as there is room. */
static void names_of(struct json_object *devices, char *buf, size_t len)
{
	size_t i, at = 0;

	buf[0] = '\0';
	for (i = 0; i < json_object_array_length(devices) && at < len; i++) {
		at += snprintf(buf + at, len - at, "%s%s", i ? ", " : "",
			       json_text(json_object_array_get_idx(devices, i),
					 "device", ""));
	}
}

/**
 * device_missing() - say that a device is not there, and which ones are
 * @device: the name or address that was asked for; NULL: any
 *
 * Return: %EXIT_NO_DEVICE; or why that cannot be told: see devices_unread().
 */
int device_missing(const char *device)
{
	struct cli every = { .brief = true };
	struct json_object *devices;
	char names[256];
	int code;

	devices = devices_get(&every, &code);
	names_of(devices, names, sizeof(names));
	json_object_put(devices);
	if (devices_unread(code))
		return code;
	if (code == EXIT_NO_DEVICE)
		return complain(EXIT_NO_DEVICE, "%s%sno mlx5 device is registered: modprobe mlx5_ib",
				device ? device : "", device ? ": " : "");
	return complain(EXIT_NO_DEVICE, "%s: no such mlx5 device, but %s",
			device, names);
}

/**
 * no_device() - say why devices_get() has no attached device
 * @device: the name or address that was asked for; NULL: any
 * @code: what devices_get() has written, not %EXIT_OK
 *
 * Return: an exit code.
 */
int no_device(const char *device, int code)
{
	if (code == EXIT_NO_DEVICE)
		return device_missing(device);
	if (devices_unread(code))
		return code;
	return complain(code, "the module is %s; see mlx5ep doctor",
			module_loaded() ? "not attached" : "not loaded");
}

/**
 * device_choose() - the device that the user has named, or the only one
 * @command: for the message
 * @devices: what is known about it; to be put by the caller, also after an error
 * @code: exit code after an error, which was reported
 *
 * Return: its name; NULL: an error.
 */
const char *device_choose(struct cli *cli, const char *command,
			  struct json_object **devices, int *code)
{
	char names[256];

	cli->brief = true;
	*devices = devices_get(cli, code);
	names_of(*devices, names, sizeof(names));
	if (*code)
		*code = no_device(cli->device, *code);
	else if (json_object_array_length(*devices) > 1)
		*code = usage_error(command, "name one of the devices %s",
				    names);
	if (*code)
		return NULL;
	return json_text(json_object_array_get_idx(*devices, 0), "device",
			 NULL);
}
