/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The adapters of the process.
 */
#ifndef SIMHCA_FABRIC_H
#define SIMHCA_FABRIC_H

#include "hca.h"

#define FABRIC_MAX 64u

int fabric_init(unsigned int n, const char *dir);
void fabric_fini(void);

#endif
