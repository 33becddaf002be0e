/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Processes of some user or cgroup that hold UAR pages until they are ended. */
#ifndef SELFTESTS_HOLDER_H
#define SELFTESTS_HOLDER_H

#include <sys/types.h>

/**
 * struct holder - a process that holds pages
 * @pages: UAR pages that it has, the one of its context included; -errno where
 *	it could not open the device
 */
struct holder {
	pid_t pid;
	int pages;
};

/* What the process does first. Return: 0 or -errno. */
typedef int holder_enter(const void *arg);

/**
 * holder_start() - have a process open the device and take pages
 * @want: pages to take at most; the context has one, for its CQs
 *
 * Return: 0 when it has taken what it gets; -errno: there is no such process.
 */
int holder_start(struct holder *holder, holder_enter *enter, const void *arg,
		 int want);
void holder_end(struct holder *holder);

/* An enter function: @arg is the path of a cgroup below the mount point. */
int holder_enter_cgroup(const void *path);

/**
 * struct holder_user - a user in a user namespace, or below several
 * @owner: user of the initial namespace, who owns the outermost namespace
 * @first: subordinate id of @owner that is root in the namespace
 * @uid: user within it
 * @depth: namespaces within each other; 0: just @owner, in the initial one
 */
struct holder_user {
	uid_t owner;
	uid_t first;
	uid_t uid;
	int depth;
};

/* An enter function: @arg is a struct holder_user. */
int holder_enter_user(const void *arg);

#define HOLDER_CGROUPS "/sys/fs/cgroup"
/* Mount the cgroups (v2) where they are not. Return: 0 or -errno. */
int holder_mount_cgroups(void);

#endif
