/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the two kinds of sweeps share; see sweep.h. */
#ifndef SELFTESTS_SWEEP_BOOKS_H
#define SELFTESTS_SWEEP_BOOKS_H

#include "sweep.h"

/* Run the body once, so that what is made once for good is there; look. */
int sweep_books_take(const struct sweep *sweep, struct sweep_books *books);

/* After the body and its failure: undo. Return: 0 or -errno, which is said. */
int sweep_undo_body(const struct sweep *sweep);

/* Wait until all is as it was. Return: 0; -EBUSY, and what differs is said. */
int sweep_books_check(const struct sweep *sweep,
		      const struct sweep_books *books);

/*
 * Allow for an object that the driver could not free and forgot, if one is there:
 * of what the command @hit would have freed; NULL: of what it frees where
 * nobody hears of a failure.
 */
void sweep_books_forgive(struct sweep_books *books, const char *hit);

/* The place after @n. */
unsigned int sweep_next(const struct sweep *sweep, unsigned int n);

#endif
