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

static void add_text(struct json_object *row, const char *key,
		     const char *text)
{
	json_object_object_add(row, key, text ?
			       json_object_new_string(text) : NULL);
}

/* @now: what is set; NULL: nothing is */
static void add_row(struct json_object *rows, const char *setting,
		    const char *attribute, const char *now,
		    const struct config_entry *entry, const char *saved)
{
	struct json_object *row = json_object_new_object();

	add_text(row, "setting", setting);
	add_text(row, "attribute", attribute);
	if (*entry->section.cgroup)
		add_text(row, "cgroup", entry->section.cgroup);
	add_text(row, "now", now);
	add_text(row, "saved", saved);
	json_object_object_add(row, "line", json_object_new_int(entry->line));
	json_object_array_add(rows, row);
}

/*
 * Reads what is set, see change_old(). What the module does not have is not set: *@now
 * is NULL then. Returns false after an error, which was reported.
 */
static bool read_now(const char *device, const char *attribute, char **now)
{
	*now = change_old(device, attribute);
	if (*now || errno == ENOENT)
		return true;
	complain(EXIT_FAILED, "%s: %s: %s", device ? device : "module",
		 attribute, what_failed(-errno));
	return false;
}

static bool compare_settings(struct json_object *rows,
			     const struct config *config,
			     const struct config_section *section,
			     const char *pci)
{
	const char *device = *section->device ? section->device : NULL;
	const struct setting *setting = NULL;
	const struct config_entry *entry;
	char *now;

	while ((setting = setting_next(setting, section->scope))) {
		entry = config_find(config, section, pci, setting);
		if (!entry)
			continue;
		if (!read_now(device, setting->attribute, &now))
			return false;
		if (!now || strcmp(now, entry->value))
			add_row(rows, setting->name, setting->attribute, now,
				entry, entry->value);
		free(now);
	}
	return true;
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
static bool compare_line(struct json_object *rows,
			 const struct config_entry *entry, const char *device,
			 const char *attribute, const char *saved)
{
	const char *cgroup = entry->section.cgroup;
	const char *line, *now;
	char *list;

	if (!read_now(device, attribute, &list))
		return false;
	line = change_line(list, cgroup);
	now = line ? line + strlen(cgroup) + 1 : NULL;
	if (!now || strcmp(now, saved))
		add_row(rows, cgroup, attribute, now, entry, saved);
	free(list);
	return true;
}

/* A cgroup has two lines: policy, strict and pages in one, the limit in one. */
static bool compare_cgroup(struct json_object *rows,
			   const struct config *config,
			   const struct config_entry *entry,
			   const struct cgroup_settings *settings,
			   const char *device, const char *pci)
{
	struct config_section section = entry->section;
	char saved[128];

	snprintf(section.device, sizeof(section.device), "%s", device);
	if (config_find(config, &section, pci, entry->setting) != entry)
		return true;
	if (entry->setting == settings->limit)
		return compare_line(rows, entry, device,
				    entry->setting->attribute, entry->value);
	if (entry->setting != settings->policy)
		return true;
	snprintf(saved, sizeof(saved), "%s %s %s", entry->value,
		 value_of(config, &section, pci, settings->strict),
		 value_of(config, &section, pci, settings->pages));
	return compare_line(rows, entry, device, "uuar_cgroups", saved);
}

/**
 * compare() - find what differs from the configuration file
 * @device: for instance "mlx5_0"; NULL: compare the module's parameters
 * @pci: place of the device on its bus
 *
 * Return: an array with an object per difference, or NULL after an error, which was
 * reported.
 */
struct json_object *compare(const struct config *config, const char *device,
			    const char *pci)
{
	struct json_object *rows = json_object_new_array();
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
	bool known;

	snprintf(section.device, sizeof(section.device), "%s",
		 device ? device : "");
	known = compare_settings(rows, config, &section, pci);
	for (entry = config->entries; known && device && entry; entry = entry->next)
		if (entry->section.scope == FOR_CGROUP)
			known = compare_cgroup(rows, config, entry, &settings,
					       device, pci);
	if (known)
		return rows;
	json_object_put(rows);
	return NULL;
}
