// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Changes settings in the configuration file. Lines that are not about them stay
 * as they are, comments and blanks included. The new text is a file of its own,
 * which is read and checked before it takes the place of the old one by a rename.
 * So a reader sees the old file or the new one, whenever the machine stops.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "save.h"

/* The lines of the file, each with its newline. */
struct lines {
	char **text;
	size_t n, room;
	bool failed;
};

/* Takes over @text, which may be NULL. */
static void insert(struct lines *lines, size_t at, char *text)
{
	size_t room = lines->room ? 2 * lines->room : 64;
	char **more;

	if (text && lines->n == lines->room) {
		more = reallocarray(lines->text, room, sizeof(*more));
		if (more) {
			lines->text = more;
			lines->room = room;
		}
	}
	if (!text || lines->n == lines->room) {
		lines->failed = true;
		free(text);
		return;
	}
	memmove(&lines->text[at + 1], &lines->text[at],
		(lines->n - at) * sizeof(*lines->text));
	lines->text[at] = text;
	lines->n++;
}

static void delete(struct lines *lines, size_t at)
{
	free(lines->text[at]);
	lines->n--;
	memmove(&lines->text[at], &lines->text[at + 1],
		(lines->n - at) * sizeof(*lines->text));
}

__attribute__((format(printf, 1, 2)))
static char *line_from(const char *fmt, ...)
{
	va_list args;
	char *text;
	int ret;

	va_start(args, fmt);
	ret = vasprintf(&text, fmt, args);
	va_end(args);
	return ret < 0 ? NULL : text;
}

static int read_lines(struct lines *lines, const char *path)
{
	size_t room = 0;
	char *text = NULL;
	FILE *file;
	ssize_t len;
	int ret;

	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? 0 : -errno;
	while ((len = getline(&text, &room, file)) > 0)
		insert(lines, lines->n, text[len - 1] == '\n' ?
		       strdup(text) : line_from("%s\n", text));
	/* What is not read would be lost. */
	ret = feof(file) ? 0 : -errno;
	free(text);
	fclose(file);
	return lines->failed ? -ENOMEM : ret;
}

static void free_lines(struct lines *lines)
{
	while (lines->n)
		delete(lines, lines->n - 1);
	free(lines->text);
}

static bool is_section(const struct save *save, const char *line)
{
	struct config_section section, named = save->section;
	char *copy = strdup(line), *text;
	bool same = false;
	size_t len;

	if (!copy)
		return false;
	text = config_trim(copy);
	len = strlen(text);
	if (*text == '[' && text[len - 1] == ']') {
		text[len - 1] = '\0';
		same = !config_section(text + 1, &section) &&
			config_same(&section, &named);
		if (!same && save->name) {
			snprintf(named.device, sizeof(named.device), "%s",
				 save->name);
			same = config_same(&section, &named);
		}
	}
	free(copy);
	return same;
}

static bool is_header(const char *line)
{
	return line[strspn(line, " \t\r\v\f")] == '[';
}

/* The length of "NAME =" and the blanks behind it, if the line sets @name. */
static size_t value_at(const char *line, const char *name)
{
	size_t at = strspn(line, " \t"), len = strlen(name);

	if (strncmp(line + at, name, len))
		return 0;
	at += len;
	at += strspn(line + at, " \t");
	if (line[at] != '=')
		return 0;
	return at + 1 + strspn(line + at + 1, " \t");
}

/* How a value is written in the file. */
static const char *spelled(const struct setting *setting, const char *value)
{
	if (setting->kind != SWITCH)
		return value;
	return *value == '1' ? "on" : "off";
}

/*
 * @line with another value. What stood around the value stays. A comment that had no value
 * in front of it gets a blank there, without which it would be a part of the new one.
 */
static char *with_value(const char *line, size_t at, const char *value)
{
	char *copy = strdup(line + at), *changed = NULL;
	const char *behind;
	bool joined;

	if (!copy)
		return NULL;
	behind = line + at + strlen(config_trim(copy));
	joined = *value && (*behind == '#' || *behind == ';');
	if (asprintf(&changed, "%.*s%s%s%s", (int)at, line, value,
		     joined ? " " : "", behind) < 0)
		changed = NULL;
	free(copy);
	return changed;
}

/*
 * Changes one setting: its last line in a section that fits, else a new line
 * behind the last one of that section, else in a section of its own at the end.
 */
static void change_one(struct lines *lines, const struct save *save, int k)
{
	const struct setting *setting = save->settings[k];
	size_t i, at, found = 0, behind = 0;
	const char *value = spelled(setting, save->values[k]);
	bool inside = false;

	for (i = 0; i < lines->n; i++) {
		if (is_header(lines->text[i]))
			inside = is_section(save, lines->text[i]);
		if (!inside)
			continue;
		if (lines->text[i][strspn(lines->text[i], " \t\n")])
			behind = i + 1;
		if (value_at(lines->text[i], setting->name))
			found = i + 1;
	}
	if (found) {
		at = value_at(lines->text[found - 1], setting->name);
		insert(lines, found, with_value(lines->text[found - 1], at,
						value));
		if (!lines->failed)
			delete(lines, found - 1);
		return;
	}
	if (!behind) {
		if (lines->n)
			insert(lines, lines->n, strdup("\n"));
		insert(lines, lines->n, *save->section.cgroup ?
		       line_from(strcmp(save->section.device, "*") ?
				 "[cgroup %s device %s]\n" : "[cgroup %s]\n",
				 save->section.cgroup, save->section.device) :
		       line_from("[device %s]\n", save->section.device));
		behind = lines->n;
	}
	insert(lines, behind, line_from("%s = %s\n", setting->name, value));
}

/* Removes the lines of a setting. */
static void remove_one(struct lines *lines, const struct save *save, int k)
{
	bool inside = false;
	size_t i = 0;

	while (i < lines->n) {
		if (is_header(lines->text[i]))
			inside = is_section(save, lines->text[i]);
		if (inside && value_at(lines->text[i], save->settings[k]->name))
			delete(lines, i);
		else
			i++;
	}
}

/* The file as it is stored: the folder and the name behind symbolic links. */
static int real_path(char *path)
{
	char *real = NULL;

	root_path(path, CONFIG_FILE);
	real = realpath(path, NULL);
	if (!real)
		return errno == ENOENT ? 0 : -errno;
	if (strlen(real) >= PATH_LEN - 8) {
		free(real);
		return -ENAMETOOLONG;
	}
	strcpy(path, real);
	free(real);
	return 0;
}

/*
 * Checks what the file gives a device. A section for this device stands for more than
 * one for all, so another value can win over the one that is to be saved.
 */
static int check_device(const struct save *save, const struct config *config,
			const char *device, const char *pci)
{
	struct config_section section = save->section;
	const struct config_entry *entry;
	int i;

	snprintf(section.device, sizeof(section.device), "%s", device);
	for (i = 0; i < save->n; i++) {
		entry = config_find(config, &section, pci, save->settings[i]);
		if (entry && (!save->values[i] ||
			      strcmp(entry->value, save->values[i])))
			return complain(EXIT_FAILED, "not saved: a section for %s alone would still say %s = %s: change it with -d %s",
					device, entry->setting->name,
					entry->value, device);
	}
	return EXIT_OK;
}

/* Does the file give each device what is to be saved? */
static bool holds(const struct save *save, const struct config *config)
{
	struct json_object *dev;
	size_t i;

	for (i = 0; i < json_object_array_length(save->devices); i++) {
		dev = json_object_array_get_idx(save->devices, i);
		if (check_device(save, config, json_text(dev, "device", NULL),
				 json_text(dev, "pci", "")))
			return false;
	}
	return true;
}

/* Write and check the new file. @name: whose place it takes, which errors name */
static int write_lines(const struct save *save, const struct lines *lines,
		       const char *path, const char *name, int fd)
{
	struct config config;
	FILE *file = fdopen(fd, "w");
	size_t i;
	int ret;

	if (!file) {
		close(fd);
		return -errno;
	}
	for (i = 0; i < lines->n; i++)
		fputs(lines->text[i], file);
	ret = ferror(file) || fflush(file) || fchmod(fd, 0644) || fsync(fd);
	if (fclose(file) || ret)
		return errno ? -errno : -EIO;
	ret = config_read(&config, path, name) || !holds(save, &config);
	config_free(&config);
	return ret ? -ECANCELED : 0;
}

/* @dir: descriptor of the folder, which is written to disk with the name */
static int replace(const struct save *save, const struct lines *lines,
		   const char *path, int dir)
{
	char new[PATH_LEN + 8];
	int fd, ret;

	snprintf(new, sizeof(new), "%s.XXXXXX", path);
	fd = mkostemp(new, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write_lines(save, lines, new, path, fd);
	if (!ret && rename(new, path))
		ret = -errno;
	if (ret)
		unlink(new);
	else
		fsync(dir);
	return ret;
}

static int change_file(const struct save *save, const char *path, int dir)
{
	struct lines lines = {};
	int i, ret;

	ret = read_lines(&lines, path);
	for (i = 0; !ret && i < save->n; i++) {
		if (save->values[i])
			change_one(&lines, save, i);
		else
			remove_one(&lines, save, i);
		ret = lines.failed ? -ENOMEM : 0;
	}
	if (!ret)
		ret = replace(save, &lines, path, dir);
	free_lines(&lines);
	return ret;
}

/**
 * save_check() - can settings be saved?
 *
 * A file with an error in it is not changed: the administrator shall see the
 * error first.
 *
 * Return: %EXIT_OK, or another exit code, when an error was printed.
 */
int save_check(void)
{
	struct config config;
	char path[PATH_LEN];
	int ret;

	root_path(path, CONFIG_FILE);
	ret = config_read(&config, path, path);
	config_free(&config);
	return ret;
}

/**
 * save_settings() - change settings in the configuration file
 *
 * Makes the file if there is none. The caller has called changes_lock().
 *
 * Return: %EXIT_OK, or another exit code, when an error was printed.
 */
int save_settings(const struct save *save)
{
	char path[PATH_LEN], folder[PATH_LEN];
	int dir = -1, ret;

	ret = real_path(path);
	if (!ret) {
		snprintf(folder, sizeof(folder), "%s", path);
		dir = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			ret = -errno;
	}
	if (!ret)
		ret = change_file(save, path, dir);
	if (dir >= 0)
		close(dir);
	/* What was wrong with the new text has been said. */
	if (ret == -ECANCELED)
		return complain(EXIT_FAILED, "%s is as it was", path);
	return ret ? complain(exit_code(ret), "%s: %s", path,
			      what_failed(ret)) :
		EXIT_OK;
}
