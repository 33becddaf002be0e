/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where each QP rang its doorbells, as the HCA counted it. Tests judge policies
 * by this and not by what the module says.
 *
 * Level (Zambre et al. 2018): at level 1 the QP has a UAR page of its own, at
 * level 2 it has a uUAR of its own on a shared page, at level 3 it shares the
 * uUAR.
 */
#ifndef SELFTESTS_DOORBELLS_H
#define SELFTESTS_DOORBELLS_H

#include "simhca.h"

struct doorbells_qp {
	uint32_t qpn;
	uint32_t uar;
	unsigned int slot;
	unsigned int level;
	unsigned int sharers;	/* QPs on that uUAR, this one included */
	uint64_t doorbells;
	uint64_t blueflame;
};

struct doorbells_report {
	struct doorbells_qp *qps;	/* by QP number */
	size_t n;
	size_t pages;
	size_t uuars;
	size_t shared;		/* QPs that share their uUAR */
	size_t fewest, most;	/* QPs on a uUAR, over the uUARs in use */
	size_t silent;		/* user QPs that never rang */
	size_t astray;		/* QPs that rang more than one uUAR */
	int64_t wrong_uar;
	int64_t torn;
};

void doorbells_put(struct doorbells_report *doorbells);
const struct doorbells_qp *
doorbells_qp(const struct doorbells_report *doorbells, uint32_t qpn);

/*
 * Where a queue rang that no report has: a send queue without a QP, or that of a raw
 * packet QP. Return: 0; -ENOENT: nowhere; -ENOTUNIQ: in more than one place.
 */
int doorbells_rung(unsigned int hca, uint32_t qpn, struct doorbells_qp *qp);

/* Take a view of an HCA and make the report of it. */
int doorbells_look(unsigned int hca, struct doorbells_report *doorbells);

#endif
