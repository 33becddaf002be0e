// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mlx5ep: look at and tune what the mlx5_ep module does. See mlx5ep(8). */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const struct {
	const char *name;
	int (*run)(struct cli *cli, int argc, char **argv);
	const char *help;
} commands[] = {
	{ "show", cmd_show, "devices, contexts, uUARs, QPs, users, XRC, watches" },
	{ "set", cmd_set, "policy and limits of a device or a cgroup" },
	{ "watch", cmd_watch, "show again and again" },
	{ "plan", cmd_plan, "what a job needs, per category of endpoints" },
	{ "attach", cmd_attach, "re-probe a device that came before the module" },
	{ "doctor", cmd_doctor, "what is wrong, and the command that mends it" },
};

static void help(FILE *to)
{
	size_t i;

	fputs("Usage: mlx5ep [-j] [-d DEVICE] COMMAND [ARGUMENT...]\n\n"
	      "Commands:\n", to);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\nOptions:\n"
	      "  -j, --json           print JSON\n"
	      "  -d, --device DEVICE  only this device, for instance mlx5_0\n"
	      "  -h, --help           this text\n"
	      "  -V, --version        the version\n\n"
	      "Exit status: 0 done; 1 failed, or doctor found a problem; 2 wrong usage;\n"
	      "3 the module is not loaded or not attached; 4 no such device;\n"
	      "5 permission denied. See mlx5ep(8).\n", to);
}

/**
 * complain - say on stderr what went wrong
 * @code: exit code, handed back
 * @fmt: one line without newline
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
 * usage_error - complain about the arguments of a command
 * @command: its name
 * @fmt: one line without newline
 */
int usage_error(const char *command, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "mlx5ep %s: ", command);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("; see mlx5ep --help\n", stderr);
	return EXIT_USAGE;
}

/**
 * exit_code - exit code for an errno
 * @err: negative errno or 0
 */
int exit_code(int err)
{
	if (!err)
		return EXIT_OK;
	if (err == -EACCES || err == -EPERM)
		return EXIT_PERMISSION;
	return EXIT_FAILED;
}

static bool terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && term &&
		strcmp(term, "dumb");
}

static int flushed(int code)
{
	if (fflush(stdout) || ferror(stdout))
		return complain(EXIT_FAILED, "cannot write the output: %s",
				strerror(errno));
	return code;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "device", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{}
	};
	struct cli cli = {};
	size_t i;
	int c;

	while ((c = getopt_long(argc, argv, "+jd:hV", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			cli.json = true;
			break;
		case 'd':
			cli.device = optarg;
			break;
		case 'h':
			help(stdout);
			return flushed(EXIT_OK);
		case 'V':
			puts("mlx5ep " MLX5EP_VERSION);
			return flushed(EXIT_OK);
		default:
			help(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		help(stderr);
		return EXIT_USAGE;
	}
	cli.color = !cli.json && terminal();
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[optind], commands[i].name))
			continue;
		argc -= optind;
		argv += optind;
		optind = 0;
		return flushed(commands[i].run(&cli, argc, argv));
	}
	return usage_error(argv[optind], "no such command");
}
