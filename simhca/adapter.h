/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The adapters of the process.
 */
#ifndef SIMHCA_ADAPTER_H
#define SIMHCA_ADAPTER_H

#include "hca.h"

/**
 * struct adapter_kind - what the adapters are
 * @link: what their ports speak
 * @function: PFs, VFs, or PFs of cards with two ports
 * @eswitch: each has an e-switch that a driver can program; only for PFs with Ethernet
 */
struct adapter_kind {
	enum link link;
	enum function function;
	bool eswitch;
};

int adapters_init(unsigned int n, const struct adapter_kind *kind,
		  const char *dir);
void adapters_fini(void);
void hca_clear_counters(struct hca *hca);

#endif
