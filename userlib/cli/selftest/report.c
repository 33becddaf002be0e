// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The file of mlx5ep selftest --report, for whoever is to find out what happened on a
 * machine that they do not see. It has what the program and the drivers are, what doctor
 * says, and the results; it has no name of the node, of a user or of a program, and no
 * address or GUID.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../cli.h"
#include "selftest.h"

/* Grows when a field changes its meaning. */
#define FORMAT 1

/**
 * report_open() - make the file of a report
 * @path: must not be there
 *
 * Return: a descriptor; -1: an error, which was reported.
 */
int report_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd >= 0)
		return fd;
	if (errno == EEXIST)
		complain(EXIT_FAILED, "%s is there already: name another file", path);
	else
		complain(EXIT_FAILED, "%s: %s", path, strerror(errno));
	return -1;
}

static void add_file(struct json_object *to, const char *key, const char *path)
{
	char text[128];

	if (file_read(path, text, sizeof(text)) > 0)
		json_add_text(to, key, text);
}

/* Adds the line of os-release that a person reads. */
static void add_distribution(struct json_object *to)
{
	static const char key[] = "PRETTY_NAME=";
	char path[PATH_LEN];
	char *text, *line;

	root_path(path, "etc/os-release");
	text = file_text(path);
	line = text ? strstr(text, key) : NULL;
	if (line) {
		line += sizeof(key) - 1;
		line += *line == '"';
		line[strcspn(line, "\"\n")] = '\0';
		json_add_text(to, "distribution", line);
	}
	free(text);
}

static struct json_object *report_system(void)
{
	struct json_object *obj = json_object_new_object();
	struct utsname name;

	add_distribution(obj);
	if (!uname(&name)) {
		json_add_text(obj, "kernel", name.release);
		json_add_text(obj, "build", name.version);
		json_add_text(obj, "machine", name.machine);
	}
	return obj;
}

static struct json_object *report_module(const char *name)
{
	static const char * const fields[] = {
		"version", "srcversion", "taint", "initstate",
	};
	struct json_object *obj = json_object_new_object();
	char path[PATH_LEN];
	size_t i;

	json_add_text(obj, "module", name);
	root_path(path, "sys/module/%s", name);
	json_object_object_add(obj, "loaded",
			       json_object_new_boolean(path_exists(path)));
	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		root_path(path, "sys/module/%s/%s", name, fields[i]);
		add_file(obj, fields[i], path);
	}
	return obj;
}

static struct json_object *report_modules(void)
{
	static const char * const names[] = {
		"mlx5_ep", "mlx5_ib", "mlx5_core", "ib_core", "ib_uverbs",
	};
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		json_object_array_add(list, report_module(names[i]));
	return list;
}

static int write_all(int fd, const char *text)
{
	size_t len = strlen(text);
	ssize_t ret;

	while (len) {
		ret = write(fd, text, len);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret < 0)
			return -errno;
		text += ret;
		len -= ret;
	}
	return 0;
}

/**
 * report_write() - write the report, and close its file
 * @path: the name of the file, which goes if it cannot be written
 * @on: on what the checks have run
 *
 * Return: %EXIT_OK, or %EXIT_FAILED after a message.
 */
int report_write(struct cli *cli, int fd, const char *path,
		 struct json_object *on, struct json_object *results)
{
	struct json_object *all = json_object_new_object();
	int ret;

	json_object_object_add(all, "format", json_object_new_int(FORMAT));
	json_add_text(all, "tool", MLX5EP_BUILD);
	json_object_object_add(all, "system", report_system());
	json_object_object_add(all, "modules", report_modules());
	json_object_object_add(all, "on", json_object_get(on));
	json_object_object_add(all, "doctor", doctor_findings(cli, false, NULL));
	json_object_object_add(all, "results", json_object_get(results));
	ret = write_all(fd, json_object_to_json_string_ext(all,
			JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	if (!ret)
		ret = write_all(fd, "\n");
	if (close(fd) && !ret)
		ret = -errno;
	json_object_put(all);
	if (!ret)
		return EXIT_OK;
	unlink(path);
	return complain(EXIT_FAILED, "%s: %s", path, strerror(-ret));
}
