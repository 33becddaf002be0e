/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A baseline holds what exists in the HCA and in the module at one moment. A test
 * takes one before its work and compares afterwards, so that it finds what its
 * work left behind.
 */
#ifndef SELFTESTS_BASELINE_H
#define SELFTESTS_BASELINE_H

#include <stddef.h>
#include <stdint.h>

#define BASELINE_KINDS 25
#define BASELINE_MODULES 3

/* How much is compared. */
enum baseline_scope {
	/* the objects of verbs programs and the module's `uar_in_use` */
	BASELINE_VERBS,
	/* also what the driver makes, and the references of the modules */
	BASELINE_DRIVER,
	/* also memory keys; the driver must not cache them */
	BASELINE_MKEYS,
};

/**
 * struct baseline - what existed
 * @alive: objects in the HCA, by kind
 * @allowed: by kind, how many more objects may exist later on, because stock code
 *	did not free them after an injected failure
 */
struct baseline {
	enum baseline_scope scope;
	int64_t alive[BASELINE_KINDS];
	int64_t allowed[BASELINE_KINDS];
	long uar_in_use;
	long refs[BASELINE_MODULES];
};

/**
 * baseline_look() - remember what exists now
 *
 * Return: 0 or -errno.
 */
int baseline_look(struct baseline *base, enum baseline_scope scope);

/**
 * baseline_take() - use a context, then remember what exists, in BASELINE_VERBS
 *
 * The first context makes the driver create its UMR queue pair, which stays. It
 * has to exist before the baseline.
 *
 * Return: 0 or -errno.
 */
int baseline_take(struct baseline *base);

/* Objects of a kind that existed then; -1 where there is no such kind. */
int64_t baseline_alive(const struct baseline *base, const char *kind);

/**
 * baseline_allow() - allow one object more, if one is left over now
 * @kinds: of the first of these kinds that has one object too many
 * @n: number of @kinds
 *
 * baseline_restored() takes the allowance back when the object is gone after all.
 */
void baseline_allow(struct baseline *base, const char *const *kinds, size_t n);

/**
 * baseline_restored() - wait until what exists is what existed before
 * @seconds: limit for an idle machine and a stock kernel; PATIENCE extends it
 *
 * Return: 0; -EBUSY after the limit, when stderr says which objects are left,
 * which contexts and handles the module knows, and which processes have devices
 * open; another -errno.
 */
int baseline_restored(struct baseline *base, unsigned int seconds);

/**
 * baseline_slab_kib() - the kernel's small allocations
 *
 * A leak of one test shows if the test repeats what leaks some thousand times.
 *
 * Return: KiB; -1 where they cannot be read.
 */
long baseline_slab_kib(void);

/**
 * baseline_slab_objects() - how many objects a slab cache has
 * @cache: its name in /sys/kernel/slab
 *
 * What CPUs keep for later is freed first, and does not count.
 *
 * Return: the number; -1 where the kernel does not tell.
 */
long baseline_slab_objects(const char *cache);

#endif
