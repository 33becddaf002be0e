/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The InfiniBand port of an adapter, as its own files see it: port.c (state and
 * the vport commands), reg.c (registers), smi.c and sa.c (management).
 */
#ifndef SIMHCA_PORT_H
#define SIMHCA_PORT_H

#include "device.h"

#define PORT_GIDS 8u
#define PORT_PKEYS 128u
#define PORT_MTU_BYTES 4096u
#define NODE_DESC_BYTES 64u
#define SM_HCA 0u	/* the adapter whose LID is the subnet manager's */

/* IBTA: PortInfo.PortState and PortPhysicalState */
enum { PORT_DOWN = 1, PORT_INIT = 2, PORT_ACTIVE = 4 };
enum { PHYS_POLLING = 2, PHYS_LINK_UP = 5 };

struct port {
	bool up;
	uint16_t lid;
	uint8_t gid[16];
	uint64_t node_guid;
	uint64_t port_guid;
	uint32_t cap_mask;
	char node_desc[NODE_DESC_BYTES];
	struct port_traffic traffic;
};

static inline uint16_t sm_lid(void)
{
	return port_lid(fabric_hca(SM_HCA));
}

uint8_t reg_access(struct hca *hca, uint16_t id, bool write,
		   const uint8_t *in, uint8_t *out, size_t len);

/* Answer the subnet management MAD @mad (256 bytes) in place, as the agent of @hca. */
void smi_answer(struct hca *hca, uint8_t *mad);

/* Answer the request @mad in place, as the subnet administrator. */
void sa_answer(struct hca *from, uint8_t *mad);
void sa_fini(void);

#endif
