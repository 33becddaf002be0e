/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bodies for error sweeps: what each object of this project goes through. */
#ifndef SELFTESTS_SWEEP_BODIES_H
#define SELFTESTS_SWEEP_BODIES_H

#include <mlx5ep.h>

#include "verbs.h"

/* What bodies get as their argument: made before the sweep, gone after it. */
struct sweep_bench {
	struct verbs_rig rig;
	struct mlx5ep_notifier *notifier;	/* where the module is attached */
	void *memory;				/* a page to be watched */
};

/* Return: 0 or -errno; a bench that failed is closed. */
int sweep_bench_open(struct sweep_bench *bench);
void sweep_bench_close(struct sweep_bench *bench);

/* Open a context with PD, CQ and MR in it and a QP on it; needs no bench. */
int sweep_body_context(void *bench);
/* Create an RC QP, bring it to RTS, destroy it. */
int sweep_body_qp(void *bench);
/* Four QPs at once, so that the table of uUARs grows and shrinks. */
int sweep_body_qps(void *bench);
/*
 * Endpoints of libmlx5ep with thread domains, in a context of their own: libmlx5
 * keeps the UAR pages of domains until their context is closed.
 */
int sweep_body_endpoints(void *bench);
/* A notifier with two watches, closed with them. */
int sweep_body_notifier(void *bench);
/* A watch on the bench's notifier. */
int sweep_body_watch(void *bench);
/* More of them in one call than the kernel keeps on its stack. */
int sweep_body_watches(void *bench);
/* A registration with a watch on it. */
int sweep_body_reg_mr(void *bench);

#endif
