// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unloads the module and loads it again. The module cannot be unloaded while it is
 * wholly attached, so that each device is taken from mlx5_ib before and given back
 * afterwards. Therefore nobody may use a device.
 *
 * Every device that was taken is given back, whatever fails between. What was set
 * is set again, also where the configuration file says otherwise. No signal but
 * SIGKILL ends this group.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../change.h"
#include "../modules.h"
#include "../once.h"
#include "../rebind.h"
#include "../settings.h"
#include "selftest.h"

#define DEVICES_MOST 64

struct device {
	char name[64];
	char pci[ENTRY_LEN];
	char aux[ENTRY_LEN];
	bool taken;
};

struct devices {
	struct device list[DEVICES_MOST];
	unsigned int n;
	bool half;	/* is one attached for policies and limits only? */
};

static int each_device(const char *name, void *arg)
{
	struct devices *devices = arg;
	struct device *device = &devices->list[devices->n];

	devices->half = devices->half || is_half_attached(name);
	if (!is_attached(name) || strlen(name) >= sizeof(device->name) ||
	    aux_device(name, device->aux) <= 0)
		return 0;
	strcpy(device->name, name);
	device_pci(name, device->pci, sizeof(device->pci));
	return ++devices->n == DEVICES_MOST;
}

/*
 * Does somebody hold the module beside the attached devices, each of which holds it
 * once? A kernel that does not count is found to unload nothing later.
 */
static bool is_held(const struct devices *devices)
{
	char path[PATH_LEN], count[32];

	root_path(path, "sys/module/mlx5_ep/refcnt");
	return file_read(path, count, sizeof(count)) > 0 &&
		strtoul(count, NULL, 10) > devices->n;
}

/* Returns why the module cannot be unloaded here, or NULL. */
static const char *obstacle(struct devices *devices)
{
	struct json_object *users;
	unsigned int i;
	size_t n = 0;

	if (geteuid())
		return "only root may unload a module";
	if (!module_probe("-nq", "mlx5_ep"))
		return "modprobe finds no mlx5_ep that it could load again";
	if (devices->half)
		return "a device would lose its settings: mlx5ep doctor says which needs mlx5ep attach";
	for (i = 0; i < devices->n; i++) {
		users = device_users(devices->list[i].name);
		if (!users)
			return "nobody can tell who uses a device";
		n += json_object_array_length(users);
		json_object_put(users);
	}
	if (n)
		return "a device is in use: see mlx5ep attach --users";
	return is_held(devices) ?
		"a process has a table of debugfs open, which holds the module: stop it" :
		NULL;
}

static void remember(struct json_object *settings, const char *device,
		     const char *attribute)
{
	struct json_object *row;
	char *text = change_old(device, attribute);

	if (!text)
		return;
	row = json_object_new_object();
	if (device)
		json_object_object_add(row, "device",
				       json_object_new_string(device));
	json_object_object_add(row, "attribute",
			       json_object_new_string(attribute));
	json_object_object_add(row, "text", json_object_new_string(text));
	json_object_array_add(settings, row);
	free(text);
}

/* All that is set, for the module and for each device. */
static struct json_object *settings_now(struct devices *devices)
{
	struct json_object *settings = json_object_new_array();
	const struct setting *setting = NULL;
	unsigned int i;

	while ((setting = setting_next(setting, FOR_MODULE)))
		remember(settings, NULL, setting->attribute);
	remember(settings, NULL, "attach");
	remember(settings, NULL, "defaults");
	for (i = 0; i < devices->n; i++) {
		setting = NULL;
		while ((setting = setting_next(setting, FOR_DEVICE)))
			remember(settings, devices->list[i].name,
				 setting->attribute);
		remember(settings, devices->list[i].name, "uuar_cgroups");
		remember(settings, devices->list[i].name, "uar_cgroup_limits");
	}
	return settings;
}

/* A list of cgroups is written line by line, a parameter of the module whole. */
static void set_again(struct json_object *row)
{
	const char *device = json_text(row, "device", NULL);
	char *text = strdup(json_text(row, "text", NULL)), *line, *rest = text;
	struct change *done = NULL;

	while (rest && (line = strsep(&rest, device ? "\n" : "")))
		change_write(&done, device, json_text(row, "attribute", NULL),
			     line, NULL);
	change_end(done, false);
	free(text);
}

static bool is_set(struct json_object *row)
{
	char *now = change_old(json_text(row, "device", NULL),
			       json_text(row, "attribute", NULL));
	bool same = now && !strcmp(now, json_text(row, "text", NULL));

	free(now);
	return same;
}

/*
 * The module attaches to the devices of before, whatever modprobe is told of that, and
 * mlx5ep apply --once passes over it and them: udev runs that for each one that is back,
 * before or after the settings have returned.
 */
static void expect_devices(const struct devices *devices)
{
	char path[PATH_LEN];
	unsigned int i;

	root_path(path, "sys/module/mlx5_ep/parameters/attach");
	file_write(path, "Y");
	once_note(ONCE_MODULE, "");
	for (i = 0; i < devices->n; i++)
		once_note(devices->list[i].pci, devices->list[i].name);
}

/*
 * What /etc/mlx5ep.conf says may be set already. An apply that began earlier, and may
 * still write it, is waited for.
 */
static void settings_return(struct selftest *st, struct json_object *settings)
{
	size_t i, n = json_object_array_length(settings), lost = 0;
	struct json_object *row;

	changes_lock();
	for (i = 0; i < n; i++) {
		row = json_object_array_get_idx(settings, i);
		if (!is_set(row))
			set_again(row);
		lost += !is_set(row);
	}
	selftest_expect(st, !lost, "all is set as before",
			"%zu of %zu settings", n - lost, n);
}

/* Returns whether all devices were taken. */
static bool take(struct devices *devices)
{
	unsigned int i;

	for (i = 0; i < devices->n; i++) {
		if (aux_unbind(devices->list[i].aux))
			return false;
		devices->list[i].taken = true;
	}
	return true;
}

static void give_back(struct selftest *st, struct devices *devices)
{
	unsigned int i, attached = 0;

	for (i = 0; i < devices->n; i++)
		if (devices->list[i].taken)
			aux_bind(devices->list[i].aux);
	for (i = 0; i < devices->n; i++)
		attached += !wait_attached(devices->list[i].name);
	selftest_expect(st, attached == devices->n,
			"the module is attached to each device again",
			"%u of %u", attached, devices->n);
}

static void reload(struct selftest *st, struct devices *devices)
{
	struct json_object *settings = settings_now(devices);

	if (selftest_expect(st, take(devices), "mlx5_ib lets the devices go",
			    "%u devices", devices->n)) {
		selftest_expect(st, !module_unload("mlx5_ep"),
				"the module is unloaded",
				"delete_module()");
		selftest_expect(st, module_probe("-q", "mlx5_ep") &&
				    module_loaded(),
				"the module is loaded again", "modprobe");
	}
	expect_devices(devices);
	give_back(st, devices);
	settings_return(st, settings);
	json_object_put(settings);
}

/**
 * selftest_reload() - the module is unloaded and loaded again
 */
void selftest_reload(struct selftest *st)
{
	struct devices devices = {};
	char path[PATH_LEN];
	const char *why;
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, 0);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	root_path(path, "sys/class/infiniband");
	dir_names(path, each_device, &devices);
	why = obstacle(&devices);
	if (why)
		selftest_say(st, NOT_TESTABLE, "the module is unloaded", "%s",
			     why);
	else
		reload(st, &devices);
}
