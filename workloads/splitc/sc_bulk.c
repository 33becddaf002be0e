// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Bulk accesses of Split-C: RDMA reads and writes, of any number at a time. */
#include <errno.h>
#include <stdlib.h>

#include "sc.h"

typedef int (*move)(struct transport *tp, unsigned int process, size_t at,
		    void *buf, size_t len, struct tp_req *req);

static int read_it(struct transport *tp, unsigned int process, size_t at,
		   void *buf, size_t len, struct tp_req *req)
{
	return tp_get(tp, process, at, buf, len, req);
}

static int write_it(struct transport *tp, unsigned int process, size_t at,
		    void *buf, size_t len, struct tp_req *req)
{
	return tp_put(tp, process, at, buf, len, req);
}

static int begin(struct sc *sc, struct sc_global at, void *buf, size_t len,
		 move fn)
{
	struct sc_bulk *bulk;
	int ret;

	if (!sc_in_memory(sc, at, len))
		return -EFAULT;
	if (!len)
		return 0;
	bulk = malloc(sizeof(*bulk));
	if (!bulk)
		return -ENOMEM;
	ret = fn(sc->tp, at.process, at.at, buf, len, &bulk->req);
	if (ret) {
		free(bulk);
		return ret;
	}
	bulk->next = sc->bulk;
	sc->bulk = bulk;
	return 0;
}

int sc_bulk_get(struct sc *sc, void *to, struct sc_global from, size_t len)
{
	return begin(sc, from, to, len, read_it);
}

int sc_bulk_put(struct sc *sc, struct sc_global to, const void *from,
		size_t len)
{
	return begin(sc, to, (void *)from, len, write_it);
}

/* The message that tells of the bytes arrives after them. */
int sc_bulk_store(struct sc *sc, struct sc_global to, const void *from,
		  size_t len)
{
	uint64_t args[AM_ARGS] = { len, sc->epoch };
	int ret = begin(sc, to, (void *)from, len, write_it);

	return ret ? ret : am_request(sc->am, to.process, SC_STORED, args,
				      NULL, 0);
}

int sc_bulk_wait(struct sc *sc)
{
	struct sc_bulk *bulk;
	int ret = 0, one;

	while ((bulk = sc->bulk)) {
		one = tp_wait(sc->tp, &bulk->req);
		ret = ret ? ret : one;
		sc->bulk = bulk->next;
		free(bulk);
	}
	return ret;
}
