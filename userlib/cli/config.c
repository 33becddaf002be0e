// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reads the configuration file, mlx5ep.conf(5). The whole file is read and
 * checked before anybody uses a setting of it. Each error names file and line;
 * a file with an error has no settings.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "config.h"

/* sysfs takes no text of a page or more, and the text of the file ends in a newline. */
#define MOST_DEFAULTS 4000

/* The file while it is read. */
struct reader {
	const char *path;
	unsigned int line;
	struct config_section section;
	bool has_section;
	struct config_entry **tail;
	unsigned int errors;
};

__attribute__((format(printf, 2, 3)))
static void bad(struct reader *reader, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	complain(EXIT_FAILED, "%s:%u: %s", reader->path, reader->line,
		 printable(text));
	reader->errors++;
}

/**
 * config_trim() - cut off the comment and the blanks around a line
 *
 * A comment begins with # or ;, at the start of a line or behind a blank.
 *
 * Return: the first character of @text that is not blank.
 */
char *config_trim(char *text)
{
	char *p;

	while (isspace((unsigned char)*text))
		text++;
	for (p = text; *p; p++)
		if ((*p == '#' || *p == ';') &&
		    (p == text || isspace((unsigned char)p[-1]))) {
			*p = '\0';
			break;
		}
	for (p = text + strlen(text);
	     p > text && isspace((unsigned char)p[-1]); p--)
		p[-1] = '\0';
	return text;
}

static const char *section_device(const char *word,
				  struct config_section *section)
{
	const char *p;

	if (!word)
		return "a device is missing: a name, a PCI address, or *";
	for (p = strcmp(word, "*") ? word : ""; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_-.:", *p))
			break;
	if (strlen(word) >= sizeof(section->device) || *p)
		return "not the name of a device, not a PCI address, and not *";
	strcpy(section->device, word);
	return NULL;
}

static const char *section_cgroup(const char *path, const char *word,
				  char **rest, struct config_section *section)
{
	section->scope = FOR_CGROUP;
	if (!path || cgroup_path(path, section->cgroup,
				 sizeof(section->cgroup)))
		return "a cgroup is a path that begins with / and has no blanks";
	if (!word)
		return section_device("*", section);
	if (strcmp(word, "device"))
		return "behind the path of a cgroup only 'device DEVICE' may stand";
	return section_device(strtok_r(NULL, " \t", rest), section);
}

/**
 * config_section() - understand a line in brackets
 * @text: what stands between the brackets; changed
 *
 * Return: what is wrong with it, or NULL.
 */
const char *config_section(char *text, struct config_section *section)
{
	const char *error = NULL;
	char *word, *path, *rest;

	memset(section, 0, sizeof(*section));
	word = strtok_r(text, " \t", &rest);
	if (word && !strcmp(word, "module")) {
		section->scope = FOR_MODULE;
	} else if (word && !strcmp(word, "device")) {
		section->scope = FOR_DEVICE;
		error = section_device(strtok_r(NULL, " \t", &rest), section);
	} else if (word && !strcmp(word, "cgroup")) {
		path = strtok_r(NULL, " \t", &rest);
		word = path ? strtok_r(NULL, " \t", &rest) : NULL;
		error = section_cgroup(path, word, &rest, section);
	} else {
		return "not one of [module], [device DEVICE], [cgroup PATH]";
	}
	if (!error && word && strtok_r(NULL, " \t", &rest))
		error = "a word too many in the brackets";
	return error;
}

/**
 * config_same() - do two lines in brackets say the same?
 */
bool config_same(const struct config_section *a,
		 const struct config_section *b)
{
	return a->scope == b->scope && !strcmp(a->device, b->device) &&
		!strcmp(a->cgroup, b->cgroup);
}

static void read_section(struct reader *reader, char *text)
{
	size_t len = strlen(text);
	const char *error;

	reader->has_section = false;
	if (text[len - 1] != ']') {
		bad(reader, "the line begins with [ and does not end with ]");
		return;
	}
	text[len - 1] = '\0';
	error = config_section(text + 1, &reader->section);
	if (error)
		bad(reader, "%s", error);
	reader->has_section = !error;
}

static const struct config_entry *already(const struct config *config,
					  const struct reader *reader,
					  const struct setting *setting)
{
	const struct config_entry *entry;

	for (entry = config->entries; entry; entry = entry->next)
		if (entry->setting == setting &&
		    config_same(&entry->section, &reader->section))
			return entry;
	return NULL;
}

static void add_entry(struct reader *reader, const struct setting *setting,
		      const char *value)
{
	struct config_entry *entry = calloc(1, sizeof(*entry));

	if (entry)
		entry->value = strdup(value);
	if (!entry || !entry->value) {
		bad(reader, "no memory");
		free(entry);
		return;
	}
	entry->line = reader->line;
	entry->section = reader->section;
	entry->setting = setting;
	*reader->tail = entry;
	reader->tail = &entry->next;
}

static void read_setting(struct config *config, struct reader *reader,
			 char *text)
{
	const struct config_entry *earlier;
	const struct setting *setting;
	char *value = strchr(text, '=');
	const char *error;

	if (!value) {
		bad(reader, "neither [SECTION] nor NAME = VALUE");
		return;
	}
	*value = '\0';
	text = config_trim(text);
	value = config_trim(value + 1);
	setting = setting_find(text, reader->section.scope);
	if (!setting) {
		bad(reader, "'%s' is no setting of this section", text);
		return;
	}
	earlier = already(config, reader, setting);
	error = setting_error(setting, value);
	if (error)
		bad(reader, "%s = %s: %s", text, value, error);
	else if (earlier)
		bad(reader, "%s is set in line %u already", text,
		    earlier->line);
	else
		add_entry(reader, setting, value);
}

static void read_line(struct config *config, struct reader *reader,
		      char *text, size_t len)
{
	bool before = !reader->has_section && !reader->errors;

	if (strlen(text) != len) {
		bad(reader, "a zero byte");
		return;
	}
	text = config_trim(text);
	if (*text == '[')
		read_section(reader, text);
	else if (*text && reader->has_section)
		read_setting(config, reader, text);
	else if (*text && before)
		bad(reader, "a setting stands before the first [SECTION]");
}

/*
 * The kernel takes policy, strict and pages of a cgroup together. The limit is
 * apart from them.
 */
static void check_cgroups(const struct config *config, struct reader *reader)
{
	const struct setting *policy = setting_find("policy", FOR_CGROUP);
	const struct setting *limit = setting_find("limit", FOR_CGROUP);
	const struct config_entry *entry, *other;

	for (entry = config->entries; entry; entry = entry->next) {
		if (entry->section.scope != FOR_CGROUP ||
		    entry->setting == limit)
			continue;
		for (other = config->entries; other; other = other->next)
			if (other->setting == policy &&
			    config_same(&other->section, &entry->section))
				break;
		reader->line = entry->line;
		if (!other)
			bad(reader, "the section of cgroup %s has no policy",
			    entry->section.cgroup);
	}
}

static void check_defaults(const struct config *config, struct reader *reader)
{
	char *text = config_defaults(config, &reader->line);

	if (!text)
		bad(reader, "no memory");
	else if (strlen(text) > MOST_DEFAULTS)
		bad(reader, "the settings of devices are more than %d characters for the module, from this line on: say them for all devices, or shorten them",
		    MOST_DEFAULTS);
	free(text);
}

/**
 * config_read() - read and check the configuration file
 * @config: filled in; the caller calls config_free(), also after an error
 * @path: what is read
 * @name: what errors name
 *
 * It is no error if there is no file: then @config has no entries.
 *
 * Return: %EXIT_OK, or another exit code, when each error was printed.
 */
int config_read(struct config *config, const char *path, const char *name)
{
	struct reader reader = { .path = name, .tail = &config->entries };
	size_t room = 0;
	char *text = NULL;
	ssize_t len;
	FILE *file;

	memset(config, 0, sizeof(*config));
	file = fopen(path, "re");
	if (!file) {
		config->missing = errno == ENOENT;
		return config->missing ? EXIT_OK :
			complain(exit_code(-errno), "%s: %s", name,
				 what_failed(-errno));
	}
	while ((len = getline(&text, &room, file)) >= 0) {
		reader.line++;
		read_line(config, &reader, text, len);
	}
	if (!feof(file))
		bad(&reader, "cannot read: %s", strerror(errno));
	free(text);
	fclose(file);
	if (!reader.errors)
		check_cgroups(config, &reader);
	if (!reader.errors)
		check_defaults(config, &reader);
	return reader.errors ? EXIT_FAILED : EXIT_OK;
}

/**
 * config_free() - free what config_read() has filled in
 */
void config_free(struct config *config)
{
	struct config_entry *entry;

	while ((entry = config->entries)) {
		config->entries = entry->next;
		free(entry->value);
		free(entry);
	}
}

static bool is_for_all(const struct config_entry *entry)
{
	return !strcmp(entry->section.device, "*");
}

/**
 * config_defaults() - what the file says about devices that come later
 * @line: written: the line of the file from which on the text is longer than the
 *	module takes; NULL: not wanted
 *
 * Of two lines that fit a device the module takes the later one. So those for all
 * devices stand first.
 *
 * Return: a line for each setting, as the parameter "defaults" of the module takes
 * them, which the caller frees; NULL: no memory.
 */
char *config_defaults(const struct config *config, unsigned int *line)
{
	const struct config_entry *entry;
	char *text = NULL;
	size_t len = 0;
	bool fits = true;
	FILE *to;
	int turn;

	to = open_memstream(&text, &len);
	for (turn = 0; to && turn < 2; turn++)
		for (entry = config->entries; entry; entry = entry->next) {
			if (entry->section.scope != FOR_DEVICE ||
			    is_for_all(entry) == turn)
				continue;
			fprintf(to, "%s %s %s\n", entry->section.device,
				entry->setting->attribute, entry->value);
			fflush(to);
			if (line && fits && len > MOST_DEFAULTS)
				*line = entry->line;
			fits = len <= MOST_DEFAULTS;
		}
	if (to && !fclose(to))
		return text;
	free(text);
	return NULL;
}

/**
 * config_find() - what the file says about a setting
 * @section: whose setting; the device is named by its name
 * @pci: place of the device on its bus, its other name
 *
 * A section that names the device comes before one for all devices. Of two that
 * name it, the later one comes first.
 *
 * Return: the entry that holds, or NULL if the file does not say anything.
 */
const struct config_entry *config_find(const struct config *config,
				       const struct config_section *section,
				       const char *pci,
				       const struct setting *setting)
{
	const struct config_entry *entry, *found = NULL;

	for (entry = config->entries; entry; entry = entry->next) {
		const char *device = entry->section.device;

		if (entry->setting != setting ||
		    entry->section.scope != section->scope ||
		    strcmp(entry->section.cgroup, section->cgroup))
			continue;
		if (!strcmp(device, section->device) || !strcmp(device, pci))
			found = entry;
		else if (!strcmp(device, "*") &&
			 (!found || !strcmp(found->section.device, "*")))
			found = entry;
	}
	return found;
}
