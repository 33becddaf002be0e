// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep run. Starts a program with a library in front of it: libmlx5ep-ucx, so
 * that UCX is told by notifications what happened to memory, or policy.so, so
 * that its contexts get a policy. The library itself decides in the program
 * whether it can do its work; here only what can be known before is looked at,
 * so that the user is told.
 */
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mlx5ep/endpoints.h>

#include "cli.h"
#include "preload.h"
#include "settings.h"

#define UCX_LIBRARY "libmlx5ep-ucx.so.0"
#define POLICY_LIBRARY "mlx5ep/policy.so"	/* beside libmlx5ep */

/* What is asked for. The texts are as the kernel shows them. */
struct request {
	bool strict;
	const char *policy;	/* NULL: tell UCX by notifications */
	const char *pages;	/* NULL: the module's choice */
};

/*
 * What the loader found by a relative LD_LIBRARY_PATH has a relative name, which
 * says nothing in the folders of the program's children. Returns NULL without memory,
 * or where this folder is gone.
 */
static char *absolute(const char *path)
{
	char cwd[PATH_LEN] = "", *result;

	if (*path != '/' && !getcwd(cwd, sizeof(cwd)))
		return NULL;
	if (asprintf(&result, "%s%s%s", cwd, *path == '/' ? "" : "/", path) < 0)
		return NULL;
	return result;
}

/*
 * Puts the library in front of what the environment preloads already. ld.so takes
 * blanks and colons for what separates two paths. Returns EXIT_OK or the exit code
 * after a message.
 */
static int preload(const char *found)
{
	const char *others = getenv("LD_PRELOAD");
	char *library = absolute(found), *value = NULL;
	int ret;

	if (!library)
		return complain(EXIT_FAILED, "%s: %s", found, strerror(errno));
	if (strpbrk(library, ": \t\n"))
		ret = complain(EXIT_FAILED, "%s cannot be preloaded: its path has a blank or a colon: install it elsewhere",
			       library);
	else if (asprintf(&value, "%s%s%s", library, others ? ":" : "",
			  others ? others : "") < 0)
		ret = complain(EXIT_FAILED, "no memory");
	else
		ret = setenv("LD_PRELOAD", value, 1) ?
			complain(EXIT_FAILED, "%s", strerror(errno)) : EXIT_OK;
	free(value);
	free(library);
	return ret;
}

/*
 * The library decides in the program whether it can take the place of UCX's hooks. If not it
 * says so, and with the word "strict" it ends the program.
 */
static int be_strict(void)
{
	const char *words = getenv("MLX5EP_UCX");
	char *value;
	int ret;

	if (asprintf(&value, "%s%sstrict", words ? words : "",
		     words ? "," : "") < 0)
		return complain(EXIT_FAILED, "no memory");
	ret = setenv("MLX5EP_UCX", value, 1) ?
		complain(EXIT_FAILED, "%s", strerror(errno)) : EXIT_OK;
	free(value);
	return ret;
}

static int preload_ucx(const struct request *request)
{
	struct link_map *map;
	void *library;
	int ret;

	library = dlopen(UCX_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map))
		return complain(EXIT_FAILED, "%s; install the package of libmlx5ep-ucx",
				dlerror());
	ret = preload(map->l_name);
	dlclose(library);
	return ret || !request->strict ? ret : be_strict();
}

/* The library of this build or package is in the folder of libmlx5ep. */
static int preload_policy(const struct request *request)
{
	char path[PATH_LEN], policy[64];
	const char *slash;
	Dl_info info;
	int ret;

	if (!dladdr((void *)mlx5ep_category_name, &info))
		return complain(EXIT_FAILED, "libmlx5ep is not found: install the package libmlx5ep0 again");
	slash = strrchr(info.dli_fname, '/');
	ret = snprintf(path, sizeof(path), "%.*s%s",
		       slash ? (int)(slash - info.dli_fname) + 1 : 0,
		       info.dli_fname, POLICY_LIBRARY);
	if (ret >= (int)sizeof(path) || access(path, R_OK))
		return complain(EXIT_FAILED, "%s is missing: install mlx5ep again",
				path);
	snprintf(policy, sizeof(policy), "%s %d %s", request->policy,
		 request->strict, request->pages ? request->pages : "0");
	ret = preload(path);
	if (!ret && setenv("MLX5EP_POLICY", policy, 1))
		ret = complain(EXIT_FAILED, "%s", strerror(errno));
	return ret;
}

static int each_device(const char *device, void *arg)
{
	char buf[512];

	(void)arg;
	return attribute_read(device, "attached", buf, sizeof(buf)) > 0 &&
		says_attached(buf);
}

/* Returns EXIT_OK, or the exit code after a message that says what to do. */
static int prepare(const struct request *request, const char *program)
{
	const char *why = preload_obstacle(program);
	char path[PATH_LEN];

	if (!module_loaded())
		return complain(EXIT_NO_MODULE, "the module is not loaded: modprobe mlx5_ep");
	root_path(path, "sys/class/infiniband");
	/* The library for UCX needs no device of ours. */
	if (request->policy && dir_names(path, each_device, NULL) != 1)
		return complain(EXIT_NO_MODULE, "the module is attached to no device: mlx5ep doctor");
	if (why)
		return complain(EXIT_FAILED, "%s %s: %s", program, why,
				request->policy ?
				"give its cgroup or the device the policy, by mlx5ep set" :
				"UCX in it has its own hooks");
	return request->policy ? preload_policy(request) :
		preload_ucx(request);
}

/* @text is changed to what the kernel shows. */
static int check_value(const char *name, char *text)
{
	const char *error = setting_error(setting_find(name, FOR_CGROUP), text);

	return error ? usage_error("run", "--%s %s: %s", name, text, error) : 0;
}

static int run_parse(struct request *request, int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "pages", required_argument, NULL, 'n' },
		{ "policy", required_argument, NULL, 'p' },
		{ "strict", no_argument, NULL, 's' },
		{}
	};
	int c, ret;

	while ((c = getopt_long(argc, argv, "+hp:n:s", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		if (c == 'h')
			return HELP_WANTED;
		if (c == 's') {
			request->strict = true;
			continue;
		}
		ret = check_value(c == 'p' ? "policy" : "pages", optarg);
		if (ret)
			return ret;
		*(c == 'p' ? &request->policy : &request->pages) = optarg;
	}
	if (request->pages && !request->policy)
		return usage_error("run", "--pages needs --policy");
	if (optind == argc)
		return usage_error("run", "a command is needed");
	return 0;
}

/**
 * cmd_run() - mlx5ep run [--policy P [--pages N]] [--strict] -- CMD [ARGUMENT...]
 *
 * Return: does not return if CMD was started.
 */
int cmd_run(struct cli *cli, int argc, char **argv)
{
	struct request request = {};
	int code;

	code = run_parse(&request, argc, argv);
	if (code)
		return code;
	if (cli->device)
		return usage_error("run", "-d %s: what is asked for holds on each device that CMD opens",
				   cli->device);
	code = prepare(&request, argv[optind]);
	if (code && request.strict)
		return code;
	execvp(argv[optind], &argv[optind]);
	return complain(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_STARTED,
			"%s: %s", argv[optind], strerror(errno));
}
