/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What flow tables compare: the headers of a frame in the layout of
 * fte_match_set_lyr_2_4. Masks and values of flows have the same layout.
 */
#ifndef SIMHCA_MATCH_H
#define SIMHCA_MATCH_H

#include "base/ifc.h"
#include "eth/frame.h"

#define MATCH_BYTES IFC_SZ(fte_match_set_lyr_2_4)
#define MATCH_OUTER 1u	/* bit of match_criteria_enable */

void match_headers(const struct frame *f, uint8_t *to);
bool match(const uint8_t *headers, const uint8_t *mask, const uint8_t *value);

#endif
