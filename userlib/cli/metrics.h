/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_CLI_METRICS_H
#define MLX5EP_CLI_METRICS_H

#include <stdio.h>

#include "cli.h"

#define SUMS_MOST_KEYS 8
#define SUMS_ROWS "rows"

/* metrics.c */
void metrics_print(struct cli *cli, FILE *to);

/* metrics_sums.c */
struct json_object *sums_of(const char *path, const char *label,
			    const char *const *keys);

#endif
