// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The port of an adapter. Adapter n has LID n + 1.
 *
 * Invariants
 * - A port that is up is ACTIVE; down is the only other state.
 * - P_Key table: the default key at 0, nothing else. GID table: one link-local
 *   GID at 0.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fabric/port.h"

#define GUID_BASE 0x0002c90300510000ull
#define GID_PREFIX 0xfe80000000000000ull
#define DEFAULT_PKEY 0xffffu
#define IB_MTU_4096 5

/* PortInfo.CapabilityMask, IBTA 14.2.5.6; the others are in port.h */
#define CAP_SL_MAP 0x00000040u
#define CAP_SYS_IMAGE_GUID 0x00000800u
#define CAP_CM 0x00010000u

/**
 * port_init() - make the port, up
 *
 * Return: 0 or -ENOMEM
 */
int port_init(struct hca *hca)
{
	struct port *port = calloc(1, sizeof(*port));
	uint64_t half;

	if (!port)
		return -ENOMEM;
	hca->port = port;
	port->up = true;
	port->lid = (uint16_t)(hca->index + 1);
	port->node_guid = GUID_BASE + (uint64_t)hca->index * 0x10;
	/* The two functions of a card have one. */
	port->system_guid = port->node_guid + 3;
	if (hca->native_port == 2)
		port->system_guid -= 0x10;
	port->port_guid = port->node_guid + 1;
	half = htobe64(GID_PREFIX);
	memcpy(port->gid, &half, sizeof(half));
	half = htobe64(port->port_guid);
	memcpy(port->gid + 8, &half, sizeof(half));
	port_reset(hca);
	return 0;
}

/**
 * port_fini() - free the port
 */
void port_fini(struct hca *hca)
{
	free(hca->port);
	hca->port = NULL;
}

/**
 * port_reset() - forget what a driver set; the cable stays as it is
 */
void port_reset(struct hca *hca)
{
	struct port *port = hca->port;

	port->enabled = true;
	port->mtu_bytes = PORT_ETH_MTU_BYTES;
	memset(port->pause, 0, sizeof(port->pause));
	port->pause[PORT_RX].all = true;
	port->pause[PORT_TX].all = true;
	memset(port->count, 0, sizeof(port->count));
	port->cap_mask = CAP_SL_MAP | CAP_SYS_IMAGE_GUID | PORT_CAP_EXT_SPEEDS |
			 CAP_CM;
	memset(port->node_desc, 0, sizeof(port->node_desc));
	snprintf(port->node_desc, sizeof(port->node_desc), "simhca%u",
		 hca->index);
}

/**
 * port_dump() - tell about the port
 * @o: gets "port"
 */
void port_dump(struct hca *hca, struct json_object *o)
{
	struct json_object *p = json_object_new_object();

	json_object_object_add(p, "state",
			       json_object_new_string(
				       port_link_up(hca) ? "active" : "down"));
	json_add_number(p, "lid", hca->port->lid);
	json_object_object_add(o, "port", p);
}

/**
 * port_lid() - the port's local identifier
 */
uint16_t port_lid(struct hca *hca)
{
	return hca->port->lid;
}

/**
 * port_gid() - the GID at index 0, 16 bytes
 */
const uint8_t *port_gid(struct hca *hca)
{
	return hca->port->gid;
}

/**
 * port_link_up() - is there a link?
 *
 * A driver disables an Ethernet port whose netdev is down.
 */
bool port_link_up(const struct hca *hca)
{
	return hca->port->up &&
	       (hca->link == LINK_IB || hca->port->enabled);
}

/**
 * port_active() - do packets go in and out?
 */
bool port_active(struct hca *hca)
{
	return port_link_up(hca) && !hca->fatal;
}

/**
 * port_count() - count a frame
 * @direction: PORT_RX or PORT_TX
 * @frame: its first bytes, which are the destination's address
 * @len: bytes of it
 */
void port_count(struct hca *hca, unsigned int direction, const uint8_t *frame,
		size_t len)
{
	static const uint8_t all[6] = { 255, 255, 255, 255, 255, 255 };
	unsigned int kind = !memcmp(frame, all, sizeof(all)) ? PORT_BROADCAST :
			    frame[0] & 1 ? PORT_MULTICAST : PORT_UNICAST;
	struct port_count *c = &hca->port->count[direction][kind];

	c->packets++;
	c->octets += len;
}

/**
 * port_mtu() - the largest packet, as enum ib_mtu
 */
uint8_t port_mtu(struct hca *hca)
{
	(void)hca;
	return IB_MTU_4096;
}

/**
 * port_pkey() - look up an entry of the P_Key table
 * @index: of the entry
 * @pkey: set to its value, 0 where it is empty
 *
 * Return: false beyond the end of the table
 */
bool port_pkey(struct hca *hca, unsigned int index, uint16_t *pkey)
{
	(void)hca;
	*pkey = index ? 0 : DEFAULT_PKEY;
	return index < PORT_PKEYS;
}
