// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Was the module that modprobe would load compiled for the drivers that it would meet? An
 * update of OFED or DOCA changes them and keeps the kernel, so that nothing builds mlx5_ep
 * again, and the next boot refuses it. This is what that boot will compare:
 *
 * With MODVERSIONS the kernel compares the version of each symbol that mlx5_ep calls.
 * mlx5_ib calls many of the same symbols of ib_core and mlx5_core, with the versions that
 * are there. Without, mlx5_ep has the build-ids of four modules in it, and compares them
 * itself (kernel/compat/built_for.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "doctor.h"

#define ID_LEN	20
#define NOTES	16

/* The head of a note .note.gnu.build-id: the lengths of name and id, the type, the name. */
static const unsigned char head[16] = {
	4, 0, 0, 0, ID_LEN, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,
};

struct notes {
	unsigned char id[NOTES][ID_LEN];
	unsigned int n;
};

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), tail = strlen(end);

	return len >= tail && !strcmp(text + len - tail, end);
}

/* Starts what writes the module in a file to its stdout. */
static FILE *unpack(const char *path, pid_t *pid)
{
	const char *program = ends_with(path, ".xz") ? "xz" :
		ends_with(path, ".zst") ? "zstd" :
		ends_with(path, ".gz") ? "gzip" : NULL;
	const char * const plain[] = { "cat", path, NULL };
	const char * const packed[] = { program, "-dcq", path, NULL };

	return doctor_start(program ? packed : plain, pid);
}

/* Notes the build-ids in a piece of a module. */
static void find_notes(struct notes *notes, const unsigned char *data, size_t len)
{
	const unsigned char *end = data + len, *at = data;

	while (notes->n < NOTES) {
		at = memmem(at, end - at, head, sizeof(head));
		if (!at || end - at < (long)sizeof(head) + ID_LEN)
			return;
		memcpy(notes->id[notes->n++], at + sizeof(head), ID_LEN);
		at += sizeof(head) + ID_LEN;
	}
}

/* Finds the build-ids in a file. Returns whether it could be read. */
static bool read_notes(const char *path, struct notes *notes)
{
	size_t len = 0, room = 1 << 20, got;
	unsigned char *data = NULL, *more;
	bool whole = false;
	FILE *from;
	pid_t pid;

	notes->n = 0;
	from = unpack(path, &pid);
	if (!from)
		return false;
	while ((more = realloc(data, room))) {
		data = more;
		got = fread(data + len, 1, room - len, from);
		len += got;
		whole = len < room;
		if (whole)
			break;
		room *= 2;
	}
	if (!doctor_end(from, pid))
		whole = false;
	if (whole)
		find_notes(notes, data, len);
	free(data);
	return whole;
}

static bool has_note(const struct notes *notes, const unsigned char *id)
{
	unsigned int i;

	for (i = 0; i < notes->n; i++)
		if (!memcmp(notes->id[i], id, ID_LEN))
			return true;
	return false;
}

/*
 * Compares build-ids. mlx5_ep has its own, and those of the modules that it was compiled
 * for only where the kernel does not compare versions of symbols.
 */
static bool other_ids(const char *release, const char *ours, char *which)
{
	static const char * const names[] = {
		"ib_core", "ib_uverbs", "mlx5_ib", "mlx5_core",
	};
	struct notes built_for, own;
	size_t i;

	if (!read_notes(ours, &built_for) || built_for.n < 2)
		return false;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (doctor_file(release, names[i], which) &&
		    read_notes(which, &own) && own.n == 1 &&
		    !has_note(&built_for, own.id[0]))
			return true;
	return false;
}

/* The lines "0xVERSION<tab>SYMBOL" of the symbols that a module calls; NULL: unknown. */
static char *read_versions(const char *path)
{
	const char * const argv[] = {
		"modprobe", "--dump-modversions", path, NULL,
	};
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	FILE *from;
	pid_t pid;

	from = doctor_start(argv, &pid);
	if (!from)
		return NULL;
	len = getdelim(&text, &room, '\0', from);
	if (!doctor_end(from, pid) || len <= 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Does the text have a line for the symbol of @line, and another version in it? */
static bool other_version(const char *text, const char *line, size_t len)
{
	const char *symbol = memchr(line, '\t', len), *at;
	size_t version, n;

	if (!symbol)
		return false;
	version = symbol - line;
	for (at = text; *at; at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		if (n == len && !memcmp(at + version, symbol, len - version))
			return memcmp(at, line, version);
	}
	return false;
}

static bool other_versions(const char *ours, const char *driver)
{
	char *mine = read_versions(ours), *its = read_versions(driver);
	const char *line;
	bool other = false;
	size_t n;

	for (line = mine ? mine : ""; its && *line && !other;
	     line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		other = other_version(its, line, n);
	}
	free(mine);
	free(its);
	return other;
}

/**
 * doctor_drivers() - check that the module is the one for the drivers that are installed
 *
 * Nothing is said where a file is missing or cannot be read.
 */
void doctor_drivers(struct report *report, const char *release)
{
	char ours[PATH_LEN], driver[PATH_LEN];
	char text[PATH_LEN + 200], remedy[2 * PATH_LEN];
	bool other;

	if (!doctor_file(release, "mlx5_ep", ours) || !path_exists(ours) ||
	    !doctor_file(release, "mlx5_ib", driver) || !path_exists(driver))
		return;
	other = other_versions(ours, driver) ||
		other_ids(release, ours, driver);
	if (!other) {
		doctor_say(report, OK, "drivers", "mlx5_ep was compiled for those that are installed",
			   NULL);
		return;
	}
	snprintf(text, sizeof(text),
		 "mlx5_ep was compiled for another RDMA stack than that of %s: with it the kernel refuses mlx5_ep, from the next boot at the latest, and devices are stock",
		 driver);
	doctor_compile_again(remedy, sizeof(remedy));
	doctor_say(report, BAD, "drivers", text, remedy);
}
