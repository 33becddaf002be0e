// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Policies and limits of cgroups (v2).
 *
 * A job has the policy of its cgroup, or of the nearest one above that has a
 * policy. A UAR page counts for the cgroup of the process that opened the
 * context, and for each cgroup above, whether or not a limit is set; so a limit
 * holds at once, for pages too that were taken before it was set.
 *
 * A cgroup is remembered by its id, which is never used again, and is not held.
 * Once the cgroup is gone its entry matches nobody and is not shown. The entry
 * is freed at the next write by somebody who sees all cgroups: from inside a
 * cgroup namespace, cgroups outside look as if they were gone.
 *
 * The cgroup core has locks of its own, so it is never called with the device's
 * lock held: entries are copied, and the copy is looked at.
 */

#include <linux/cgroup.h>
#include <linux/limits.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "account/limit.h"
#include "compat/compat.h"
#include "device.h"
#include "uuar/cgroup.h"
#include "uuar/uuar_policy.h"

#define COPIES_MORE	16	/* entries that can come while memory is allocated */

/**
 * struct mlx5_ep_cgroup - what is set for one cgroup on one device
 * @node: in mlx5_ep_device.cgroups
 * @id: id of the cgroup; no reference is held, so the cgroup may be gone
 * @has_policy: @settings is the policy of the cgroup
 * @settings: copy of what the administrator wrote
 * @limit: UAR pages that the cgroup may hold; UINT_MAX: no limit
 *
 * The lock of the device protects it.
 */
struct mlx5_ep_cgroup {
	struct list_head node;
	u64 id;
	bool has_policy;
	struct mlx5_ep_settings settings;
	unsigned int limit;
};

static struct mlx5_ep_cgroup *cgroup_entry_find(struct mlx5_ep_device *edev,
						u64 id)
{
	struct mlx5_ep_cgroup *entry;

	list_for_each_entry(entry, &edev->cgroups, node)
		if (entry->id == id)
			return entry;
	return NULL;
}

/**
 * mlx5_ep_cgroup_settings() - the policy of the caller's cgroup
 * @edev: device; its lock is held, and protects the answer
 *
 * Return: the policy of the nearest cgroup that has one; NULL when none has
 */
const struct mlx5_ep_settings *
mlx5_ep_cgroup_settings(struct mlx5_ep_device *edev)
{
	struct mlx5_ep_cgroup *entry = NULL;
	struct cgroup *cgrp;

	lockdep_assert_held(&edev->lock);
	if (list_empty(&edev->cgroups))
		return NULL;
	rcu_read_lock();
	for (cgrp = task_dfl_cgroup(current); cgrp;
	     cgrp = cgroup_parent(cgrp)) {
		entry = cgroup_entry_find(edev, cgroup_id(cgrp));
		if (entry && entry->has_policy)
			break;
	}
	rcu_read_unlock();
	return cgrp ? &entry->settings : NULL;
}

/*
 * The caller's cgroup, to be given to cgroup_put(). It cannot go while the caller is in it.
 * If the caller is moved, and its old cgroup goes, the new one is taken.
 */
static struct cgroup *cgroup_get_own(void)
{
	struct cgroup *cgrp;

	rcu_read_lock();
	do
		cgrp = task_dfl_cgroup(current);
	while (!css_tryget(&cgrp->self));
	rcu_read_unlock();
	return cgrp;
}

/**
 * mlx5_ep_cgroup_account_get() - find or make the account of the caller's cgroup
 * @edev: device; its lock is not held, as the memory is charged to the caller's
 *	memory cgroup, which can be slow where that is full
 *
 * A new account has no limit before mlx5_ep_cgroup_account_limit(). May sleep.
 *
 * Return: the account, to be given to mlx5_ep_account_put(); NULL: no memory
 */
struct mlx5_ep_account *mlx5_ep_cgroup_account_get(struct mlx5_ep_device *edev)
{
	struct cgroup *cgrp = cgroup_get_own();
	struct mlx5_ep_account *account = NULL;
	int level;

	for (level = 0; level <= cgrp->level; level++) {
		account = mlx5_ep_account_get(
			&edev->cgroup_accounts, account,
			cgroup_id(cgroup_ancestor(cgrp, level)), UINT_MAX);
		if (!account)
			break;
	}
	cgroup_put(cgrp);
	return account;
}

/**
 * mlx5_ep_cgroup_account_limit() - give an account, and those above, their limits
 * @edev: device; its lock is held, so that no limit is set meanwhile
 * @account: what mlx5_ep_cgroup_account_get() returned
 *
 * Called before anything is charged to a new account.
 */
void mlx5_ep_cgroup_account_limit(struct mlx5_ep_device *edev,
				  struct mlx5_ep_account *account)
{
	struct mlx5_ep_cgroup *entry;

	lockdep_assert_held(&edev->lock);
	for (; account; account = account->parent) {
		entry = cgroup_entry_find(edev, account->id);
		if (entry)
			WRITE_ONCE(account->limit, entry->limit);
	}
}

/*
 * Name a cgroup, by its path if the caller is in it or below. cgroup_path()
 * takes no lock that sleeps, unlike cgroup_path_ns().
 */
static void cgroup_entry_path(u64 id, char *name, size_t size)
{
	struct cgroup *cgrp;
	int len;

	len = scnprintf(name, size, "cgroup ");
	rcu_read_lock();
	cgrp = task_dfl_cgroup(current);
	while (cgrp && cgroup_id(cgrp) != id)
		cgrp = cgroup_parent(cgrp);
	if (!cgrp || cgroup_path(cgrp, name + len, size - len) < 0)
		scnprintf(name + len, size - len, "with id %llu", id);
	rcu_read_unlock();
}

static int cgroup_refuse(struct mlx5_ep_device *edev,
			 struct mlx5_ep_account *full, unsigned int pages)
{
	struct mlx5_ep_refusal refusal = {
		.what = "UAR pages",
		.held = mlx5_ep_account_held(full, MLX5_EP_UAR_PAGES),
		.refused = pages,
		.reason = MLX5_EP_REASON_CGROUP,
		.limit = READ_ONCE(full->limit),
	};
	char *name = kmalloc(PATH_MAX, GFP_KERNEL);

	if (name)
		cgroup_entry_path(full->id, name, PATH_MAX);
	refusal.who = name ?: "cgroup";
	mlx5_ep_limit_refuse(edev, &refusal);
	kfree(name);
	return -EDQUOT;
}

/**
 * mlx5_ep_cgroup_check() - would mlx5_ep_cgroup_charge() refuse?
 * @edev: device of @account
 * @account: account of the cgroup; NULL: nobody is charged
 * @pages: how many are to be charged
 *
 * A refusal is logged and traced. May sleep, also under mmap_lock.
 *
 * Return: 0; -EDQUOT: one of the cgroups would hold more than its limit
 */
int mlx5_ep_cgroup_check(struct mlx5_ep_device *edev,
			 struct mlx5_ep_account *account, unsigned int pages)
{
	struct mlx5_ep_account *full = mlx5_ep_account_full(
		account, MLX5_EP_UAR_PAGES, pages, UINT_MAX);

	return full ? cgroup_refuse(edev, full, pages) : 0;
}

/**
 * mlx5_ep_cgroup_charge() - charge pages to a cgroup and all cgroups above it
 * @edev: device of @account
 * @account: account of the cgroup; NULL: nobody is charged
 * @pages: how many
 *
 * A refusal is logged and traced. mlx5_ep_account_uncharge() undoes the charge.
 * May sleep, also under mmap_lock.
 *
 * Return: 0; -EDQUOT: one of the cgroups would hold more than its limit
 */
int mlx5_ep_cgroup_charge(struct mlx5_ep_device *edev,
			  struct mlx5_ep_account *account, unsigned int pages)
{
	struct mlx5_ep_account *full = mlx5_ep_account_charge(
		account, MLX5_EP_UAR_PAGES, pages, UINT_MAX);

	return full ? cgroup_refuse(edev, full, pages) : 0;
}

static void cgroup_entry_drop(struct mlx5_ep_cgroup *entry)
{
	list_del(&entry->node);
	kfree(entry);
}

/**
 * mlx5_ep_cgroup_forget() - free what is set for cgroups
 * @cgroups: list of struct mlx5_ep_cgroup.node
 */
void mlx5_ep_cgroup_forget(struct list_head *cgroups)
{
	struct mlx5_ep_cgroup *entry, *next;

	list_for_each_entry_safe(entry, next, cgroups, node)
		cgroup_entry_drop(entry);
}

/* Is the root of the caller's cgroup namespace that of all cgroups? */
static bool cgroup_sees_all(void)
{
	struct cgroup *root = cgroup_get_from_path("/");
	bool all;

	if (IS_ERR(root))
		return false;
	all = !cgroup_parent(root);
	cgroup_put(root);
	return all;
}

/*
 * Copies all entries to an array that the caller frees. Anybody may read the lists,
 * so memory is allocated while the lock is not held. Returns their number; -ENOMEM.
 */
static int cgroup_entries_copy(struct mlx5_ep_device *edev,
			       struct mlx5_ep_cgroup **copies)
{
	struct mlx5_ep_cgroup *entry;
	int room = 0, nr;

	*copies = NULL;
	for (;;) {
		nr = 0;
		mutex_lock(&edev->lock);
		list_for_each_entry(entry, &edev->cgroups, node) {
			if (nr < room)
				(*copies)[nr] = *entry;
			nr++;
		}
		mutex_unlock(&edev->lock);
		if (nr <= room)
			return nr;
		kvfree(*copies);
		room = nr + COPIES_MORE;
		*copies = kvmalloc_array(room, sizeof(**copies), GFP_KERNEL);
		if (!*copies)
			return -ENOMEM;
	}
}

/* Drop the entries whose cgroups are surely gone. */
static void cgroup_entries_drop_dead(struct mlx5_ep_device *edev)
{
	struct mlx5_ep_cgroup *copies, *entry;
	struct cgroup *cgrp;
	int nr, i;

	if (!cgroup_sees_all())
		return;
	nr = cgroup_entries_copy(edev, &copies);
	for (i = 0; i < nr; i++) {
		cgrp = compat_cgroup_get_from_id(copies[i].id);
		if (!IS_ERR(cgrp)) {
			cgroup_put(cgrp);
			continue;
		}
		mutex_lock(&edev->lock);
		entry = cgroup_entry_find(edev, copies[i].id);
		if (entry)
			cgroup_entry_drop(entry);
		mutex_unlock(&edev->lock);
	}
	kvfree(copies);
}

/* The entry of a cgroup, a new one where there is none; NULL: no memory. */
static struct mlx5_ep_cgroup *
cgroup_entry_find_or_add(struct mlx5_ep_device *edev, u64 id)
{
	struct mlx5_ep_cgroup *entry = cgroup_entry_find(edev, id);

	if (entry)
		return entry;
	entry = kzalloc_obj(*entry, GFP_KERNEL);
	if (!entry)
		return NULL;
	entry->id = id;
	entry->limit = UINT_MAX;
	list_add_tail(&entry->node, &edev->cgroups);
	return entry;
}

static bool cgroup_entry_is_set(const struct mlx5_ep_cgroup *entry, bool limit)
{
	return limit ? entry->limit != UINT_MAX : entry->has_policy;
}

static int cgroup_entry_change(struct mlx5_ep_device *edev, u64 id,
			       const struct mlx5_ep_cgroup_change *change)
{
	struct mlx5_ep_cgroup *entry = cgroup_entry_find_or_add(edev, id);
	int ret = 0;

	lockdep_assert_held(&edev->lock);
	if (!entry)
		return -ENOMEM;
	if (change->remove && !cgroup_entry_is_set(entry, change->is_limit))
		ret = -ENOENT;
	if (change->is_limit) {
		entry->limit = change->remove ? UINT_MAX : change->limit;
		mlx5_ep_account_set_limit(&edev->cgroup_accounts, id,
					  entry->limit);
	} else {
		entry->has_policy = !change->remove;
		entry->settings = change->settings;
	}
	if (!cgroup_entry_is_set(entry, false) &&
	    !cgroup_entry_is_set(entry, true))
		cgroup_entry_drop(entry);
	return ret;
}

/**
 * mlx5_ep_cgroup_set() - give a cgroup a policy or a limit, or take it away
 * @edev: device for which it holds; its lock is taken here
 * @path: of the cgroup, from the root of the caller's cgroup namespace
 * @change: what to set
 *
 * Return: 0; -ENOENT or -ENOTDIR: there is no such cgroup, or it has nothing to
 * take away; -ENOMEM
 */
int mlx5_ep_cgroup_set(struct mlx5_ep_device *edev, const char *path,
		       const struct mlx5_ep_cgroup_change *change)
{
	struct cgroup *cgrp = cgroup_get_from_path(path);
	int ret;

	if (IS_ERR(cgrp))
		return PTR_ERR(cgrp);
	cgroup_entries_drop_dead(edev);
	mutex_lock(&edev->lock);
	ret = cgroup_entry_change(edev, cgroup_id(cgrp), change);
	mutex_unlock(&edev->lock);
	cgroup_put(cgrp);
	return ret;
}

/* A path, a space, and what is set. */
#define LINE_MAX		(PATH_MAX + 64)

/* The piece of a list that a reader asked for. @at: bytes of the list so far */
struct piece {
	char *buf;
	size_t from;
	size_t count;
	size_t at;
	size_t filled;
};

/* Adds to the list; what lies in the piece is copied. */
static void cgroup_piece_add(struct piece *piece, const char *text, size_t len)
{
	size_t skip = piece->from > piece->at ?
		      min(piece->from - piece->at, len) : 0;
	size_t n = min(len - skip, piece->count - piece->filled);

	memcpy(piece->buf + piece->filled, text + skip, n);
	piece->filled += n;
	piece->at += len;
}

/* Write what is set for a cgroup, without its path. */
static int cgroup_entry_print(char *line, size_t size,
			      const struct mlx5_ep_cgroup *entry, bool limits)
{
	if (limits)
		return scnprintf(line, size, "%u\n", entry->limit);
	return scnprintf(line, size, "%s %d %u\n",
			 mlx5_ep_uuar_policy_names[entry->settings.policy],
			 entry->settings.strict, entry->settings.pages);
}

/* Append one entry as a line. @line: room for LINE_MAX bytes */
static void cgroup_entry_append(struct piece *piece,
				const struct mlx5_ep_cgroup *entry, char *line,
				bool limits)
{
	struct cgroup *cgrp = compat_cgroup_get_from_id(entry->id);
	int len;

	if (IS_ERR(cgrp))
		return;
	len = cgroup_path_ns(cgrp, line, PATH_MAX,
			     current->nsproxy->cgroup_ns);
	cgroup_put(cgrp);
	/* A cgroup outside of the caller's namespace has no path there. */
	if (len <= 0)
		return;
	len = strlen(line);
	line[len++] = ' ';
	len += cgroup_entry_print(line + len, LINE_MAX - len, entry, limits);
	cgroup_piece_add(piece, line, len);
}

/**
 * mlx5_ep_cgroup_read() - list what is set for cgroups, a line each
 * @edev: device whose list it is; its lock is taken here
 * @limits: list the limits, "PATH LIMIT" each; otherwise the policies, "PATH
 *	POLICY STRICT PAGES" each
 * @buf: receives a piece of the list, without a 0 at its end
 * @from: where in the list the piece begins, in bytes
 * @count: length of the piece, if the list is long enough
 *
 * Paths are as the caller would write them, from the root of its cgroup
 * namespace. What is not below that root is not listed. The list is made anew for
 * each piece, so a change between two of them can tear a line. Sleeps.
 *
 * Return: length of the piece; -ENOMEM
 */
ssize_t mlx5_ep_cgroup_read(struct mlx5_ep_device *edev, bool limits, char *buf,
			    size_t from, size_t count)
{
	struct piece piece = { .buf = buf, .from = from, .count = count };
	char *line = kmalloc(LINE_MAX, GFP_KERNEL);
	struct mlx5_ep_cgroup *copies = NULL;
	int nr, i;

	nr = line ? cgroup_entries_copy(edev, &copies) : -ENOMEM;
	for (i = 0; i < nr && piece.filled < count; i++)
		if (cgroup_entry_is_set(&copies[i], limits))
			cgroup_entry_append(&piece, &copies[i], line, limits);
	kvfree(copies);
	kfree(line);
	return nr < 0 ? nr : piece.filled;
}
