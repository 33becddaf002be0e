/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What is set, beside what the configuration file says. */
#ifndef MLX5EP_CLI_COMPARE_H
#define MLX5EP_CLI_COMPARE_H

#include "config.h"

struct json_object *compare(const struct config *config, const char *device,
			    const char *pci, int *err);

#endif
