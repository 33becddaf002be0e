/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the two kinds of sweeps share; see sweep.h. */
#ifndef SELFTESTS_SWEEP_BOOKS_H
#define SELFTESTS_SWEEP_BOOKS_H

#include "sweep.h"

/* Run the body once, so that what is made once for good is there; look. */
int sweep_books_take(const struct sweep *sweep, struct sweep_books *books);

/* After the body and its failure: undo. Return: 0 or -errno, which is said. */
int sweep_undo_body(const struct sweep *sweep);

/*
 * Wait until all is as it was; what was allowed for and is not there is not allowed
 * for any more. Return: 0; -EBUSY, and what differs is said.
 */
int sweep_books_check(const struct sweep *sweep, struct sweep_books *books);

/* Before the @nth @what: a line where the last one is a minute ago. */
void sweep_progress(const struct sweep *sweep, const char *what,
		    unsigned int nth);

/*
 * Allow for an object that the driver could not free and forgot, if one is there:
 * of what the command @hit would have freed; NULL: of what it frees where
 * nobody hears of a failure.
 */
void sweep_books_forgive(struct sweep_books *books, const char *hit);

/* The place after @n. */
unsigned int sweep_next(const struct sweep *sweep, unsigned int n);

#endif
