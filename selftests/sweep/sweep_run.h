/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the sweeps of sweep.c and sweep_alloc.c share. */
#ifndef SELFTESTS_SWEEP_RUN_H
#define SELFTESTS_SWEEP_RUN_H

#include "baseline.h"
#include "sweep.h"

/*
 * Run the body once, then take the baseline. The first run makes the driver
 * create what it keeps.
 */
int sweep_baseline(const struct sweep *sweep, struct baseline *base);

/* Call the sweep's undo after its body. Return: 0 or -errno, printed. */
int sweep_undo_body(const struct sweep *sweep);

/* Wait until what exists is what the baseline has. Return: 0; -EBUSY, printed. */
int sweep_restored(struct baseline *base);

/*
 * Allow for one object that the driver failed to free: @hit is the command that
 * failed. With NULL an allocation failed, and the object is one of those whose
 * command the driver sends without looking at its status.
 */
void sweep_allow(struct baseline *base, const char *hit);

/* Print a line about @what number @nth where the last one is a minute old. */
void sweep_progress(const struct sweep *sweep, const char *what,
		    unsigned int nth);

/* The number of the next place to fail, after place @n. */
unsigned int sweep_next(const struct sweep *sweep, unsigned int n);

#endif
