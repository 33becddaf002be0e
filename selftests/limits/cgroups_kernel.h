/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What cgroup.c of kernel/uuar/ takes of the kernel beside accounts_kernel.h, for a
 * program: cgroups, a caller in one of them and in a cgroup namespace, lists, and
 * a mutex. A cgroup that is got and not put, the cgroup core called with the mutex
 * held, and a walk without the RCU lock are misuses.
 */
#ifndef CGROUPS_KERNEL_H
#define CGROUPS_KERNEL_H

#include <sys/types.h>

#include "accounts_kernel.h"

struct css {
	bool dying;
};

struct cgroup {
	const char *path;	/* from the root of all */
	u64 id;
	struct cgroup *parent;
	int level;
	struct css self;
	bool gone;
	bool hidden;		/* can be found by its number, and has no path */
	int refs;		/* that this program's callers hold */
};

/* What a test sets and reads. */
static struct {
	struct cgroup *all;
	int number;
	struct cgroup *own;	/* the caller's */
	struct cgroup *next;	/* where the caller is moved when that one goes */
	struct cgroup *root;	/* of its namespace */
	struct mutex *mutex;	/* of the device */
	int rcu;		/* how often the RCU lock is held */
	int looks;		/* how often a cgroup was looked up by its number */
	int no_path;		/* what cgroup_path_ns() says of a hidden one */
	void (*between)(void);	/* runs once, when the mutex is let go */
	int turn;		/* for which time */
} groups;

static void mutex_lock(struct mutex *mutex)
{
	fake.misuses += mutex->held;
	mutex->held = true;
}

static void mutex_unlock(struct mutex *mutex)
{
	void (*between)(void) = groups.between;

	fake.misuses += !mutex->held;
	mutex->held = false;
	if (!between || --groups.turn)
		return;
	groups.between = NULL;
	between();
}

#define lockdep_assert_held(mutex) ((void)(fake.misuses += !(mutex)->held))

#define rcu_read_lock()		((void)groups.rcu++)
#define rcu_read_unlock()	((void)groups.rcu--)

/* The cgroup core takes locks, and memory is waited for. */
static void may_sleep(void)
{
	fake.misuses += groups.mutex->held || groups.rcu;
}

struct nsproxy {
	int cgroup_ns;
};

static struct {
	struct nsproxy *nsproxy;
} fake_task = { &(struct nsproxy){ 0 } };

#define current			(&fake_task)

#define cgroup_id(cgrp)		((cgrp)->id)
#define cgroup_parent(cgrp)	((cgrp)->parent)
#define task_dfl_cgroup(...)	((void)(fake.misuses += !groups.rcu), groups.own)

static bool css_tryget(struct css *css)
{
	/* A cgroup goes only when the caller has been moved out of it. */
	if (css->dying) {
		groups.own = groups.next;
		return false;
	}
	container_of(css, struct cgroup, self)->refs++;
	return true;
}

static void cgroup_put(struct cgroup *cgrp)
{
	cgrp->refs--;
}

static struct cgroup *cgroup_ancestor(struct cgroup *cgrp, int level)
{
	while (cgrp && cgrp->level != level)
		cgrp = cgrp->parent;
	return cgrp;
}

static bool cgroup_is_visible(struct cgroup *cgrp)
{
	return cgroup_ancestor(cgrp, groups.root->level) == groups.root;
}

/* The path within the caller's namespace, of a cgroup that it sees. */
static const char *cgroup_visible_path(struct cgroup *cgrp)
{
	const char *path = cgrp->path;

	if (groups.root->parent)
		path += strlen(groups.root->path);
	return *path ? path : "/";
}

static struct cgroup *cgroup_find(u64 id, const char *path)
{
	struct cgroup *cgrp;

	may_sleep();
	groups.looks += !path;
	for (cgrp = groups.all; cgrp < groups.all + groups.number; cgrp++) {
		if (cgrp->gone || !cgroup_is_visible(cgrp) ||
		    (path ? strcmp(cgroup_visible_path(cgrp), path) != 0 :
			    cgrp->id != id))
			continue;
		cgrp->refs++;
		return cgrp;
	}
	return ERR_PTR(-ENOENT);
}

#define cgroup_get_from_path(path)	cgroup_find(0, path)
#define compat_cgroup_get_from_id(number) cgroup_find(number, NULL)

static int cgroup_path(struct cgroup *cgrp, char *buf, size_t size)
{
	return snprintf(buf, size, "%s", cgrp->path) < (int)size ? 0 : -E2BIG;
}

static int cgroup_path_ns(struct cgroup *cgrp, char *buf, size_t size, int ns)
{
	may_sleep();
	if (cgrp->hidden)
		return groups.no_path;
	return snprintf(buf, size, "%s", cgroup_visible_path(cgrp));
}

/* As the kernel's: the number of bytes that were written. */
#define scnprintf(buf, size, ...) \
	({ \
		size_t _room = (size); \
		size_t _length = snprintf(buf, _room, __VA_ARGS__); \
		min(_length, _room - 1); \
	})

/* Memory has old bytes in it. */
static void *fake_junk(size_t size)
{
	void *block = fake_alloc(size);

	may_sleep();
	return block ? memset(block, 0xa5, size) : NULL;
}

#define kmalloc(size, ...)	fake_junk(size)
#define kvmalloc_array(n, size, ...) fake_junk((n) * (size))
#define kvfree(block)		kfree(block)

#endif
