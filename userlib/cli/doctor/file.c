// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which file of the module modprobe loads. DKMS, packages and `make modules_install` each
 * put theirs into another folder. depmod takes one of them: that of updates/ before that
 * of extra/ and of weak-updates/, and of two of one rank the one that the file system
 * names first (kmod 34.2). It writes down which one, and modprobe reads that.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../cli.h"
#include "doctor.h"

/* NAME.ko, NAME.ko.xz, NAME.ko.zst */
static bool is_module(const char *path, size_t len, const char *name)
{
	const char *found;
	char file[64];

	snprintf(file, sizeof(file), "/%s.ko", name);
	found = memmem(path, len, file, strlen(file));
	return found && !memchr(found + 1, '/', len - (found + 1 - path));
}

/**
 * doctor_file() - the file that modprobe loads for a module
 * @name: of the module
 * @path: PATH_LEN bytes; the file need not be there
 *
 * Return: whether modprobe knows one.
 */
bool doctor_file(const char *release, const char *name, char *path)
{
	char *text, *line, *rest;
	bool found = false;
	size_t len;

	root_path(path, "lib/modules/%s/modules.dep", release);
	text = file_text(path);
	rest = text;
	while (!found && rest && (line = strsep(&rest, "\n"))) {
		len = strcspn(line, ":");
		found = line[len] && is_module(line, len, name);
		if (found)
			root_path(path, "lib/modules/%s/%.*s", release, (int)len,
				  line);
	}
	free(text);
	return found;
}

/* Finds the files that are there, whatever modprobe knows. */
static void find_files(const char *release, glob_t *files)
{
	static const char * const places[] = {
		"updates", "updates/*", "extra", "extra/*", "weak-updates",
		"weak-updates/*", "kernel/drivers/infiniband/hw/mlx5_ep",
	};
	char pattern[PATH_LEN];
	size_t i;

	files->gl_pathc = 0;
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		root_path(pattern, "lib/modules/%s/%s/mlx5_ep.ko*", release,
			  places[i]);
		glob(pattern, i ? GLOB_APPEND : 0, NULL, files);
	}
}

/**
 * doctor_installed() - does this kernel have a file of the module?
 */
bool doctor_installed(const char *release)
{
	glob_t files;
	bool any;

	find_files(release, &files);
	any = files.gl_pathc;
	globfree(&files);
	return any;
}

static void say_unknown(struct report *report, const char *release,
			const char *text)
{
	char remedy[160];

	snprintf(remedy, sizeof(remedy), "depmod %s", release);
	doctor_say(report, BAD, "file", text, remedy);
}

static void say_several(struct report *report, const char *release,
			const char *loads, const char *other, size_t n)
{
	char text[2 * PATH_LEN + 100], remedy[2 * PATH_LEN + 200];

	snprintf(text, sizeof(text), "of %zu files of mlx5_ep modprobe loads %s, and not %s",
		 n, loads, other);
	snprintf(remedy, sizeof(remedy),
		 "remove what has put there the one that is not wanted (dpkg -S or rpm -qf says which package; dkms status mlx5_ep), then depmod %s",
		 release);
	doctor_say(report, WARN, "file", text, remedy);
}

/**
 * doctor_files() - check that modprobe knows one file of the module, which is there
 */
void doctor_files(struct report *report, const char *release)
{
	char loads[PATH_LEN], text[PATH_LEN + 100];
	const char *other = NULL;
	bool known = doctor_file(release, "mlx5_ep", loads), there = false;
	glob_t files;
	size_t i;

	find_files(release, &files);
	for (i = 0; i < files.gl_pathc; i++) {
		if (known && !strcmp(files.gl_pathv[i], loads))
			there = true;
		else
			other = files.gl_pathv[i];
	}
	if (known && !there && !path_exists(loads)) {
		snprintf(text, sizeof(text), "modprobe would load %s, which is gone",
			 loads);
		say_unknown(report, release, text);
	} else if (!known && other) {
		snprintf(text, sizeof(text), "modprobe does not know %s", other);
		say_unknown(report, release, text);
	} else if (known && other) {
		say_several(report, release, loads, other, files.gl_pathc + !there);
	} else if (known) {
		doctor_say(report, OK, "file", loads, NULL);
	}
	globfree(&files);
}

/* Asks modinfo for a field of a file. Returns whether it could read the file. */
static bool file_ask(const char *field, const char *path, char *buf, size_t len)
{
	const char * const argv[] = { "modinfo", "-F", field, path, NULL };
	FILE *from;
	pid_t pid;

	*buf = '\0';
	from = doctor_start(argv, &pid);
	if (!from)
		return false;
	if (fgets(buf, len, from))
		buf[strcspn(buf, "\n")] = '\0';
	return doctor_end(from, pid);
}

/**
 * doctor_file_version() - the version of the module in a file
 * @version: receives it; left alone if it cannot be said
 */
void doctor_file_version(const char *path, char *version, size_t len)
{
	char text[128];

	if (file_ask("version", path, text, sizeof(text)) && *text)
		snprintf(version, len, "%s", text);
}

/**
 * doctor_file_unsigned() - is it certain that nobody has signed the module in a file?
 */
bool doctor_file_unsigned(const char *path)
{
	char text[128];

	return file_ask("sig_id", path, text, sizeof(text)) && !*text;
}
