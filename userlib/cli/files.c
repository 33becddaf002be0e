// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reading and writing of small files. All paths are below one root folder. It
 * is / unless a test sets MLX5EP_ROOT.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define LIST_PIECE	4095	/* less than a page is one piece */
#define LIST_TRIES	10

/**
 * root_path() - make a path below the root
 * @path: PATH_LEN bytes
 * @fmt: the part behind the root, without a leading slash
 */
void root_path(char *path, const char *fmt, ...)
{
	const char *root = getenv("MLX5EP_ROOT");
	va_list args;
	int len;

	len = snprintf(path, PATH_LEN / 2, "%s/", root ? root : "");
	if (len < 0 || len >= PATH_LEN / 2)
		len = 0;
	va_start(args, fmt);
	vsnprintf(path + len, PATH_LEN - len, fmt, args);
	va_end(args);
}

/**
 * own_folder() - the folder of the program that runs
 * @folder: PATH_LEN bytes
 *
 * Return: 0 or -errno.
 */
int own_folder(char *folder)
{
	char self[PATH_LEN];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return -errno;
	self[n] = '\0';
	strcpy(folder, dirname(self));
	return 0;
}

/**
 * file_read() - read a small file
 * @buf: receives the text, terminated, without a newline at its end; after an error
 *	it is empty
 * @len: size of @buf, at least 1
 *
 * Return: the length of the text, or -errno.
 */
ssize_t file_read(const char *path, char *buf, size_t len)
{
	ssize_t ret;
	int fd;

	buf[0] = '\0';
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = read(fd, buf, len - 1);
	if (ret < 0)
		ret = -errno;
	close(fd);
	if (ret > 0 && buf[ret - 1] == '\n')
		ret--;
	buf[ret > 0 ? ret : 0] = '\0';
	return ret;
}

/**
 * file_text() - read a file of any length
 *
 * Return: the terminated text, which the caller frees, or NULL with errno set.
 */
char *file_text(const char *path)
{
	size_t room = 4096, len = 0;
	char *text, *more;
	FILE *file;

	file = fopen(path, "re");
	if (!file)
		return NULL;
	text = malloc(room);
	while (text) {
		len += fread(text + len, 1, room - len - 1, file);
		if (len < room - 1)
			break;
		room *= 2;
		more = realloc(text, room);
		if (!more)
			free(text);
		text = more;
	}
	if (text)
		text[len] = '\0';
	if (ferror(file)) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/**
 * file_list() - read a list that the kernel makes anew for each piece it gives
 *
 * A change between two pieces can tear a line. So a list that may have several is
 * read until two readings agree, or LIST_TRIES times.
 *
 * Return: the terminated text, which the caller frees, or NULL with errno set.
 */
char *file_list(const char *path)
{
	char *text = file_text(path), *again;
	bool agree = text && strlen(text) < LIST_PIECE;
	int i;

	for (i = 0; text && !agree && i < LIST_TRIES; i++) {
		again = file_text(path);
		agree = again && !strcmp(text, again);
		free(text);
		text = again;
	}
	return text;
}

/**
 * file_write() - write a text to an existing file, with one write()
 *
 * Return: 0 or -errno.
 */
int file_write(const char *path, const char *text)
{
	ssize_t len = strlen(text);
	int fd, ret = 0;

	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != len)
		ret = errno ? -errno : -EIO;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/**
 * dir_names() - call a function for each name in a folder, sorted
 * @each: if it returns anything but 0 it is not called again
 * @arg: passed to @each
 *
 * Return: what @each returned last. 0 for an empty folder. -errno.
 */
int dir_names(const char *path, int (*each)(const char *name, void *arg),
	      void *arg)
{
	struct dirent **entries;
	int i, n, ret = 0;

	n = scandir(path, &entries, visible, versionsort);
	if (n < 0)
		return -errno;
	for (i = 0; i < n; i++) {
		if (!ret)
			ret = each(entries[i]->d_name, arg);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

struct open_walk {
	int (*each)(const char *pid, const char *fd, const char *target,
		    void *arg);
	void *arg;
	char pid[11];			/* in digits; the kernel has at most 7 */
};

static int each_fd(const char *fd, void *arg)
{
	char path[PATH_LEN], target[PATH_LEN];
	struct open_walk *walk = arg;
	ssize_t ret;

	root_path(path, "proc/%s/fd/%s", walk->pid, fd);
	ret = readlink(path, target, sizeof(target) - 1);
	target[ret > 0 ? ret : 0] = '\0';
	return walk->each(walk->pid, fd, target, walk->arg);
}

static int each_process(const char *name, void *arg)
{
	struct open_walk *walk = arg;
	char path[PATH_LEN];
	int ret;

	if (strspn(name, "0123456789") != strlen(name) ||
	    strlen(name) >= sizeof(walk->pid))
		return 0;
	snprintf(walk->pid, sizeof(walk->pid), "%s", name);
	root_path(path, "proc/%s/fd", name);
	ret = dir_names(path, each_fd, walk);
	/* A process that has ended, or is another user's, cannot be looked at. */
	return ret == -ENOMEM || ret == -EMFILE || ret == -ENFILE ? ret : 0;
}

/**
 * open_files() - call a function for each file that a process has open
 * @each: gets the number of the process and the descriptor in digits, and what it is a
 *	link to; if it returns 1, no more files of that process
 * @arg: passed to @each
 *
 * Return: 0. -ENOMEM, -EMFILE or -ENFILE: not all were looked at. Another -errno: there is
 * no /proc.
 */
int open_files(int (*each)(const char *pid, const char *fd, const char *target,
			   void *arg),
	       void *arg)
{
	struct open_walk walk = { .each = each, .arg = arg };
	char path[PATH_LEN];

	root_path(path, "proc");
	return dir_names(path, each_process, &walk);
}

/**
 * path_exists() - is there a file or folder of this name?
 */
bool path_exists(const char *path)
{
	return !access(path, F_OK);
}
