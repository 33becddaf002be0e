/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packet pacing: see pace.c.
 */
#ifndef SIMHCA_PACE_H
#define SIMHCA_PACE_H

#include "hca.h"

#define PACE_ENTRIES 128u		/* the first one is none */
#define PACE_KBPS_MAX 100000000u

/**
 * struct pace - an entry of the table of rates
 * @kbps: kilobits in a second, 0: the entry is free
 * @uid: DevX uid of the only user that may name it, or one of the driver's
 * @next: when the next request may go, by loop_now()
 */
struct pace {
	uint32_t kbps;
	uint16_t uid;
	uint64_t next;
};

struct objects;

bool pace_usable(struct hca *hca, uint32_t index, uint16_t uid);
uint64_t pace_wait(struct hca *hca, uint32_t index);
void pace_charge(struct hca *hca, uint32_t index, uint64_t bytes);
unsigned int pace_count(const struct objects *objs);

#endif
