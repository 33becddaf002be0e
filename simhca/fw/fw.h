/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Small parts of the firmware: pages, capabilities, user contexts.
 */
#ifndef SIMHCA_FW_H
#define SIMHCA_FW_H

#include "base/left.h"
#include "hca.h"

/* ---- pages.c */
int pages_init(struct hca *hca);
void pages_fini(struct hca *hca);
void pages_reset(struct hca *hca);
size_t pages_held(struct hca *hca);

/* ---- caps.c */
int caps_init(struct hca *hca);
void caps_fini(struct hca *hca);
void caps_reset(struct hca *hca);


/* ---- caps_user.c */
void caps_user_general(const struct hca *hca, uint8_t *c);
void caps_user_qos(uint8_t *c);
void caps_user_2(uint8_t *c);

/* ---- uctx.c */
int uctxs_init(struct hca *hca);
void uctxs_fini(struct hca *hca);
void uctxs_reset(struct hca *hca);
unsigned int uctxs_alive(struct hca *hca);
void uctxs_left(struct hca *hca, struct left *left);

/* ---- caps_flow.c */
#define FLOW_COUNTERS 32767u	/* of an adapter */
#define FLOW_LOG_ENTRIES 16u	/* of all flow tables of an adapter */
#define FLOW_LOG_BULK 10u	/* counters that one query reads */
#define FLOW_LOG_CONTEXTS 10u	/* that change headers, and as many for tunnels */
#define FLOW_HEADER_ACTIONS 16u	/* of one such context */
#define FLOW_ENCAP_BYTES 128u	/* headers of a tunnel */

void caps_flow(uint8_t *caps, unsigned int levels);
void caps_flow_messages(uint8_t *caps);
void caps_flow_eswitch(uint8_t *caps, unsigned int levels);

#endif
