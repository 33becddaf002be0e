/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Device memory (MEMIC): memory of the adapter, which a PF has in its BAR behind the
 * UAR pages. The driver allocates pieces of it for programs, which map them and
 * register them as memory keys of a mode of their own.
 *
 * Invariants
 * - A piece has no byte of another one, and is zeroed when it is allocated.
 * - The guest and memory keys reach bytes of a piece only. A key that outlives its
 *   piece reaches nothing.
 * - Where there are pieces, a request is executed after the stores that were made before
 *   it was posted (is_rung() in data/send.c).
 * - A piece can have an address for an operation: a write there adds to a byte, a read
 *   tests and sets it. A piece is freed after its addresses.
 */
#ifndef SIMHCA_MEMIC_H
#define SIMHCA_MEMIC_H

#include "hca.h"

struct memic;

/* ---- memic.c */
int memic_init(struct hca *hca);
void memic_fini(struct hca *hca);
void memic_reset(struct hca *hca);
unsigned int memic_pieces(const struct hca *hca);
unsigned int memic_op_addresses(const struct hca *hca);
void *memic_ptr(struct hca *hca, uint64_t at, uint64_t len);
int memic_read(struct hca *hca, uint64_t at, void *buf, size_t len);
int memic_write(struct hca *hca, uint64_t at, const void *buf, size_t len);

#endif
