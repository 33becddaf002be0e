// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The mlx5ep tool: shows and changes what the mlx5_ep module does. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
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
	{ "show", cmd_show, "show devices, contexts, uUARs, QPs, users, XRC, watches" },
	{ "set", cmd_set, "set policy and limits of a device or a cgroup" },
	{ "watch", cmd_watch, "show repeatedly" },
	{ "plan", cmd_plan, "compute what a job needs, per category of endpoints" },
	{ "attach", cmd_attach, "re-probe a device that was there before the module" },
	{ "doctor", cmd_doctor, "find problems, and name the command that solves each" },
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
