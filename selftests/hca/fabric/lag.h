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

int lag_init(struct hca *hca);
void lag_fini(struct hca *hca);
void lag_reset(struct hca *hca);
void lag_dump(struct hca *hca, struct json_object *o);
uint32_t lag_card(const struct hca *hca);
bool lag_sends(struct hca *hca, uint32_t affinity);
bool lag_receives(struct hca *hca);
void lag_kick(struct hca *hca);

#endif
