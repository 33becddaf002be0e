/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What flow tables compare: the headers of a frame, its source and its registers, in
 * the layout of fte_match_param. Masks and values of flows have the same layout.
 */
#ifndef SIMHCA_MATCH_H
#define SIMHCA_MATCH_H

#include "base/ifc.h"
#include "eth/frame.h"

/* Outer headers, misc, inner headers and misc 2; the model compares no others. */
#define MATCH_BYTES IFC_OFF(fte_match_param, misc_parameters_3)

/* metadata_reg_c_0 to 7 */
#define MATCH_REGS 8u

/* bits of match_criteria_enable */
#define MATCH_OUTER 1u
#define MATCH_MISC 2u
#define MATCH_INNER 4u
#define MATCH_MISC_2 8u

/**
 * struct match_source - where a frame came into the adapter
 * @vport: port of the e-switch
 * @sqn: number of the queue that sent it, 0: it is from the cable
 */
struct match_source {
	uint16_t vport;
	uint32_t sqn;
};

/**
 * struct tunnel - what a frame carries in a tunnel
 * @inner: the inner frame or packet
 * @proto: its ethertype, TYPE_ETH if it is a frame
 * @kind: protocol of the tunnel
 * @head: offset of the header of GRE, VXLAN or GENEVE
 */
struct tunnel {
	struct frame inner;
	uint16_t proto;
	enum { TUNNEL_NONE, TUNNEL_GRE, TUNNEL_VXLAN, TUNNEL_GENEVE } kind;
	size_t head;
};

/* ---- tunnel.c */
void tunnel_find(struct tunnel *t, const struct frame *f);
void tunnel_match(const struct tunnel *t, const struct frame *f, uint8_t *misc);

/* ---- match.c */
void match_headers(const struct frame *f, uint8_t *to);
void match_regs(const uint32_t regs[MATCH_REGS], uint8_t *to);
void match_source(const struct match_source *source, uint8_t *to);
bool match_mask(uint32_t which, bool sources, const uint8_t *criteria,
		uint8_t *mask);
bool match(const uint8_t *headers, const uint8_t *mask, const uint8_t *value);

#endif
