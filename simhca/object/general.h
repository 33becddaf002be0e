/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * General objects: kinds of objects that have one set of commands, which users give by
 * DevX.
 *
 * Invariants
 * - Reserved QP numbers lie behind all numbers that QPs can have, so no QP ever gets one
 *   and no message ever finds one.
 */
#ifndef SIMHCA_GENERAL_H
#define SIMHCA_GENERAL_H

#include "object/objects.h"

/* Numbers of the kinds, which mlx5_ifc.h lacks */
enum {
	GENERAL_RESERVED_QPN = 0x2c,
	GENERAL_AV_QP_MAPPING = 0x3a,
};

/* The kinds, a bit each, as the capabilities have them */
#define GENERAL_KINDS \
	(1ull << GENERAL_RESERVED_QPN | 1ull << GENERAL_AV_QP_MAPPING)

#define GENERAL_LOG_QPNS 5u	/* QP numbers of one reservation */

/* ---- general.c */
unsigned int general_count(const struct objects *objs);

#endif
