/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bodies for error sweeps: each creates and destroys one kind of object. */
#ifndef SELFTESTS_SWEEP_BODIES_H
#define SELFTESTS_SWEEP_BODIES_H

#include <mlx5ep.h>

#include "verbs.h"

/*
 * The argument of the bodies. It is created before the sweep and destroyed
 * after it.
 */
struct sweep_objects {
	struct verbs_setup setup;
	struct mlx5ep_notifier *notifier;	/* where the module is attached */
	void *memory;				/* to be watched, 4 MiB */
	int exporter;	/* of dma-bufs; after sweep_objects_open_dmabuf() */
	int dmabuf;				/* a buffer, one page */
};

/* Return: 0 or -errno; after a failure nothing is open. */
int sweep_objects_open(struct sweep_objects *objects);
/* Makes the dma-buf of sweep_body_dmabuf() too. Return: 0 or -errno. */
int sweep_objects_open_dmabuf(struct sweep_objects *objects);
void sweep_objects_close(struct sweep_objects *objects);

/*
 * Open a context with PD, CQ and MR, and create a QP in it; the argument is not
 * used.
 */
int sweep_body_context(void *objects);
/* Create an RC QP, bring it to RTS, destroy it. */
int sweep_body_qp(void *objects);
/* Four QPs at once, so that the table of uUARs grows and shrinks. */
int sweep_body_qps(void *objects);
/*
 * Endpoints of libmlx5ep with thread domains, in a context of their own: libmlx5
 * keeps the UAR pages of domains until their context is closed.
 */
int sweep_body_endpoints(void *objects);
/* A notifier with two watches, closed with them. */
int sweep_body_notifier(void *objects);
/* A watch on the notifier of the argument. */
int sweep_body_watch(void *objects);
/* A watch so long that its fingerprints take memory of their own. */
int sweep_body_long_watch(void *objects);
/* More watches in one call than the kernel copies at once. */
int sweep_body_watches(void *objects);
/* A watch of a dma-buf. EBADE: it has failed, and is attached all the same. */
int sweep_body_dmabuf(void *objects);
/* A registration with a watch on it. */
int sweep_body_reg_mr(void *objects);

#endif
