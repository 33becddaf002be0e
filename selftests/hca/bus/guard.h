/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which pages of guest memory are lent to the adapter. */
#ifndef SIMHCA_GUARD_H
#define SIMHCA_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct guard;

struct guard *guard_create(void);
void guard_destroy(struct guard *guard);
int guard_lend(struct guard *guard, uint64_t addr, uint64_t len);
void guard_take_back(struct guard *guard, uint64_t addr, uint64_t len);
bool guard_lent(struct guard *guard, uint64_t addr, uint64_t len);

#endif
