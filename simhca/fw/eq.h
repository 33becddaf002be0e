/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Event queues. See eq.c for the model.
 */
#ifndef SIMHCA_EQ_H
#define SIMHCA_EQ_H

#include "base/left.h"
#include "fw/uar.h"

int eqs_init(struct hca *hca);
void eqs_fini(struct hca *hca);
void eqs_reset(struct hca *hca);
unsigned int eqs_alive(struct hca *hca);
void eqs_left(struct hca *hca, struct left *left);
bool eq_exists(struct hca *hca, uint32_t eqn);
void eq_hold(struct hca *hca, uint32_t eqn);
void eq_release(struct hca *hca, uint32_t eqn);
bool eq_has_room(struct hca *hca, uint32_t eqn);
bool eq_for_event(struct hca *hca, uint8_t type, uint32_t *eqn);
void eq_post(struct hca *hca, uint32_t eqn, uint8_t type, uint8_t sub_type,
	     const void *data);
void eq_post_async(struct hca *hca, uint8_t type, uint8_t sub_type,
		   const void *data);
enum ring_result eq_ring(struct hca *hca, uint32_t uar, uint32_t val, bool arm);

#endif
