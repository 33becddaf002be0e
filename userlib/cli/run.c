// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep run. Starts a program over UCX with libmlx5ep-ucx, so that UCX is told
 * by notifications what happened to memory. The library itself decides in the
 * program whether it can do its work; here only what can be known before is
 * looked at, so that the user is told.
 */
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define LIBRARY "libmlx5ep-ucx.so.0"

/* Puts the library in front of what the environment preloads already. */
static int preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *value;
	int ret;

	if (asprintf(&value, "%s%s%s", library, others ? ":" : "",
		     others ? others : "") < 0)
		return -ENOMEM;
	ret = setenv("LD_PRELOAD", value, 1) ? -errno : 0;
	free(value);
	return ret;
}

static int each_device(const char *device, void *arg)
{
	char buf[512];

	(void)arg;
	return attribute_read(device, "attached", buf, sizeof(buf)) > 0 &&
		!strcmp(buf, "yes");
}

/* Returns EXIT_OK, or the exit code after a message that says what to do. */
static int prepare(void)
{
	struct link_map *map;
	char path[PATH_LEN];
	void *library;
	int ret;

	if (!module_loaded())
		return complain(EXIT_NO_MODULE, "the module is not loaded: modprobe mlx5_ep");
	root_path(path, "sys/class/infiniband");
	if (dir_names(path, each_device, NULL) != 1)
		return complain(EXIT_NO_MODULE, "the module is attached to no device: mlx5ep doctor");
	library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map))
		return complain(EXIT_FAILED, "%s; install the package of libmlx5ep-ucx",
				dlerror());
	ret = preload(map->l_name);
	dlclose(library);
	if (ret)
		return complain(exit_code(ret), "%s", strerror(-ret));
	return EXIT_OK;
}

/**
 * cmd_run() - mlx5ep run [--strict] -- CMD [ARGUMENT...]
 *
 * Return: does not return if CMD was started.
 */
int cmd_run(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		{ "strict", no_argument, NULL, 's' },
		{}
	};
	bool strict = false;
	int c, code;

	(void)cli;
	while ((c = getopt_long(argc, argv, "+s", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		strict = true;
	}
	if (optind == argc)
		return usage_error("run", "a command is needed");
	code = prepare();
	if (code && strict)
		return code;
	execvp(argv[optind], &argv[optind]);
	return complain(EXIT_FAILED, "%s: %s", argv[optind], strerror(errno));
}
