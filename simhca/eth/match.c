// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See match.h. A field that the frame does not have is 0.
 */
#include <string.h>

#include "eth/match.h"

#define TYPE_CVLAN 0x8100
#define TCP_FLAGS 0x1ffu
#define DSCP_SHIFT 2
#define ECN_MASK 3
#define ADDR_BYTES 16u

#define MATCH(fld, v) IFC_SET(fte_match_set_lyr_2_4, to, fld, v)
#define MATCH_AT(fld) IFC_ADDR_OF(fte_match_set_lyr_2_4, to, fld)

static void match_ip(const struct frame *f, uint8_t *to)
{
	const uint8_t *ip = f->data + f->l3;
	uint8_t *src = MATCH_AT(src_ipv4_src_ipv6);
	uint8_t *dst = MATCH_AT(dst_ipv4_dst_ipv6);
	uint8_t tos = f->ipv6 ? (uint8_t)(be16_at(ip) >> 4) : ip[1];

	MATCH(ip_version, f->ipv6 ? 6 : 4);
	MATCH(ip_protocol, f->proto);
	MATCH(ip_dscp, tos >> DSCP_SHIFT);
	MATCH(ip_ecn, tos & ECN_MASK);
	MATCH(frag, f->frag);
	if (f->ipv6) {
		MATCH(ttl_hoplimit, ip[7]);
		memcpy(src, ip + 8, ADDR_BYTES);
		memcpy(dst, ip + 24, ADDR_BYTES);
		return;
	}
	MATCH(ipv4_ihl, ip[0] & 0xf);
	MATCH(ttl_hoplimit, ip[8]);
	/* IPv4 addresses are the last bytes of the field */
	memcpy(src + 12, ip + 12, 4);
	memcpy(dst + 12, ip + 16, 4);
}

static void match_l4(const struct frame *f, uint8_t *to)
{
	const uint8_t *l4 = f->data + f->l4;

	if (f->proto == IP_TCP) {
		MATCH(tcp_sport, be16_at(l4));
		MATCH(tcp_dport, be16_at(l4 + 2));
		MATCH(tcp_flags, be16_at(l4 + 12) & TCP_FLAGS);
	} else if (f->proto == IP_UDP) {
		MATCH(udp_sport, be16_at(l4));
		MATCH(udp_dport, be16_at(l4 + 2));
	}
}

static void match_lyr_2_4(const struct frame *f, uint8_t *to)
{
	const uint8_t *eth = f->data + f->at;

	if (!f->bare) {
		memcpy(MATCH_AT(dmac_47_16), eth, ETH_ADDR);
		memcpy(MATCH_AT(smac_47_16), eth + ETH_ADDR, ETH_ADDR);
	}
	MATCH(ethertype, f->ethertype);
	if (f->vlan) {
		if (f->vlan == TYPE_CVLAN)
			MATCH(cvlan_tag, 1);
		else
			MATCH(svlan_tag, 1);
		MATCH(first_prio, f->tci >> 13);
		MATCH(first_cfi, f->tci >> 12);
		MATCH(first_vid, f->tci);
	}
	if (f->l3)
		match_ip(f, to);
	if (f->l4)
		match_l4(f, to);
}

#define SET_OF(fld) IFC_ADDR_OF(fte_match_param, to, fld)

/**
 * match_headers() - bring the headers of a frame into the layout of flows
 * @to: MATCH_BYTES bytes; the registers are 0
 */
void match_headers(const struct frame *f, uint8_t *to)
{
	struct tunnel t;

	memset(to, 0, MATCH_BYTES);
	match_lyr_2_4(f, SET_OF(outer_headers));
	tunnel_find(&t, f);
	tunnel_match(&t, f, SET_OF(misc_parameters));
	if (t.inner.data)
		match_lyr_2_4(&t.inner, SET_OF(inner_headers));
}

/**
 * match_regs() - bring the registers of a frame into the layout of flows
 * @to: MATCH_BYTES bytes, of which those of the registers are written
 */
void match_regs(const uint32_t regs[MATCH_REGS], uint8_t *to)
{
	uint8_t *at = IFC_ADDR_OF(fte_match_param, to,
				  misc_parameters_2.metadata_reg_c_0);
	unsigned int i;

	/* register 7 is the first one */
	for (i = 0; i < MATCH_REGS; i++, at -= sizeof(uint32_t)) {
		uint32_t v = htobe32(regs[i]);

		memcpy(at, &v, sizeof(v));
	}
}

/**
 * match_source() - bring the source of a frame into the layout of flows
 * @to: MATCH_BYTES bytes, of which those of the source are written
 */
void match_source(const struct match_source *source, uint8_t *to)
{
	uint8_t *misc = SET_OF(misc_parameters);

	IFC_SET(fte_match_set_misc, misc, source_port, source->vport);
	IFC_SET(fte_match_set_misc, misc, source_sqn, source->sqn);
}

/*
 * All bits that match_headers() and match_regs() know, and match_source() where the
 * adapter has an e-switch.
 */
static void match_known(bool sources, uint8_t *to)
{
	static const struct match_source all = { .vport = -1, .sqn = -1u };
	static const uint32_t regs[MATCH_REGS] = {
		-1u, -1u, -1u, -1u, -1u, -1u, -1u, -1u,
	};
	const size_t set = IFC_SZ(fte_match_set_lyr_2_4);
	uint8_t *misc = SET_OF(misc_parameters);

	memset(to, 0, MATCH_BYTES);
	memset(SET_OF(outer_headers), 0xff, set);
	memset(SET_OF(inner_headers), 0xff, set);
#define MISC(fld) IFC_SET(fte_match_set_misc, misc, fld, -1u)
	MISC(gre_c_present);
	MISC(gre_k_present);
	MISC(gre_s_present);
	MISC(gre_protocol);
	MISC(gre_key.key);
	MISC(vxlan_vni);
	MISC(geneve_vni);
	MISC(geneve_oam);
	MISC(geneve_opt_len);
	MISC(geneve_protocol_type);
#undef MISC
	if (sources)
		match_source(&all, to);
	match_regs(regs, to);
}

/**
 * match_mask() - take over what a group compares
 * @which: bits of match_criteria_enable
 * @sources: it may compare the source, too
 * @criteria: a struct mlx5_ifc_fte_match_param_bits
 * @mask: MATCH_BYTES bytes
 *
 * Return: false where the model does not know a header or a field
 */
bool match_mask(uint32_t which, bool sources, const uint8_t *criteria,
		uint8_t *mask)
{
	const size_t set = IFC_SZ(fte_match_set_lyr_2_4);
	uint8_t known[MATCH_BYTES];
	size_t i;

	memset(mask, 0, MATCH_BYTES);
	if (which & ~(MATCH_OUTER | MATCH_MISC | MATCH_INNER | MATCH_MISC_2))
		return false;
	/* the four sets have one size, and their order is that of the bits */
	for (i = 0; i < MATCH_BYTES; i++)
		if (which & 1u << i / set)
			mask[i] = criteria[i];
	match_known(sources, known);
	for (i = 0; i < MATCH_BYTES; i++)
		if (mask[i] & ~known[i])
			return false;
	return true;
}

/**
 * match() - do the headers have the value, where the mask has bits?
 */
bool match(const uint8_t *headers, const uint8_t *mask, const uint8_t *value)
{
	size_t i;

	for (i = 0; i < MATCH_BYTES; i++)
		if ((headers[i] ^ value[i]) & mask[i])
			return false;
	return true;
}
