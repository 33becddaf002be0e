/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Multicast groups of one adapter: the QPs that are attached to a multicast
 * GID.
 *
 * Invariants
 * - An attached QP is held, so it cannot be destroyed.
 * - A group exists while a QP is attached to it.
 */
#ifndef SIMHCA_MCG_H
#define SIMHCA_MCG_H

#include "object/qp.h"

#define GID_LEN 16

void mcg_reset(struct hca *hca);
void mcg_deliver(struct hca *hca, const uint8_t gid[GID_LEN],
		 void (*deliver)(struct qp *qp, void *arg), void *arg);

#endif
