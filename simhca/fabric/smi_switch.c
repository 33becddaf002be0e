// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The switch between the adapters: adapter n is at its port n + 1. Data do not pass
 * through it, as a message moves in one step. It is there for who looks at the subnet: it
 * has the attributes of a switch (IBTA 14.2.5), and a packet that is routed by directions
 * finds its way here (IBTA 14.2.2).
 *
 * Invariants
 * - Each node is one link away from the switch, so a way has two links at most.
 * - Its tables say where adapters and groups are; a manager's Set does not change them.
 */
#include "fabric/fabric.h"
#include "fabric/mad.h"
#include "fabric/mc_group.h"

#define SWITCH_GUID 0x0002c90300520000ull
#define NODE_SWITCH 2

#define FDB_LIDS 0xc000u	/* as many as there are unicast LIDs */
#define FDB_BLOCK 64u
#define FDB_NOWHERE 0xffu
#define MFDB_BLOCK 32u		/* groups */
#define MFDB_PORTS 16u		/* a bit each */

/* A packet that is routed by directions has these fields. */
#define DR_HOP_POINTER 6
#define DR_HOP_COUNT 7
#define DR_SLID 32
#define DR_DLID 34
#define DR_INITIAL_PATH 128
#define DR_RETURN_PATH 192
#define LID_PERMISSIVE 0xffff

/**
 * smi_switch_gid() - the GID of the switch's own port
 */
void smi_switch_gid(uint8_t gid[16])
{
	memcpy(gid, port_gid(fabric_hca(SM_HCA)), 8); /* subnet prefix */
	mad_put64(gid, 8, SWITCH_GUID);
}

static unsigned int port_of(const struct hca *hca)
{
	return hca->index + 1;
}

static struct hca *at_port(unsigned int port)
{
	return port ? fabric_hca(port - 1) : NULL;
}

static uint16_t node_desc(struct hca *from, uint8_t *data, uint32_t modifier)
{
	(void)from;
	(void)modifier;
	strcpy((char *)data, "simhca switch");
	return 0;
}

static uint16_t node_info(struct hca *from, uint8_t *data, uint32_t modifier)
{
	(void)modifier;
	data[0] = 1; /* base version */
	data[1] = 1; /* class version */
	data[2] = NODE_SWITCH;
	data[3] = (uint8_t)fabric_hcas();
	mad_put64(data, 4, SWITCH_GUID);
	mad_put64(data, 12, SWITCH_GUID);
	mad_put64(data, 20, SWITCH_GUID);
	mad_put16(data, 28, PORT_PKEYS);
	mad_put16(data, 30, MAD_DEVICE_SWITCH);
	mad_put32(data, 36, port_of(from) << 24 | 0x0002c9); /* port, vendor */
	return 0;
}

static uint16_t switch_info(struct hca *from, uint8_t *data, uint32_t modifier)
{
	(void)from;
	(void)modifier;
	mad_put16(data, 0, FDB_LIDS);
	mad_put16(data, 4, MC_GROUPS);
	mad_put16(data, 6, SMI_SWITCH_LID); /* the last LID in use */
	data[11] = 18 << 3; /* life time of a packet */
	return 0;
}

/* Port 0 is the switch's own; it has no link. */
static uint16_t port_info(struct hca *from, uint8_t *data, uint32_t modifier)
{
	unsigned int port = modifier & SMI_PORT_MASK;
	struct hca *hca = at_port(port);

	if (port > fabric_hcas())
		return MAD_STATUS_BAD_FIELD;
	data[28] = (uint8_t)port_of(from);
	smi_port_link(data, !hca || port_active(hca));
	if (!port) {
		memcpy(data + 8, port_gid(from), 8); /* subnet prefix */
		mad_put16(data, 16, SMI_SWITCH_LID);
		mad_put16(data, 18, fabric_sm_lid());
		mad_put32(data, 20, PORT_CAP_EXT_SPEEDS);
	}
	return 0;
}

static uint16_t linear_fdb(struct hca *from, uint8_t *data, uint32_t modifier)
{
	unsigned int i, lid = modifier * FDB_BLOCK;
	const struct hca *hca;

	(void)from;
	if (modifier >= FDB_LIDS / FDB_BLOCK)
		return MAD_STATUS_BAD_FIELD;
	for (i = 0; i < FDB_BLOCK; i++, lid++) {
		hca = fabric_by_lid((uint16_t)lid);
		data[i] = hca ? (uint8_t)port_of(hca) :
			  lid == SMI_SWITCH_LID ? 0 : FDB_NOWHERE;
	}
	return 0;
}

/* The block of groups is in the modifier's low bits, that of ports in the high ones. */
static uint16_t multicast_fdb(struct hca *from, uint8_t *data, uint32_t modifier)
{
	unsigned int block = modifier & 0x1ff, port = (modifier >> 28) * MFDB_PORTS;
	unsigned int i, bit;
	uint16_t lid, ports;

	(void)from;
	if (block >= MC_GROUPS / MFDB_BLOCK || port > fabric_hcas())
		return MAD_STATUS_BAD_FIELD;
	for (i = 0; i < MFDB_BLOCK; i++) {
		lid = (uint16_t)(MC_LID_FIRST + block * MFDB_BLOCK + i);
		ports = 0;
		for (bit = 0; bit < MFDB_PORTS; bit++)
			if (port + bit && mc_group_has(lid, port + bit - 1))
				ports |= (uint16_t)(1u << bit);
		mad_put16(data, 2 * i, ports);
	}
	return 0;
}

const struct smi_attr smi_switch_attrs[] = {
	{ SMI_ATTR_NODE_DESC, node_desc },
	{ SMI_ATTR_NODE_INFO, node_info },
	{ SMI_ATTR_SWITCH_INFO, switch_info },
	{ SMI_ATTR_PORT_INFO, port_info },
	{ SMI_ATTR_PKEY_TABLE, smi_pkey_table },
	{ SMI_ATTR_SL2VL, smi_sl2vl },
	{ SMI_ATTR_VL_ARB, smi_vl_arb },
	{ SMI_ATTR_LINEAR_FDB, linear_fdb },
	{ SMI_ATTR_MULTICAST_FDB, multicast_fdb },
	{ SMI_ATTR_EXT_PORT_INFO, smi_ext_port_info },
	{ 0 },
};

/**
 * smi_switch_route() - have the node answer to which the directions of a packet lead
 * @from: who sends it, by its one port
 * @dlid: to whom it goes before the directions begin: the switch, or nobody
 * @mad: the request; becomes the answer, as it comes back to @from
 *
 * Return: false if nobody is there
 */
bool smi_switch_route(struct hca *from, uint16_t dlid, uint8_t *mad)
{
	/* Directions that begin at @from begin with its port, which leads here. */
	unsigned int own = dlid == LID_PERMISSIVE, hops = mad[DR_HOP_COUNT];
	uint16_t slid = own ? LID_PERMISSIVE : port_lid(from);
	const uint8_t *out = mad + DR_INITIAL_PATH;
	uint8_t *back = mad + DR_RETURN_PATH;
	struct hca *to = NULL;

	if ((!own && dlid != SMI_SWITCH_LID) || mad_get16(mad, DR_SLID) != slid ||
	    mad_get16(mad, DR_DLID) != LID_PERMISSIVE ||
	    mad[DR_HOP_POINTER] != own || hops < own || hops > own + 1 ||
	    (own && out[1] != 1))
		return false;
	if (own)
		back[1] = (uint8_t)port_of(from);
	if (hops > own && out[hops]) {
		to = at_port(out[hops]);
		if (!to || !port_active(to))
			return false;
		back[hops] = 1;
	}
	smi_answer(to ? NULL : smi_switch_attrs, to ? to : from, mad);
	return true;
}
