/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where a port is. On InfiniBand that is a LID. On Ethernet it is a GID of RoCE
 * v2: the default one, which follows from the MAC address of the network device.
 * The driver puts the default GIDs first in the table of each port, so that the
 * two ends of a connection use the same index.
 */
#ifndef SELFTESTS_ADDRESS_H
#define SELFTESTS_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

struct address {
	uint16_t lid;
	bool roce;
	uint8_t gid_index;
	union ibv_gid gid;
};

/*
 * Ask for the address of port 1. Return: 0; -EADDRNOTAVAIL where an Ethernet port
 * has no GID of RoCE v2; another -errno.
 */
int address_query(struct ibv_context *ctx, struct address *address);

/* The path from a port of this guest to that address. */
struct ibv_ah_attr address_path(const struct address *to);

/* Does the path of a QP lead to that address? */
bool address_is_at(const struct address *address,
		   const struct ibv_ah_attr *path);

#endif
