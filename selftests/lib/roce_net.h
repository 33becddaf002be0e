/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two HCAs with Ethernet ports, mlx5_0 and mlx5_1, whose network devices are in
 * the namespaces a and b under the name `port`, so that nothing takes a short way.
 * Port 1 has the addresses 192.0.2.1, 2001:db8::1 and, on VLAN 7, 198.51.100.1;
 * port 2 the same that end with 2.
 */
#ifndef SELFTESTS_ROCE_NET_H
#define SELFTESTS_ROCE_NET_H

#include <stdbool.h>

#include "address.h"

/* Run a shell command. Return: its status, as system() gives it. */
int roce_net_shell(const char *command);

/* Make the namespaces, unless they are there. Return: 0 or -EIO. */
int roce_net_up(void);

/* Has the kernel VLANs? Where it has none, the ports have no address on VLAN 7. */
bool roce_net_has_vlan(void);

/**
 * roce_net_find() - find the GID of an address, once the driver has it
 * @text: IPv4 or IPv6; "": the default GID
 * @type: enum ibv_gid_type
 *
 * Return: 0; -ENOENT if it did not come within 20 seconds.
 */
int roce_net_find(struct ibv_context *ctx, const char *text, unsigned int type,
		  struct address *address);

#endif
