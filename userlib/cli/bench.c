// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mlx5ep bench: starts mlx5ep-bench, which the package mlx5ep-tests has. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define PROGRAM "mlx5ep-bench"

/*
 * It is in ../libexec/mlx5ep of the tool's folder, or beside the tool where both were
 * built, which is a folder without ../libexec.
 */
static int bench_path(char *path)
{
	char folder[PATH_LEN];
	int ret = own_folder(folder);

	if (ret)
		return ret;
	snprintf(path, 2 * PATH_LEN, "%s/../libexec", folder);
	snprintf(path, 2 * PATH_LEN, "%s/%s" PROGRAM, folder,
		 access(path, F_OK) ? "" : "../libexec/mlx5ep/");
	return 0;
}

/**
 * cmd_bench() - mlx5ep bench [OPTION...] [BENCH...]
 */
int cmd_bench(struct cli *cli, int argc, char **argv)
{
	char path[2 * PATH_LEN], *args[argc + 5];
	int ret = bench_path(path), n = 0;

	if (ret)
		return complain(EXIT_FAILED, "/proc/self/exe: %s", strerror(-ret));
	args[n++] = (char *)PROGRAM;
	if (cli->json)
		args[n++] = (char *)"-j";
	if (cli->device) {
		args[n++] = (char *)"-d";
		args[n++] = (char *)cli->device;
	}
	args[n++] = (char *)"--";
	memcpy(&args[n], argv + 1, argc * sizeof(*argv));
	execv(path, args);
	if (errno == ENOENT)
		return complain(EXIT_FAILED, PROGRAM " is missing: install the package mlx5ep-tests");
	return complain(EXIT_FAILED, "%s: %s", path, strerror(errno));
}
