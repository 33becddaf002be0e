// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The check of mlx5ep doctor whether modprobe loads the module in time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "doctor.h"

struct scan {
	const char *dir;
	bool found;
};

/* In the name of a module a hyphen means the same as an underscore. */
static bool is_module(const char *word, const char *name)
{
	for (; *name && (*word == *name || (*word == '-' && *name == '_')); word++)
		name++;
	return !*word && !*name;
}

/* Is the line of the form "softdep mlx5_ib ... pre: ... mlx5_ep ..."? */
static bool loads_before(char *line)
{
	char *rest, *word = strtok_r(line, " \t", &rest);
	bool before = false;

	if (!word || strcmp(word, "softdep"))
		return false;
	word = strtok_r(NULL, " \t", &rest);
	if (!word || !is_module(word, "mlx5_ib"))
		return false;
	while ((word = strtok_r(NULL, " \t", &rest))) {
		if (!strcmp(word, "pre:") || !strcmp(word, "post:"))
			before = word[1] == 'r';
		else if (before && is_module(word, "mlx5_ep"))
			return true;
	}
	return false;
}

static int each_conf(const char *name, void *arg)
{
	struct scan *scan = arg;
	char path[PATH_LEN];
	char *text, *line, *rest;

	if (strlen(name) < 5 || strcmp(name + strlen(name) - 5, ".conf"))
		return 0;
	snprintf(path, sizeof(path), "%s/%s", scan->dir, name);
	text = file_text(path);
	rest = text;
	while (rest && (line = strsep(&rest, "\n")))
		scan->found = scan->found || loads_before(line);
	free(text);
	return scan->found;
}

#define SOFTDEP \
	"echo 'softdep mlx5_ib pre: mlx5_ep post: ib_uverbs' >/etc/modprobe.d/mlx5_ep.conf && "

/**
 * doctor_boot_order() - check that modprobe loads mlx5_ep before mlx5_ib
 *
 * Otherwise the devices are registered before the module can attach to them.
 */
void doctor_boot_order(struct report *report)
{
	static const char * const places[] = {
		"etc/modprobe.d", "run/modprobe.d", "usr/local/lib/modprobe.d",
		"usr/lib/modprobe.d", "lib/modprobe.d",
	};
	struct scan scan = {};
	char path[PATH_LEN];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		root_path(path, "%s", places[i]);
		scan.dir = path;
		dir_names(path, each_conf, &scan);
	}
	if (scan.found) {
		doctor_say(report, OK, "boot order",
			   "mlx5_ib loads mlx5_ep before itself", NULL);
		return;
	}
	root_path(path, "usr/bin/dracut");
	doctor_say(report, BAD, "boot order",
		   "mlx5_ib does not load mlx5_ep before itself",
		   path_exists(path) ? SOFTDEP "dracut -f" :
		   SOFTDEP "update-initramfs -u");
}
