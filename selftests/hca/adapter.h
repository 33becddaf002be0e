/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The adapters of the process.
 */
#ifndef SIMHCA_ADAPTER_H
#define SIMHCA_ADAPTER_H

#include "hca.h"

int adapters_init(unsigned int n, enum link link, enum function function,
		  const char *dir);
void adapters_fini(void);
void hca_clear_counters(struct hca *hca);

#endif
