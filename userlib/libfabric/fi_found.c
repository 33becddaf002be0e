// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The libfabric of the program. This library is not linked to it: a program that does not
 * use libfabric does not load it, and one that brings its own gets that.
 *
 * A program's first call of libfabric is fi_getinfo(). If the program has loaded libfabric
 * after this library, as a plugin does, then that call is where it is noticed. It has
 * several versions, each of them with another structure. So there is one function here for
 * each, which passes everything on to the same version. Of a version that is not here
 * the call goes to libfabric itself.
 */
#include <dlfcn.h>
#include <link.h>
#include <rdma/fi_errno.h>
#include <stddef.h>
#include <string.h>

#include "fi_found.h"

#define FOUND_LIBRARY "libfabric.so.1"
#define FOUND_FILES "/libfabric.so"

void (*fi_found_first)(void);

static int found_file(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	return !!strstr(object->dlpi_name, FOUND_FILES);
}

/*
 * NULL: no libfabric is loaded. glibc answers that, too, but searches for the library and
 * reads its file first, and this is asked whenever a program of the job starts.
 */
static void *found_library(int flags)
{
	if (!dl_iterate_phdr(found_file, NULL))
		return NULL;
	return dlopen(FOUND_LIBRARY, RTLD_LAZY | RTLD_NOLOAD | flags);
}

/**
 * fi_found() - find a function of the libfabric that the program has loaded
 *
 * libfabric stays loaded then, because it remembers the monitor. Who stands in front of
 * libfabric in the program stands in front of it here, too; a libfabric that a plugin has
 * for itself is asked directly.
 *
 * Return: NULL if there is no libfabric.
 */
void *fi_found(const char *name)
{
	void *library = found_library(RTLD_NODELETE);
	void *function;

	if (!library)
		return NULL;
	function = dlsym(RTLD_DEFAULT, name);
	if (!function)
		function = dlsym(library, name);
	dlclose(library);
	return function;
}

typedef int (*fi_found_getinfo)(uint32_t version, const char *node,
				const char *service, uint64_t flags,
				const struct fi_info *hints,
				struct fi_info **info);

static fi_found_getinfo found_getinfo(const char *version)
{
	void *library = found_library(0);
	void *function;

	if (!library)
		return dlvsym(RTLD_NEXT, "fi_getinfo", version);
	function = dlvsym(library, "fi_getinfo", version);
	dlclose(library);
	return function;
}

#define FOUND_GETINFO(number, name) \
__attribute__((visibility("default"))) \
int fi_found_getinfo_##number(uint32_t version, const char *node, \
			      const char *service, uint64_t flags, \
			      const struct fi_info *hints, \
			      struct fi_info **info); \
__asm__(".symver fi_found_getinfo_" #number ", fi_getinfo@" name); \
\
int fi_found_getinfo_##number(uint32_t version, const char *node, \
			      const char *service, uint64_t flags, \
			      const struct fi_info *hints, \
			      struct fi_info **info) \
{ \
	fi_found_getinfo real = found_getinfo(name); \
\
	if (fi_found_first) \
		fi_found_first(); \
	return real ? real(version, node, service, flags, hints, info) : \
		      -FI_ENOSYS; \
}

FOUND_GETINFO(0, "FABRIC_1.0")
FOUND_GETINFO(1, "FABRIC_1.1")
FOUND_GETINFO(2, "FABRIC_1.2")
FOUND_GETINFO(3, "FABRIC_1.3")
FOUND_GETINFO(7, "FABRIC_1.7")
FOUND_GETINFO(8, "FABRIC_1.8")
