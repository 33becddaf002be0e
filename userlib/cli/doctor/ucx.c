// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The check of mlx5ep doctor whether libmlx5ep-ucx can take the place of UCX's hooks on this
 * machine. Nothing is said where the library is not installed, or UCX.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../ucx/ucx_limits.h"
#include "../cli.h"
#include "doctor.h"

#define OUR_LIBRARY "libmlx5ep-ucx.so.0"
#define UCP_LIBRARY "libucp.so.0"
#define WATCHES "sys/module/mlx5_ep/parameters/notifier_max_watches"
/* What the module allows if nobody has said otherwise. */
#define WATCHES_USUAL 65536

/* In a child: to load UCX starts a thread and patches the C library, if nobody says no. */
static void tell_version(int fd)
{
	void (*get)(unsigned int *major, unsigned int *minor,
		    unsigned int *release);
	unsigned int numbers[3] = {};
	void *ucp;

	setenv("UCX_MEM_MMAP_HOOK_MODE", "none", 1);
	setenv("UCX_VFS_ENABLE", "n", 1);
	setenv("UCX_LOG_LEVEL", "fatal", 1);
	if (!dlopen(OUR_LIBRARY, RTLD_LAZY | RTLD_LOCAL))
		_exit(1);
	ucp = dlopen(UCP_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	get = ucp ? dlsym(ucp, "ucp_get_version") : NULL;
	if (!get)
		_exit(1);
	get(&numbers[0], &numbers[1], &numbers[2]);
	_exit(write(fd, numbers, sizeof(numbers)) != sizeof(numbers));
}

/* Returns false without UCX or without the library for it. */
static bool find_version(unsigned int numbers[3])
{
	ssize_t got;
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return false;
	fflush(NULL);
	pid = fork();
	if (!pid)
		tell_version(ends[1]);
	close(ends[1]);
	got = read(ends[0], numbers, 3 * sizeof(*numbers));
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid > 0 && got == 3 * (ssize_t)sizeof(*numbers);
}

static bool device_exists(const char *device)
{
	char path[PATH_LEN];

	root_path(path, "%s", device + 1);
	return path_exists(path);
}

static bool say_version(struct report *report, const unsigned int numbers[3])
{
	unsigned int version = UCX_VERSION(numbers[0], numbers[1]);
	char text[128], remedy[160];

	if (version < UCX_OLDEST) {
		snprintf(text, sizeof(text),
			 "%u.%u.%u keeps its own hooks: libmlx5ep-ucx works with 1.17 and later",
			 numbers[0], numbers[1], numbers[2]);
		doctor_say(report, WARN, "UCX", text, "install a newer UCX");
		return true;
	}
	if (version <= UCX_NEWEST)
		return false;
	snprintf(text, sizeof(text),
		 "%u.%u.%u keeps its own hooks: it is newer than what libmlx5ep-ucx was run with",
		 numbers[0], numbers[1], numbers[2]);
	snprintf(remedy, sizeof(remedy),
		 "a newer mlx5ep, or MLX5EP_UCX_NEWEST=%u.%u after a try (libmlx5ep-ucx(7))",
		 numbers[0], numbers[1]);
	doctor_say(report, WARN, "UCX", text, remedy);
	return true;
}

static bool say_watches(struct report *report)
{
	char path[PATH_LEN], buf[32], text[128], remedy[PATH_LEN + 64];

	root_path(path, WATCHES);
	if (file_read(path, buf, sizeof(buf)) <= 0 ||
	    strtoul(buf, NULL, 10) >= WATCHES_USUAL)
		return false;
	snprintf(text, sizeof(text),
		 "a process has at most %lu watches: UCX keeps no registrations when it has more of them",
		 strtoul(buf, NULL, 10));
	snprintf(remedy, sizeof(remedy), "echo %d >/" WATCHES, WATCHES_USUAL);
	doctor_say(report, WARN, "UCX", text, remedy);
	return true;
}

/**
 * doctor_ucx() - check what keeps libmlx5ep-ucx from its work
 */
void doctor_ucx(struct report *report)
{
	unsigned int numbers[3];
	bool said;
	char text[128];

	if (!find_version(numbers))
		return;
	said = say_version(report, numbers);
	if (device_exists(UCX_KNEM) || device_exists(UCX_XPMEM)) {
		snprintf(text, sizeof(text),
			 "%s is there: UCX keeps its own hooks, also with libmlx5ep-ucx",
			 device_exists(UCX_KNEM) ? UCX_KNEM : UCX_XPMEM);
		doctor_say(report, WARN, "UCX", text,
			   "unload the module of the device, where no program needs it");
		said = true;
	}
	if (say_watches(report) || said)
		return;
	snprintf(text, sizeof(text), "%u.%u.%u can be told by libmlx5ep-ucx",
		 numbers[0], numbers[1], numbers[2]);
	doctor_say(report, OK, "UCX", text, NULL);
}
