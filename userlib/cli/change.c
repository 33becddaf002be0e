// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Writes to attributes that can be undone. The old value is read before a write,
 * whole, however long it is. If it cannot be read, nothing is written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "cli.h"

/* One write. The last one comes first. */
struct change {
	struct change *next;
	char *device;		/* NULL: a parameter of the module */
	char *attribute;
	char *old;
};

static void path_of(char *path, const char *device, const char *attribute)
{
	if (device)
		root_path(path, "sys/" ATTRIBUTES, device, attribute);
	else
		root_path(path, "sys/module/mlx5_ep/parameters/%s", attribute);
}

/* Why the kernel refused a value that this tool found correct. */
static const char *meaning(const char *attribute, int err)
{
	if (err == -EACCES || err == -EPERM)
		return "permission denied: only root may set it; a user has mlx5ep run --policy";
	if (err == -EINVAL && !strcmp(attribute, "uuar_exempt"))
		return "a name is longer than 15 characters, or there are too many names";
	if (err == -EINVAL && !strncmp(attribute, "uar_", 4))
		return "the device does not have that many UAR pages";
	return strerror(-err);
}

static int failed(const char *device, const char *attribute, int err)
{
	const char *where = device ? device : "module";
	char path[PATH_LEN];

	path_of(path, device, attribute);
	if (err == -ENOENT && path_exists(path))
		return complain(EXIT_FAILED, "%s: no such cgroup, or nothing is set for it: see mlx5ep show cgroups",
				where);
	if (err == -ENOENT)
		return complain(EXIT_FAILED, "%s: this module has no %s: it is older than the tool, see mlx5ep doctor",
				where, attribute);
	return complain(exit_code(err), "%s: %s: %s", where, attribute,
			meaning(attribute, err));
}

/**
 * change_old() - read what is set now
 * @device: for instance "mlx5_0"; NULL: read a parameter of the module
 *
 * Return: the text without a newline at its end, which the caller frees, or
 * NULL with errno set.
 */
char *change_old(const char *device, const char *attribute)
{
	char path[PATH_LEN];
	char *text;
	size_t len;

	path_of(path, device, attribute);
	text = file_list(path);
	len = text ? strlen(text) : 0;
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	return text;
}

/**
 * change_line() - find the line of a cgroup
 * @list: an attribute with a line per cgroup, which is changed here; or NULL
 *
 * Return: the line in @list, or NULL if there is none.
 */
char *change_line(char *list, const char *cgroup)
{
	size_t len = strlen(cgroup);
	char *line, *rest = list;

	while (rest && (line = strsep(&rest, "\n")))
		if (!strncmp(line, cgroup, len) && line[len] == ' ')
			return line;
	return NULL;
}

/*
 * @list has a line per cgroup. Returns the line of @cgroup, or one that removes
 * what is set for @cgroup if there is none. Frees @list.
 */
static char *keep_cgroup(char *list, const char *attribute, const char *cgroup)
{
	bool is_policy = !strcmp(attribute, "uuar_cgroups");
	char *line = change_line(list, cgroup), *kept = NULL;

	if (line)
		kept = strdup(line);
	else if (list && asprintf(&kept, "%s none%s", cgroup,
				  is_policy ? " 0 0" : "") < 0)
		kept = NULL;
	free(list);
	return kept;
}

static int write_text(const char *device, const char *attribute,
		      const char *value)
{
	char path[PATH_LEN];
	char *line;
	int ret;

	path_of(path, device, attribute);
	/* sysfs does not pass a write of 0 bytes on to the module. */
	if (asprintf(&line, "%s\n", value) < 0)
		return -ENOMEM;
	ret = file_write(path, line);
	free(line);
	return ret;
}

static void free_change(struct change *change)
{
	free(change->device);
	free(change->attribute);
	free(change->old);
	free(change);
}

/**
 * change_write() - write an attribute so that it can be undone
 * @done: the changes so far; a change that succeeds is put in front
 * @device: for instance "mlx5_0"; NULL: write a parameter of the module
 * @cgroup: if @value is the line of a cgroup: its path; else NULL
 *
 * Return: %EXIT_OK, or another exit code, when an error was printed.
 */
int change_write(struct change **done, const char *device,
		 const char *attribute, const char *value, const char *cgroup)
{
	struct change *change = calloc(1, sizeof(*change));
	int ret = 0;

	if (!change)
		return failed(device, attribute, -ENOMEM);
	change->device = device ? strdup(device) : NULL;
	change->attribute = strdup(attribute);
	errno = ENOMEM;
	change->old = change_old(device, attribute);
	if (cgroup)
		change->old = keep_cgroup(change->old, attribute, cgroup);
	if (!change->old || !change->attribute || (device && !change->device))
		ret = -errno;
	if (!ret)
		ret = write_text(device, attribute, value);
	if (ret) {
		free_change(change);
		return failed(device, attribute, ret);
	}
	change->next = *done;
	*done = change;
	return EXIT_OK;
}

static void put_back(const struct change *change)
{
	const char *where = change->device ? change->device : "module";
	int ret;

	ret = write_text(change->device, change->attribute, change->old);
	if (ret)
		complain(EXIT_FAILED, "%s: the old value of %s could not be restored: %s; it was '%s'",
			 where, change->attribute, strerror(-ret),
			 change->old);
	else
		complain(EXIT_FAILED, "%s: %s is put back to '%s'", where,
			 change->attribute, change->old);
}

/**
 * change_end() - keep or undo changes, the last one first
 * @done: the changes; none of them may be used after this
 * @undo: write the old values back, and say so
 */
void change_end(struct change *done, bool undo)
{
	struct change *change;

	while ((change = done)) {
		done = change->next;
		if (undo)
			put_back(change);
		free_change(change);
	}
}
