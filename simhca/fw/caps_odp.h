/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Capabilities of on-demand paging. See caps_odp.c for the model.
 */
#ifndef SIMHCA_CAPS_ODP_H
#define SIMHCA_CAPS_ODP_H

#include "hca.h"

/* Transport services and operations, as odp_scheme_cap has them in a row. */
enum odp_service { ODP_RC, ODP_UC, ODP_UD, ODP_XRC, ODP_DC };
enum odp_op {
	ODP_SEND,
	ODP_RECEIVE,
	ODP_WRITE,
	ODP_READ,
	ODP_ATOMIC,
	ODP_SRQ_RECEIVE,
};

void caps_odp_reset(struct hca *hca);
void caps_odp_get(const struct hca *hca, bool current, uint8_t *to);
uint8_t caps_odp_set(struct hca *hca, const uint8_t *cap);
bool odp_memory_scheme(const struct hca *hca);
bool odp_serves(const struct hca *hca, enum odp_service service,
		enum odp_op op);

#endif
