/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The initialisation segment (iseg.c), and the commands by which a driver
 * enables and disables the adapter (init.c).
 */
#ifndef SIMHCA_ISEG_H
#define SIMHCA_ISEG_H

#include "hca.h"

int iseg_init(struct hca *hca);
void iseg_fini(struct hca *hca);
void iseg_reset(struct hca *hca);
void iseg_read(struct hca *hca, uint32_t off, uint8_t *buf, size_t len);
void iseg_write(struct hca *hca, uint32_t off, const uint8_t *buf, size_t len);
void iseg_timeout(struct hca *hca, uint32_t ms);
void iseg_fatal(struct hca *hca, uint8_t syndrome);

void hca_drop_state(struct hca *hca);

#endif
