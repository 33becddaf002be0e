/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The operations of Split-C on active messages, as a library. Each process has as
 * much memory that all can access. An access is begun and waited for later. Short
 * ones are active messages. Bulk ones are RDMA reads and writes, and take any
 * length.
 *
 * Functions return 0 or -errno. -EFAULT for a range that is not in the memory.
 * Each process calls them from one thread.
 */
#ifndef SELFTESTS_SPLITC_H
#define SELFTESTS_SPLITC_H

#include "transport/transport.h"

struct sc;

/* A place in the memory of a process. */
struct sc_global {
	unsigned int process;
	size_t at;		/* bytes from the beginning */
};

/* Elements that go around: element i is in process i modulo their number. */
struct sc_spread {
	size_t at, size, n;
	unsigned int processes;
};

/**
 * sc_open() - share memory over a transport
 * @len: bytes of memory in each process, at first zeros
 * @depth: messages to a process that may be without an answer
 *
 * All processes call it, with the same arguments.
 */
int sc_open(struct sc **sc, struct transport *tp, size_t len,
	    unsigned int depth);

/*
 * Wait until all processes have called it, unless tp_abort() was called before. NULL
 * is allowed.
 */
int sc_close(struct sc *sc);

unsigned int sc_rank(const struct sc *sc);
unsigned int sc_processes(const struct sc *sc);

/* The own memory. */
void *sc_local(const struct sc *sc, size_t at);

/*
 * Take @len bytes of the memory, at the same place in all processes, which all
 * take the same. -ENOMEM if so many are not left.
 */
int sc_alloc(struct sc *sc, size_t len, size_t *at);

/*
 * Take memory for a spread array of @n elements of @size bytes. -ENOMEM if so many are
 * not left; @array stays as it is then.
 */
int sc_spread_alloc(struct sc *sc, size_t n, size_t size,
		    struct sc_spread *array);

static inline struct sc_global sc_element(const struct sc_spread *array,
					  size_t i)
{
	return (struct sc_global){
		.process = i % array->processes,
		.at = array->at + i / array->processes * array->size,
	};
}

/*
 * Begin to read, or to write, at most sc_max() bytes. What is read is there after
 * sc_sync(); what is written is copied now, and is there after sc_sync().
 */
int sc_get(struct sc *sc, void *to, struct sc_global from, size_t len);
int sc_put(struct sc *sc, struct sc_global to, const void *from, size_t len);
size_t sc_max(const struct sc *sc);

/* The same for any length. The bytes stay as they are until sc_sync(). */
int sc_bulk_get(struct sc *sc, void *to, struct sc_global from, size_t len);
int sc_bulk_put(struct sc *sc, struct sc_global to, const void *from,
		size_t len);

/* Wait for all own accesses. */
int sc_sync(struct sc *sc);

/*
 * Begin to write what the other process waits for: by the number of bytes in
 * sc_store_sync(), or all together in sc_all_store_sync().
 */
int sc_store(struct sc *sc, struct sc_global to, const void *from, size_t len);
int sc_bulk_store(struct sc *sc, struct sc_global to, const void *from,
		  size_t len);

/* Wait until @len more bytes were stored here. */
int sc_store_sync(struct sc *sc, size_t len);

/* Wait until the stores of all processes are done. All call it. */
int sc_all_store_sync(struct sc *sc);

/* Wait until all processes have called it. */
int sc_barrier(struct sc *sc);

#endif
