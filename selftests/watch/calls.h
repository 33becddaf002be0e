/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * System calls that change memory, made in three ways: through libc, where a
 * hook may see them; by the instruction itself; and by io_uring, in
 * io_uring_enter() or in one of its workers.
 */
#ifndef SELFTESTS_CALLS_H
#define SELFTESTS_CALLS_H

#include <stddef.h>
#include <sys/types.h>

enum calls_by { BY_LIBC, BY_RAW, BY_URING, BY_WORKER };

/*
 * Return: 0 or -errno. -EOPNOTSUPP: not in that way, on this kernel; the
 * address, of those that give one.
 */
int calls_munmap(enum calls_by by, void *addr, size_t len);
int calls_madvise(enum calls_by by, void *addr, size_t len, int advice);
int calls_ftruncate(enum calls_by by, int fd, off_t len);
int calls_punch(enum calls_by by, int fd, off_t at, off_t len);
int calls_brk(enum calls_by by, void *addr);
long calls_mmap_fixed(enum calls_by by, void *addr, size_t len);
long calls_mremap(enum calls_by by, void *addr, size_t old, size_t len,
		  int flags, void *to);

#endif
