/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* An RDMA device that is registered again, and its users, who lose it. */
#ifndef MLX5EP_CLI_REBIND_H
#define MLX5EP_CLI_REBIND_H

#include "cli.h"

#define ENTRY_LEN 256

/* device_users.c */
struct json_object *device_users(const char *device);

/* rebind.c: what is found */
int aux_device(const char *device, char *aux);
bool is_attached(const char *device);
bool is_half_attached(const char *device);

/* rebind.c: what is done; calls return an exit code, after a message */
int aux_unbind(const char *aux);
int aux_bind(const char *aux);
int wait_attached(const char *device);

#endif
