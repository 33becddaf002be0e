/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_CLI_PRELOAD_H
#define MLX5EP_CLI_PRELOAD_H

const char *preload_obstacle(const char *program);

#endif
