/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Management datagrams (MAD): the agents that answer them, and the offsets of
 * their fields (IBTA volume 1, chapters 13, 14.2 and 15.2). All fields are big
 * endian.
 */
#ifndef SIMHCA_MAD_H
#define SIMHCA_MAD_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "hca.h"

#define MAD_BYTES 256u

/* The common header */
#define MAD_CLASS 1
#define MAD_METHOD 3
#define MAD_STATUS 4
#define MAD_ATTR 16
#define MAD_MODIFIER 20

#define MAD_CLASS_SMI_LID 0x01
#define MAD_CLASS_SMI_DR 0x81
#define MAD_CLASS_SA 0x03
#define MAD_CLASS_PERF 0x04
#define MAD_CLASS_VENDOR 0x0a	/* NVIDIA's */

/* Numbers of devices: a ConnectX-5, and a Switch-IB */
#define MAD_DEVICE_HCA 0x1017
#define MAD_DEVICE_SWITCH 0xcb20

#define MAD_GET 0x01
#define MAD_SET 0x02
#define MAD_TRAP_REPRESS 0x07
#define MAD_GET_TABLE 0x12
#define MAD_DELETE 0x15
#define MAD_RESPONSE 0x80

#define MAD_STATUS_BAD_METHOD 0x0008
#define MAD_STATUS_BAD_ATTR 0x000c
#define MAD_STATUS_BAD_FIELD 0x001c

#define SA_STATUS_NO_RESOURCES 0x0100
#define SA_STATUS_INVALID 0x0200
#define SA_STATUS_NO_RECORDS 0x0300
#define SA_STATUS_TOO_MANY_RECORDS 0x0400

/* What records say about paths and groups */
#define SA_EXACTLY 0x80u	/* selector of MTU, rate and life time */
#define SA_MTU_4096 5
#define SA_RATE_100_GBPS 16
#define SA_LIFE_TIME 14		/* 67 ms */
#define SA_DEFAULT_PKEY 0xffff

static inline uint16_t mad_get16(const uint8_t *mad, unsigned int off)
{
	uint16_t v;

	memcpy(&v, mad + off, sizeof(v));
	return be16toh(v);
}

static inline uint32_t mad_get32(const uint8_t *mad, unsigned int off)
{
	uint32_t v;

	memcpy(&v, mad + off, sizeof(v));
	return be32toh(v);
}

static inline uint64_t mad_get64(const uint8_t *mad, unsigned int off)
{
	uint64_t v;

	memcpy(&v, mad + off, sizeof(v));
	return be64toh(v);
}

static inline void mad_put16(uint8_t *mad, unsigned int off, uint16_t v)
{
	v = htobe16(v);
	memcpy(mad + off, &v, sizeof(v));
}

static inline void mad_put32(uint8_t *mad, unsigned int off, uint32_t v)
{
	v = htobe32(v);
	memcpy(mad + off, &v, sizeof(v));
}

static inline void mad_put64(uint8_t *mad, unsigned int off, uint64_t v)
{
	v = htobe64(v);
	memcpy(mad + off, &v, sizeof(v));
}

#define MAD_ATTR_CLASS_PORT_INFO 0x01
#define MAD_RESPONSE_TIME 18u	/* 1.1 s */

/**
 * mad_class_port_info() - ClassPortInfo of an agent
 * @data: 72 bytes, zero before
 * @version: of the class
 * @capabilities: what of the class the agent can, a bit each (IBTA 13.4.8.1)
 */
static inline void mad_class_port_info(uint8_t *data, uint8_t version,
				       uint16_t capabilities)
{
	data[0] = 1; /* base version */
	data[1] = version;
	mad_put16(data, 2, capabilities);
	mad_put32(data, 4, MAD_RESPONSE_TIME);
}

/**
 * struct ud_packet - a datagram on the cable
 * @sl: service level; on Ethernet the priority of the VLAN tag
 * @grh: the packet has a GRH, with all that follows up to @dgid
 * @hop_limit: as the sender gave it: no router counts it down
 * @imm: immediate data; valid if @has_imm
 * @len: bytes of payload
 */
struct ud_packet {
	uint16_t slid, dlid;
	uint32_t src_qpn, dst_qpn, qkey;
	uint16_t pkey_index;
	uint8_t sl;
	bool grh;
	uint8_t tclass, hop_limit;
	uint32_t flow_label;
	uint8_t sgid[16], dgid[16];
	uint32_t imm;
	bool has_imm;
	const void *data;
	size_t len;
};

/**
 * enum mad_verdict - how the model handles a packet to QP0 or QP1
 * @MAD_FORWARD: the packet is for the guest: deliver it like any other
 * @MAD_ANSWERED: an agent of the model took the packet and answers it
 * @MAD_CONTINUED: the same, and the answer has another segment
 * @MAD_DROPPED: an agent of the model took the packet and does not answer
 */
enum mad_verdict { MAD_FORWARD, MAD_ANSWERED, MAD_CONTINUED, MAD_DROPPED };

enum mad_verdict mad_receive(struct hca *from, const struct ud_packet *pkt,
			     unsigned int segment, struct ud_packet *answer,
			     uint8_t mad[MAD_BYTES]);

/* ---- smi.c: subnet management agents */
#define SMI_DATA 64u
#define SMI_DATA_BYTES 64u
#define SMI_NODE_INFO_BYTES 40u
#define SMI_PORT_MASK 0xffu	/* PortInfo's modifier: the rest are flags */

enum {
	SMI_ATTR_NODE_DESC = 0x10,
	SMI_ATTR_NODE_INFO = 0x11,
	SMI_ATTR_SWITCH_INFO = 0x12,
	SMI_ATTR_GUID_INFO = 0x14,
	SMI_ATTR_PORT_INFO = 0x15,
	SMI_ATTR_PKEY_TABLE = 0x16,
	SMI_ATTR_SL2VL = 0x17,
	SMI_ATTR_VL_ARB = 0x18,
	SMI_ATTR_LINEAR_FDB = 0x19,
	SMI_ATTR_MULTICAST_FDB = 0x1b,
	SMI_ATTR_SM_INFO = 0x20,
	SMI_ATTR_EXT_PORT_INFO = 0xff90,
};

/**
 * struct smi_attr - an attribute of a node
 * @id: number of the attribute (IBTA 14.2.5); 0 ends a list
 * @fill: makes SMI_DATA_BYTES, zero before; returns a status
 */
struct smi_attr {
	uint16_t id;
	uint16_t (*fill)(struct hca *hca, uint8_t *data, uint32_t modifier);
};

uint16_t smi_attribute(const struct smi_attr *attr, struct hca *hca, uint16_t id,
		       uint32_t modifier, uint8_t *data);
void smi_answer(const struct smi_attr *attr, struct hca *hca, uint8_t *mad);
void smi_port_link(uint8_t *data, bool up);
uint16_t smi_pkey_table(struct hca *hca, uint8_t *data, uint32_t modifier);
uint16_t smi_sl2vl(struct hca *hca, uint8_t *data, uint32_t modifier);
uint16_t smi_vl_arb(struct hca *hca, uint8_t *data, uint32_t modifier);
uint16_t smi_ext_port_info(struct hca *hca, uint8_t *data, uint32_t modifier);

/* ---- smi_switch.c: the switch between the adapters */
#define SMI_SWITCH_LID 0x41u	/* behind those of FABRIC_MAX adapters */

/* The switch has these. The adapter that is passed to them is the one that asks. */
extern const struct smi_attr smi_switch_attrs[];
void smi_switch_gid(uint8_t gid[16]);
bool smi_switch_route(struct hca *from, uint16_t dlid, uint8_t *mad);

/* ---- pma.c: the performance management agent of a node with @ports */
void pma_answer(uint8_t *mad, unsigned int ports);

/* ---- vendor.c: NVIDIA's own class; @device answers @mad in place */
void vendor_answer(uint8_t *mad, uint16_t device);

/* sa.c: the subnet administrator answers the request @mad in place */
bool sa_answer(struct hca *from, uint8_t *mad, unsigned int segment);

#endif
