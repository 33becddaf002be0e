// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The functions behind the ones of this library, and what is known of UCX's own
 * libraries. Nothing here is linked to UCX: a program that does not use UCX does
 * not load it.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucx.h"
#include "ucx_limits.h"

#define UCP_NAME "libucp"
#define TRANSPORT_NAME "libuct"
#define LOOKUP_NAME "ucs_pgtable_lookup"

/* An address in this library. */
static const char here;

static bool is_ours(const void *address)
{
	Dl_info ours, info;

	return dladdr(&here, &ours) && dladdr(address, &info) &&
	       info.dli_fbase == ours.dli_fbase;
}

/*
 * A library that was loaded by dlopen() has its dependencies in no scope that
 * dlsym() searches by itself. So the function is also looked for in the library
 * that called, and in what that depends on. A function of this library is none.
 */
static void *find(const char *name, const void *caller)
{
	void *real = dlsym(RTLD_NEXT, name);
	void *handle;
	Dl_info info;

	if (real || !dladdr(caller, &info))
		return real;
	handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	real = dlsym(handle, name);
	dlclose(handle);
	return real && !is_ours(real) ? real : NULL;
}

/*
 * Makes the library stay that has the address, with what it depends on. A program may
 * close the plugin that has loaded UCX, and load it again, at another address.
 */
static bool keep(const void *address)
{
	void *handle = NULL;
	Dl_info info;

	if (dladdr(address, &info))
		handle = dlopen(info.dli_fname,
				RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (handle)
		dlclose(handle);
	return handle;
}

/**
 * ucx_real() - find the function behind one of this library
 * @caller: an address in the library that called
 *
 * The library that has it stays loaded, so the caller may remember it.
 *
 * Return: never NULL: without the function the program cannot go on.
 */
void *ucx_real(const char *name, const void *caller)
{
	void *real = find(name, caller);

	if (!real) {
		fprintf(stderr, "mlx5ep-ucx: no function %s; leave libmlx5ep-ucx out of LD_PRELOAD\n",
			name);
		abort();
	}
	/* It fails for a function of the program itself, which is never closed. */
	keep(real);
	return real;
}

/*
 * The text of UCX's protocol library, and where it keeps the address of the lookup; the
 * same once they are known.
 */
static uintptr_t ucp_first, ucp_end;
static void *const *ucp_lookup;

/**
 * struct relocations - what a library binds when it is loaded or called
 */
struct relocations {
	const ElfW(Sym) *symbols;
	const ElfW(Rela) *list[2];
	const char *names;
	size_t bytes[2];
};

/* glibc has put the load address into these entries, on most machines. */
static const void *at_load(const struct dl_phdr_info *info, uintptr_t at)
{
	return (const void *)(at < info->dlpi_addr ? at + info->dlpi_addr : at);
}

static void read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) *dyn,
			 struct relocations *found)
{
	for (; dyn->d_tag != DT_NULL; dyn++) {
		switch (dyn->d_tag) {
		case DT_SYMTAB:
			found->symbols = at_load(info, dyn->d_un.d_ptr);
			break;
		case DT_STRTAB:
			found->names = at_load(info, dyn->d_un.d_ptr);
			break;
		case DT_JMPREL:
			found->list[0] = at_load(info, dyn->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			found->bytes[0] = dyn->d_un.d_val;
			break;
		case DT_RELA:
			found->list[1] = at_load(info, dyn->d_un.d_ptr);
			break;
		case DT_RELASZ:
			found->bytes[1] = dyn->d_un.d_val;
			break;
		}
	}
}

/*
 * Does the library call LOOKUP_NAME, and leave it to the loader which one? Returns where the
 * loader puts the address, or NULL.
 */
static void *const *imports_lookup(const struct dl_phdr_info *info,
				   const ElfW(Dyn) *dyn)
{
	const ElfW(Rela) *at, *end;
	struct relocations found = {};
	int k;

	read_dynamic(info, dyn, &found);
	for (k = 0; k < 2 && found.symbols && found.names; k++) {
		at = found.list[k];
		end = at ? at + found.bytes[k] / sizeof(*at) : at;
		for (; at < end; at++) {
			size_t symbol = ELF64_R_SYM(at->r_info);

			if (!strcmp(found.names + found.symbols[symbol].st_name,
				    LOOKUP_NAME))
				return (void *const *)(info->dlpi_addr +
						       at->r_offset);
		}
	}
	return NULL;
}

static int each_library(struct dl_phdr_info *info, size_t size, void *unused)
{
	const ElfW(Dyn) *dyn = NULL;
	const ElfW(Phdr) *part;
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *name = slash ? slash + 1 : info->dlpi_name;
	uintptr_t first = UINTPTR_MAX, end = 0, at;
	void *const *lookup;
	int i;

	(void)size;
	(void)unused;
	if (strncmp(name, UCP_NAME, strlen(UCP_NAME)))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		part = &info->dlpi_phdr[i];
		at = info->dlpi_addr + part->p_vaddr;
		if (part->p_type == PT_DYNAMIC)
			dyn = (void *)at;
		if (part->p_type != PT_LOAD)
			continue;
		first = at < first ? at : first;
		end = at + part->p_memsz > end ? at + part->p_memsz : end;
	}
	lookup = dyn ? imports_lookup(info, dyn) : NULL;
	if (!lookup)
		return 0;
	__atomic_store_n(&ucp_lookup, lookup, __ATOMIC_RELAXED);
	__atomic_store_n(&ucp_end, end, __ATOMIC_RELAXED);
	__atomic_store_n(&ucp_first, first, __ATOMIC_RELEASE);
	return 1;
}

/**
 * ucx_real_asks_us() - do UCX's lookups of registrations pass this library?
 *
 * If they do, UCX's protocol library stays loaded.
 *
 * Return: false for a UCX that was linked statically, or whose lookup calls no
 * function of another library.
 */
bool ucx_real_asks_us(void)
{
	return dl_iterate_phdr(each_library, NULL) == 1 &&
	       keep((void *)__atomic_load_n(&ucp_first, __ATOMIC_ACQUIRE));
}

/**
 * ucx_real_version() - the version of UCX
 *
 * UCX looks up without the lock of the table. Since 1.17 (the flag
 * UCS_RCACHE_FLAG_SYNC_EVENTS of its caches) an event is queued, and who looks up
 * changes the table. Before that an event changed it at once, beneath a thread
 * that might be looking something up.
 *
 * Context: ucx_real_asks_us() has returned true.
 *
 * Return: 1000 * major + minor; 0 if UCX does not tell.
 */
unsigned int ucx_real_version(void)
{
	void (*get)(unsigned int *major, unsigned int *minor,
		    unsigned int *release);
	unsigned int major = 0, minor = 0, release;

	get = find("ucp_get_version",
		   (void *)__atomic_load_n(&ucp_first, __ATOMIC_ACQUIRE));
	if (get)
		get(&major, &minor, &release);
	return UCX_VERSION(major, minor);
}

/**
 * ucx_real_from_ucp() - is an address in UCX's protocol library?
 *
 * Return: false before ucx_real_asks_us() has returned true.
 */
bool ucx_real_from_ucp(const void *caller)
{
	uintptr_t first = __atomic_load_n(&ucp_first, __ATOMIC_ACQUIRE);

	return first && (uintptr_t)caller >= first &&
	       (uintptr_t)caller < __atomic_load_n(&ucp_end, __ATOMIC_RELAXED);
}

/**
 * ucx_real_is_bypassed() - do UCX's lookups go to another function than that of this library?
 * @ours: that of this library
 *
 * That is known as soon as UCX has looked something up.
 */
bool ucx_real_is_bypassed(const void *ours)
{
	uintptr_t to;

	if (!ucx_real_asks_us())
		return false;
	to = (uintptr_t)__atomic_load_n(
		__atomic_load_n(&ucp_lookup, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	/* Before the first call it leads to the loader. */
	return to && to != (uintptr_t)ours && !ucx_real_from_ucp((void *)to);
}

/**
 * ucx_real_is_transport() - is an address in a library of UCX's transports?
 */
bool ucx_real_is_transport(const void *caller)
{
	const char *slash;
	Dl_info info;

	if (!dladdr(caller, &info))
		return false;
	slash = strrchr(info.dli_fname, '/');
	return !strncmp(slash ? slash + 1 : info.dli_fname, TRANSPORT_NAME,
			strlen(TRANSPORT_NAME));
}
