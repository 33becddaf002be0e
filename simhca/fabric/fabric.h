/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The subnet: the adapters of the process, found by number and by address.
 */
#ifndef SIMHCA_FABRIC_H
#define SIMHCA_FABRIC_H

#include "fabric/port.h"

#define FABRIC_MAX 64u
#define SM_HCA 0u	/* the adapter whose LID is the subnet manager's */

void fabric_add(struct hca *hca);
void fabric_remove(struct hca *hca);
unsigned int fabric_hcas(void);
struct hca *fabric_hca(unsigned int i);
struct hca *fabric_by_lid(uint16_t lid);
struct hca *fabric_by_gid(const uint8_t gid[16]);
uint16_t fabric_sm_lid(void);

/* ---- cable.c */
int cable_set(struct hca *hca, bool up);
void cable_changed(struct hca *hca);
void cable_kick(struct hca *hca);

#endif
