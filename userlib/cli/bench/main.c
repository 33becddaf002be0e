// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep-bench [-j] [-d DEVICE] -- [OPTION...] [BENCH...], which `mlx5ep bench` starts.
 * Nobody else needs to: its messages are those of `mlx5ep bench`.
 */
#include <getopt.h>

#include "../cli.h"
#include "bench.h"

int main(int argc, char **argv)
{
	struct cli cli = {};
	int c, code;

	while ((c = getopt(argc, argv, "+jd:")) != -1)
		if (c == 'j')
			cli.json = true;
		else if (c == 'd')
			cli.device = optarg;
		else
			return EXIT_USAGE;
	cli.color = !cli.json && print_is_terminal();
	argc -= optind - 1;
	argv += optind - 1;
	/* getopt() begins its messages with it. */
	argv[0] = (char *)"mlx5ep bench";
	optind = 0;
	code = bench_command(&cli, argc, argv);
	if (code == EXIT_USAGE)
		usage_hint("bench", argv + 1);
	return exit_flushed(code);
}
