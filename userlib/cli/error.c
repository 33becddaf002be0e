// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Error messages and exit codes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

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
	return EXIT_USAGE;
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
