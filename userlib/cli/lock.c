// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Only one mlx5ep set or apply runs at a time. udev starts one for each device that
 * appears. A value that one of them reads, to put it back after a failure, must not be
 * changed by another one before that. The configuration file is changed under the lock
 * too.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "cli.h"

/**
 * changes_lock() - wait until no other process sets anything
 *
 * The lock is held until this process ends. Where it cannot be had, early in the boot
 * or by an ordinary user, the caller goes on without. The file is not readable for
 * users, as they could hold it for ever then.
 */
void changes_lock(void)
{
	char path[PATH_LEN];
	int fd;

	root_path(path, "run/mlx5ep");
	mkdir(path, 0755);
	root_path(path, "run/mlx5ep/lock");
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* It waits once: neither command catches a signal. */
	flock(fd, LOCK_EX);
}
