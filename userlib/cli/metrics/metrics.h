/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_CLI_METRICS_H
#define MLX5EP_CLI_METRICS_H

#include "../cli.h"

#define SUMS_MOST_KEYS 8
#define SUMS_ROWS "rows"

/* figures.c */
char *metrics_text(struct cli *cli, size_t *len);

/* sums.c */
struct json_object *sums_of(const char *path, const char *label,
			    const char *const *keys);

#endif
