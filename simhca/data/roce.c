// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See roce.h. The sender's entry in its table of RoCE addresses says how a
 * packet goes: its source GID, its VLAN, RoCE v1 or v2, IPv4 or IPv6.
 */
#include <endian.h>
#include <string.h>

#include "data/roce.h"
#include "eth/flow.h"
#include "fabric/fabric.h"

#define GID_LEN 16u
#define IPV4_LEN 20u
#define IPV4_AT (GRH_LEN - IPV4_LEN)	/* the bytes before it are undefined */
#define IPV4_IN_GID 12u
#define UDP_BTH_ICRC 32u	/* bytes of UDP, BTH, DETH and ICRC */
#define NEXT_IBA 0x1b
#define NEXT_UDP 17

/*
 * Values of roce_version and roce_l3_type of the entry. Other values are RoCE v2
 * and IPv6.
 */
#define ROCE_V1 0
#define L3_IPV4 0
/* flags_rqpn of the CQE: MLX5_CQE_ROCE_L3_HEADER_TYPE_* */
enum { HEADER_GRH, HEADER_IPV6, HEADER_IPV4 };
#define HEADER_SHIFT 24
#define CQE_VLAN 0x1
#define PRIORITY_SHIFT 13	/* in the VLAN tag */
#define IPV6_VERSION (6u << 28)
#define TCLASS_SHIFT 20

#define SGID_SHIFT 20		/* source index in grh_gid_fl */
#define SGID_MASK 0x3ffu

#define ENTRY(from, fld) IFC_GET(roce_addr_layout, from, fld)

/* The driver has put no address there. */
static bool is_empty(const void *entry)
{
	static const uint8_t none[GID_LEN];

	return !memcmp(IFC_ADDR_OF(roce_addr_layout, entry, source_l3_address),
		       none, GID_LEN);
}

static unsigned int header_type(const void *from)
{
	if (ENTRY(from, roce_version) == ROCE_V1)
		return HEADER_GRH;
	return ENTRY(from, roce_l3_type) == L3_IPV4 ? HEADER_IPV4 :
						      HEADER_IPV6;
}

/**
 * roce_source() - the sender's entry in its table that an address vector names
 *
 * Return: the entry, NULL: the table has no such index
 */
const void *roce_source(const struct hca *hca, const struct wqe_av *av)
{
	return nic_roce_address(hca, be32toh(av->grh_gid_fl) >> SGID_SHIFT &
				SGID_MASK);
}

/**
 * roce_mac() - the MAC address of an entry, in the low 48 bits
 */
uint64_t roce_mac(const void *entry)
{
	return (uint64_t)ENTRY(entry, source_mac_47_32) << 32 |
	       ENTRY(entry, source_mac_31_0);
}

/**
 * roce_dmac() - the destination of an address vector, in the low 48 bits
 */
uint64_t roce_dmac(const struct wqe_av *av)
{
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < sizeof(av->rmac); i++)
		v = v << 8 | av->rmac[i];
	return v;
}

/* Do flow tables of the adapter let in what comes from this entry? */
static bool admits(const struct hca *hca, const void *from)
{
	return flows_admit(hca, nic_owns(hca, from));
}

/**
 * roce_find() - the adapter that takes a packet
 * @from: the sender's entry in its table of addresses, NULL or empty: none
 * @mac: destination, in the low 48 bits
 *
 * Return: the adapter that has GID, MAC, VLAN and version, NULL: none
 */
struct hca *roce_find(const void *from, const uint8_t gid[16], uint64_t mac)
{
	unsigned int i;

	if (!from || is_empty(from))
		return NULL;
	for (i = 0; i < fabric_hcas(); i++)
		if (nic_answers(fabric_hca(i), from, gid, mac) &&
		    admits(fabric_hca(i), from))
			return fabric_hca(i);
	return NULL;
}

/**
 * roce_hears() - can a multicast packet reach QPs of this adapter?
 *
 * Return: true where an address of the adapter has the sender's VLAN and version
 */
bool roce_hears(const struct hca *hca, const void *from)
{
	const uint8_t *e;
	unsigned int i;

	if (!admits(hca, from))
		return false;
	for (i = 0; (e = nic_roce_address(hca, i)); i++)
		if (!is_empty(e) &&
		    ENTRY(e, vlan_valid) == ENTRY(from, vlan_valid) &&
		    ENTRY(e, vlan_id) == ENTRY(from, vlan_id) &&
		    ENTRY(e, roce_version) == ENTRY(from, roce_version))
			return true;
	return false;
}

static void ipv4_header(const uint8_t *sgid, const struct ud_packet *pkt,
			uint8_t *ip)
{
	uint16_t total = htobe16(IPV4_LEN + UDP_BTH_ICRC + pkt->len), word;
	uint32_t sum = 0;
	unsigned int i;

	ip[0] = 0x45;
	ip[1] = pkt->tclass;
	memcpy(ip + 2, &total, sizeof(total));
	ip[8] = pkt->hop_limit;
	ip[9] = NEXT_UDP;
	memcpy(ip + 12, sgid + IPV4_IN_GID, 4);
	memcpy(ip + 16, pkt->dgid + IPV4_IN_GID, 4);
	for (i = 0; i < IPV4_LEN; i += sizeof(word)) {
		memcpy(&word, ip + i, sizeof(word));
		sum += word;
	}
	sum = (sum & 0xffff) + (sum >> 16);
	word = (uint16_t)~(sum + (sum >> 16));
	memcpy(ip + 10, &word, sizeof(word));
}

/**
 * roce_header() - the network header, as the receiver's memory gets it
 * @from: the sender's entry
 * @pkt: the packet, with its payload
 */
void roce_header(const void *from, const struct ud_packet *pkt,
		 uint8_t to[GRH_LEN])
{
	const uint8_t *sgid = IFC_ADDR_OF(roce_addr_layout, from,
					  source_l3_address);
	uint16_t paylen = htobe16(UDP_BTH_ICRC + pkt->len);
	uint32_t first = htobe32(IPV6_VERSION |
				 (uint32_t)pkt->tclass << TCLASS_SHIFT |
				 pkt->flow_label);

	memset(to, 0, GRH_LEN);
	if (header_type(from) == HEADER_IPV4) {
		ipv4_header(sgid, pkt, to + IPV4_AT);
		return;
	}
	memcpy(to, &first, sizeof(first));
	memcpy(to + 4, &paylen, sizeof(paylen));
	to[6] = header_type(from) == HEADER_GRH ? NEXT_IBA : NEXT_UDP;
	to[7] = pkt->hop_limit;
	memcpy(to + 8, sgid, GID_LEN);
	memcpy(to + 24, pkt->dgid, GID_LEN);
}

/**
 * roce_cqe() - tell the receiver's completion about header and VLAN
 * @from: the sender's entry
 * @pkt: has the priority for the VLAN tag
 */
void roce_cqe(const void *from, const struct ud_packet *pkt, struct cqe *cqe)
{
	uint32_t flags = be32toh(cqe->flags_rqpn) & 0xffffff;

	flags |= CQE_GRH_IN_BUFFER | header_type(from) << HEADER_SHIFT;
	cqe->flags_rqpn = htobe32(flags);
	cqe->slid = 0;
	if (ENTRY(from, vlan_valid)) {
		cqe->l4_l3_hdr_type |= CQE_VLAN;
		cqe->vlan_info = htobe16(pkt->sl << PRIORITY_SHIFT |
					 ENTRY(from, vlan_id));
	}
}
