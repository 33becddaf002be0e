// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Edges of the module that a thread runs, by KCOV. Only the module and the exporter of
 * dma-bufs are compiled for KCOV, so each address is one of theirs.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

#define KCOV_FILE "/sys/kernel/debug/kcov"
#define KCOV_INIT _IOR('c', 1, unsigned long)
#define KCOV_ENABLE _IO('c', 100)
#define KCOV_ENTRIES (1u << 17)

static struct fuzz_shared *edges_of;
static __thread uint64_t *trace;	/* the number, then the addresses */

int cover_start(struct fuzz_shared *shared)
{
	int fd = open(KCOV_FILE, O_RDWR | O_CLOEXEC);
	void *map;

	if (fd < 0)
		return -errno;
	edges_of = shared;
	if (ioctl(fd, KCOV_INIT, KCOV_ENTRIES))
		return -errno;
	map = mmap(NULL, KCOV_ENTRIES * sizeof(*trace), PROT_READ | PROT_WRITE,
		   MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || ioctl(fd, KCOV_ENABLE, 0))
		return -errno;
	trace = map;
	return 0;
}

unsigned int cover_collect(void)
{
	uint64_t n, i;
	uint32_t here, before = 0, edge;
	unsigned int found = 0;

	if (!trace)
		return 0;
	n = __atomic_load_n(&trace[0], __ATOMIC_RELAXED);
	if (n >= KCOV_ENTRIES)
		n = KCOV_ENTRIES - 1;
	for (i = 1; i <= n; i++) {
		here = (uint32_t)trace[i] * 2654435761u >> 16;
		edge = (here ^ before >> 1) % FUZZ_EDGES;
		before = here;
		if (!__atomic_exchange_n(&edges_of->edges[edge], 1,
					 __ATOMIC_RELAXED))
			found++;
	}
	__atomic_store_n(&trace[0], 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&edges_of->n_edges, found, __ATOMIC_RELAXED);
	return found;
}
