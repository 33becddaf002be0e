/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Is a loaded module the one that mlx5_ep was compiled for?
 *
 * Where the kernel has MODVERSIONS, it answers that itself and build_ids.h is
 * empty. Elsewhere it loads a module that was compiled for another ib_core
 * without a word, so that one's build-id is compared: built_for.sh takes it
 * from the module's file when mlx5_ep is compiled, an attribute of sysfs has it of
 * the module that is loaded. If one of the two is unknown, nothing is refused.
 */

#ifndef MLX5_EP_COMPAT_BUILT_FOR_H
#define MLX5_EP_COMPAT_BUILT_FOR_H

#include <linux/kernel.h>
#include <linux/kernfs.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "compat.h"

/* @note is the whole section .note.gnu.build-id, of @len bytes. */
static const struct compat_built_for {
	const char *name;
	size_t len;
	u8 note[64];
} compat_built_for[] = {
#include "build_ids.h"
	{}
};

/* The entry @name of a folder of sysfs, of which a reference is put. */
static inline struct kernfs_node *compat_sysfs_entry(struct kernfs_node *folder,
						     const char *name)
{
	struct kernfs_node *entry;

	if (!folder)
		return NULL;
	entry = kernfs_find_and_get_ns(folder, name, NULL);
	kernfs_put(folder);
	return entry;
}

/*
 * Copies the note that sysfs shows in /sys/module/NAME/notes. The attribute has its
 * address and size. No file is opened: who loads the module may not see sysfs.
 * The caller knows that the module stays. Return: its size, 0 where there is none.
 */
static inline size_t compat_copy_note(const char *name, u8 *note, size_t len)
{
	struct kernfs_node *modules = THIS_MODULE->mkobj.kobj.kset->kobj.sd;
	const struct bin_attribute *attr;
	struct kernfs_node *entry;
	size_t size = 0;

	kernfs_get(modules);
	entry = compat_sysfs_entry(modules, name);
	entry = compat_sysfs_entry(entry, "notes");
	entry = compat_sysfs_entry(entry, ".note.gnu.build-id");
	if (!entry)
		return 0;
	attr = entry->priv;
	if (attr->private && attr->size <= len) {
		size = attr->size;
		memcpy(note, attr->private, size);
	}
	kernfs_put(entry);
	return size;
}

/* Is the loaded module @name another one than mlx5_ep was compiled for? */
static inline bool compat_is_foreign(const char *name)
{
	const struct compat_built_for *was = compat_built_for;
	u8 note[sizeof(was->note)];
	size_t len;

	while (was->name && strcmp(was->name, name))
		was++;
	if (!was->name)
		return false;
	len = compat_copy_note(name, note, sizeof(note));
	return len && (len != was->len || memcmp(note, was->note, len));
}

/*
 * The modules that mlx5_ep is linked to, which stay as long as it does. With
 * another ib_core every structure may be elsewhere: call this first of all.
 */
static inline int compat_check_linked(void)
{
	static const char * const linked[] = {
		"ib_core", COMPAT_UVERBS_MODULE, "mlx5_core",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(linked); i++) {
		if (!compat_is_foreign(linked[i]))
			continue;
		pr_err("mlx5_ep: not loaded: %s is not the one that mlx5_ep was compiled for; compile mlx5_ep again\n",
		       linked[i]);
		return -ENOEXEC;
	}
	return 0;
}

#endif
