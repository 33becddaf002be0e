// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Remembers in /run/mlx5ep to whom the settings of the configuration file were
 * given: a file for the module and one for each device, named after its place on the
 * bus. udev tells of a device more than once, for instance when it comes back after a
 * reset. The module has kept what was set by hand then, which the file must not undo.
 *
 * A file of its own, "defaults", has the text that apply gave the parameter of that name
 * last. While the parameter reads so, the text counts as that of the configuration, also
 * after the module was loaded again.
 *
 * Each other file holds the inode number of the module's folder in sysfs, which is
 * another one after the module was loaded again and has forgotten all settings; and the
 * name of the device, as the configuration can have a section for the name that udev
 * gives it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "once.h"

#define DEFAULTS "defaults"

/* The text of a file. Returns false if the module is not loaded. */
static bool note(char *text, size_t len, const char *name)
{
	char path[PATH_LEN];
	struct stat st;

	root_path(path, "sys/module/mlx5_ep");
	if (stat(path, &st))
		return false;
	snprintf(text, len, "%llu %s", (unsigned long long)st.st_ino, name);
	return true;
}

/**
 * once_given() - was the configuration applied before?
 * @to: %ONCE_MODULE, or the place of a device on its bus
 * @name: the name of the device now; "" for the module
 *
 * Return: true if once_note() was called for it since the module was loaded
 */
bool once_given(const char *to, const char *name)
{
	char path[PATH_LEN], text[128], noted[128];

	root_path(path, "run/mlx5ep/%s", to);
	return note(text, sizeof(text), name) &&
	       file_read(path, noted, sizeof(noted)) > 0 &&
	       !strcmp(noted, text);
}

static void write_note(const char *to, const char *text)
{
	char path[PATH_LEN];
	int fd;

	root_path(path, "run/mlx5ep");
	mkdir(path, 0755);
	root_path(path, "run/mlx5ep/%s", to);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		  0644);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		unlink(path);
	close(fd);
}

/**
 * once_note() - the configuration has been applied
 * @to: as for once_given()
 * @name: as for once_given()
 *
 * If it cannot be noted, the configuration is applied once more later.
 */
void once_note(const char *to, const char *name)
{
	char text[128];

	if (note(text, sizeof(text), name))
		write_note(to, text);
}

/**
 * once_wrote() - is it the text that apply gave the parameter "defaults"?
 * @text: as the parameter reads now
 */
bool once_wrote(const char *text)
{
	char path[PATH_LEN];
	char *noted;
	bool same;

	root_path(path, "run/mlx5ep/%s", DEFAULTS);
	noted = file_text(path);
	same = noted && !strcmp(noted, text);
	free(noted);
	return same;
}

/**
 * once_note_text() - apply has given the parameter "defaults" a text
 * @text: as the parameter reads now
 *
 * If it cannot be noted, the text stays when it is no longer in the file.
 */
void once_note_text(const char *text)
{
	write_note(DEFAULTS, text);
}
