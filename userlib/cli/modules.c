// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Loads and unloads modules of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
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
 *
 * Return: 0, -EBUSY: it is in use, or another -errno.
 */
int module_unload(const char *name)
{
	/* The kernel says EWOULDBLOCK for a module in use. */
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return module_is_there(name) ? -EBUSY : 0;
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

/* A file of DevX is no reason for the kernel to keep ib_uverbs, and needs it all the same. */
static int uverbs_left_file(const char *pid, const char *fd, const char *target,
			    void *arg)
{
	bool *left = arg;

	(void)pid;
	(void)fd;
	*left = *left || strstr(target, "[devx_async_");
	return *left;
}

/**
 * uverbs_reload() - load ib_uverbs, or load it again
 *
 * rdma_ucm, which needs it, goes and comes with it. If a program has a file of one of them
 * open, the kernel refuses to unload it, and nothing has changed at the end.
 *
 * Return: 0. With nothing changed: -ENOENT: modprobe would not load it again; -EPERM: the
 * caller may not; another -errno: it is in use. -EIO: it is not loaded any more.
 */
int uverbs_reload(void)
{
	bool ucm = module_is_there("rdma_ucm"), left = false;
	int ret;

	if (!module_probe("-nq", "ib_uverbs") ||
	    (ucm && !module_probe("-nq", "rdma_ucm")))
		return -ENOENT;
	ret = open_files(uverbs_left_file, &left);
	if (ret || left)
		return ret ? ret : -EBUSY;
	if (ucm)
		ret = module_unload("rdma_ucm");
	if (!ret && module_is_there("ib_uverbs"))
		ret = module_unload("ib_uverbs");
	if (!ret && !module_probe("-q", "ib_uverbs"))
		ret = -EIO;
	if (ucm && !module_is_there("rdma_ucm") &&
	    !module_probe("-q", "rdma_ucm"))
		ret = -EIO;
	return ret;
}
