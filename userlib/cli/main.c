// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The mlx5ep tool: shows and changes what the mlx5_ep module does. */
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define SECTIONS "all|differs|cgroups|contexts|uuars|qps|users|xrc|watches"

static const struct {
	const char *name;
	int (*run)(struct cli *cli, int argc, char **argv);
	const char *help;
	const char *usage;
} commands[] = {
	{ "show", cmd_show, "show devices, contexts, uUARs, QPs, users, XRC, watches",
	  "[OPTION...] [" SECTIONS "]\n\n"
	  "  -n, --interval S    again, every S seconds, until interrupted\n"
	  "  -c, --count N       N times, without -n every second\n"
	  "  -s, --sort COLUMN   the largest number first, or by the alphabet\n"
	  "  -f, --filter WHAT   rows where COLUMN=VALUE, or with TEXT in a cell\n"
	  "  -t, --top N         the first N rows of each table\n" },
	{ "set", cmd_set, "set policy and limits of a device or a cgroup",
	  "OPTION...\n\n"
	  "  --policy POLICY   stock, independent, shared-uar or shared-uuar\n"
	  "  --strict on|off   fail the creation of a QP rather than share more\n"
	  "  --pages N         UAR pages of a managed context, at most 256\n"
	  "  --budget N        UAR pages that all managed contexts may hold\n"
	  "  --user-limit N    UAR pages that any one user may hold\n"
	  "  --exempt 'NAME...'  programs that stay stock\n"
	  "  --cgroup PATH     set policy, strict and pages of this cgroup\n"
	  "  --limit N|none    with --cgroup: UAR pages that it may hold\n"
	  "  --clear           with --cgroup: forget its policy\n"
	  "  --save            write it to /etc/mlx5ep.conf, too\n" },
	{ "apply", cmd_apply, "set what /etc/mlx5ep.conf says",
	  "[--early | --once | --cgroups] [DEVICE]\n\n"
	  "  -c, --cgroups     only policies and limits of cgroups\n"
	  "  -e, --early       only what is for devices that come later\n"
	  "  -o, --once        not what was applied before, while the module was loaded\n\n"
	  "DEVICE is a name or a PCI address; without it: all devices.\n" },
	{ "check", cmd_check, "check /etc/mlx5ep.conf",
	  "[FILE]\n" },
	{ "plan", cmd_plan, "compute what a job needs, per category of endpoints",
	  "--threads T [OPTION...]\n\n"
	  "  -t, --threads T     threads of a process\n"
	  "  -p, --processes P   processes on the adapter, by default 1\n"
	  "  -c, --category C    only this category of endpoints\n"
	  "  -b, --bar SIZE      size of the BAR, with K, M or G\n\n"
	  "Columns:\n"
	  "  PAGES/PROC  UAR pages of a process, one for CQs of each context included\n"
	  "  UAR-PAGES   of all processes, as today's libmlx5 takes them\n"
	  "  PUBLISHED   the same by the paper's count: eight for each context\n"
	  "  UUARS       doorbell registers on these pages that QPs can ring\n"
	  "  QPS=CQS     queue pairs, and as many completion queues\n"
	  "  MEM-MIB     memory by the paper's sizes of context, QP and CQ\n"
	  "  BAR-MIB     the smallest BAR that has UAR-PAGES, a power of two\n"
	  "  LEVEL       worst sharing: 1 own page, 2 own uUAR, 3 shared, 4 one QP\n"
	  "  FITS        does UAR-PAGES fit the BAR of -d or --bar?\n" },
	{ "attach", cmd_attach, "re-probe a device that was there before the module",
	  "[--force] [--users] [--uverbs] DEVICE\n\n"
	  "  -f, --force   even if somebody uses the device\n"
	  "  -u, --users   list who uses it, and do nothing else\n"
	  "  -v, --uverbs  load ib_uverbs again instead, which ends nothing\n" },
	{ "run", cmd_run, "start a program under a policy, or with notifications for UCX",
	  "[--policy POLICY [--pages N]] [--strict] [--] CMD [ARGUMENT...]\n\n"
	  "  -p, --policy POLICY  of the contexts that CMD and its children open:\n"
	  "                       stock, independent, shared-uar or shared-uuar\n"
	  "  -n, --pages N        UAR pages of each of them, at most 256\n"
	  "  -s, --strict         fail rather than start CMD without what is asked\n"
	  "                       for; with --policy also: rather than share more\n\n"
	  "Without --policy UCX in CMD is told by notifications what became of memory.\n" },
	{ "metrics", cmd_metrics, "print figures in the form of OpenMetrics",
	  "[--output FILE]\n\n"
	  "  -o, --output FILE  replace FILE, for a textfile collector\n" },
	{ "selftest", cmd_selftest, "check a device: pages, data, limits, notifications",
	  "[--reload] [--report FILE] [--seconds N] [DEVICE]\n\n"
	  "  -r, --reload     unload the module too, and load it again, where nobody\n"
	  "                   uses a device; what was set is set again\n"
	  "      --report FILE  write what a report of an error needs to FILE, which\n"
	  "                   must not be there: versions, doctor's findings, results;\n"
	  "                   no names of users, programs or the node\n"
	  "  -s, --seconds N  begin nothing after N seconds, by default 100\n\n"
	  "DEVICE is to be named if there are several. Nothing of it is set.\n" },
	{ "bench", cmd_bench, "measure endpoints, policies and memory on a device",
	  "[OPTION...] [BENCH...]\n\n"
	  "  -r, --rounds N       measure N times, by default 5\n"
	  "  -t, --threads LIST   numbers of threads; by default 1,2,4 up to the CPUs\n"
	  "  -p, --policies LIST  by default stock,independent,shared-uar,shared-uuar\n"
	  "  -m, --messages N     of each thread, by default 200000\n"
	  "  -o, --output DIR     write bench.json and pictures there\n\n"
	  "BENCH is msgrate, latency, globalarray, stencil, pipeline, xsrq or memory;\n"
	  "without it: all. Nothing else ought to run on the machine. The package\n"
	  "mlx5ep-tests has what measures.\n" },
	{ "doctor", cmd_doctor, "find problems, and name the command that solves each",
	  "\n" },
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void help(FILE *to)
{
	size_t i;

	fputs("Usage: mlx5ep [-j] [-d DEVICE] COMMAND [ARGUMENT...]\n\n"
	      "Commands:\n", to);
	for (i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\nOptions:\n"
	      "  -j, --json           print JSON\n"
	      "  -d, --device DEVICE  only this device, for instance mlx5_0\n"
	      "  -h, --help           this text; behind a command, its options\n"
	      "  -V, --version        the version\n\n"
	      "Exit status: 0 done; 1 failed, or doctor found a problem; 2 wrong usage;\n"
	      "3 the module is not loaded or not attached; 4 no such device;\n"
	      "5 permission denied. See mlx5ep(8).\n", to);
}

static bool wants_help(int argc, char **argv)
{
	int k;

	for (k = 1; k < argc && strcmp(argv[k], "--"); k++)
		if (!strcmp(argv[k], "--help") || !strcmp(argv[k], "-h"))
			return true;
	return false;
}

/*
 * Calls command @i, unless its help is asked for. Among the arguments of run are
 * those of a program, so run looks itself.
 */
static int main_run(struct cli *cli, size_t i, int argc, char **argv)
{
	static char name[32];
	int ret = HELP_WANTED;

	/* getopt() begins its messages with it. */
	snprintf(name, sizeof(name), "mlx5ep %s", commands[i].name);
	argv[0] = name;
	optind = 0;
	if (commands[i].run == cmd_run || !wants_help(argc, argv))
		ret = commands[i].run(cli, argc, argv);
	if (ret == EXIT_USAGE)
		usage_hint(commands[i].name, argv + 1);
	if (ret != HELP_WANTED)
		return ret;
	printf("Usage: mlx5ep [-j] [-d DEVICE] %s %s\n%s: %s.\n"
	       "See mlx5ep(8).\n", commands[i].name, commands[i].usage,
	       commands[i].name, commands[i].help);
	return EXIT_OK;
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

	/* getopt() begins its messages with it. */
	if (argc)
		argv[0] = (char *)"mlx5ep";
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
			return exit_flushed(EXIT_OK);
		case 'V':
			puts("mlx5ep " MLX5EP_BUILD);
			return exit_flushed(EXIT_OK);
		default:
			usage_hint(NULL, argv);
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		help(stderr);
		return EXIT_USAGE;
	}
	cli.color = !cli.json && print_is_terminal();
	for (i = 0; i < COMMANDS; i++) {
		if (strcmp(argv[optind], commands[i].name))
			continue;
		return exit_flushed(main_run(&cli, i, argc - optind, argv + optind));
	}
	return complain(EXIT_USAGE, "%s: no such command; see mlx5ep --help",
			argv[optind]);
}
