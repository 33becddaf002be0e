/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the files of Split-C share; see splitc.h. */
#ifndef SELFTESTS_SC_H
#define SELFTESTS_SC_H

#include "am/am.h"
#include "splitc.h"

#define SC_ROUNDS 8u		/* of a barrier: log2 of TP_PROCESSES */

enum sc_handler {
	SC_GET, SC_GOT, SC_PUT, SC_STORE, SC_STORED, SC_ARRIVED, SC_HANDLERS
};

/* A bulk access under way. */
struct sc_bulk {
	struct sc_bulk *next;
	struct tp_req req;
};

struct sc {
	struct transport *tp;
	struct am *am;
	char *memory;
	size_t len, taken;
	struct sc_bulk *bulk;

	unsigned int barriers;		/* that were begun */
	unsigned int epoch;		/* of stores: sc_all_store_sync() */

	/* handlers write these, under the lock of the transport */
	uint64_t arrived[SC_ROUNDS];	/* at barriers */
	uint64_t stored[2];		/* bytes, by epoch */
};

/* splitc.c */
bool sc_in_memory(const struct sc *sc, struct sc_global at, size_t len);

/* sc_bulk.c */
int sc_bulk_wait(struct sc *sc);

#endif
