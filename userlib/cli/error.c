// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Error messages and exit codes. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/**
 * complain() - print an error on stderr
 * @fmt: one line without a newline
 *
 * Return: @code.
 */
int complain(int code, const char *fmt, ...)
{
	va_list args;

	fputs("mlx5ep: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return code;
}

static bool hinted;

/**
 * usage_error() - print an error about a command's arguments
 * @fmt: one line without a newline
 *
 * Return: %EXIT_USAGE.
 */
int usage_error(const char *command, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "mlx5ep %s: ", command);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "; see mlx5ep %s --help\n", command);
	hinted = true;
	return EXIT_USAGE;
}

/**
 * usage_hint() - say what to do after a message of getopt()
 * @command: the command that does not know the option; NULL: mlx5ep itself
 *
 * Nothing is said after usage_error(), which has said it.
 */
void usage_hint(const char *command, char **argv)
{
	static const char * const global[] = {
		"-d", "--device", "-j", "--json",
	};
	size_t i;

	for (; command && *argv && strcmp(*argv, "--"); argv++)
		for (i = 0; i < sizeof(global) / sizeof(*global); i++)
			if (!hinted && !strcmp(*argv, global[i]))
				usage_error(command, "%s stands before the command: mlx5ep %s%s %s",
					    *argv, *argv, i < 2 ? " DEVICE" : "",
					    command);
	if (!hinted)
		fprintf(stderr, "mlx5ep%s%s: see mlx5ep%s%s --help\n",
			command ? " " : "", command ? command : "",
			command ? " " : "", command ? command : "");
	hinted = true;
}

/**
 * what_failed() - what an error of a file means, and what to do about it
 * @err: a negative errno
 */
const char *what_failed(int err)
{
	switch (-err) {
	case EACCES:
	case EPERM:
		return "permission denied: run it as root";
	case ENOENT:
		return "no such file or folder: make its folder, or name another";
	case ENOTDIR:
		return "a part of the path is no folder: name another";
	case EROFS:
		return "the file system is read-only: name a file elsewhere";
	case ENOSPC:
	case EDQUOT:
		return "no space left: delete something, or name a file elsewhere";
	case ENAMETOOLONG:
		return "the path is too long: name a shorter one";
	default:
		return strerror(-err);
	}
}

/**
 * exit_flushed() - write what is still to be printed, at the end of the program
 *
 * Return: @code, or %EXIT_FAILED, which is reported, if it cannot be written.
 */
int exit_flushed(int code)
{
	if (fflush(stdout) || ferror(stdout))
		return complain(EXIT_FAILED, "cannot write the output: %s",
				strerror(errno));
	return code;
}

/**
 * exit_code() - the exit code for a negative errno, or for 0
 */
int exit_code(int err)
{
	if (!err)
		return EXIT_OK;
	if (err == -EACCES || err == -EPERM)
		return EXIT_PERMISSION;
	return EXIT_FAILED;
}
