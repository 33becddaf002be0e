// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* See roce_net.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "roce_net.h"

/*
 * A new net namespace does not have the settings of guest/main. The default GIDs
 * would have to wait until no other node has claimed their address.
 */
static const char network[] =
	"set -e; cd /sys/class/infiniband;"
	"[ ! -e /run/netns/b ] || exit 0;"
	"a=$(basename mlx5_0/device/net/*); b=$(basename mlx5_1/device/net/*);"
	"end() {"
	" ip netns add $1; ip netns exec $1 sh -c"
	"  'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad';"
	" ip link set $2 netns $1; ip -n $1 link set $2 name port;"
	" ip -n $1 addr add 192.0.2.$3/24 dev port;"
	" ip -n $1 addr add 2001:db8::$3/64 dev port nodad;"
	" ip -n $1 link set port up;"
	" modprobe -q 8021q || :; [ -e /proc/net/vlan ] || return 0;"
	" ip -n $1 link add link port name port.7 type vlan id 7;"
	" ip -n $1 addr add 198.51.100.$3/24 dev port.7;"
	" ip -n $1 link set port.7 up; };"
	"end a $a 1; end b $b 2";

int roce_net_shell(const char *command)
{
	int status = system(command);

	if (status)
		fprintf(stderr, "# %s: status 0x%x\n", command, status);
	return status;
}

static bool gid_is(const struct ibv_gid_entry *entry, const char *text,
		   unsigned int type)
{
	union ibv_gid gid = {};

	if (entry->gid_type != type)
		return false;
	/* The default GIDs are made of fe80:: and the MAC address. */
	if (!*text)
		return entry->gid.raw[0] == 0xfe && entry->gid_index < 2;
	if (strchr(text, ':'))
		return inet_pton(AF_INET6, text, gid.raw) == 1 &&
			!memcmp(&gid, &entry->gid, sizeof(gid));
	gid.raw[10] = 0xff;
	gid.raw[11] = 0xff;
	return inet_pton(AF_INET, text, gid.raw + 12) == 1 &&
		!memcmp(&gid, &entry->gid, sizeof(gid));
}

bool roce_net_has_vlan(void)
{
	return !access("/proc/net/vlan", F_OK);
}

int roce_net_up(void)
{
	return roce_net_shell(network) ? -EIO : 0;
}

int roce_net_find(struct ibv_context *ctx, const char *text, unsigned int type,
		  struct address *address)
{
	struct timespec pause = { .tv_nsec = 100000000 };
	struct ibv_gid_entry gids[32];
	unsigned int tries;
	ssize_t n, i;

	for (tries = 0; tries < 200; tries++) {
		n = ibv_query_gid_table(ctx, gids, 32, 0);
		for (i = 0; i < n; i++) {
			if (!gid_is(&gids[i], text, type))
				continue;
			address->roce = true;
			address->gid = gids[i].gid;
			address->gid_index = gids[i].gid_index;
			return 0;
		}
		nanosleep(&pause, NULL);
	}
	fprintf(stderr, "# no GID %s of type %u\n", text, type);
	return -ENOENT;
}
