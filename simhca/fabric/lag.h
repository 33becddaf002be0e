/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The card that an adapter is on. It has one port, or it is a function of a card with
 * two ports, and the adapter beside it is the other function. A driver can join the
 * two by a link aggregation (RoCE LAG): the QPs of the function that it was made on
 * then send and receive by both ports.
 */
#ifndef SIMHCA_LAG_H
#define SIMHCA_LAG_H

#include "hca.h"

/**
 * struct lag - the link aggregation that was made on an adapter
 * @active: there is one
 * @vport: RoCE of the other port comes here (CREATE_VPORT_LAG)
 * @ctx: its context: the port of each affinity
 */
struct lag {
	bool active;
	bool vport;
	uint8_t ctx[IFC_SZ(lagc)];
};

int lag_init(struct hca *hca);
void lag_fini(struct hca *hca);
void lag_reset(struct hca *hca);
void lag_dump(struct hca *hca, struct json_object *o);
struct hca *lag_beside(const struct hca *hca);
struct hca *lag_port(struct hca *hca, uint32_t affinity);
bool lag_sends(struct hca *hca, uint32_t affinity);
bool lag_receives(struct hca *hca);

#endif
