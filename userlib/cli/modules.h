/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Modules of the kernel, loaded and unloaded. */
#ifndef MLX5EP_CLI_MODULES_H
#define MLX5EP_CLI_MODULES_H

#include <stdbool.h>

int module_unload(const char *name);
bool module_probe(const char *option, const char *name);
int uverbs_reload(void);

#endif
