// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of every kind, to be registered and changed. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "region.h"
#include "sysfs.h"

#define PAGE	REGION_PAGE
#define LEN	REGION_LEN
#define HUGE	REGION_HUGE

static int err(int ret)
{
	return ret ? -errno : 0;
}

/*
 * All that one table of huge pages maps, of which a few pages are used: only then
 * do processes share the table.
 */
static int map_hugetlb_shared(struct region *r)
{
	void *reserve = mmap(NULL, 2 * REGION_GIGA, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			     0);

	if (reserve == MAP_FAILED)
		return -errno;
	r->map = (void *)(((uintptr_t)reserve + REGION_GIGA - 1) &
			  ~(REGION_GIGA - 1));
	r->map_len = REGION_GIGA;
	r->addr = r->map;
	r->len = HUGE;
	file_write("/proc/sys/vm/nr_hugepages", "8");
	r->fd = memfd_create("watched", MFD_CLOEXEC | MFD_HUGETLB);
	if (r->fd < 0 || ftruncate(r->fd, REGION_GIGA))
		return -errno;
	return err(mmap(r->map, REGION_GIGA, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_FIXED | MAP_NORESERVE, r->fd, 0) ==
		   MAP_FAILED);
}

int region_map(struct region *r, enum region_memory memory)
{
	int prot = PROT_READ | PROT_WRITE, id;
	void *reserve;

	memset(r, 0, sizeof(*r));
	r->fd = -1;
	r->len = LEN;
	if (memory == HUGETLB_SHARED)
		return map_hugetlb_shared(r);
	r->map_len = 3 * HUGE;
	reserve = mmap(NULL, 4 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	if (reserve == MAP_FAILED)
		return -errno;
	r->map = (void *)(((uintptr_t)reserve + HUGE - 1) & ~(HUGE - 1));
	r->addr = r->map;

	switch (memory) {
	case ANON:
		if (mmap(r->addr, LEN, prot, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_FIXED, -1, 0) == MAP_FAILED ||
		    mmap(r->addr + LEN, LEN, prot, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_FIXED, -1, 0) == MAP_FAILED)
			return -errno;
		return err(madvise(r->addr, 2 * LEN, MADV_NOHUGEPAGE));
	case SHM:
		r->fd = memfd_create("watched", MFD_CLOEXEC);
		if (r->fd < 0 || ftruncate(r->fd, LEN))
			return -errno;
		return err(mmap(r->addr, LEN, prot, MAP_SHARED | MAP_FIXED,
				r->fd, 0) == MAP_FAILED);
	case SYSV:
		id = shmget(IPC_PRIVATE, LEN, 0600);
		if (id < 0 || munmap(r->addr, LEN) ||
		    shmat(id, r->addr, 0) != r->addr)
			return -errno;
		return err(shmctl(id, IPC_RMID, NULL));
	case BRK:
		r->addr = (void *)(((uintptr_t)sbrk(0) + PAGE) & ~(PAGE - 1));
		return err(brk(r->addr + LEN));
	case THP:
		if (mmap(r->addr, HUGE, prot, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_FIXED, -1, 0) == MAP_FAILED)
			return -errno;
		return err(madvise(r->addr, HUGE, MADV_HUGEPAGE));
	case HUGETLB:
		r->len = HUGE;
		file_write("/proc/sys/vm/nr_hugepages", "8");
		return err(mmap(r->addr, HUGE, prot, MAP_PRIVATE |
				MAP_ANONYMOUS | MAP_HUGETLB | MAP_FIXED, -1,
				0) == MAP_FAILED);
	case HUGETLB_SHARED:
		break;
	}
	return -EINVAL;
}
