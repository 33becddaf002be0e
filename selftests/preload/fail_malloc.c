// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fail_malloc.so - preloaded into a program, makes its $FAIL_MALLOC_NTH-th allocation fail
 *
 * malloc(), calloc(), realloc() and strdup() count, also where the C library calls them, but
 * not where json-c does, which ends the program by an assertion when it has no memory. What
 * json-c has the C library allocate, but for strdup(), counts. When one fails, the file that
 * $FAIL_MALLOC_HIT names is made. Processes that this one starts are left alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many allocations are left until one fails; at 0 none fails. */
static atomic_ulong left;
static const char *hit;

static bool counts(const void *caller)
{
	Dl_info info;

	return !dladdr(caller, &info) || !strstr(info.dli_fname, "libjson-c");
}

static bool fails(const void *caller)
{
	if (!left || !counts(caller) || --left)
		return false;
	close(open(hit, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	errno = ENOMEM;
	return true;
}

/* glibc's dlsym() allocates nothing where it finds the name. */
static void *next_malloc(size_t size)
{
	static void *(*next)(size_t size);

	if (!next)
		next = dlsym(RTLD_NEXT, "malloc");
	return next(size);
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : next_malloc(size);
}

/* In the C library's own nobody would see who has called it. */
char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = NULL;

	if (!fails(__builtin_return_address(0)))
		copy = next_malloc(size);
	return copy ? memcpy(copy, text, size) : NULL;
}

void *calloc(size_t n, size_t size)
{
	static void *(*next)(size_t n, size_t size);

	if (!next)
		next = dlsym(RTLD_NEXT, "calloc");
	return fails(__builtin_return_address(0)) ? NULL : next(n, size);
}

void *realloc(void *old, size_t size)
{
	static void *(*next)(void *old, size_t size);

	if (!next)
		next = dlsym(RTLD_NEXT, "realloc");
	return fails(__builtin_return_address(0)) ? NULL : next(old, size);
}

static void fail_malloc_end(void)
{
	left = 0;
}

static void __attribute__((constructor)) begin(void)
{
	const char *nth = getenv("FAIL_MALLOC_NTH");

	hit = getenv("FAIL_MALLOC_HIT");
	unsetenv("LD_PRELOAD");
	pthread_atfork(NULL, NULL, fail_malloc_end);
	if (nth && hit)
		left = strtoul(nth, NULL, 10);
}
