/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The way of a frame through the flow tables of one side, or of the e-switch.
 */
#ifndef SIMHCA_PASS_H
#define SIMHCA_PASS_H

#include "eth/flow.h"

void pass_receive(struct hca *hca, const struct packet *p);

/* What pass_send() calls for each frame that leaves the tables. */
typedef void pass_sent(struct hca *hca, const struct packet *p);

void pass_send(struct hca *hca, const struct packet *p, pass_sent *sent);

/* What pass_switch() calls for each port that a frame shall go to. */
typedef void pass_forward(struct hca *hca, const struct packet *p,
			  uint16_t vport);

void pass_switch(struct hca *hca, const struct packet *p,
		 pass_forward *forward);

#endif
