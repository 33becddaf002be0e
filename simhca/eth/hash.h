/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The hash of a frame, for receive side scaling. */
#ifndef SIMHCA_HASH_H
#define SIMHCA_HASH_H

#include "base/ifc.h"
#include "eth/frame.h"

/**
 * struct hash - the hash of a frame
 * @type: of what it is, as rss_hash_type of a CQE has it: addresses of IPv4 (1) or IPv6 (2)
 *	in the bits 3:2, ports of TCP (1) or UDP (2) in the bits 7:6
 */
struct hash {
	uint32_t value;
	uint8_t type;
};

struct hash frame_hash(const uint8_t *ctx, const struct frame *f);

#endif
