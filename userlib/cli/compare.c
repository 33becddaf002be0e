// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Compares what is set with what the configuration file says. mlx5ep show prints
 * the differences, mlx5ep apply writes the values of the file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "cli.h"
#include "compare.h"

/* @now: what is set; NULL: nothing is */
static void add_row(struct json_object *rows, const char *setting,
		    const char *attribute, const char *now,
		    const struct config_entry *entry, const char *saved)
{
	struct json_object *row = json_object_new_object();

	json_add_text(row, "setting", setting);
	json_add_text(row, "attribute", attribute);
	if (*entry->section.cgroup)
		json_add_text(row, "cgroup", entry->section.cgroup);
	json_add_text(row, "now", now);
	json_add_text(row, "saved", saved);
	json_object_object_add(row, "line", json_object_new_int(entry->line));
	json_object_array_add(rows, row);
}

/* What compare() is asked, and what it has found out so far. */
struct comparison {
	const struct config *config;
	const char *pci;
	struct json_object *rows;
	int err;
};

/* Reads what is set: NULL where the module does not have it, and after an error. */
static char *read_now(struct comparison *comparison, const char *device,
		      const char *attribute)
{
	char *now = change_old(device, attribute);

	if (!now && errno != ENOENT)
		comparison->err = -errno;
	return now;
}

static void compare_settings(struct comparison *comparison,
			     const struct config_section *section)
{
	const char *device = *section->device ? section->device : NULL;
	const struct setting *setting = NULL;
	const struct config_entry *entry;
	char *now;

	while ((setting = setting_next(setting, section->scope))) {
		entry = config_find(comparison->config, section,
				    comparison->pci, setting);
		if (!entry)
			continue;
		now = read_now(comparison, device, setting->attribute);
		if (!now || strcmp(now, entry->value))
			add_row(comparison->rows, setting->name,
				setting->attribute, now, entry, entry->value);
		free(now);
	}
}

/* The settings of cgroups, looked up by their names. */
struct cgroup_settings {
	const struct setting *policy, *strict, *pages, *limit;
};

static const char *value_of(const struct config *config,
			    const struct config_section *section,
			    const char *pci, const struct setting *setting)
{
	const struct config_entry *entry;

	entry = config_find(config, section, pci, setting);
	return entry ? entry->value : "0";
}

/* Compares the line of a cgroup in an attribute that lists cgroups. */
static void compare_line(struct comparison *comparison,
			 const struct config_entry *entry, const char *device,
			 const char *attribute, const char *saved)
{
	const char *cgroup = entry->section.cgroup;
	char *list = read_now(comparison, device, attribute);
	const char *line = change_line(list, cgroup);
	const char *now = line ? line + strlen(cgroup) + 1 : NULL;

	if (!now || strcmp(now, saved))
		add_row(comparison->rows, cgroup, attribute, now, entry, saved);
	free(list);
}

/* A cgroup has two lines: policy, strict and pages in one, the limit in one. */
static void compare_cgroup(struct comparison *comparison,
			   const struct config_entry *entry,
			   const struct cgroup_settings *settings,
			   const char *device)
{
	const struct config *config = comparison->config;
	struct config_section section = entry->section;
	const char *pci = comparison->pci;
	char saved[128];

	snprintf(section.device, sizeof(section.device), "%s", device);
	if (config_find(config, &section, pci, entry->setting) != entry)
		return;
	if (entry->setting == settings->limit) {
		compare_line(comparison, entry, device,
			     entry->setting->attribute, entry->value);
	} else if (entry->setting == settings->policy) {
		snprintf(saved, sizeof(saved), "%s %s %s", entry->value,
			 value_of(config, &section, pci, settings->strict),
			 value_of(config, &section, pci, settings->pages));
		compare_line(comparison, entry, device, "uuar_cgroups", saved);
	}
}

/**
 * compare() - find what differs from the configuration file
 * @device: for instance "mlx5_0"; NULL: compare the module's parameters
 * @pci: place of the device on its bus
 * @err: written: 0; -errno if a setting cannot be read; or NULL. The setting counts as
 *	one that differs, and a write of it says why it cannot be changed.
 *
 * Return: an array with an object per difference.
 */
struct json_object *compare(const struct config *config, const char *device,
			    const char *pci, int *err)
{
	struct comparison comparison = {
		.config = config,
		.pci = pci,
		.rows = json_object_new_array(),
	};
	struct config_section section = {
		.scope = device ? FOR_DEVICE : FOR_MODULE,
	};
	const struct cgroup_settings settings = {
		.policy = setting_find("policy", FOR_CGROUP),
		.strict = setting_find("strict", FOR_CGROUP),
		.pages = setting_find("pages", FOR_CGROUP),
		.limit = setting_find("limit", FOR_CGROUP),
	};
	const struct config_entry *entry;

	snprintf(section.device, sizeof(section.device), "%s",
		 device ? device : "");
	compare_settings(&comparison, &section);
	for (entry = config->entries; device && entry; entry = entry->next)
		if (entry->section.scope == FOR_CGROUP)
			compare_cgroup(&comparison, entry, &settings, device);
	if (err)
		*err = comparison.err;
	return comparison.rows;
}
