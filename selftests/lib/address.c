// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Addresses of ports, see address.h. */
#include <errno.h>
#include <string.h>

#include "address.h"

#define HOPS 64
#define GIDS 32

static int roce_query(struct ibv_context *ctx, struct address *address)
{
	struct ibv_gid_entry gids[GIDS] = {};
	ssize_t n, i;

	n = ibv_query_gid_table(ctx, gids, GIDS, 0);
	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		if (gids[i].gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		address->roce = true;
		address->gid_index = gids[i].gid_index;
		address->gid = gids[i].gid;
		return 0;
	}
	return -EADDRNOTAVAIL;
}

int address_query(struct ibv_context *ctx, struct address *address)
{
	struct ibv_port_attr port;
	int ret;

	memset(address, 0, sizeof(*address));
	/* Connections there are between IP addresses, see notify/iwarp.c. */
	if (ctx->device->transport_type == IBV_TRANSPORT_IWARP)
		return 0;
	ret = ibv_query_port(ctx, 1, &port);
	if (ret)
		return -ret;
	address->lid = port.lid;
	return port.link_layer == IBV_LINK_LAYER_ETHERNET ?
		roce_query(ctx, address) : 0;
}

struct ibv_ah_attr address_path(const struct address *to)
{
	struct ibv_ah_attr path = { .dlid = to->lid, .port_num = 1 };

	if (to->roce) {
		path.is_global = 1;
		path.grh.dgid = to->gid;
		path.grh.sgid_index = to->gid_index;
		path.grh.hop_limit = HOPS;
	}
	return path;
}

bool address_is_at(const struct address *address,
		   const struct ibv_ah_attr *path)
{
	if (!address->roce)
		return !path->is_global && path->dlid == address->lid;
	return path->is_global && !memcmp(&path->grh.dgid, &address->gid,
					  sizeof(address->gid));
}
