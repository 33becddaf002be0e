/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The e-switch: see switch.c.
 */
#ifndef SIMHCA_SWITCH_H
#define SIMHCA_SWITCH_H

#include "eth/flow.h"

bool switch_on(const struct hca *hca);
void switch_receive(struct hca *hca, const struct packet *p);
bool switch_out(struct hca *hca, const struct packet *p, uint16_t vport);
void switch_dump(const struct hca *hca, struct json_object *to);

#endif
