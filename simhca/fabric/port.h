/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The port of an adapter: its state (port.c), its registers (reg.c), the
 * commands that ask for both (port_cmd.c).
 */
#ifndef SIMHCA_PORT_H
#define SIMHCA_PORT_H

#include "hca.h"

#define PORT_GIDS 8u
#define PORT_ROCE_GIDS 16u	/* roce_address_table_size */
#define PORT_PKEYS 128u
#define PORT_MTU_BYTES 4096u
#define PORT_ETH_MTU_BYTES 9978u	/* the largest, headers included */
#define NODE_DESC_BYTES 64u

/* PortInfo.CapabilityMask, IBTA 14.2.5.6 */
#define PORT_CAP_SM 0x00000002u
#define PORT_CAP_EXT_SPEEDS 0x00004000u

/* IBTA: PortInfo.PortState and PortPhysicalState */
enum { PORT_DOWN = 1, PORT_ACTIVE = 4 };
enum { PHYS_POLLING = 2, PHYS_LINK_UP = 5 };

/* Frames of an Ethernet port, by direction and kind of address */
enum { PORT_RX, PORT_TX, PORT_DIRECTIONS };
enum { PORT_UNICAST, PORT_MULTICAST, PORT_BROADCAST, PORT_KINDS };

struct port_count {
	uint64_t packets;
	uint64_t octets;
};

/**
 * struct port_pause - which pause frames a driver allows in a direction
 * @all: those for the whole link (IEEE 802.3, annex 31B)
 * @priorities: those for a priority (IEEE 802.1Qbb, PFC), a bit each
 */
struct port_pause {
	bool all;
	uint8_t priorities;
};

struct port {
	bool up;	/* the cable is plugged in */
	bool enabled;	/* Ethernet: the driver enabled the port */
	uint16_t mtu_bytes;	/* Ethernet */
	struct port_pause pause[PORT_DIRECTIONS];	/* Ethernet */
	struct port_count count[PORT_DIRECTIONS][PORT_KINDS];
	uint16_t lid;
	uint8_t gid[16];
	uint64_t node_guid;
	uint64_t system_guid;	/* of the card */
	uint64_t port_guid;
	uint32_t cap_mask;
	char node_desc[NODE_DESC_BYTES];
};

/* ---- port.c */
int port_init(struct hca *hca);
void port_fini(struct hca *hca);
void port_reset(struct hca *hca);
void port_dump(struct hca *hca, struct json_object *o);
uint16_t port_lid(struct hca *hca);
const uint8_t *port_gid(struct hca *hca);
bool port_active(struct hca *hca);
bool port_link_up(const struct hca *hca);
uint8_t port_mtu(struct hca *hca);
void port_count(struct hca *hca, unsigned int direction, const uint8_t *frame,
		size_t len);
bool port_pkey(struct hca *hca, unsigned int index, uint16_t *pkey);

/* ---- reg.c */
uint8_t reg_access(struct hca *hca, uint16_t id, bool write,
		   const uint8_t *in, uint8_t *out, size_t len);

#endif
