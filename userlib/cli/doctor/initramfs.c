// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The check of mlx5ep doctor that looks into the initramfs. A system that loads
 * mlx5_ib from there has registered its devices before the module of the root file
 * system can attach to them. The tools of the distribution list an image.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli.h"
#include "doctor.h"

/* Names of the image of a kernel: Debian's, by either tool; EL's, SLES's. */
static const struct image_kind {
	const char *before, *after;	/* of the release in the name */
	const char *lister;
	const char *package;		/* has the lister */
} kinds[] = {
	{ "initrd.img-", "", "lsinitramfs", "initramfs-tools-core" },
	{ "initrd.img-", "", "lsinitrd", "dracut" },
	{ "initramfs-", ".img", "lsinitrd", "dracut" },
	{ "initrd-", "", "lsinitrd", "dracut" },
};

/* What is in an image. */
struct content {
	bool ib, ep, conf;
};

/* The file of a module is name.ko, or name.ko.xz and the like. */
static bool names(const char *line, const char *file)
{
	const char *found = strstr(line, file);

	return found && strchr(".\n", found[strlen(file)]);
}

/* Returns false if the image could not be listed. */
static bool list(const char *command, const char *image,
		 struct content *content)
{
	const char * const argv[] = { command, image, NULL };
	char *line = NULL;
	size_t len = 0;
	FILE *from;
	pid_t pid;

	from = doctor_start(argv, &pid);
	if (!from)
		return false;
	while (getline(&line, &len, from) >= 0) {
		content->ib = content->ib || names(line, "/mlx5_ib.ko");
		content->ep = content->ep || names(line, "/mlx5_ep.ko");
		content->conf = content->conf ||
			names(line, "modprobe.d/mlx5_ep.conf");
	}
	free(line);
	return doctor_end(from, pid);
}

static void judge(struct report *report, const struct content *content,
		  const char *remedy)
{
	if (!content->ib)
		doctor_say(report, OK, "initramfs", "holds no mlx5_ib", NULL);
	else if (!content->ep)
		doctor_say(report, BAD, "initramfs",
			   "holds mlx5_ib and no mlx5_ep, which attaches after it for policies and limits only",
			   remedy);
	else if (!content->conf)
		doctor_say(report, WARN, "initramfs",
			   "holds mlx5_ib, mlx5_ep, and no modprobe.d/mlx5_ep.conf that loads mlx5_ep first",
			   remedy);
	else
		doctor_say(report, OK, "initramfs",
			   "holds mlx5_ib, and mlx5_ep to be loaded before it",
			   NULL);
}

static void say_unlisted(struct report *report, const struct image_kind *kind,
			 const char *path)
{
	char text[PATH_LEN + 64], remedy[PATH_LEN + 160];

	snprintf(text, sizeof(text), "%s cannot be listed", path);
	snprintf(remedy, sizeof(remedy), "install %s, which has %s",
		 kind->package, kind->lister);
	doctor_say(report, WARN, "initramfs", text,
		   geteuid() ? "sudo mlx5ep doctor" : remedy);
}

/* Returns false if the image could not be listed. */
static bool look_into(struct report *report, const struct image_kind *kind,
		      const char *release, const char *path)
{
	struct content content = {};
	char remedy[PATH_LEN + 160];

	if (!list(kind->lister, path, &content))
		return false;
	if (kind == kinds)
		snprintf(remedy, sizeof(remedy), "update-initramfs -u -k %s",
			 release);
	else
		snprintf(remedy, sizeof(remedy), "dracut --force %s %s", path,
			 release);
	judge(report, &content, remedy);
	return true;
}

/**
 * doctor_initramfs() - check the initramfs of the kernel that runs
 *
 * Nothing is said where there is none.
 */
void doctor_initramfs(struct report *report)
{
	char release[128], path[PATH_LEN], unlisted[PATH_LEN];
	const struct image_kind *found = NULL;
	size_t i;

	doctor_kernel(release, sizeof(release));
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		root_path(path, "boot/%s%s%s", kinds[i].before, release,
			  kinds[i].after);
		if (!path_exists(path))
			continue;
		if (look_into(report, &kinds[i], release, path))
			return;
		if (!found) {
			found = &kinds[i];
			memcpy(unlisted, path, sizeof(unlisted));
		}
	}
	if (found)
		say_unlisted(report, found, unlisted);
}
