/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which pages of guest memory belong to a queue of the adapter. */
#ifndef SIMHCA_GUARD_H
#define SIMHCA_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct guard;

struct guard *guard_create(void);
void guard_destroy(struct guard *guard);
int guard_add(struct guard *guard, uint64_t addr, uint64_t len);
void guard_remove(struct guard *guard, uint64_t addr, uint64_t len);
bool guard_covers(struct guard *guard, uint64_t addr, uint64_t len);

#endif
