// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The check of mlx5ep doctor who keeps the module from being unloaded: devices that are
 * attached wholly, managed contexts, and processes that have a file of the module
 * open (notifiers, tables of debugfs).
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "doctor.h"

/**
 * struct holders - who holds the module
 * @text: as many of them as have room
 * @n: how many there are
 * @more: has @text no room for all?
 * @devices: those that are seen here
 * @names: may the names of programs be said?
 */
struct holders {
	char text[500];
	unsigned int n;
	bool more;
	bool names;
	struct json_object *devices;
};

static void __attribute__((format(printf, 2, 3)))
add_holder(struct holders *holders, const char *fmt, ...)
{
	char one[120];
	va_list args;

	va_start(args, fmt);
	vsnprintf(one, sizeof(one), fmt, args);
	va_end(args);
	if (strlen(holders->text) + strlen(one) + 3 < sizeof(holders->text)) {
		if (holders->n)
			strcat(holders->text, ", ");
		strcat(holders->text, one);
	} else {
		holders->more = true;
	}
	holders->n++;
}

static void add_process(struct holders *holders, const char *pid,
			const char *program, const char *what)
{
	if (holders->names)
		add_holder(holders, "%s[%s] (%s)", program, pid, what);
	else
		add_holder(holders, "a process (%s)", what);
}

/* The first file of the module that a process has open. */
static int each_file(const char *pid, const char *fd, const char *target,
		     void *arg)
{
	static const struct {
		const char *path, *what;
	} files[] = {
		{ "/sys/kernel/debug/mlx5_ep/", "a table of debugfs" },
		{ "/dev/mlx5_ep", "/dev/mlx5_ep" },
		{ "anon_inode:[mlx5_ep_notifier]", "a notifier" },
		{ "anon_inode:[mlx5_ep]", "a request" },
	};
	char path[PATH_LEN], program[64] = "?";
	struct holders *holders = arg;
	size_t i;

	(void)fd;
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (strncmp(target, files[i].path, strlen(files[i].path)))
			continue;
		root_path(path, "proc/%s/comm", pid);
		file_read(path, program, sizeof(program));
		add_process(holders, pid, program, files[i].what);
		return 1;
	}
	return 0;
}

/* A device that is attached wholly; managed contexts of one that is not. */
static void add_device(struct holders *holders, struct json_object *dev)
{
	struct json_object *context;
	char pid[24];
	size_t i;

	if (!json_number(dev, "attached", 0))
		return;
	if (!json_number(dev, "half", 0)) {
		add_holder(holders, "%s", json_text(dev, "device", ""));
		return;
	}
	for (i = 0; i < json_length(dev, "contexts"); i++) {
		context = json_object_array_get_idx(json_get(dev, "contexts"), i);
		if (!json_number(context, "managed", 0))
			continue;
		snprintf(pid, sizeof(pid), "%lld",
			 json_number(context, "pid", -1));
		add_process(holders, pid, json_text(context, "comm", "?"),
			    "a managed context");
	}
}

/* A device that debugfs knows, and that is not seen here, is in another network namespace. */
static int each_elsewhere(const char *name, void *arg)
{
	struct holders *holders = arg;
	char path[PATH_LEN];
	size_t i;

	root_path(path, "sys/kernel/debug/mlx5_ep/%s/contexts", name);
	if (!path_exists(path))
		return 0;
	for (i = 0; i < json_object_array_length(holders->devices); i++)
		if (!strcmp(name, json_text(json_object_array_get_idx(
				holders->devices, i), "pci", "")))
			return 0;
	add_holder(holders, "the device of %s (in another network namespace)",
		   name);
	return 0;
}

/**
 * doctor_unload() - say who keeps the module from being unloaded
 * @devices: what devices_get() has said
 * @all: are these all devices that are seen here?
 */
void doctor_unload(struct report *report, struct json_object *devices, bool all)
{
	struct holders holders = { .names = report->names, .devices = devices };
	char path[PATH_LEN], state[16], text[600];
	unsigned long refs = 0;
	size_t i;

	root_path(path, "sys/module/mlx5_ep/initstate");
	if (file_read(path, state, sizeof(state)) > 0 &&
	    !strcmp(state, "going")) {
		doctor_say(report, WARN, "unloading",
			   "rmmod waits for calls that are in the module, or for a module that has wrapped its operations",
			   "dmesg says for what; end the programs that hang, or unload that module");
		return;
	}
	for (i = 0; i < json_object_array_length(devices); i++)
		add_device(&holders, json_object_array_get_idx(devices, i));
	open_files(each_file, &holders);
	root_path(path, "sys/module/mlx5_ep/refcnt");
	if (file_read(path, state, sizeof(state)) > 0)
		refs = strtoul(state, NULL, 10);
	root_path(path, "sys/kernel/debug/mlx5_ep");
	if (all && refs > holders.n)
		dir_names(path, each_elsewhere, &holders);
	if (!holders.n && !refs)
		snprintf(text, sizeof(text), "nothing holds mlx5_ep: rmmod mlx5_ep");
	else
		snprintf(text, sizeof(text), "mlx5_ep is held by %s%s",
			 holders.n ? holders.text : "others",
			 holders.n && (refs > holders.n || holders.more) ?
			 ", and others" : "");
	doctor_say(report, OK, "unloading", text, NULL);
}
