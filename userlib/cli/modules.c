// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Loads and unloads modules of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "modules.h"

static bool module_is_there(const char *name)
{
	char path[PATH_LEN];

	root_path(path, "sys/module/%s", name);
	return path_exists(path);
}

/**
 * module_unload() - unload a module that nobody uses
 *
 * It unloads that one and nothing else. modprobe -r would unload each module that nothing
 * needs any more, mlx5_core for instance, with the Ethernet interfaces of the adapter.
 */
bool module_unload(const char *name)
{
	return !syscall(SYS_delete_module, name, O_NONBLOCK) &&
		!module_is_there(name);
}

/**
 * module_probe() - run modprobe
 *
 * Its messages go to where those of the tool go.
 */
bool module_probe(const char *option, const char *name)
{
	char * const argv[] = { "modprobe", (char *)option, (char *)name, NULL };
	char * const environment[] = { "PATH=/usr/sbin:/sbin:/usr/bin:/bin",
				       NULL };
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environment))
		return false;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/**
 * uverbs_reload() - load ib_uverbs, or load it again
 *
 * rdma_ucm, which needs it, goes and comes with it. If a program has a file of one of them
 * open, the kernel refuses to unload it, and nothing has changed at the end.
 *
 * Return: was it loaded?
 */
bool uverbs_reload(void)
{
	bool ucm = module_is_there("rdma_ucm");
	bool done = false;

	if (!ucm || module_unload("rdma_ucm"))
		done = !module_is_there("ib_uverbs") ||
			module_unload("ib_uverbs");
	if (done)
		done = module_probe("-q", "ib_uverbs");
	if (ucm && !module_is_there("rdma_ucm"))
		module_probe("-q", "rdma_ucm");
	return done;
}
