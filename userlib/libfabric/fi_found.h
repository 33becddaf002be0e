/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_FI_FOUND_H
#define MLX5EP_FI_FOUND_H

#include <stdint.h>

struct fi_info;

void *fi_found(const char *name);

/* Called before each call of fi_getinfo(), by the program or by libfabric itself. */
extern void (*fi_found_first)(void);

#endif
