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

#define MAD_GET 0x01
#define MAD_SET 0x02
#define MAD_TRAP_REPRESS 0x07
#define MAD_GET_TABLE 0x12
#define MAD_DELETE 0x15
#define MAD_RESPONSE 0x80

#define MAD_STATUS_BAD_METHOD 0x0008
#define MAD_STATUS_BAD_ATTR 0x000c
#define MAD_STATUS_BAD_FIELD 0x001c

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

/* smi.c: the subnet management agent of @hca answers @mad in place */
void smi_answer(struct hca *hca, uint8_t *mad);
#define SMI_NODE_INFO_BYTES 40u
void smi_node_info(struct hca *hca, uint8_t *data);

/* pma.c: the performance management agent of a port answers @mad in place */
void pma_answer(uint8_t *mad);

/* sa.c: the subnet administrator answers the request @mad in place */
bool sa_asked(const uint8_t *mad);
bool sa_answer(struct hca *from, uint8_t *mad, unsigned int segment);
void sa_fini(void);

#endif
