/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Names from the kernel's dialect of C that simhca is written in.
 */
#ifndef SIMHCA_COMPILER_H
#define SIMHCA_COMPILER_H

#include <stddef.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define __printf(fmt, args) __attribute__((format(printf, fmt, args)))

/* The object that embeds @ptr as @member. */
#ifndef container_of
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#endif

#endif
