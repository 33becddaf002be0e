/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The hash of a frame, for receive side scaling. */
#ifndef SIMHCA_HASH_H
#define SIMHCA_HASH_H

#include "base/ifc.h"
#include "eth/frame.h"

uint32_t frame_hash(const uint8_t *ctx, const struct frame *f);

#endif
