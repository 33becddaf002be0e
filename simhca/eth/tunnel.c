// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tunnels: what a frame carries in GRE, VXLAN or GENEVE. The formats are those of
 * RFC 2784 and 2890, RFC 7348 and RFC 8926.
 */
#include "eth/match.h"

#define VXLAN_PORT 4789u
#define VXLAN_HEAD 8u
#define GENEVE_PORT 6081u
#define GENEVE_HEAD 8u
#define GENEVE_OPTIONS 0x3fu	/* their length, in units of 4 bytes */
#define GENEVE_OAM 0x80u
#define UDP_HEAD 8u
#define UDP_DPORT 2u
#define GRE_HEAD 4u
#define GRE_WORD 4u		/* checksum, key or number, if it is there */
#define GRE_C 0x80u
#define GRE_K 0x20u
#define GRE_S 0x10u

#define MISC(fld, v) IFC_SET(fte_match_set_misc, misc, fld, v)

static uint32_t be24_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | be16_at(p + 1);
}

static size_t gre_len(uint8_t flags)
{
	return GRE_HEAD + (flags & GRE_C ? GRE_WORD : 0) +
	       (flags & GRE_K ? GRE_WORD : 0) + (flags & GRE_S ? GRE_WORD : 0);
}

/* Return: offset of what the tunnel carries, 0: it is no tunnel */
static size_t find_udp(struct tunnel *t, const struct frame *f)
{
	const uint8_t *head = f->data + f->l4 + UDP_HEAD;
	uint16_t port = be16_at(f->data + f->l4 + UDP_DPORT);
	size_t at = f->l4 + UDP_HEAD;

	t->head = at;
	if (port == VXLAN_PORT && at + VXLAN_HEAD <= f->l3_end) {
		t->kind = TUNNEL_VXLAN;
		t->proto = TYPE_ETH;
		return at + VXLAN_HEAD;
	}
	if (port == GENEVE_PORT && at + GENEVE_HEAD <= f->l3_end) {
		t->kind = TUNNEL_GENEVE;
		t->proto = be16_at(head + 2);
		return at + GENEVE_HEAD + (head[0] & GENEVE_OPTIONS) * 4;
	}
	return 0;
}

static size_t find_gre(struct tunnel *t, const struct frame *f)
{
	const uint8_t *head = f->data + f->above;

	t->head = f->above;
	if (f->above + GRE_HEAD > f->l3_end ||
	    f->above + gre_len(head[0]) > f->l3_end)
		return 0;
	t->kind = TUNNEL_GRE;
	t->proto = be16_at(head + 2);
	return f->above + gre_len(head[0]);
}

/**
 * tunnel_find() - look for a tunnel in a frame
 *
 * @t->kind is TUNNEL_NONE where there is none. @t->inner.data is NULL where it
 * carries neither a frame nor IP.
 */
void tunnel_find(struct tunnel *t, const struct frame *f)
{
	size_t at = 0;

	*t = (struct tunnel){ 0 };
	if (f->l4 && f->proto == IP_UDP)
		at = find_udp(t, f);
	else if (f->above && f->proto == IP_GRE)
		at = find_gre(t, f);
	if (at && (at > f->l3_end ||
		   !frame_parse_inner(&t->inner, f, at, t->proto)))
		t->inner.data = NULL;
}

static void match_gre(const uint8_t *head, uint8_t *misc)
{
	uint32_t key;

	MISC(gre_c_present, !!(head[0] & GRE_C));
	MISC(gre_k_present, !!(head[0] & GRE_K));
	MISC(gre_s_present, !!(head[0] & GRE_S));
	MISC(gre_protocol, be16_at(head + 2));
	if (!(head[0] & GRE_K))
		return;
	head += GRE_HEAD + (head[0] & GRE_C ? GRE_WORD : 0);
	key = (uint32_t)be16_at(head) << 16 | be16_at(head + 2);
	MISC(gre_key.key, key);
}

/**
 * tunnel_match() - bring the header of a tunnel into the layout of flows
 * @misc: a struct mlx5_ifc_fte_match_set_misc_bits
 */
void tunnel_match(const struct tunnel *t, const struct frame *f, uint8_t *misc)
{
	const uint8_t *head = f->data + t->head;

	switch (t->kind) {
	case TUNNEL_GRE:
		match_gre(head, misc);
		break;
	case TUNNEL_VXLAN:
		MISC(vxlan_vni, be24_at(head + 4));
		break;
	case TUNNEL_GENEVE:
		MISC(geneve_opt_len, head[0] & GENEVE_OPTIONS);
		MISC(geneve_oam, !!(head[1] & GENEVE_OAM));
		MISC(geneve_protocol_type, t->proto);
		MISC(geneve_vni, be24_at(head + 4));
		break;
	default:
		break;
	}
}
