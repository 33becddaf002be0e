/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The reasons for which a test may skip, in a guest of the lab and elsewhere.
 */
#ifndef SELFTESTS_LAB_H
#define SELFTESTS_LAB_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/**
 * lab_may_lack() - may this kernel lack something that Linux has?
 * @major: since this version
 * @minor: 0.0: in all that the lab has
 *
 * Return: true of an older kernel, and of any outside of the lab, whose kernels
 * have all that there is to have.
 */
static inline bool lab_may_lack(unsigned int major, unsigned int minor)
{
	unsigned int here, sub;
	struct utsname name;

	if (!getenv("MLX5_EP_KERNEL"))
		return true;
	if (uname(&name) || sscanf(name.release, "%u.%u", &here, &sub) != 2)
		return false;
	return here < major || (here == major && sub < minor);
}

/* Is it the lab's kernel of that name? */
static inline bool lab_kernel_is(const char *name)
{
	const char *kernel = getenv("MLX5_EP_KERNEL");

	return kernel && !strcmp(kernel, name);
}

/* Does the lab's kernel make allocations fail, unless that has been switched off? */
static inline bool lab_allocations_fail(void)
{
	const char *faults = getenv("MLX5_EP_FAULTS");

	return (lab_kernel_is("debug") || lab_kernel_is("gcov")) &&
	       !(faults && !strcmp(faults, "no"));
}

#endif
