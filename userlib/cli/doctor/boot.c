// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The check of mlx5ep doctor whether modprobe loads the module in time, which a line
 * "softdep mlx5_ib pre: mlx5_ep" makes it do. Of all such lines for mlx5_ib modprobe
 * follows the first one alone, and says nothing of the others (kmod 34.2). It reads the
 * files of modprobe.d in the order of their names, whatever folder they are in, and among
 * them modules.softdep, which has the lines of modules themselves. Of two files with one
 * name it reads that of the earlier folder.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "doctor.h"

/**
 * struct softdeps - what the softdep lines for mlx5_ib say
 * @files: the files of modprobe.d, as modprobe reads them
 * @n: how many
 * @first: the file that has the line which counts; NULL: there is no such line
 * @loads: that line loads mlx5_ep before mlx5_ib
 * @other: a file that has such a line which does, but does not count; or NULL
 */
struct softdeps {
	char **files;
	size_t n;
	const char *first;
	bool loads;
	const char *other;
};

/* In the name of a module a hyphen means the same as an underscore. */
static void underscores(char *word)
{
	for (; *word; word++) {
		if (*word == '[')
			word += strcspn(word, "]");
		if (!*word)
			break;
		if (*word == '-')
			*word = '_';
	}
}

/* Is mlx5_ep one of the modules behind "pre:"? */
static bool loads_before(char *rest)
{
	bool before = false;
	char *word;

	while ((word = strtok_r(NULL, " \t", &rest))) {
		underscores(word);
		if (!strcmp(word, "pre:") || !strcmp(word, "post:"))
			before = word[1] == 'r';
		else if (before && !strcmp(word, "mlx5_ep"))
			return true;
	}
	return false;
}

/* modprobe passes over a line that names no other module. */
static void read_line(struct softdeps *deps, const char *file, char *line)
{
	char *rest, *word = strtok_r(line, " \t", &rest);
	bool loads;

	if (!word || strcmp(word, "softdep"))
		return;
	word = strtok_r(NULL, " \t", &rest);
	if (!word || !rest || !rest[strspn(rest, " \t")])
		return;
	underscores(word);
	if (fnmatch(word, "mlx5_ib", 0))
		return;
	loads = loads_before(rest);
	if (!deps->first) {
		deps->first = file;
		deps->loads = loads;
	} else if (loads && !deps->other) {
		deps->other = file;
	}
}

static void read_conf(struct softdeps *deps, const char *file)
{
	char *text = file_text(file), *rest = text, *line, *at;

	/* A backslash joins the next line. */
	while (text && (at = strstr(text, "\\\n")))
		memset(at, ' ', 2);
	while (rest && (line = strsep(&rest, "\n")))
		read_line(deps, file, line);
	free(text);
}

static const char *name_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

static int by_name(const void *one, const void *other)
{
	return strcmp(name_of(*(char * const *)one),
		      name_of(*(char * const *)other));
}

/* The folder whose names are read, and what they are added to. */
struct scan {
	const char *dir;
	struct softdeps *deps;
};

static int add_file(struct softdeps *deps, const char *path)
{
	char **files = realloc(deps->files, (deps->n + 1) * sizeof(*files));

	if (!files)
		return 1;
	deps->files = files;
	files[deps->n] = strdup(path);
	deps->n += !!files[deps->n];
	return 0;
}

static int each_conf(const char *name, void *arg)
{
	struct softdeps *deps = ((struct scan *)arg)->deps;
	char path[2 * PATH_LEN];
	size_t i;

	if (strlen(name) < 5 || strcmp(name + strlen(name) - 5, ".conf"))
		return 0;
	for (i = 0; i < deps->n; i++)
		if (!strcmp(name_of(deps->files[i]), name))
			return 0;
	snprintf(path, sizeof(path), "%s/%s", ((struct scan *)arg)->dir, name);
	return add_file(deps, path);
}

/* @own: the file of the softdep lines that modules have themselves */
static void read_all(struct softdeps *deps, const char *own)
{
	static const char * const places[] = {
		"etc/modprobe.d", "run/modprobe.d", "usr/local/lib/modprobe.d",
		"usr/lib/modprobe.d", "lib/modprobe.d",
	};
	char path[PATH_LEN];
	struct scan scan = { path, deps };
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		root_path(path, "%s", places[i]);
		dir_names(path, each_conf, &scan);
	}
	add_file(deps, own);
	if (deps->n)
		qsort(deps->files, deps->n, sizeof(*deps->files), by_name);
	for (i = 0; i < deps->n; i++)
		read_conf(deps, deps->files[i]);
}

/* What makes the initramfs again, which has a copy of modprobe.d. */
static const char *renew(void)
{
	char path[PATH_LEN];

	root_path(path, "usr/bin/dracut");
	return path_exists(path) ? "dracut -f" : "update-initramfs -u";
}

/* A line counts that does not load mlx5_ep. */
static void say_switched_off(struct report *report, const struct softdeps *deps,
			     const char *own)
{
	char text[4 * PATH_LEN + 200], remedy[2 * PATH_LEN + 200], rest[2 * PATH_LEN + 32] = "";

	if (deps->other)
		snprintf(rest, sizeof(rest), ", and not that of %s", deps->other);
	snprintf(text, sizeof(text),
		 "mlx5_ib does not load mlx5_ep before itself: of the softdep lines for mlx5_ib the first one counts, that of %s%s",
		 deps->first, rest);
	if (!strcmp(deps->first, own))
		snprintf(remedy, sizeof(remedy),
			 "echo 'softdep mlx5_ib pre: mlx5_ep post: ib_uverbs' >/etc/modprobe.d/mlx5_ep.conf, whose name is before modules.softdep, then %s",
			 renew());
	else
		snprintf(remedy, sizeof(remedy),
			 "write 'pre: mlx5_ep' into that line of %s, then %s",
			 deps->first, renew());
	doctor_say(report, BAD, "boot order", text, remedy);
}

/**
 * doctor_boot_order() - check that modprobe loads mlx5_ep before mlx5_ib
 *
 * Otherwise the devices are registered before the module can attach to them.
 */
void doctor_boot_order(struct report *report)
{
	char own[PATH_LEN], release[128], remedy[200];
	struct softdeps deps = {};

	doctor_kernel(release, sizeof(release));
	root_path(own, "lib/modules/%s/modules.softdep", release);
	read_all(&deps, own);
	if (deps.loads) {
		doctor_say(report, OK, "boot order",
			   "mlx5_ib loads mlx5_ep before itself", NULL);
	} else if (deps.first) {
		say_switched_off(report, &deps, own);
	} else {
		snprintf(remedy, sizeof(remedy),
			 "echo 'softdep mlx5_ib pre: mlx5_ep post: ib_uverbs' >/etc/modprobe.d/mlx5_ep.conf && %s",
			 renew());
		doctor_say(report, BAD, "boot order",
			   "mlx5_ib does not load mlx5_ep before itself", remedy);
	}
	while (deps.n)
		free(deps.files[--deps.n]);
	free(deps.files);
}
