// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* System calls that change memory, made in different ways. */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"

#define RING_LEN 65536
#define URING_OP_FTRUNCATE 55	/* Linux 6.9 */

#ifdef __x86_64__
static long raw(long nr, long a, long b, long c, long d, long e)
{
	register long r10 asm("r10") = d;
	register long r8 asm("r8") = e;
	register long r9 asm("r9") = 0;
	long ret;

	asm volatile("syscall" : "=a" (ret)
		     : "0" (nr), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8),
		       "r" (r9)
		     : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static long raw(long nr, long a, long b, long c, long d, long e)
{
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = a;
	register long x1 asm("x1") = b;
	register long x2 asm("x2") = c;
	register long x3 asm("x3") = d;
	register long x4 asm("x4") = e;
	register long x5 asm("x5") = 0;

	asm volatile("svc #0" : "+r" (x0)
		     : "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4),
		       "r" (x5)
		     : "memory");
	return x0;
}
#else
/* Where nobody hooks syscall(), it does as well. */
static long raw(long nr, long a, long b, long c, long d, long e)
{
	long ret = syscall(nr, a, b, c, d, e, 0);

	return ret < 0 ? -errno : ret;
}
#endif

/* Make one request in an io_uring of its own. */
static int uring(enum calls_by by, const struct io_uring_sqe *request)
{
	struct io_uring_params p = {};
	int fd = syscall(SYS_io_uring_setup, 4, &p), ret = -EIO;
	struct io_uring_sqe *sqe;
	uint32_t *ring;

	if (fd < 0)
		return -EOPNOTSUPP;
	ring = mmap(NULL, RING_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    IORING_OFF_SQ_RING);
	sqe = mmap(NULL, RING_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   IORING_OFF_SQES);
	if (ring == MAP_FAILED || sqe == MAP_FAILED)
		return -errno;
	*sqe = *request;
	if (by == BY_WORKER)
		sqe->flags |= IOSQE_ASYNC;
	ring[p.sq_off.array / 4] = 0;
	__atomic_store_n(&ring[p.sq_off.tail / 4], 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) == 1) {
		struct io_uring_cqe *cqe = (void *)ring + p.cq_off.cqes;

		ret = cqe->res;
	}
	close(fd);
	return ret;
}

int calls_munmap(enum calls_by by, void *addr, size_t len)
{
	switch (by) {
	case BY_LIBC:
		return munmap(addr, len) ? -errno : 0;
	case BY_RAW:
		return raw(SYS_munmap, (long)addr, len, 0, 0, 0);
	default:
		return -EOPNOTSUPP;
	}
}

int calls_madvise(enum calls_by by, void *addr, size_t len, int advice)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_MADVISE,
		.addr = (uintptr_t)addr,
		.len = len,
		.fadvise_advice = advice,
	};

	switch (by) {
	case BY_LIBC:
		return madvise(addr, len, advice) ? -errno : 0;
	case BY_RAW:
		return raw(SYS_madvise, (long)addr, len, advice, 0, 0);
	default:
		return uring(by, &sqe);
	}
}

int calls_ftruncate(enum calls_by by, int fd, off_t len)
{
	struct io_uring_sqe sqe = {
		.opcode = URING_OP_FTRUNCATE, .fd = fd, .off = len,
	};
	int ret;

	switch (by) {
	case BY_LIBC:
		return ftruncate(fd, len) ? -errno : 0;
	case BY_RAW:
		return raw(SYS_ftruncate, fd, len, 0, 0, 0);
	default:
		ret = uring(by, &sqe);
		return ret == -EINVAL ? -EOPNOTSUPP : ret;
	}
}

int calls_punch(enum calls_by by, int fd, off_t at, off_t len)
{
	int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_FALLOCATE, .fd = fd, .off = at,
		.addr = len, .len = mode,
	};

	switch (by) {
	case BY_LIBC:
		return fallocate(fd, mode, at, len) ? -errno : 0;
	case BY_RAW:
		return raw(SYS_fallocate, fd, mode, at, len, 0);
	default:
		return uring(by, &sqe);
	}
}

int calls_brk(enum calls_by by, void *addr)
{
	switch (by) {
	case BY_LIBC:
		return brk(addr) ? -errno : 0;
	case BY_RAW:
		return raw(SYS_brk, (long)addr, 0, 0, 0, 0) == (long)addr ?
		       0 : -ENOMEM;
	default:
		return -EOPNOTSUPP;
	}
}

long calls_mmap_fixed(enum calls_by by, void *addr, size_t len)
{
	int prot = PROT_READ | PROT_WRITE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	void *map;

	switch (by) {
	case BY_LIBC:
		map = mmap(addr, len, prot, flags, -1, 0);
		return map == MAP_FAILED ? -errno : (long)map;
	case BY_RAW:
		return raw(SYS_mmap, (long)addr, len, prot, flags, -1);
	default:
		return -EOPNOTSUPP;
	}
}

long calls_mremap(enum calls_by by, void *addr, size_t old, size_t len,
		  int flags, void *to)
{
	void *map;

	switch (by) {
	case BY_LIBC:
		map = mremap(addr, old, len, flags, to);
		return map == MAP_FAILED ? -errno : (long)map;
	case BY_RAW:
		return raw(SYS_mremap, (long)addr, old, len, flags, (long)to);
	default:
		return -EOPNOTSUPP;
	}
}
