/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_CLI_METRICS_H
#define MLX5EP_CLI_METRICS_H

#include <stdio.h>

#include "cli.h"

void metrics_print(struct cli *cli, FILE *to);

#endif
