/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * TISs: what send queues of one kind have in common. See tis.c.
 */
#ifndef SIMHCA_TIS_H
#define SIMHCA_TIS_H

#include "hca.h"

uint32_t tis_domain(struct hca *hca, uint32_t tisn, uint16_t uid);
uint32_t tis_affinity(struct hca *hca, uint32_t tisn);

#endif
