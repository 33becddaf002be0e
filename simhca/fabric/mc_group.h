/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Multicast groups of the subnet, and their MCMemberRecord.
 */
#ifndef SIMHCA_MC_GROUP_H
#define SIMHCA_MC_GROUP_H

#include "hca.h"

#define MC_GROUPS 1024u
#define MC_LID_FIRST 0xc000u	/* of the group in the first place */

#define MC_MGID 0
#define MC_BYTES 52u
#define MC_PADDED 56u
#define MC_HAS_MGID (1ull << 0)

bool mc_group_ready(void);
uint16_t mc_group_join(struct hca *hca, uint8_t *rec, uint64_t mask);
uint16_t mc_group_leave(struct hca *hca, uint8_t *rec);
uint16_t mc_group_get(struct hca *hca, uint8_t *rec);
const uint8_t *mc_group_record(unsigned int i);
bool mc_group_has(uint16_t mlid, unsigned int i);
void mc_group_fini(void);

#endif
